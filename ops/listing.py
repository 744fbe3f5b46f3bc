"""`coinslot-ops listing`: what indexers need of each call, what Coinbase's validator says of it, and until when it is listed.

It asks the shop's own public documents and challenges, the validator of the facilitator that lists, and the ledger. Exit code 1
when a call lacks something, 3 when the shop or the ledger cannot be read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import httpx
import redis

from ops.listing_rules import (
    NOT_SHOWN,
    SHOWN_NETWORKS,
    Answer,
    challenge_of,
    input_of,
    lacks,
    object_of,
    protocols_of,
)
from ops.listing_state import Listed, read_listed, sentence_of
from ops.queries import Failed
from shared.ledger.listing import host_of
from shared.servers.ledger_servers import connect_ledger
from shared.settings.service import PREFIX, Settings

AT_ONCE = 4
"""Calls that are examined at a time: an indexer's probes are not to look like a flood."""
TIMEOUT_S = 20.0
"""Coinbase's validator calls the shop before it answers."""
MAX_SAID = 500
"""Characters that are shown of what it says."""

ELSEWHERE = "it is sold on networks other than Base and Solana, so x402scan and Coinbase's Bazaar do not show it"


@dataclass(frozen=True, slots=True)
class Examined:
    """One call."""

    endpoint: str
    url: str
    lacks: Sequence[str]
    validator: str = ""
    """What Coinbase's validator said; empty where it was not asked."""
    listed: Sequence[Listed] = ()
    note: str = ""
    """What is so by design, and no lack."""


class Unreachable(Failed):
    """The shop cannot be examined."""


def report(settings: Settings, *, as_json: bool) -> int:
    """Print one line for each call. Returns the exit code. Raises RedisError, Unreachable."""
    with connect_ledger(settings) as ledger:
        return asyncio.run(_report(settings, ledger, as_json=as_json))


async def _report(settings: Settings, ledger: redis.Redis, *, as_json: bool) -> int:
    async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
        calls = await examine(client, settings, ledger)
    for call in calls:
        print(json.dumps(asdict(call)) if as_json else _lines(call))
    return int(any(call.lacks for call in calls))


async def examine(client: httpx.AsyncClient, settings: Settings, ledger: redis.Redis) -> list[Examined]:
    """Examine all calls, in the order of /openapi.json.

    Args:
        ledger: its server of BUCKET.

    Raises:
        Unreachable: the documents of the shop cannot be read.
        RedisError: the ledger cannot be read.
    """
    base = settings.base_url
    openapi, manifest = await asyncio.gather(
        *(_document(client, base + path) for path in ("/openapi.json", "/.well-known/x402"))
    )
    operations = {base + path: found["post"] for path, found in openapi.get("paths", {}).items() if "post" in found}
    paid = {url: operation for url, operation in operations.items() if "x-payment-info" in operation}
    resources: list[str] = manifest.get("resources", [])
    shown = {
        url for url, of in paid.items() if any(offer.get("network") in SHOWN_NETWORKS for offer in protocols_of(of))
    }
    elsewhere = paid.keys() - shown if shown else set()  # where none is shown, the shop lacks these rails
    at_once = asyncio.Semaphore(AT_ONCE)

    async def examined(url: str) -> Examined:
        async with at_once:
            flags = {"is_in_manifest": url in resources, "is_elsewhere": url in elsewhere}
            return await _examined(client, settings, ledger, url, paid.get(url), **flags)

    return await asyncio.gather(*map(examined, dict.fromkeys((*paid, *resources))))


