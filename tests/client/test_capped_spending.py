"""Caps, journal and pins: what may be signed, by however many processes, and after which crash."""

import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coinslot import spending_caps
from coinslot.errors import CapReached, InvalidCall, JournalUnusable, OfferDrifted
from coinslot.shop_pins import ShopPins
from coinslot.spending_caps import Caps
from coinslot.spending_journal import DAY_S, MAY_SETTLE_S, SpendingJournal
from shared.money import Price
from shared.x402.wire import Offer
from tests.each import each

CENT = Price.of("0.01")
NOON = 20_000 * DAY_S + DAY_S // 2
LATER = NOON + MAY_SETTLE_S + 1
AMPLE = Decimal(1000)


def caps(
    *,
    per_call: Decimal = AMPLE,
    per_day: Decimal = AMPLE,
    total: Decimal = AMPLE,
    per_endpoint: Mapping[str, Decimal] = {},
) -> Caps:
    """Caps of which only the given ones matter."""
    return Caps(per_call=per_call, per_day=per_day, total=total, per_endpoint=per_endpoint)


@pytest.fixture
def journal(tmp_path: Path) -> SpendingJournal:
    """A new journal."""
    return SpendingJournal(tmp_path / "state" / "reservations.jsonl")


@pytest.mark.parametrize(
    ("limits", "after"),
    [
        (caps(per_call=Decimal("0.009")), []),
        (caps(per_day=Decimal("0.02")), [NOON, NOON + 1]),
        (caps(total=Decimal("0.02")), [NOON - DAY_S, NOON - 9 * DAY_S]),
        (caps(per_endpoint={"echo": Decimal("0.015")}), [NOON]),
    ],
)
def test_each_cap_refuses_what_is_above_it(journal: SpendingJournal, limits: Caps, after: list[int]) -> None:
    """And says what is left. Nothing is reserved then."""
    for at in after:
        journal.reserve("echo", CENT, limits, now=at)
    before = journal.path.read_bytes() if after else b""
    with pytest.raises(CapReached, match=r"echo costs 0\.01, and 0(\.00[059]|\.00)? is left of .*cap"):
        journal.reserve("echo", CENT, limits, now=NOON)
    assert (journal.path.read_bytes() if after else b"") == before


def test_a_day_and_an_endpoint_are_counted_apart(journal: SpendingJournal) -> None:
    """Yesterday's calls are not today's, and another endpoint's cap is its own. A cap may name the tool, as hosts show it."""
    limits = caps(per_day=Decimal("0.02"), per_endpoint={"chain_call": Decimal("0.01")})
    for endpoint, now in (("chain/call", NOON - DAY_S), ("chain/call", NOON), ("faker", NOON)):
        journal.reserve(endpoint, CENT, limits, now=now)
    left = journal.left(limits, endpoint="chain/call", now=NOON)
    assert (left.today, left.endpoint, left.spent) == (0, 0, Decimal("0.03"))
    with pytest.raises(CapReached, match=r"today's cap of chain/call"):
        journal.reserve("chain/call", CENT, limits, now=NOON)


def test_what_ended_without_money_is_given_back(journal: SpendingJournal) -> None:
    """Unsent payments at once, refused ones when nobody can settle them any more; paid and unknown ones are not.

    Another process reads the same.
    """
    limits = caps(per_day=Decimal("0.04"))
    ids = [journal.reserve("echo", CENT, limits, now=NOON) for _ in range(4)]
    for reservation, state in zip(ids, ("paid", "unsent", "refused"), strict=False):
        journal.end(reservation, state, now=NOON)  # type: ignore[arg-type]
    for now, today in ((NOON, "0.01"), (LATER, "0.02")):
        assert journal.left(limits, now=now).today == Decimal(today)
        assert SpendingJournal(journal.path).left(limits, now=now).today == Decimal(today)
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_a_reservation_ends_once(journal: SpendingJournal) -> None:
    """Whoever ends it again, or ends one that is not in this journal, changes nothing, and the journal stays readable.

    A journal that is not there, because it was moved away, is not made by it.
    """
    journal.end("0123456789abcdef", "refused", now=NOON)
    assert not journal.path.exists()
    limits = caps(per_day=Decimal("0.04"))
    first, second = (journal.reserve("echo", CENT, limits, now=NOON) for _ in range(2))
    other = SpendingJournal(journal.path)
    other.end(first, "refused", now=NOON)
    for reservation, state in ((first, "refused"), (first, "paid"), ("0123456789abcdef", "refused"), (second, "paid")):
        journal.end(reservation, state, now=NOON)  # type: ignore[arg-type]
    other.end(second, "refused", now=NOON)
    assert len(journal.path.read_bytes().splitlines()) == 4
    assert SpendingJournal(journal.path).left(limits, now=LATER).today == Decimal("0.03")


