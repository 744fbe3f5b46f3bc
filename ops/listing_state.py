"""What the ledger knows of where calls are listed, for `coinslot-ops listing` and `doctor`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, cast

import redis
from redis.exceptions import RedisError

from ops.queries import api_place, get_json, supported_networks
from shared.ledger.listing import DAYS_LISTED, host_of, listing_key
from shared.servers.ledger_servers import connect_ledger
from shared.servers.ledger_start import WrongLedger
from shared.settings.service import InvalidSetting, Settings

_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """What a facilitator's catalogue has of a call, by what the ledger noted. Times are ISO 8601."""

    facilitator: str
    settled: str = ""
    transaction: str = ""
    until: str = ""
    """When it is forgotten without another settlement. Empty: it is not listed."""
    next: str = ""
    """From when on the next payment goes there."""
    status: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


def read_listed(ledger: redis.Redis, host: str, url: str) -> Listed | None:
    """What the ledger noted of a call's listing; None when nothing. Raises RedisError."""
    found = cast(dict[bytes, bytes], ledger.hgetall(listing_key(host, url)))
    if not found:
        return None
    row = {name.decode(): value.decode("utf-8", "replace") for name, value in found.items()}
    status = json.loads(row.get("status", "{}"))
    settled_ms = int(row.get("settled", 0))
    is_listed = settled_ms and status.get("status") != "rejected"
    return Listed(
        facilitator=host,
        settled=_time(settled_ms),
        transaction=row.get("transaction", ""),
        until=_time(settled_ms + DAYS_LISTED * _DAY_MS) if is_listed else "",
        next=_time(int(row.get("until", 0))),
        status=status,
        trouble=row.get("trouble", ""),
    )


def sentence_of(listed: Listed) -> str:
    """What the ledger knows of a listing, in words."""
    said = f", it said {' '.join(listed.status.values())!r}" if listed.status else ""
    if listed.until:
        is_over = listed.until < _time(int(time.time() * 1000))
        words = f"{'forgotten since' if is_over else 'listed until'} {listed.until}{said}"
    elif listed.settled:
        words = f"not listed: settled {listed.settled}{said}"
    else:
        words = "not listed: nothing was settled there yet"
    after = f"; the next payment goes there from {listed.next} on" if listed.next else ""
    return f"{listed.facilitator}: {words}{after}" + (f"; last trouble: {listed.trouble}" if listed.trouble else "")


def findings(settings: Settings) -> Iterator[tuple[Literal["ok", "warn", "fail"], str]]:
    """What `coinslot-ops doctor` says of the listing facilitator, where there is one."""
    own = settings.evm
    if not own.listing_facilitator_url:
        return
    try:
        files = own.listing_facilitator_headers_file, own.listing_facilitator_cdp_key_file
        status, networks = supported_networks(own.listing_facilitator_url, *files)
        _, catalogue = get_json(f"{api_place(settings)}/bazaar.json")
        with connect_ledger(settings) as ledger:
            items = [item for item in catalogue["items"] if item["type"] == "http"] if catalogue else []
            # A call that is sold on other networks only is never settled there.
            resources = [
                item["resource"] for item in items if own.network in (offer["network"] for offer in item["accepts"])
            ]
            lacking = _lacking(own.listing_facilitator_url, ledger, resources)
    except (InvalidSetting, RedisError, WrongLedger):
        return  # the doctor has said so
    host = host_of(own.listing_facilitator_url)
    if networks is None or status != 200:
        yield "warn", f"{host} answers {status or 'nothing'}: the other facilitator gets all payments"
    elif own.network not in networks:
        yield "fail", f"{host} does not settle on {own.network}"
    yield from (("warn", sentence) for sentence in lacking)
    if resources and not lacking:
        yield "ok", f"each call was settled at {host} within {DAYS_LISTED} days"


def _lacking(facilitator: str, ledger: redis.Redis, resources: Sequence[str]) -> list[str]:
    host, now = host_of(facilitator), _time(int(time.time() * 1000))
    rows = {url: read_listed(ledger, host, url) for url in resources}
    missing = [url for url, row in rows.items() if row is None or row.until < now]
    settled = f"{len(rows) - len(missing)} of {len(rows)} calls were settled at {host} within {DAYS_LISTED} days"
    summary = [f"{settled}, the others are not listed: see coinslot-ops listing"] if missing else []
    return summary + [
        f"{host} did not take {url} into its catalogue: {row.status.get('rejectedReason', 'it does not say why')}"
        for url, row in rows.items()
        if row and row.status.get("status") == "rejected"
    ]


def _time(at_ms: int) -> str:
    if not at_ms:
        return ""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="minutes").replace("+00:00", "Z")
