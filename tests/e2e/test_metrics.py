"""The exporter of a running service: what it counts is what the ledger's journal says."""

import contextlib
import http.client
import urllib.error
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import pytest
import redis

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.wallet import Wallet
from jobs.catalogue import CATALOGUE
from shared.ledger.keys import JOURNAL, record_key
from shared.x402.networks import Rail
from tests.ops.series import Sample, documented, documented_samples, samples, scrape

CALLS = 500
AT_ONCE = 8
SCANNED = 10_000
EVENTS = {"SETTLED": "paid", "REJECTED": "refused", "FAILURE": "failed", "DONE": "answered"}
"""Of the journal. FAILURE: of a job, which may be run again."""

PRICES = {endpoint.name: endpoint.price.value for endpoint in CATALOGUE}

Counts = Counter[tuple[str, str]]
"""By what happened, and endpoint."""


def where(service: Any) -> str:
    """As it is printed."""
    (url,) = (line.split()[1] for line in service.told if line.startswith("metrics"))
    return str(url)


def told(service: Any) -> list[Sample]:
    return samples(scrape(where(service)))


def counted(service: Any) -> Counts:
    """What the exporter says."""
    found: Counts = Counter()
    for name, labels, value in told(service):
        if name == "coinslot_payments_total":
            found[{"settled": "paid", "rejected": "refused"}[labels["event"]], labels["endpoint"]] += int(value)
        elif name == "coinslot_jobs_total" and labels["result"] in ("failed", "done"):
            found[{"failed": "failed", "done": "answered"}[labels["result"]], labels["endpoint"]] += int(value)
    return found


def journal(ledger: redis.Redis, since: list[str]) -> Counts:
    """What the ledger says."""
    found: Counts = Counter()
    entries: Any = chain.from_iterable(
        ledger.xrange(key, min=f"({seen}") for key, seen in zip(JOURNAL, since, strict=True)
    )
    for _, fields in entries:
        if event := EVENTS.get(fields["event"]):
            found[event, str(ledger.hget(record_key(fields["payment"]), "endpoint"))] += 1
    return found


def money(service: Any) -> float:
    return sum(sample.value for sample in told(service) if sample.name == "coinslot_money_taken_total")


def test_the_sums_are_the_journals(service: Any) -> None:
    """500 calls: answered ones, failed ones, and payments of a wallet without money. Paid, refused, failed and answered by
    endpoint, and the money."""
    ledger_url = dict(line.split("=", 1) for line in service.environment)["COINSLOT_LEDGER_URL"]
    rich = Wallet((wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.BASE),))
    poor = Wallet.evm(bytes([7] * 32))
    kinds = [
        *[(rich, "echo", {"message": "a"})] * 6,
        (rich, "faker", {"template": {"a": "person.firstName"}}),
        (rich, "rss", {"url": "https://feeds.example.com/"}),  # nobody listens on its port 443
        (poor, "echo", {"message": "a"}),
        (poor, "dns", {"domain": "example.com"}),
    ]

    def buy(first: int) -> None:
        options: dict[str, Any] = {"max_price": None, "retry_policy": RetryPolicy(budget_s=0)}
        with (
            Buyer(service.base_url, rich, **options) as of_rich,
            Buyer(service.base_url, poor, **options) as of_poor,
        ):
            for number in range(first, CALLS, AT_ONCE):
                wallet, name, body = kinds[number % len(kinds)]
                with contextlib.suppress(CoinslotError):  # refused or failed: the journal says how many
                    (of_rich if wallet is rich else of_poor).call(name, body)

    with redis.Redis.from_url(ledger_url, decode_responses=True) as ledger:
        newest: Any = [ledger.xrevrange(key, count=1) for key in JOURNAL]
        since = [entries[0][0] if entries else "0" for entries in newest]
        before, had = counted(service), money(service)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(buy, range(AT_ONCE)))
        happened = journal(ledger, since)
        seen, taken = counted(service), money(service) - had
        seen.subtract(before)

    assert {key: count for key, count in seen.items() if count} == dict(happened)
    share = CALLS // len(kinds)
    assert happened["paid", "echo"] == happened["answered", "echo"] == 6 * share
    assert happened["refused", "echo"] == happened["refused", "dns"] == share
    assert happened["paid", "rss"] == happened["failed", "rss"] == share
    paid = {name: count for (event, name), count in happened.items() if event == "paid"}
    assert taken == pytest.approx(sum(float(PRICES[name]) * count for name, count in paid.items()))