@each(
    "limits",
    [
        caps(per_day=Decimal("0.02")),
        caps(total=Decimal("0.02")),
        caps(per_endpoint={"chain_call": Decimal("0.02")}),
    ],
)
def test_refusals_count_against_every_cap(tmp_path: Path, limits: Caps) -> None:
    """A server may settle what it has refused: never more than a cap within the time for that, and twice a cap in all."""
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        path = Path(folder) / "reservations.jsonl"
        signed = []
        for now in [NOON] * 40 + [LATER] * 40 + [2 * LATER - NOON] * 40:
            with suppress(CapReached):
                journal = SpendingJournal(path)
                journal.end(journal.reserve("chain/call", CENT, limits, now=now), "refused", now=now)
                signed.append(now)
    assert signed == [NOON, NOON, LATER, LATER]


def _reserve(path: Path, ids: Any) -> None:
    journal, limits = SpendingJournal(path), caps(per_day=Decimal("0.20"))
    for number in range(20):
        try:
            ids.put(journal.reserve("echo", CENT, limits, now=NOON))
        except CapReached:
            ids.put("")
        if number == 10 and multiprocessing.current_process().name == "dies":
            ids.close()
            ids.join_thread()
            os._exit(9)


def test_processes_share_the_caps(journal: SpendingJournal) -> None:
    """Four processes ask at the same time, and one dies: exactly what the cap allows is reserved, and stays so."""
    context = multiprocessing.get_context("spawn")
    ids = context.Queue()
    processes = [
        context.Process(target=_reserve, args=(journal.path, ids), name="dies" if number == 0 else None)
        for number in range(4)
    ]
    for process in processes:
        process.start()
    answers = [ids.get(timeout=60) for _ in range(3 * 20 + 11)]
    for process in processes:
        process.join()
    reserved = [answer for answer in answers if answer]
    assert len(reserved) == len(set(reserved)) == 20
    assert journal.left(caps(per_day=Decimal("0.20")), now=NOON).today == 0


def test_a_line_that_a_crash_cut_off_is_removed(journal: SpendingJournal) -> None:
    """It was not a reservation yet: nothing was signed for it."""
    journal.reserve("echo", CENT, caps(), now=NOON)
    with journal.path.open("ab") as file:
        file.write(b'{"id":"0123","at":17')
    again = SpendingJournal(journal.path)
    again.reserve("echo", CENT, caps(), now=NOON)
    assert len(journal.path.read_bytes().splitlines()) == 2
    assert journal.left(caps(), now=NOON).spent == Decimal("0.02")


@pytest.mark.parametrize(
    "damage", [lambda line: line + b"{}\n", lambda line: line + line.replace(b"reserved", b"paid") * 2, lambda _: b""]
)
def test_a_damaged_journal_stops_payments(journal: SpendingJournal, damage: Callable[[bytes], bytes]) -> None:
    """Nobody can say what it counted: it has a line that cannot be read, or of no reservation, or was emptied."""
    journal.reserve("echo", CENT, caps(), now=NOON)
    journal.path.write_bytes(damage(journal.path.read_bytes()))
    with pytest.raises(JournalUnusable):
        journal.reserve("echo", CENT, caps(), now=NOON)


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_journal_that_was_moved_stops_payments(journal: SpendingJournal, is_copied: bool) -> None:
    """Also where a copy is in its place."""
    journal.reserve("echo", CENT, caps(), now=NOON)
    moved = journal.path.rename(journal.path.with_suffix(".old"))
    if is_copied:
        shutil.copyfile(moved, journal.path)
    with pytest.raises(JournalUnusable):
        journal.reserve("echo", CENT, caps(), now=NOON)


