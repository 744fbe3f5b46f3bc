"""The exporter of a running service: what it counts is what the ledger's journal says."""

from __future__ import annotations

import contextlib
import re
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import redis

from client import sandbox_file, wallet_source
from client.buyer import Buyer
from client.delivery import RetryPolicy
from client.errors import CoinslotError
from client.wallet import Wallet
from shared.ledger import JOURNAL, record_key
from shared.x402.networks import Rail

CALLS = 500
AT_ONCE = 8
_SAMPLE = re.compile(r"^(coinslot_\w+)\{(.*?)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="(.*?)"')
EVENTS = {"SETTLED": "paid", "REJECTED": "refused", "FAILURE": "failed"}

Counts = Counter[tuple[str, str]]
"""By what happened, and endpoint."""


def setting(service: Any, name: str) -> str:
    return dict(line.split("=", 1) for line in service.environment)[f"COINSLOT_{name}"]


def samples(service: Any) -> list[tuple[str, dict[str, str], float]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{setting(service, 'METRICS_PORT')}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return [(name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in _SAMPLE.findall(text)]


def counted(service: Any) -> Counts:
    """What the exporter says."""
    found: Counts = Counter()
    for name, labels, value in samples(service):
        if name == "coinslot_payments_total":
            found[{"settled": "paid", "refused": "refused"}[labels["event"]], labels["endpoint"]] += int(value)
        elif name == "coinslot_jobs_total" and labels["result"] != "answered":
            found["failed", labels["endpoint"]] += int(value)
    return found


def journal(ledger: redis.Redis, since: str) -> Counts:
    """What the ledger says."""
    found: Counts = Counter()
    entries: Any = ledger.xrange(JOURNAL, min=f"({since}")
    for _, fields in entries:
        if event := EVENTS.get(fields["event"]):
            found[event, str(ledger.hget(record_key(fields["payment"]), "endpoint"))] += 1
    return found


def test_the_sums_are_the_journals(service: Any) -> None:
    """500 calls: answered ones, failed ones, and payments of a wallet without money. Paid, refused and failed by endpoint."""
    rich = wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.BASE)
    poor = Wallet.evm(bytes([7] * 32))
    kinds = [
        *[(Wallet((rich,)), "echo", {"message": "a"})] * 6,
        (Wallet((rich,)), "faker", {"template": {"a": "person.firstName"}}),
        (Wallet((rich,)), "rss", {"url": "https://no-such-host.example.com:8443/"}),
        (poor, "echo", {"message": "a"}),
        (poor, "dns", {"domain": "example.com"}),
    ]

    def buy(number: int) -> None:
        wallet, name, body = kinds[number % len(kinds)]
        with Buyer(service.base_url, wallet, max_price=None, retry_policy=RetryPolicy(budget_s=0)) as buyer:
            with contextlib.suppress(CoinslotError):  # refused or failed: the journal says how many
                buyer.call(name, body)

    with redis.Redis.from_url(setting(service, "LEDGER_URL"), decode_responses=True) as ledger:
        newest: Any = ledger.xrevrange(JOURNAL, count=1)
        since, before = newest[0][0] if newest else "0", counted(service)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(buy, range(CALLS)))
        happened = journal(ledger, since)
        seen = counted(service)
        seen.subtract(before)

    assert {key: count for key, count in seen.items() if count} == dict(happened)
    share = CALLS // len(kinds)
    assert happened["paid", "echo"] == 6 * share
    assert happened["refused", "dns"] == share
    assert happened["failed", "rss"] >= share


def test_what_is_true_now(service: Any) -> None:
    """Pools, payments, rails and the settler's balance; every source answers."""
    found = {(name, *sorted(labels.values())): value for name, labels, value in samples(service)}
    for source in ("queue", "ledger", "api", "facilitator"):
        assert found["coinslot_source_up", source] == 1
    for pool in ("micro", "fast", "net", "chain", "render", "whois", "youtube"):
        assert found["coinslot_pool_workers", pool] == 1
    for rail in Rail:
        if rail is not Rail.ETHEREUM:
            assert found["coinslot_rail_up", rail.value] == 1
    assert found["coinslot_settler_balance", "ETH", "eip155:8453"] > 0
    assert found["coinslot_ledger_payments", "lost"] == 0


def test_scanned_paths_add_no_series(service: Any) -> None:
    """Paths, methods and headers of a caller's choice are in no label."""
    before = {(name, *labels.items()) for name, labels, _ in samples(service) if name.endswith("_total")}
    for number in range(200):
        assert httpx.post(f"{service.base_url}/v1/cdp/scan-{number}", json={}, trust_env=False).status_code == 404
    after = {(name, *labels.items()) for name, labels, _ in samples(service) if name.endswith("_total")}
    assert after == before
