"""Whether the price list can be sold at, and whether every process of the API does, for `coinslot-ops doctor`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from redis.exceptions import RedisError

from shared.endpoint import PACKAGE_REFUSED
from shared.ledger.keys import SELLERS
from shared.servers.ledger_servers import connect_ledger
from shared.servers.ledger_start import WrongLedger
from shared.settings.service import Settings

FRESH_MS = 45_000
"""A process that runs has noted its list twice in this time (api/payment/price_lists.py)."""


def examine(settings: Settings, environment: Mapping[str, str]) -> Iterator[tuple[Literal["ok", "warn", "fail"], str]]:
    """What is to be said of the prices, each with its level. The list is read in a process of its own, because this one knows
    no endpoints."""
    command = [sys.executable, "-m", "jobs.price_list"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    *_, sentence = ["", *found.stderr.splitlines()]
    if found.returncode == PACKAGE_REFUSED:
        yield "fail", sentence
        return
    if found.returncode:
        yield "warn", f"not checked: run `python -m jobs.price_list` where the API runs ({sentence})"
        return
    own, *sold = found.stdout.splitlines()
    yield "ok", f"{len(sold)} calls are sold, at the prices of version {own}"
    for process, version in sorted(_sellers(settings).items()):
        if version != own:
            remedy = "`coinslot-ops reload` there, or restart it where COINSLOT_SELL is another"
            yield "warn", f"the API process {process} sells at the prices of version {version}: {remedy}"


def _sellers(settings: Settings) -> dict[str, str]:
    """The version of each API process that runs, by host and process id. Empty when the ledger cannot be read."""
    try:
        with connect_ledger(settings) as ledger:
            seconds = cast(list[Any], ledger.eval("return redis.call('TIME')", 1, SELLERS))[0]
            since = int(seconds) * 1000 - FRESH_MS
            noted = cast(list[Any], ledger.zrangebyscore(SELLERS, since, "+inf"))
    except (RedisError, WrongLedger):
        return {}  # another check says so
    return dict(each.decode().split(" ") for each in noted)  # the newest one comes last