def test_caps_come_from_file_and_environment(tmp_path: Path) -> None:
    """The environment goes first; per_endpoint is optional."""
    file = tmp_path / "caps.json"
    file.write_text('{"perCall": "0.01", "perDay": "1", "total": "20", "perEndpoint": {"echo": "0.5"}}')
    env = {"COINSLOT_CAPS_FILE": str(file), "COINSLOT_CAP_PER_DAY": "2"}
    assert spending_caps.find(env) == Caps(Decimal("0.01"), Decimal(2), Decimal(20), {"echo": Decimal("0.5")})
    env["COINSLOT_CAP_PER_ENDPOINT"] = "faker=0.1, dns=0.2"
    assert spending_caps.find(env).per_endpoint == {"faker": Decimal("0.1"), "dns": Decimal("0.2")}


@each(
    ("content", "says"),
    [
        ("{}", "COINSLOT_CAP_PER_CALL, COINSLOT_CAP_PER_DAY, COINSLOT_CAP_TOTAL"),
        ('{"perCal": "1"}', "perCal"),
        ('{"perCall": "1e3", "perDay": "1", "total": "1"}', "plain decimal"),
        ('{"perCall": "1", "perDay": "1", "total": "1", "perEndpoint": {"echo": ""}}', "cap of echo"),
        (None, "cannot read"),
    ],
)
def test_caps_that_cannot_be_used(tmp_path: Path, content: str | None, says: str) -> None:
    """Nothing is guessed."""
    file = tmp_path / "caps.json"
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidCall, match=says):
        spending_caps.find({"COINSLOT_CAPS_FILE": str(file)})


OFFER = Offer(
    scheme="exact",
    network="xrpl:0",
    amount="0.01",
    asset="USD",
    pay_to="rPayee",
    max_timeout_seconds=60,
    extra={"issuer": "rIssuer"},
)


@pytest.fixture
def pins(tmp_path: Path) -> ShopPins:
    """The pins of a shop whose echo was bought for a cent."""
    pins = ShopPins(tmp_path, "https://shop.example", "xrpl-usdc")
    pins.record("echo", OFFER, CENT)
    return ShopPins(tmp_path, "https://shop.example", "xrpl-usdc")


@each(
    "change",
    [{"network": "xrpl:1"}, {"asset": "EUR"}, {"pay_to": "rOther"}, {"extra": {"issuer": "rOther"}}, {"extra": {}}],
)
def test_an_offer_that_drifts_is_refused(pins: ShopPins, change: dict[str, Any]) -> None:
    """Network, asset, issuer and recipient are those of the first use; the message names both."""
    assert pins.path.stat().st_mode & 0o777 == 0o600
    drifted = msgspec.structs.replace(OFFER, **change)
    with pytest.raises(OfferDrifted, match=r"and was '(xrpl:0|USD|rPayee|rIssuer)'"):
        pins.check("faker", drifted, CENT)


def test_a_price_may_fall_and_not_rise(pins: ShopPins) -> None:
    """Each endpoint has the price of its first use. A file that was cut off is not a first use."""
    pins.check("echo", OFFER, Price.of("0.009"))
    pins.record("render-pro", OFFER, Price.of("0.05"))
    with pytest.raises(OfferDrifted, match=r"echo costs 0\.011, and cost 0\.01"):
        pins.record("echo", OFFER, Price.of("0.011"))
    pins.path.write_bytes(pins.path.read_bytes()[:20])
    with pytest.raises(OfferDrifted, match="cannot be read"):
        pins.check("echo", OFFER, CENT)
