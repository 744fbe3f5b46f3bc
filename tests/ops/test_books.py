"""The books, from the transitions of a real ledger: nothing is lost, nothing is doubled, and every sum is exact."""

from __future__ import annotations

import contextlib
import csv
import json
import random
import shutil
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

import ops.main
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim
from api.redis_client import Redis
from ops.books import report
from ops.books.facts import CALL, DEPOSIT, TRANSFER, Fact, fact_of
from ops.books.history import Received, unmatched
from ops.books.journal import Journal
from ops.books.keeper import Keeper
from ops.books.revenue import GROUPS, summed
from ops.books.store import DAY_MS, KEPT, Books, Unusable
from ops.chains import Fee, Transfer
from shared.ledger.keys import BUCKETS, JOURNAL, OPEN, bucket_of, record_key
from shared.observability.metrics import Metrics
from shared.settings.service import Settings
from shared.x402.networks import EVM_USDC, XRPL_RLUSD, Rail

pytestmark = pytest.mark.anyio

BASE = EVM_USDC["eip155:8453"]
RLUSD = XRPL_RLUSD["xrpl:0"]
ENDS = ("settled", "done", "failed", "refunded", "lost", "late", "rejected", "unknown")


class Shop:
    """The ledger as API and workers use it."""

    def __init__(self, url: str, client: redis.Redis) -> None:
        self.api = Redis(url)
        self.ledger = Ledger(self.api)
        self.client = client
        self.income = Counter[str]()
        """What was settled and is not lost, by payment."""
        self.ends: dict[str, str] = {}

    async def sell(self, number: int, end: str) -> str:
        """A payment that is to come to this end; its id."""
        payer = f"0x{number % 40:040x}"
        name = f"{BASE.network}:{BASE.address.lower()}:{payer}:0x{number:064x}"
        terms = {"scheme": "exact", "network": BASE.network, "asset": BASE.address, "amount": str(1_000 + number)}
        offer = json.dumps({**terms, "payTo": "0x" + 40 * "9"}).encode()
        await self.ledger.claim(
            Claim(
                payment_id=name,
                fingerprint="f",
                endpoint="echo",
                payer=payer,
                offer=offer,
                settle_lease_ms=9_000,
                run_lease_ms=9_000,
            )
        )
        receipt = json.dumps(
            {"success": True, "transaction": f"0x{number // 7:064x}", "network": BASE.network}
        ).encode()
        match end:
            case "rejected":
                await self.ledger.rejected(name, 1, "insufficient_funds")
                return name
            case "unknown":
                await self.ledger.unknown(name, 1)
                return name
            case "late":
                await self.ledger.rejected(name, 1, "expired")
        await self.ledger.settled(name, receipt, 9_000)
        self.income[name] = 1_000 + number
        self.ends[name] = end
        return name

    def record(self, name: str) -> tuple[str, int]:
        """State of a payment, and when it was lost."""
        fields: Any = self.client.hmget(record_key(name), "state", "lost", "refunded")
        return "REFUNDED" if fields[2] else fields[0].decode(), int(fields[1] or 0)

    async def end(self) -> None:
        """The payments that were sold come to their ends."""
        for name, end in self.ends.items():
            await self._end(name, end)
        self.ends.clear()

    async def _end(self, name: str, end: str) -> None:
        bucket = bucket_of(name)
        if end == "done":
            await self.ledger.channels.opened(name)  # the script that ends a settled payment without a worker
        elif end in ("failed", "refunded"):
            self.client.hset(record_key(name), mapping={"settled": 1, "lease": 0})
            self.client.zadd(OPEN[bucket], {name: 0})
            await self.ledger.take_doubtful(100, 1_000)
            if end == "refunded":
                self.client.hset(record_key(name), "refunded", 5)
                self.client.xadd(JOURNAL[bucket], {"payment": name, "event": "REFUNDED"})
        elif end == "lost":
            await self.ledger.taken_back(name, (BASE.network, BASE.address), 10_000)
            self.income[name] = 0


