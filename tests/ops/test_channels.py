"""What operators see of payment channels, from rows of a real ledger."""

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from coincurve import PrivateKey
from rich.console import Console

from compose.sandbox.child import claim_port
from ops import channel_checks, channels, gauges, payments
from ops.top import Observer, drawn
from shared.ledger.channels import AUTHORIZER, CHANNELS, CLAIMABLE, WATCH, channel_key
from shared.ledger.keys import bucket_of_payer
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402.evm import address_of, checksummed

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


def test_the_watch_is_as_old_as_that_of_its_oldest_bucket(book: Book, settings: Settings) -> None:
    book.watched()
    book.client.hset(WATCH, "behind", json.dumps({3: (1, book.now - 500_000), 4: (1, book.now - 20_000)}))
    summed = channels.summary(book.client, OWN)
    assert summed is not None
    assert summed.watch_age_s == pytest.approx(500, abs=30)


@pytest.fixture
def book(clean_redis: str) -> Iterator[Book]:
    with redis.Redis.from_url(clean_redis) as client:
        yield Book(client)


@pytest.fixture
def settings(clean_redis: str) -> Settings:
    return Settings(ledger_url=clean_redis, queue_url=clean_redis, evm=OWN, port=claim_port(0))


def series(book: Book, own: EvmRailSettings = OWN) -> dict[str, float]:
    families = gauges.channels(book.client, Settings(evm=own))
    return {sample.name.removeprefix("coinslot_"): sample.value for family in families for sample in family.samples}


def test_nothing_is_said_where_nothing_is_sold_by_channels(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the list, nor to Prometheus, nor in the view. What channels owe is told after they are switched off, too."""
    off = dataclasses.replace(settings, evm=EvmRailSettings())
    assert payments.report(off, as_json=False) == 0
    assert capsys.readouterr().out == "No payment needs you.\n"
    assert series(book, off.evm) == {}
    assert Observer(off, book.client, book.client).look().channels is None
    book.open(1, charged=3_000)
    assert payments.report(off, as_json=False) == 1
    assert "0.003000 USDC unclaimed" in capsys.readouterr().out
    assert series(book, off.evm)["channel_watch_age_seconds"] == float("inf")


def test_what_is_owed_is_no_alarm_while_it_is_claimed_in_time(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is a withdrawal from a channel that owes nothing."""
    book.watched()
    book.open(1, charged=7_000, claimed=4_000)
    book.open(2, charged=4_000, claimed=4_000, leaving=1_000, withdraw_at=book.now)
    assert payments.report(settings, as_json=False) == 0
    assert "2 open, 0.003000 USDC unclaimed" in capsys.readouterr().out
    found = series(book)
    assert (found["channels"], found["channel_unclaimed_usdc"]) == (2, 0.003)
    assert found["channels_leaving"] == found["channels_frozen"] == found["channels_not_worth_claiming"] == 0
    assert found["channel_leaving_seconds"] == 0
    assert found["channel_oldest_unclaimed_seconds"] == pytest.approx(60, abs=10)
    assert found["channel_claim_within_seconds"] == 3_600
    assert found["channel_watch_age_seconds"] < found["channel_stale_seconds"] == 60


def test_a_withdrawal_from_a_channel_that_owes_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it owes has to be claimed before the delay is over."""
    book.watched()
    name = book.open(1, charged=7_000, leaving=93_000, withdraw_at=book.now - 12_000_000)
    assert payments.report(settings, as_json=False) == 1
    assert "Its payer withdraws, and owes something" in capsys.readouterr().out
    assert payments.report(settings, as_json=True) == 1
    told, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert (told["id"], told["kind"], told["leaving"], told["unclaimed"]) == (name, "leaving", 93_000, 7_000)
    assert (counts["kind"], counts["unclaimed"], counts["leaving"]) == ("channels", 7_000, 1)
    found = series(book)
    assert found["channel_leaving_seconds"] > found["channel_withdraw_delay_seconds"] / 4 == DELAY_S / 4


def test_a_channel_that_owes_more_than_it_holds_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its deposit was taken back by the chain."""
    book.watched()
    book.open(1, charged=7_000, balance=0, owed_since=1)
    assert payments.report(settings, as_json=False) == 1
    assert "frozen" in capsys.readouterr().out
    found = series(book)
    assert (found["channels_frozen"], found["channel_oldest_unclaimed_seconds"]) == (1, 0)


def test_a_claim_that_is_not_worth_its_gas_is_counted_and_no_alarm(book: Book, settings: Settings) -> None:
    """It waits for more charges, however old the first one is."""
    book.watched()
    book.open(1, charged=1_000, owed_since=1)
    told = channels.summary(book.client, OWN)
    assert told is not None
    assert (told.small, told.unclaimed, told.oldest_s) == (1, 1_000, 0)
    assert payments.report(settings, as_json=False) == 0
    console = Console(width=220)
    with console.capture() as captured:
        console.print(drawn(Observer(settings, book.client, book.client).look()))
    assert "channels: 1 open, 0.001000 USDC unclaimed" in captured.get()
    assert "1 not worth a claim" in captured.get()


def test_a_claimer_that_does_not_look_needs_a_person(
    book: Book, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """If anything is owed: it could be withdrawn unseen."""
    book.watched(ago_s=90)
    book.open(1, charged=7_000, owed_since=book.now - 7_300_000)
    assert payments.report(settings, as_json=False) == 1
    assert "the claimer does not watch the chain" in capsys.readouterr().out
    found = series(book)
    assert found["channel_watch_age_seconds"] > found["channel_stale_seconds"]
    assert found["channel_oldest_unclaimed_seconds"] > 2 * found["channel_claim_within_seconds"]


def test_the_authorizers_key_is_private_not_the_settlers_and_the_ledgers(book: Book, tmp_path: Path) -> None:
    """Two ledgers with one authorizer would take one voucher twice."""
    key = PrivateKey()
    own = dataclasses.replace(OWN, authorizer_key_file=tmp_path / "authorizer", settler_key_file=tmp_path / "settler")

    def lacks() -> list[str]:
        return list(channel_checks.key_lacks(own, book.client))

    (missing,) = lacks()
    assert str(own.authorizer_key_file) in missing
    for path in (own.authorizer_key_file, own.settler_key_file):
        path.write_text(key.to_hex())
        path.chmod(0o600)
    assert [sentence.partition(":")[0] for sentence in lacks()] == ["the authorizer's key is the settler's"]
    own.settler_key_file.write_text("22" * 32)
    book.client.set(AUTHORIZER, checksummed(address_of(key.public_key)))
    assert lacks() == []
    own.authorizer_key_file.chmod(0o644)
    assert len(lacks()) == 1
    own.authorizer_key_file.write_text("11" * 32)
    own.authorizer_key_file.chmod(0o600)
    (other,) = lacks()
    assert "the ledger's channels name 0x" in other
