"""The same payment, again: when it is sent, when it is not, and that it never becomes a second one."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from typing import Any

import pytest

from coinslot.blocking_exchange import BlockingExchange
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed, Charged, CoinslotError, OutcomeUnknown, PaymentRejected, Unreachable
from coinslot.exchange import ConnectionLost, Reply
from coinslot.payment import SignedPayment
from coinslot.wallet import Wallet
from tests.client.conftest import DROP, KEY, Canned, Seen, Shop, Step, failed, packed
from tests.each import each

BODY = b'{"message":  "hi"}'


def one_payment(shop: Shop, attempts: int) -> bool:
    """Every attempt since the last look carried the same header and the same body."""
    paid = [seen for seen in shop.seen if seen.payment]
    shop.seen.clear()
    return len(paid) == attempts and len({(seen.payment, seen.body, seen.path) for seen in paid}) == 1


def again(status: int = 503, **members: Any) -> dict[str, Any]:
    """Arguments of a failure after which the same payment is to be sent again."""
    return {"status": status, "charged": "unknown", "retryWithSamePayment": True, **members}


def test_a_lost_answer_is_fetched_with_the_same_payment(shop: Shop, buyer: Buyer) -> None:
    """The shop says so, or the connection breaks after paying, or half an answer comes, or the page of a proxy."""
    page = {"content-type": "text/html"}
    lost: list[list[Step]] = [
        *([shop.problem(**again(status))] for status in (500, 502, 503, 504)),
        [lambda seen: shop.sell(seen) and DROP, DROP],
        [Canned(200, b'{"ok":', {"content-length": "100", "connection": "close"})],
        *([Canned(status, b"<html>Bad Gateway</html>", page)] for status in (502, 503, 504)),
    ]
    for steps in lost:
        shop.paid = [*steps, shop.sell]
        assert buyer.call("echo", BODY).receipt.success
        assert one_payment(shop, attempts=len(steps) + 1)
    assert len({authorization.nonce for authorization in shop.authorizations}) == len(lost)


def test_a_slow_answer_is_fetched_with_the_same_payment(shop: Shop) -> None:
    """So it is after a timeout."""

    def hang(seen: Seen) -> Canned:
        time.sleep(2.5)
        return shop.sell(seen)

    shop.paid = [hang, shop.sell]
    with bought(shop, timeout_s=1.5, retry_policy=RetryPolicy(budget_s=10, first_pause_s=1.5)) as buyer:
        assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=2)


@each("status", [400, 402, 404, 409, 429, 500, 503])
def test_only_the_flag_on_a_5xx_starts_a_retry(shop: Shop, buyer: Buyer, status: int) -> None:
    """Without it, a full shop that charged nothing is the caller's to come back to. A refusal is final whatever it says."""
    refused = shop.demand({**shop.challenge(), "error": "insufficient_funds"})
    shop.paid = [refused if status == 402 else shop.problem(status, retry_after=1, retryWithSamePayment=status < 500)]
    error = failed(buyer, CallFailed, PaymentRejected)
    assert (error.charged, error.worth_keeping) == (False, False)
    assert error.retry_after_s == (None if status == 402 else 1)
    assert one_payment(shop, attempts=1)


@each("stated", ["payment_required", "Payment required", "PAYMENT-SIGNATURE header is required", None])
def test_a_402_that_refuses_no_payment_proves_nothing(shop: Shop, buyer: Buyer, stated: str | None) -> None:
    """It is what an unpaid request gets, and the server may have settled the payment before."""
    shop.paid = [shop.demand({**shop.challenge(), "error": stated}) if stated else Canned(402, b'{"x402": true}')]
    error = failed(buyer, PaymentRejected)
    assert (error.charged, error.worth_keeping) == ("unknown", True)
    assert one_payment(shop, attempts=1)


def test_charged_is_what_the_shop_said(shop: Shop, buyer: Buyer) -> None:
    """What is no answer to the question is "unknown". A receipt goes before the problem document."""
    receipt = {"payment-response": packed(shop.receipt())}
    cases: list[tuple[Canned, Charged]] = [
        *((shop.problem(502, charged=said), said) for said in (True, False, "unknown")),
        (shop.problem(502, charged="yes"), "unknown"),
        (Canned(500, b"oops"), "unknown"),
        (Canned(400, shop.problem(400, charged=False).body, receipt), True),
    ]
    for answer, charged in cases:
        shop.paid = [answer]
        error = failed(buyer, CallFailed)
        assert (error.charged, error.worth_keeping) == (charged, charged == "unknown")
        assert one_payment(shop, attempts=1)


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    """A clock for one test."""
    return Clock()


@contextlib.contextmanager
def bought(shop: Shop, **options: Any) -> Iterator[Buyer]:
    """A buyer without a limit."""
    with Buyer(shop.base_url, Wallet.evm(KEY), max_price=None, **options) as buyer:
        yield buyer


@pytest.fixture
def patient(shop: Shop, clock: Clock) -> Iterator[Buyer]:
    """A buyer with the default patience, on that clock."""
    with bought(shop, timeout_s=2, retry_policy=RetryPolicy(clock=clock, sleep=clock.sleep)) as buyer:
        yield buyer


