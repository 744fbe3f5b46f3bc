"""Whether the price list can be sold at, and whether every process of the API does, for `coinslot-ops doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from redis.exceptions import RedisError

from shared.ledger.keys import SELLERS, bucket_in
from shared.servers.ledger_servers import connect_ledger, of_bucket
from shared.servers.ledger_start import WrongLedger
from shared.settings.service import InvalidSetting, Settings

FRESH_MS = 45_000
"""A process that runs has noted its list twice in this time (api/payment/price_lists.py)."""


def examine(settings: Settings) -> Iterator[tuple[Literal["ok", "warn", "fail"], str]]:
    """What is to be said of the prices, each with its level."""
    try:
        from jobs import price_list  # a machine of the operator's commands alone has not what endpoints need

        found = price_list.read(settings)
    except ImportError:
        yield "warn", "the price list is not checked: the packages of the API are not installed here"
        return
    except InvalidSetting as error:
        yield "fail", str(error)
        return
    yield "ok", f"{len(found.prices)} calls are sold, at the prices of version {found.version}"
    for process, version in sorted(_sellers(settings).items()):
        if version != found.version:
            remedy = "`coinslot-ops reload` there, or restart it where COINSLOT_SELL is another"
            yield "warn", f"the API process {process} sells at the prices of version {version}: {remedy}"


def _sellers(settings: Settings) -> dict[str, str]:
    """The version of each API process that runs, by host and process id. Empty when the ledger cannot be read."""
    try:
        with connect_ledger(settings) as ledger:
            client = of_bucket(ledger, bucket_in(SELLERS))
            since = client.time()[0] * 1000 - FRESH_MS
            noted = cast(list[Any], client.zrangebyscore(SELLERS, since, "+inf"))
    except (RedisError, WrongLedger):
        return {}  # another check says so
    return dict(each.decode().split(" ") for each in noted)  # the newest one comes last
