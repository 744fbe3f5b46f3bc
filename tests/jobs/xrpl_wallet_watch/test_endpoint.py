"""The comparison, over a ledger that is a table."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from jobs.observation import Observed, Previous
from jobs.ports import Context
from jobs.ports.xrpl import Amount, History, Point, Transaction, TrustLine, WalletState
from jobs.xrpl_wallet_watch import baseline
from jobs.xrpl_wallet_watch.endpoint import ENDPOINT, EXAMPLE_ADDRESS, Request, run
from jobs.xrpl_wallet_watch.response import Response
from shared.settled_payment import SettledPayment
from shared.x402.networks import XRPL_RLUSD
from shared.x402.xrpl_keys import address
from tests.each import each
from tests.sites import PUBLIC

WALLET = EXAMPLE_ADDRESS
FRIEND, OTHER, SHOP = (address(bytes([number]) * 20) for number in (1, 2, 3))
ISSUER = XRPL_RLUSD["xrpl:0"].issuer
LINE = TrustLine(
    Decimal("1.25"), Decimal(10**9), is_frozen=False, no_ripple=True, is_authorized=True, allows_clawback=True
)
STATE = WalletState(1_000, 10, 1_000_000, 200_000, True, 25_000_000, 1, LINE, ())
AT = datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC)


class Ledger:
    """jobs.ports.XrplLedger."""

    network = "xrpl:0"

    def __init__(self, wallet: WalletState, *transactions: Transaction, complete: bool = True, more: bool = False):
        self.wallet_now = wallet
        self.history_now = History(transactions, complete, more)
        self.asked: list[Any] = []

    def wallet(self, address: str, *, at_least: int, deadline: float) -> WalletState:
        self.asked.append((address, at_least))
        return self.wallet_now

    def history(self, address: str, *, after: Point, through: int, most: int, deadline: float) -> History:
        self.asked.append((address, after, through, most))
        return self.history_now


class Ports:
    def __init__(self, ledger: Ledger) -> None:
        self.xrpl = ledger


def transaction(number: int, **changes: Any) -> Transaction:
    """A payment of the wallet to a friend: 1 XRP, and its fee."""
    usual = Transaction(
        hash=f"{number:064X}",
        type="Payment",
        result="tesSUCCESS",
        ledger=number,
        position=0,
        closed_at=1_700_000_000 + number,
        sender=WALLET,
        destination=FRIEND,
        tag=None,
        peer=None,
        fee=10,
        delivered=Amount(Decimal(1), "XRP", None),
        promised=None,
        is_partial=False,
        xrp=Decimal("-1.00001"),
        rlusd=Decimal(0),
    )
    return usual._replace(**changes)


def call(ledger: Ledger, previous: bytes | None = None, **fields: Any) -> tuple[Response, bytes]:
    """One call, and what it leaves."""
    seen = Previous(previous, AT) if previous is not None else None
    request = msgspec.convert({"address": WALLET, **fields}, Request)
    answer = run(request, Context(payer="rPayer", ports=Ports(ledger), previous=seen))  # type: ignore[arg-type]
    assert isinstance(answer, Observed)
    msgspec.json.encode(answer.response)
    return answer.response, answer.observation


def later(state: WalletState, *transactions: Transaction, ledger: int = 2_000) -> WalletState:
    """The wallet after some transactions."""
    xrp = sum((one.xrp for one in transactions), Decimal(0))
    held = sum((one.rlusd for one in transactions), Decimal(0))
    line = state.line._replace(balance=state.line.balance + held) if state.line else None
    return state._replace(ledger=ledger, balance=state.balance + int(xrp * 10**6), line=line)


def codes(response: Response) -> list[str]:
    return [alert.code for alert in response.alerts]


@pytest.fixture
def first() -> bytes:
    """What a first call leaves."""
    return call(Ledger(STATE))[1]


def test_the_first_call_makes_the_baseline_and_reports_no_history() -> None:
    """It answers what the example says, and asks for no history at all."""
    ledger = Ledger(STATE._replace(ledger=95_000_000), transaction(5))
    response, _ = call(ledger)
    assert msgspec.to_builtins(response) == ENDPOINT.example.response
    assert ledger.asked == [(WALLET, 0)]


def test_the_price_is_the_one_that_was_paid() -> None:
    """An installation may sell at another one than is declared."""
    context = Context(payer="rPayer", ports=Ports(Ledger(STATE)), payment=SettledPayment(amount="0.25"))  # type: ignore[arg-type]
    answer = run(msgspec.convert({"address": WALLET}, Request), context)
    assert isinstance(answer, Observed)
    runway = answer.response.call_runway
    assert (runway.price_per_call, runway.calls_remaining) == ("0.25", 5)


def test_an_x_address_is_answered_with_its_parts() -> None:
    """The classic address and the tag; the baseline is that of the classic address."""
    x_address = "X71KSsqo7WuwwcAcphaZL3HKhSoTpdAxfrHsTY79qBJmqZ2"
    response, _ = call(Ledger(STATE), address=x_address)
    assert (response.address, response.tag) == (WALLET, 7)
    assert ENDPOINT.subject is not None
    subjects = {ENDPOINT.subject(msgspec.convert({"address": text}, Request), PUBLIC) for text in (x_address, WALLET)}
    assert subjects == {WALLET}


def test_the_second_call_reports_what_came_after_the_first(first: bytes) -> None:
    """From the baseline's ledger on, and the third from the second's."""
    sent, received = (
        transaction(1_500),
        transaction(
            1_600,
            sender=OTHER,
            destination=WALLET,
            xrp=Decimal(0),
            rlusd=Decimal("0.5"),
            delivered=Amount(Decimal("0.5"), "RLUSD", ISSUER),
        ),
    )
    ledger = Ledger(later(STATE, sent, received), sent, received)
    response, second = call(ledger, first)
    assert ledger.asked == [(WALLET, 1_000), (WALLET, Point(1_000), 2_000, 200)]
    shown = msgspec.to_builtins(response)
    assert shown["baseline"] == {"created": False, "previousLedgerIndex": 1_000, "previousAt": "2026-11-20T15:04:05Z"}
    assert shown["deltas"] == {"xrp": "-1.00001", "rlusd": "0.5"}
    activity = shown["activity"]
    assert (activity["fromLedger"], activity["toLedger"], activity["count"]) == (1_000, 2_000, 2)
    assert (activity["truncated"], activity["complete"]) == (False, True)
    assert activity["transactions"][1] == {
        "hash": f"{1_600:064X}",
        "type": "Payment",
        "result": "tesSUCCESS",
        "ledgerIndex": 1_600,
        "time": "2023-11-14T22:40:00Z",
        "counterparty": OTHER,
        "delivered": {"value": "0.5", "currency": "RLUSD", "issuer": ISSUER, "imitatesRlusd": False},
        "promised": None,
        "partial": False,
        "deltas": {"xrp": "0", "rlusd": "0.5"},
    }
    assert activity["transactions"][0]["counterparty"] == FRIEND
    third = Ledger(ledger.wallet_now)
    call(third, second)
    assert third.asked[1] == (WALLET, Point(2_000), 2_000, 200)


def test_a_failed_transaction_costs_its_fee_and_pays_nobody(first: bytes) -> None:
    """It is reported as failed, moves XRP, and its destination is not a new one."""
    tec = transaction(1_500, result="tecPATH_DRY", xrp=Decimal("-0.00001"), delivered=None)
    response, _ = call(Ledger(later(STATE, tec), tec), first)
    [failed] = response.failed_transactions
    assert (failed.result, failed.fee) == ("tecPATH_DRY", "0.00001")
    assert response.new_destinations == []
    assert response.deltas.xrp == "-0.00001"
    assert codes(response) == ["transaction_failed"]


def test_a_destination_is_new_once(first: bytes) -> None:
    """With its tag; what the request allows raises no alert, and is reported all the same."""
    paid = [
        transaction(1_500),
        transaction(1_501),
        transaction(1_502, destination=SHOP, tag=5),
        transaction(1_503, destination=SHOP, tag=6),
        transaction(1_504, destination=WALLET),
        transaction(1_505, destination=OTHER, sender=SHOP),
    ]
    state = later(STATE, *paid)
    response, second = call(Ledger(state, *paid), first, allowedDestinations=[FRIEND])
    found = [(new.address, new.tag, new.hash[-3:], new.allowed) for new in response.new_destinations]
    assert found == [(FRIEND, None, "5DC", True), (SHOP, 5, "5DE", False), (SHOP, 6, "5DF", False)]
    assert codes(response) == ["new_destination", "new_destination"]
    again = [transaction(2_500), transaction(2_501, destination=SHOP, tag=6), transaction(2_502, destination=SHOP)]
    response, _ = call(Ledger(later(state, *again, ledger=3_000), *again), second, allowedDestinations=[SHOP])
    assert [(new.address, new.tag, new.allowed) for new in response.new_destinations] == [(SHOP, None, True)]


def test_a_classic_address_allows_all_its_tags_and_an_x_address_one(first: bytes) -> None:
    """7 is the tag of this X-address of the wallet, which another account pays here."""
    x_address = "X71KSsqo7WuwwcAcphaZL3HKhSoTpdAxfrHsTY79qBJmqZ2"
    state = STATE
    paid = [transaction(1_500 + tag, sender=FRIEND, destination=WALLET, tag=tag) for tag in (7, 8)]
    watched: dict[str, Any] = {"address": FRIEND}
    response, _ = call(Ledger(later(state, *paid), *paid), first, **watched, allowedDestinations=[x_address])
    assert [new.allowed for new in response.new_destinations] == [True, False]
    response, _ = call(Ledger(later(state, *paid), *paid), first, **watched, allowedDestinations=[WALLET])
    assert [new.allowed for new in response.new_destinations] == [True, True]


def test_a_partial_payment_to_the_wallet_is_an_alert(first: bytes) -> None:
    """The answer has what arrived."""
    trick = transaction(
        1_500,
        sender=OTHER,
        destination=WALLET,
        is_partial=True,
        xrp=Decimal(0),
        rlusd=Decimal("0.000001"),
        delivered=Amount(Decimal("0.000001"), "RLUSD", ISSUER),
    )
    response, _ = call(Ledger(later(STATE, trick), trick), first)
    assert codes(response) == ["partial_payment"]
    assert response.activity.transactions[0].delivered.value == "0.000001"  # type: ignore[union-attr]
    assert response.activity.transactions[0].partial


@pytest.mark.parametrize("kind", ["EscrowCreate", "CheckCreate", "PaymentChannelCreate"])
def test_what_is_promised_is_no_payment(first: bytes, kind: str) -> None:
    """To the wallet, and by it: it is said so, and no balance has it."""
    promise = {"type": kind, "promised": Amount(Decimal(5), "XRP", None), "delivered": None}
    received = transaction(1_500, sender=OTHER, destination=WALLET, xrp=Decimal(0), **promise)
    sent = transaction(1_600, **promise)
    response, _ = call(Ledger(later(STATE, received, sent), received, sent), first)
    assert codes(response) == ["payment_promised", "new_destination"]
    assert "promises 5 XRP to the wallet" in response.alerts[0].detail
    assert "None of it has arrived" in response.alerts[0].detail
    assert "was promised a payment" in response.alerts[1].detail
    for entry in response.activity.transactions:
        assert entry.delivered is None
        assert entry.promised is not None
        assert (entry.promised.value, entry.promised.currency) == ("5", "XRP")


@each(
    ("kind", "held", "what"),
    [("Clawback", "-0.75", "0.75 RLUSD"), ("AMMClawback", "-0.75", "0.75 RLUSD"), ("Clawback", "0", "a token")],
)
def test_what_an_issuer_takes_back(kind: str, held: str, what: str) -> None:
    """It is an alert, and that it may is a field."""
    response, first = call(Ledger(STATE))
    assert response.rlusd.clawback
    back = transaction(
        1_500, type=kind, sender=ISSUER, destination=None, delivered=None, xrp=Decimal(0), rlusd=Decimal(held)
    )
    response, _ = call(Ledger(later(STATE, back), back), first)
    assert codes(response) == ["clawback"]
    assert f"took back {what} from the wallet" in response.alerts[0].detail
    failed = back._replace(result="tecNO_LINE", rlusd=Decimal(0))
    response, _ = call(Ledger(later(STATE, failed), failed), first)
    assert codes(response) == ["transaction_failed"]


def code(text: str) -> str:
    """A currency code of twenty bytes."""
    return text.encode().ljust(20, b"\0").hex().upper()


TWIN = ISSUER[:4] + FRIEND[4:-3] + ISSUER[-3:]


@each(
    ("currency", "issuer", "is_imitation"),
    [
        (code("RLUSD"), OTHER, True),
        (code("rlusd"), OTHER, True),
        (code("RLUSD.v2"), OTHER, True),
        (code("RIUSD"), OTHER, True),
        (code("RᏞUSD"), OTHER, True),
        (code("\0\0RLUSD"), OTHER, True),
        (code("Ripple USD"), OTHER, True),
        ("USD", TWIN, True),
        (code("RLUSD"), ISSUER, False),
        ("RLUSD", ISSUER, False),
        ("USD", OTHER, False),
        (code("SOLO"), OTHER, False),
        (code("USDC"), OTHER, False),
        ("FF" * 20, OTHER, False),
        ("XRP", None, False),
        ("00" * 24, None, False),
    ],
)
def test_tokens_that_pass_for_rlusd(first: bytes, currency: str, issuer: str | None, is_imitation: bool) -> None:
    """Held, delivered and promised: each is an alert."""
    amount = Amount(Decimal(500), currency, issuer)
    held = STATE._replace(tokens=(amount,))
    usual = {"sender": OTHER, "destination": WALLET, "xrp": Decimal(0), "rlusd": Decimal(0)}
    paid = transaction(1_500, delivered=amount, **usual)
    promised = transaction(1_501, type="CheckCreate", delivered=None, promised=amount, **usual)
    response, _ = call(Ledger(later(held, paid, promised), paid, promised), first)
    assert codes(response).count("lookalike_rlusd") == 3 * is_imitation
    assert response.activity.transactions[0].delivered.imitates_rlusd is is_imitation  # type: ignore[union-attr]


def test_tokens_that_pass_for_rlusd_are_bounded() -> None:
    """Those with the most, and a line without a balance is called so."""
    tokens = tuple(Amount(Decimal(number), code("RLUSD"), address(bytes([number]) * 20)) for number in range(9, -1, -1))
    response, _ = call(Ledger(STATE._replace(tokens=tokens)))
    assert [alert.detail.split()[2] for alert in response.alerts] == ["9", "8", "7", "6", "5"]
    response, _ = call(Ledger(STATE._replace(tokens=tokens[-1:])))
    assert "has a trust line for a token that imitates RLUSD" in response.alerts[0].detail


def test_what_one_answer_cannot_list_the_next_does(first: bytes) -> None:
    """The next call continues within the same ledger, and the sums still agree at the end."""
    parts = [transaction(1_500, position=position, hash=f"{position:064X}") for position in range(3)]
    now = later(STATE, *parts)
    response, second = call(Ledger(now, *parts[:2], more=True), first)
    assert (response.activity.truncated, response.activity.to_ledger, response.activity.complete) == (True, 1_500, True)
    assert (response.deltas.xrp, codes(response)[0]) == ("-2.00002", "activity_truncated")
    ledger = Ledger(now, parts[2])
    response, _ = call(ledger, second)
    assert ledger.asked[1] == (WALLET, Point(1_500, 1), 2_000, 200)
    assert (response.activity.from_ledger, response.activity.complete, codes(response)) == (1_500, True, [])


def test_history_that_nodes_lack_is_said(first: bytes) -> None:
    """And the next call begins at the ledger of this one."""
    paid = transaction(1_500)
    response, second = call(Ledger(later(STATE, paid), paid, complete=False), first)
    assert not response.activity.complete
    assert "incomplete_history" in codes(response)
    response, _ = call(Ledger(later(STATE, paid)), second)
    assert response.activity.complete


@pytest.mark.parametrize("what", ["xrp", "rlusd"])
def test_history_that_does_not_add_up_is_said(first: bytes, what: str) -> None:
    """A node that keeps a transaction back is found out by the balances."""
    hidden = transaction(1_500, **{"xrp": Decimal(0), what: Decimal("-0.5")})
    response, _ = call(Ledger(later(STATE, hidden)), first)
    assert (response.activity.complete, codes(response)) == (False, ["incomplete_history"])


def test_incomplete_and_truncated_history_is_not_held_against_the_rest(first: bytes) -> None:
    """The balances at that point are not known, so the next call does not compare them."""
    paid = transaction(1_500)
    now = later(STATE, paid, transaction(1_400), transaction(1_600))
    _, second = call(Ledger(now, paid, complete=False, more=True), first)
    response, _ = call(Ledger(now, transaction(1_600)), second)
    assert response.activity.complete


NOBODY = WalletState(1_000, 10, 1_000_000, 200_000, False, 0, 0, None, ())


def test_an_account_that_does_not_exist_is_an_answer() -> None:
    """It has nothing, and needs the base reserve."""
    response, left = call(Ledger(NOBODY))
    assert (response.activated, response.xrp.balance, response.xrp.reserve) == (False, "0", "1")
    assert (response.rlusd.health, response.call_runway.calls_remaining) == ("missing", 0)
    assert codes(response) == ["not_activated"]
    made = transaction(1_500, sender=FRIEND, destination=WALLET, xrp=Decimal(5))
    response, _ = call(Ledger(NOBODY._replace(is_activated=True, balance=5_000_000, ledger=2_000), made), left)
    assert (response.activated, response.deltas.xrp, response.activity.complete) == (True, "5", True)


def test_a_deleted_account_is_distinguished(first: bytes) -> None:
    """From one that has not been activated: also when the deletion itself was reported before."""
    gone = transaction(1_500, type="AccountDelete", xrp=Decimal(-25), rlusd=Decimal("-1.25"))
    response, second = call(Ledger(NOBODY._replace(ledger=2_000), gone), first)
    assert (response.activated, codes(response)[0], response.activity.complete) == (False, "account_deleted", True)
    response, _ = call(Ledger(NOBODY._replace(ledger=3_000)), second)
    assert codes(response) == ["not_activated"]


@each(
    ("changes", "health", "alert"),
    [
        (None, "missing", "trust_line_missing"),
        ({"is_frozen": True}, "frozen", "trust_line_frozen"),
        ({"balance": Decimal(0)}, "empty", "rlusd_empty"),
        ({"is_authorized": False}, "ok", "trust_line_not_authorized"),
    ],
)
def test_the_health_of_the_line(changes: dict[str, Any] | None, health: str, alert: str) -> None:
    """What cannot be paid with is worth no call."""
    line = LINE._replace(**changes) if changes is not None else None
    response, _ = call(Ledger(STATE._replace(line=line)))
    assert (response.rlusd.health, response.call_runway.calls_remaining) == (health, 0)
    assert codes(response) == [alert, "runway_below_threshold"]


@each(
    ("balance", "drops", "calls", "limited_by"),
    [
        ("0.0999999999999999", 25_000_000, 99, "rlusd"),
        ("0.1", 25_000_000, 100, "rlusd"),
        ("0.0009", 25_000_000, 0, "rlusd"),
        ("5", 990, 99, "xrp"),
        ("-1", 990, 0, "rlusd"),
        ("9999999999999999e20", 10**17, 10**12, "xrp"),
    ],
)
def test_the_runway(balance: str, drops: int, calls: int, limited_by: str) -> None:
    """Whole calls: RLUSD for the price, XRP for the fee, which the reserve may pay, too."""
    response, _ = call(Ledger(STATE._replace(balance=drops, line=LINE._replace(balance=Decimal(balance)))))
    runway = response.call_runway
    assert (runway.calls_remaining, runway.limited_by) == (calls, limited_by)
    assert runway.below_threshold == (calls < 100)
    assert ("runway_below_threshold" in codes(response)) == (calls < 100)


def test_the_reserve_is_the_networks() -> None:
    """As it is in force; below it nothing is spendable."""
    state = STATE._replace(reserve_base=10_000_000, reserve_increment=2_000_000, owner_count=9)
    response, _ = call(Ledger(state))
    assert (response.xrp.reserve, response.xrp.spendable, codes(response)) == ("28", "0", ["reserve_shortfall"])


@each(
    "left",
    [
        b"",
        b"\x00",
        b"{}",
        baseline.write(
            baseline.Baseline(network="xrpl:1", ledger=5, position=None, xrp=None, rlusd=None, activated=True, seen=())
        ),
        baseline.write(
            baseline.Baseline(
                version=2, network="xrpl:0", ledger=5, position=None, xrp=None, rlusd=None, activated=True, seen=()
            )
        ),
    ],
)
def test_what_cannot_be_compared_with_is_no_baseline(left: bytes) -> None:
    """Cut off, of another network, or of a later version."""
    response, _ = call(Ledger(STATE, transaction(5)), left)
    assert response.baseline == msgspec.convert(
        {"created": True, "previousLedgerIndex": None, "previousAt": None}, type(response.baseline)
    )


def test_the_destinations_of_a_busy_wallet_are_bounded(first: bytes) -> None:
    """The latest are remembered."""
    many = [transaction(1_500 + n, destination=address(n.to_bytes(20, "big"))) for n in range(1_200)]
    _, second = call(Ledger(later(STATE, *many), *many), first)
    assert len(second) < 64 * 1024
    response, _ = call(Ledger(later(STATE, *many), many[0], many[-1]), second)
    assert [new.address for new in response.new_destinations] == [many[0].destination]