def test_what_is_true_now(service: Any) -> None:
    """Every source answers; pools, payments, rails and the settlers' balances; and all of it is in the documented table."""
    text = scrape(where(service))
    found = {(name, *sorted(labels.values())): value for name, labels, value in samples(text)}
    for source in ("processes", "queue", "ledger", "api", "facilitator"):
        assert found["coinslot_source_up", source] == 1
    for pool in ("micro", "fast", "net", "chain", "render", "whois", "youtube"):
        assert found["coinslot_pool_workers", pool] == 1
    for rail in Rail:
        if rail is not Rail.ETHEREUM:
            assert found["coinslot_rail_up", rail.value] == 1
    for unit, network in (("ETH", "eip155:8453"), ("XLM", "stellar:pubnet")):
        assert found["coinslot_settler_balance", unit, network] > 0
    assert found["coinslot_settlement_gas_total", "eip155:8453", "paid"] > 0
    assert found["coinslot_settlement_gas_total", "burnt", "eip155:8453"] == 0
    assert found["coinslot_lost_payments",] == 0

    known = documented_samples()
    for name, labels, _ in samples(text):
        assert frozenset(labels) == known[name], name
    types = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE coinslot"))
    assert all(documented()[name].type == kind for name, kind in types.items())


def test_scanned_paths_add_no_series(service: Any) -> None:
    """Ten thousand paths, methods and queries of a caller's choice are in no label, and no metric is on the public port."""

    def series() -> set[tuple[object, ...]]:
        """Those of /status come up to ten seconds after a call: an earlier test's. All that they name is known."""
        found = told(service)
        of_status = [sample for sample in found if sample.name.startswith("coinslot_status_")]
        assert {sample.labels.get("endpoint", "echo") for sample in of_status} <= PRICES.keys()
        labels = [label for sample in of_status for label in sample.labels.items()]
        assert not [text for name, text in labels if name != "endpoint" and "scan" in text]
        return {(name, *labels.items()) for name, labels, _ in found if not name.startswith("coinslot_status_")}

    before = series()
    address = service.base_url.removeprefix("http://")

    def scan(first: int) -> set[int]:
        connection = http.client.HTTPConnection(address, timeout=30)
        statuses = set()
        for number in range(first, SCANNED, AT_ONCE):
            path = (f"/scan-{number}", f"/v1/cdp/scan-{number}", f"/v1/cdp/echo/{number}")[number % 3]
            connection.request(("GET", "POST", "DELETE")[number % 7 % 3], f"{path}?cause={number}")
            answer = connection.getresponse()
            answer.read()
            statuses.add(answer.status)
        connection.close()
        return statuses

    with ThreadPoolExecutor(AT_ONCE) as threads:
        statuses = set().union(*threads.map(scan, range(AT_ONCE)))
    assert statuses <= {404, 405}
    assert series() == before
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scrape(f"{service.base_url}/metrics")


def test_nothing_of_a_caller_is_in_it(service: Any) -> None:
    """No address, no host, no text of a request or of an answer: neither in the answer nor in the files."""
    signer = wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.BASE)
    with Buyer(service.base_url, Wallet((signer,)), max_price=None, retry_policy=RetryPolicy(budget_s=0)) as buyer:
        buyer.call("echo", {"message": "canary-message"})
        with pytest.raises(CoinslotError):
            buyer.call("rss", {"url": "https://canary-host.example.com:8443/canary-path"})
    searched = [scrape(where(service)).encode(), *(path.read_bytes() for path in (service.var / "metrics").iterdir())]
    assert len(searched) > 10
    secrets = ["canary", "example.com", "http", signer.address, signer.address[2:]]
    for text in secrets:
        assert not [content for content in searched if text.lower().encode() in content.lower()], text