def test_pauses_double_and_end(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """Without a word from the shop: 0.5, 1, 2, 4, 4 … seconds, 30 at most; then the outcome is unknown.

    So it is when the connection stays broken: the payment may have been settled each time.
    """
    for step, kind in ((shop.problem(**again()), CallFailed), (DROP, OutcomeUnknown)):
        shop.paid, clock.slept, clock.now = [step], [], 0.0
        error = failed(patient, kind, body=BODY)
        assert clock.slept == [0.5, 1, 2, 4, 4, 4, 4, 4, 4]
        assert (error.charged, error.worth_keeping) == ("unknown", True)
        assert isinstance(error.payment, SignedPayment)
        assert one_payment(shop, attempts=10)


def test_retry_after_is_honoured(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """The shop's own wait goes before ours, unless ours is longer. It is a number or a date, or in the document."""
    dated = shop.problem(**again())
    shop.paid = [
        shop.problem(**again(), retry_after=7),
        shop.problem(**again(), retry_after=0),
        shop.problem(**again(retryAfterSeconds=3)),
        lambda seen: Canned(503, dated.body, {"retry-after": formatdate(time.time() + 9, usegmt=True)}),
        Canned(503, dated.body, {"retry-after": "soon"}),
        shop.sell,
    ]
    patient.call("echo")
    date = clock.slept.pop(3)
    assert (clock.slept, 8 <= date <= 10) == ([7, 1, 3, 4], True)


def test_a_wait_beyond_the_budget_ends_the_call(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """Waiting a minute is the caller's decision; the payment is kept for it."""
    shop.paid = [shop.problem(**again(), retry_after=60)]
    error = failed(patient, CallFailed)
    assert (clock.slept, error.retry_after_s, error.worth_keeping) == ([], 60.0, True)


def test_a_refusal_after_a_lost_answer_proves_nothing(shop: Shop, buyer: Buyer) -> None:
    """The lost attempt may have been charged: a 402 or a 400 after it leaves that open."""
    shop.paid = [DROP, lambda seen: shop.demand({**shop.challenge(), "error": "payment_already_used"})]
    with pytest.raises(PaymentRejected) as rejected:
        buyer.call("echo")
    assert (rejected.value.charged, rejected.value.worth_keeping) == ("unknown", True)
    shop.paid = [DROP, shop.problem(400)]
    with pytest.raises(CallFailed) as failed:
        buyer.call("echo")
    assert failed.value.charged == "unknown"


def test_a_kept_payment_brings_its_answer(shop: Shop, buyer: Buyer) -> None:
    """Buyer.resume sends the payment of an earlier call and signs nothing."""
    shop.paid = [shop.problem(504, retry_after=99, charged=True, retryWithSamePayment=True), DROP, shop.sell]
    error = failed(buyer, CallFailed, body=BODY)
    assert error.charged is True
    assert buyer.resume(error.payment).receipt.success
    assert one_payment(shop, attempts=3)


class Unplugged(BlockingExchange):
    """Reaches the shop a number of times; then never again."""

    requests = 0

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        if self.requests == 0:
            raise ConnectionLost("no connection could be made (unplugged)", sent=False)
        self.requests -= 1
        return await super().send(method, url, body, headers)


@pytest.mark.parametrize(("requests", "kind", "charged"), [(1, Unreachable, False), (2, OutcomeUnknown, "unknown")])
def test_only_a_payment_that_never_left_was_not_spent(
    *,
    shop: Shop,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    requests: int,
    kind: type[CoinslotError],
    charged: Charged,
) -> None:
    """A shop that says "not charged, send it again" and closes its port has the payment all the same."""
    monkeypatch.setattr("coinslot.buyer.BlockingExchange", Unplugged)
    monkeypatch.setattr(Unplugged, "requests", requests)
    shop.paid = [shop.problem(**again(charged=False))]
    with (
        bought(shop, retry_policy=RetryPolicy(clock=clock, sleep=clock.sleep)) as buyer,
        pytest.raises(kind) as caught,
    ):
        buyer.call("echo")
    assert (caught.value.charged, caught.value.worth_keeping) == (charged, charged == "unknown")
    assert (len(shop.payments), len(clock.slept)) == (requests - 1, 9)


@pytest.mark.parametrize(("spaces", "pause_s", "says"), [(2000, 0.0, "larger than 1000 bytes"), (40, 0.1, r"1\.5 s")])
def test_an_answer_without_end_is_given_up(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, spaces: int, pause_s: float, says: str
) -> None:
    """Neither memory nor time is unlimited. The time limit is for the whole answer, not for the next byte of it."""
    monkeypatch.setattr("coinslot.exchange.MAX_ANSWER_BYTES", 1000)
    shop.paid = [Canned(200, b"[" + b" " * spaces + b"]", pause_s=pause_s)]
    with (
        bought(shop, timeout_s=1.5, retry_policy=RetryPolicy(budget_s=0)) as buyer,
        pytest.raises(OutcomeUnknown, match=says),
    ):
        buyer.call("echo")