@pytest.fixture
async def shop(clean_redis: str) -> AsyncIterator[Shop]:
    with redis.Redis.from_url(clean_redis) as client:
        shop = Shop(clean_redis, client)
        yield shop
        shop.api.close()


def entries(books: Books) -> dict[str, Fact]:
    return {row[0]: Fact(*row[:-1]) for row in books.rows("SELECT * FROM entries")}


def income(books: Books) -> Counter[str]:
    return Counter({name: 0 if one.lost else int(one.amount) for name, one in entries(books).items()})


async def test_a_crash_loses_and_doubles_nothing(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Payments of every end. The books are killed at one write after the other, and new payments come meanwhile."""
    chance, left, write = random.Random(1), 0, Books.move

    def killed(self: Books, name: str, value: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise SystemExit
        write(self, name, value)

    monkeypatch.setattr(Books, "move", killed)
    crashes, number = 0, 0
    while crashes < 40:
        await shop.end()
        for _ in range(3):
            number += 1
            await shop.sell(number, chance.choice(ENDS))
        left = chance.randrange(5) if number > 30 else 2 * BUCKETS
        books = Books(tmp_path)
        try:
            while Journal(shop.client, books).follow():
                pass
        except SystemExit:
            crashes += 1
        books.close()
    monkeypatch.undo()
    books = Books(tmp_path)
    while Journal(shop.client, books).follow():
        pass
    assert income(books) == shop.income
    written = {name: (one.state, one.lost) for name, one in entries(books).items()}
    assert written == {name: shop.record(name) for name in written}
    assert {state for state, _ in written.values()} == {"SETTLED", "DONE", "FAILED", "REFUNDED"}
    assert sum(lost > 0 for _, lost in written.values()) == sum(not amount for amount in shop.income.values()) > 0
    assert min(one.settled for one in entries(books).values() if one.state == "DONE") > time.time() * 1000 - 3_600_000


async def test_lines_that_were_dropped_are_made_good_from_records(shop: Shop, tmp_path: Path) -> None:
    """Of a journal that had been read, and of one that was empty when it was read. The books say so."""
    books = Books(tmp_path)
    journal = Journal(shop.client, books)
    journal.follow()
    for number in range(8):
        await shop.sell(number, "settled")
    assert len({bucket_of(name) for name in shop.income}) > 1
    for key in JOURNAL:
        shop.client.xtrim(key, maxlen=1, approximate=False)
    while journal.follow():
        pass
    assert income(books) == shop.income
    assert len(list(books.rows("SELECT * FROM notes"))) == 1
    for number in range(40, 48):
        await shop.sell(number, "lost")
    await shop.end()
    for key in JOURNAL:
        shop.client.xtrim(key, maxlen=1, approximate=False)
    while journal.follow():
        pass
    assert income(books) == shop.income
    assert len(list(books.rows("SELECT * FROM notes"))) == 2
    assert not journal.follow()


def test_who_reads_after_a_writer_was_killed_sees_what_was_whole(tmp_path: Path) -> None:
    """The copy has what the disk had when half of a transaction was written."""
    written, copied = tmp_path / "written", tmp_path / "copied"
    written.mkdir()
    copied.mkdir()
    books = Books(written)
    facts = [
        Fact(f"{n}", CALL, BASE.network, BASE.address, "echo", "0x1", "1000", f"0x{n}", DAY_MS) for n in range(2_000)
    ]
    list(books.rows("PRAGMA cache_size = 5"))
    books.add(facts[:1])
    with books.transaction():
        books.add(facts)
        for path in written.glob("books.sqlite*"):
            shutil.copy(path, copied)
    books.close()
    assert len(list(copied.iterdir())) == 2
    killed = Books(copied, is_reader=True)
    assert len(entries(killed)) == 1
    killed.close()


async def test_two_writers_double_nothing(shop: Shop, tmp_path: Path) -> None:
    """Such as the exporter, and the command."""
    first, second = Books(tmp_path), Books(tmp_path)
    for number in range(6):
        await shop.end()
        await shop.sell(number, "done")
        for books in (first, second):
            Journal(shop.client, books).follow()
    assert income(first) == income(second) == shop.income


def test_requests_without_payment_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By two writers of whom one is killed, and with a folder whose counts begin again."""
    counted: dict[str, int] = {}
    for run in ("first", "second"):
        monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
        metrics = Metrics()
        metrics.start(str(tmp_path / run))
        own = Settings(metrics_dir=str(tmp_path / run))
        for _ in range(3):
            metrics.call("echo", 402, "unpaid", 0.1)
            metrics.call("echo", 402, "payment_refused", 0.1)
            for is_killed in (True, False, False):
                books = Books(tmp_path)
                with monkeypatch.context() as crash, contextlib.suppress(SystemExit):
                    if is_killed:
                        crash.setattr(Books, "challenge", lambda *_: sys.exit())
                    Keeper(own, redis.Redis(), books)._count_challenges()
                counted = dict(books.rows("SELECT endpoint, sum(count) FROM challenges GROUP BY endpoint"))
                books.close()
    assert counted == {"echo": 6}


Sold = st.tuples(
    st.sampled_from((CALL, DEPOSIT, TRANSFER)),
    st.integers(0, 5),
    st.integers(1, 10**9),
    st.booleans(),
    st.sampled_from(("echo", "dns")),
    st.integers(0, 3),
)


@settings(max_examples=40)
@given(st.lists(Sold, max_size=25), st.lists(st.integers(0, 10**30), min_size=6, max_size=6), st.sampled_from(GROUPS))
def test_every_group_adds_up_exactly(
    tmp_path_factory: pytest.TempPathFactory, sold: list[Any], costs: list[int], by: str
) -> None:
    """Whatever the lines are about: what was received, and what all transactions cost, to the atomic unit."""
    books = Books(tmp_path_factory.mktemp("books"))
    facts = [
        Fact(
            f"{number}",
            kind,
            BASE.network,
            BASE.address,
            endpoint,
            f"0x{payer}",
            str(amount),
            f"0x{of}",
            DAY_MS + number,
            lost=int(lost),
        )
        for number, (kind, of, amount, lost, endpoint, payer) in enumerate(sold)
    ]
    with books.transaction():
        books.add(facts)
        books.add_fees(BASE.network, {f"0x{of}": Fee(cost) for of, cost in enumerate(costs)})
    lines = summed(books, 0, 9 * DAY_MS, by)
    income = [one for one in facts if one.kind != DEPOSIT]
    assert sum(line.received for line in lines) == sum(int(one.amount) for one in income if not one.lost)
    assert sum(line.charged for line in lines) == sum(int(one.amount) for one in income)
    assert sum(line.fees for line in lines) == sum(costs[of] for of in {of for _, of, *_ in sold})
    assert sum(line.calls for line in lines) == len(income)
    books.close()


def a_report(books_dir: Path, capsys: pytest.CaptureFixture[str], **options: Any) -> list[dict[str, str]]:
    chosen = {"since": date(1970, 1, 1), "until": date(1970, 1, 9), "by": "endpoint", "without": [], "check": False}
    chosen |= {"csv": True, "json": False, **options}
    assert report.report(Settings(books_dir=str(books_dir)), Namespace(**chosen)) == 0
    return list(csv.DictReader(capsys.readouterr().out.splitlines()))


def test_a_report_says_what_is_not_income(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A group's gas is shared with a lost and a refunded payment, an own wallet is left out with its part, gas of another
    facilitator is not ours, and whole tokens of the XRP Ledger are exact."""
    books = Books(tmp_path)

    def paid(name: str, amount: str, state: str = "DONE", **more: Any) -> Fact:
        network, asset = more.pop("of", (BASE.network, BASE.address))
        fact = Fact(name, CALL, network, asset, "echo", "0xAb", amount, "0x1", DAY_MS)
        return fact._replace(state=state, **more)

    with books.transaction():
        books.add(
            [paid("a", "1000"), paid("b", "1000", "FAILED"), paid("c", "1000", "REFUNDED"), paid("d", "9", lost=5)]
        )
        books.add([paid("own", "5000", payer="0xCD"), paid("listed", "1000", transaction="0x2")])
        rlusd = [paid(f"x{n}", "0.001", of=(RLUSD.network, RLUSD.currency), transaction=f"x{n}") for n in range(3)]
        books.add(rlusd)
        books.add_fees(BASE.network, {"0x1": Fee(52, "0x5e"), "0x2": Fee(10**6, "0xother")})
        books.add_settlers(["0x5e"])
        books.charge(1, "0xc", "dns", BASE.network, BASE.address, "0xe", 2, 20_000)
        books.challenge(1, "echo", 50)
    challenges, base, xrpl = a_report(tmp_path, capsys, without=["0xcd"])[-3:]
    assert challenges["challenges"] == "50"
    shown = {name: base[name] for name in ("calls", "charged_atomic", "received_atomic", "received", "fees_atomic")}
    # 52 wei over five payments: 11, 11 and three times 10; the own wallet's part is left out.
    assert shown.pop("fees_atomic") == str(52 - 10)
    assert shown == {"calls": "5", "charged_atomic": "4009", "received_atomic": "4000", "received": "0.004"}
    assert (base["refundable_atomic"], base["refunded_atomic"], base["lost_atomic"]) == ("1000", "1000", "9")
    assert base["fees_of"] == "chain+facilitator"
    assert (xrpl["token"], xrpl["received_atomic"], xrpl["fees_of"]) == ("RLUSD", "0.003", "not read yet")
    by_rail = {row["key"]: row for row in a_report(tmp_path, capsys, by="rail")}
    assert (by_rail["base"]["calls"], by_rail["base"]["by_channels"]) == ("8", "0.02")
    assert {row["key"] for row in a_report(tmp_path, capsys, by="payer")} == {"", "0xAb", "0xCD", "0xe"}
    books.close()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ("revenue --from yesterday", 2, "'yesterday' is no day like 2026-11-24"),
        ("revenue --to 2026-02-30", 2, "'2026-02-30' is no day like 2026-11-24"),
        ("books --rebuild --since 24.11.2026", 2, "'24.11.2026' is no day like 2026-11-24"),
        ("revenue --to 2020-01-31", 2, "the last day 2020-01-31 is before the first, 20"),
        ("books --since 2026-11-01", 2, "--since is for --rebuild"),
        ("revenue --check --json", 2, "not allowed with"),
        ("revenue --check --not 0xab", 2, "leave out --not"),
        ("revenue --not 0xab 0xCDE", 0, "the books have no payment of 0xcde\n"),
    ],
)
def test_what_an_option_cannot_do_is_said(
    options: str,
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wallet that never paid is reported: its address may have been written wrongly."""
    monkeypatch.setenv("COINSLOT_BOOKS_DIR", str(tmp_path))
    with closing(Books(tmp_path)) as books:
        books.add([Fact("a", CALL, BASE.network, BASE.address, "echo", "0xAb", "1000", "0x1", DAY_MS)])
    try:
        ended = ops.main.main(options.split())
    except SystemExit as error:  # of argparse
        ended = int(error.code or 0)
    assert ended == code
    printed = capsys.readouterr().err
    assert said in printed
    assert "of 0xab" not in printed


def test_what_the_ledger_forgot_is_taken_from_the_chain_once(tmp_path: Path) -> None:
    """And of two payments of one payer in one transaction, each is one transfer. A record that comes later takes its place."""
    books = Books(tmp_path)
    moved = [Transfer("0x1", number, "0xab", "1000", 100 + number) for number in range(3)]
    got = Received(Rail.BASE, BASE.network, BASE.address, moved, "")
    known = Fact("p1", CALL, BASE.network, BASE.address, "echo", "0xAB", "1000", "0x1", DAY_MS)
    with books.transaction():
        books.add([known])
        missing, _ = unmatched(books, got)
        assert len(missing) == 2
        books.add(fact_of(TRANSFER, BASE.network, BASE.address, one) for one in missing)
        assert unmatched(books, got) == ([], {"0x1": []})
        books.add([known._replace(id="p2", payer="0xab"), known._replace(id="p2", payer="0xab", state="FAILED")])
        assert unmatched(books, got) == ([], {"0x1": []})
    kinds = Counter(one.kind for one in entries(books).values())
    assert kinds == {CALL: 2, TRANSFER: 1}
    assert entries(books)["p2"].state == "FAILED"
    (line,) = summed(books, 0, 9 * DAY_MS, "rail")
    assert line.received == Decimal(3_000)


def test_the_fee_of_a_lost_payment_is_read_again(tmp_path: Path) -> None:
    """And once only: the chain may have taken the whole transaction back, or nothing but the payment."""
    books = Books(tmp_path)
    fact = Fact("a", CALL, BASE.network, BASE.address, "echo", "0x1", "1000", "0x1", DAY_MS)
    asked = []
    for lost in (0, 0, 5, 5):
        books.add([fact._replace(lost=lost)])
        asked.append([name for name, *_ in books.without_fee(BASE.network, 9)])
        books.add_fees(BASE.network, {"0x1": Fee(7)})
    assert asked == [["0x1"], [], ["0x1"], []]
    books.close()


def test_books_without_payers_have_none(tmp_path: Path) -> None:
    """Neither as such nor in a payment's id. Own wallets cannot be left out then."""
    books = Books(tmp_path, keeps_payers=False)
    payer = "0x" + 40 * "a"
    with books.transaction():
        books.add(
            [Fact(f"eip155:8453:x:{payer}:0x1", CALL, BASE.network, BASE.address, "echo", payer, "1", "0x1", 1)] * 2
        )
        books.charge(1, "0xc", "dns", BASE.network, BASE.address, payer, 1, 1)
    assert len(entries(books)) == 1
    books.close()
    assert payer[2:].encode() not in next(tmp_path.iterdir()).read_bytes()
    options = Namespace(since=None, until=None, without=[payer], by="day", check=False, csv=False, json=False)
    with pytest.raises(Unusable, match="--not needs payers"):
        report.report(Settings(books_dir=str(tmp_path), books_payers=False), options)


def test_a_payment_has_one_line_whether_or_not_payers_are_kept(tmp_path: Path) -> None:
    """Given books whose owner changes his mind about payers, when its record is read again, then its one line is as he wants
    it now."""
    payer = "0x" + 40 * "a"
    fact = Fact(f"eip155:8453:x:{payer}:0x1", CALL, BASE.network, BASE.address, "echo", payer, "1000", "0x1", DAY_MS)
    for number, keeps_payers in enumerate((True, False, True, False)):
        books = Books(tmp_path, keeps_payers=keeps_payers)
        with books.transaction():
            books.add([fact._replace(state="FAILED", lost=number)])
        ((name, entry),) = entries(books).items()
        assert (payer in name, entry.payer, entry.lost) == (keeps_payers, payer if keeps_payers else "", number)
        books.close()


async def test_books_that_nobody_keeps_are_reported(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the doctor, and beside a report."""
    own = Settings(books_dir=str(tmp_path))
    assert report.age(Settings())[0] == "ok"
    assert "there are no books" in report.age(own)[1]
    books = Books(tmp_path)
    Keeper(own, shop.client, books).tick()
    assert report.age(own)[0] == "ok"
    books.move(KEPT, str(int(time.time()) - 3_600))
    books.close()
    chosen = Namespace(since=None, until=None, without=[], by="day", check=False, csv=False, json=True)
    assert report.report(own, chosen) == 0
    assert "nothing was written since 20" in capsys.readouterr().err
    assert report.age(own)[0] == "warn"


def test_books_of_another_version_are_not_touched(tmp_path: Path) -> None:
    """A reader needs a file that is there."""
    with pytest.raises(Unusable, match="there are no books"):
        Books(tmp_path, is_reader=True)
    books = Books(tmp_path)
    list(books.rows("PRAGMA user_version = 9"))
    books.close()
    with pytest.raises(Unusable, match="have schema 9"):
        Books(tmp_path)
