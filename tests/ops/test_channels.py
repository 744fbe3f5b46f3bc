"""What operators see of payment channels, from rows of a real ledger."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator

import pytest
import redis
from rich.console import Console

from compose.sandbox.child import claim_port
from ops import channels, gauges, payments
from ops.top import Observer, drawn
from shared.ledger.channels import CHANNELS, CLAIMABLE, WATCH, channel_key
from shared.ledger.keys import bucket_of_payer
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings

NETWORK = "eip155:8453"
DELAY_S = 40_000
OWN = EvmRailSettings(channels="on", withdraw_delay_s=DELAY_S)


class Book:
    """The rows of channels."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.now = int(time.time() * 1000)

    def open(self, number: int, **fields: int | str) -> str:
        """A channel that holds 100,000 and owes nothing, but for what is given; its id."""
        name, payer = f"0x{number:064x}", f"0x{number:040x}"
        bucket = bucket_of_payer(NETWORK, payer)
        row = {"payer": payer, "network": NETWORK, "balance": 100_000, "charged": 0, "claimed": 0, "leaving": 0}
        row |= {"withdraw_at": 0, "owed_since": self.now - 60_000, "calls": 5} | fields
        self.client.hset(channel_key(bucket, name), mapping=row)
        self.client.zadd(CHANNELS[bucket], {name: self.now})
        self.client.zadd(CLAIMABLE[bucket], {name: self.now})
        return name

    def watched(self, *, ago_s: int = 1) -> None:
        """As the claimer writes it; a claim costs 2,000 atomic units."""
        self.client.hset(WATCH, mapping={"watched_at": self.now - ago_s * 1000, "claim_cost": 2_000})


@pytest.fixture
def book(clean_redis: str) -> Iterator[Book]:
    with redis.Redis.from_url(clean_redis) as client:
        yield Book(client)


@pytest.fixture
def settings(clean_redis: str) -> Settings:
    return Settings(ledger_url=clean_redis, queue_url=clean_redis, evm=OWN, port=claim_port(0))


def series(book: Book) -> dict[tuple[str, ...], float]:
    families = gauges.channels([book.client], OWN)
    return {
        (sample.name.removeprefix("coinslot_channels_"), *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_nothing_is_said_where_nothing_is_sold_by_channels(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the list, nor to Prometheus, nor in the view. What channels owe is told after they are switched off, too."""
    off = dataclasses.replace(settings, evm=EvmRailSettings())
    assert payments.report(off, as_json=False) == 0
    assert capsys.readouterr().out == "No payment needs you.\n"
    assert list(gauges.channels([book.client], off.evm)) == []
    assert Observer(off, [book.client], book.client).look().channels is None
    book.open(1, charged=3_000)
    assert payments.report(off, as_json=False) == 1
    assert "1 owe 0.003000 USDC" in capsys.readouterr().out


def test_what_is_owed_is_no_alarm_while_it_is_claimed_in_time(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is a withdrawal from a channel that owes nothing."""
    book.watched()
    book.open(1, charged=7_000, claimed=4_000)
    book.open(2, charged=4_000, claimed=4_000, leaving=1_000, withdraw_at=book.now)
    assert payments.report(settings, as_json=False) == 0
    assert "2 channels, of which 1 owe 0.003000 USDC" in capsys.readouterr().out
    found = series(book)
    assert found["coinslot_channels",] == 2
    assert found["unclaimed_usdc",] == 0.003
    assert (
        found["withdrawing",]
        == found["frozen",]
        == found["not_worth_claiming",]
        == found["age_seconds", "withdrawal"]
        == 0
    )
    assert found["age_seconds", "unclaimed"] == pytest.approx(60, abs=10)
    assert found["age_limit_seconds", "unclaimed"] == 7_200
    assert found["age_seconds", "watch"] < found["age_limit_seconds", "watch"] == 60


def test_a_withdrawal_from_a_channel_that_owes_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its end, until which the charges have to be claimed."""
    book.watched()
    name = book.open(1, charged=7_000, leaving=93_000, withdraw_at=book.now - 12_000_000)
    assert payments.report(settings, as_json=False) == 1
    assert "Its payer withdraws." in capsys.readouterr().out
    assert payments.report(settings, as_json=True) == 1
    told, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert (told["channel"], told["kind"], told["leaving"]) == (name, "leaving", "93000")
    assert (counts["kind"], counts["unclaimed"], counts["withdrawing"]) == ("channels", "7000", 1)
    found = series(book)
    assert found["age_seconds", "withdrawal"] > found["age_limit_seconds", "withdrawal"] == DELAY_S / 4


def test_a_channel_that_owes_more_than_it_holds_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its deposit was taken back by the chain."""
    book.watched()
    book.open(1, charged=7_000, balance=0, owed_since=1)
    assert payments.report(settings, as_json=False) == 1
    assert "frozen" in capsys.readouterr().out
    found = series(book)
    assert (found["frozen",], found["age_seconds", "unclaimed"]) == (1, 0)


def test_a_claim_that_is_not_worth_its_gas_is_counted_and_no_alarm(book: Book, settings: Settings) -> None:
    """It waits for more charges, however old the first one is."""
    book.watched()
    book.open(1, charged=1_000, owed_since=1)
    state = channels.read([book.client], OWN, now_ms=book.now)
    assert (len(state.small), state.owed, state.oldest_ms) == (1, 1_000, 0)
    assert payments.report(settings, as_json=False) == 0
    console = Console(width=220)
    with console.capture() as captured:
        console.print(drawn(Observer(settings, [book.client], book.client).look()))
    assert "channels  1, 0.001000 USDC not claimed" in captured.get()
    assert "1 not worth a claim" in captured.get()


def test_a_claimer_that_does_not_look_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """If anything is owed: it could be withdrawn unseen."""
    book.watched(ago_s=90)
    book.open(1, charged=7_000, owed_since=book.now - 7_300_000)
    assert payments.report(settings, as_json=False) == 1
    assert "The claimer has not looked at the chain for 9" in capsys.readouterr().out
    found = series(book)
    for of in ("watch", "unclaimed"):
        assert found["age_seconds", of] > found["age_limit_seconds", of]