async def _examined(
    client: httpx.AsyncClient,
    settings: Settings,
    ledger: redis.Redis,
    url: str,
    operation: Mapping[str, Any] | None,
    *,
    is_in_manifest: bool,
    is_elsewhere: bool,
) -> Examined:
    empty = await _unpaid(client, url)
    body = input_of(challenge_of(empty) or {}).get("body")
    found = list(lacks(url, empty, await _unpaid(client, url, json=body) if body else None, operation))
    if not is_in_manifest:
        found.append("/.well-known/x402 does not name it")
    name = url.removeprefix(f"{settings.base_url}/v1/").removeprefix("cdp/")
    if is_elsewhere:
        return Examined(name, url, [lack for lack in found if lack != NOT_SHOWN], note=ELSEWHERE)
    lister, hosts = lister_of(settings), hosts_of(settings)
    validator = ""
    if lister:
        is_valid, validator = await validated(client, lister, url)
        found += [] if is_valid is not False else [f"{host_of(lister)} would not list it: {validator}"]
    rows = [row for host in hosts if (row := read_listed(ledger, host, url)) or host == host_of(lister)]
    return Examined(name, url, found, validator, [row or Listed(host_of(lister)) for row in rows])


def lister_of(settings: Settings) -> str:
    """Address of the facilitator whose validator is asked: the listing one, or Coinbase's where all payments go there."""
    own = settings.evm
    return own.listing_facilitator_url or (own.facilitator_url if own.facilitator_cdp_key_file else "")


def hosts_of(settings: Settings) -> list[str]:
    """The facilitators of the EVM rail, as the ledger calls them."""
    return [host_of(url) for url in (settings.evm.listing_facilitator_url, settings.evm.facilitator_url) if url]


async def validated(client: httpx.AsyncClient, facilitator: str, url: str) -> tuple[bool | None, str]:
    """What POST /validate of Coinbase's facilitator says of a call: whether it would be listed, and a sentence. None: nobody
    knows.

    It needs no key, makes no payment and lists nothing: https://docs.cdp.coinbase.com/x402/validate-endpoint.
    """
    if not url.startswith("https://"):
        return None, "not asked: it takes https addresses only"
    try:
        answer = await client.post(f"{facilitator.rstrip('/')}/validate", json={"resource": url, "method": "POST"})
        said = answer.json() if answer.status_code == 200 else {}
    except (httpx.HTTPError, ValueError) as error:
        return None, f"no answer: {type(error).__name__}"
    if not isinstance(said, dict) or "valid" not in said:
        return None, f"no verdict: HTTP {answer.status_code}"
    simulation, preflight = object_of(said.get("simulation")), said.get("preflight")
    checks = map(object_of, preflight if isinstance(preflight, list) else ())
    failed = [check for check in checks if not check.get("passed")]
    if said["valid"] is not True or simulation.get("outcome") != "accepted":
        required = [check for check in failed if check.get("severity") == "required"]
        reasons = [
            simulation.get("rejectionReason"),
            *(f"{check.get('check')}: {check.get('detail')}" for check in required),
        ]
        return False, _printable("; ".join(str(reason) for reason in reasons if reason) or "it does not say why")
    is_listed = "listed" if object_of(said.get("index")).get("active") else "not listed yet"
    advice = ", ".join(str(check.get("check")) for check in failed)
    return True, _printable(f"valid, {is_listed}" + (f"; it recommends {advice}" if advice else ""))


def _printable(text: str) -> str:
    """What somebody else said, for a terminal."""
    return "".join(filter(str.isprintable, text))[:MAX_SAID]


async def _document(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    try:
        found = (await client.get(url)).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Unreachable(
            f"cannot read {url}: {type(error).__name__}. Start the API, or set {PREFIX}BASE_URL to its public address"
        ) from None
    return found if isinstance(found, dict) else {}


async def _unpaid(client: httpx.AsyncClient, url: str, **body: Any) -> Answer:
    try:
        answer = await client.post(url, **body)
        return Answer(answer.status_code, answer.headers.get("PAYMENT-REQUIRED", ""), answer.json())
    except httpx.HTTPError:
        return Answer(0, "", None)
    except ValueError:
        return Answer(answer.status_code, answer.headers.get("PAYMENT-REQUIRED", ""), None)


def _lines(found: Examined) -> str:
    lines = [f"{'lacks' if found.lacks else 'ok':6} {found.endpoint}"]
    lines += [f"       - {sentence}" for sentence in found.lacks]
    if found.note:
        lines.append(f"       {found.note}")
    if found.validator:
        lines.append(f"       validator: {found.validator}")
    lines += [f"       {sentence_of(listed)}" for listed in found.listed]
    return "\n".join(lines)
