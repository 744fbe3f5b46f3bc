"""The same payment, again: when it is sent, when it is not, and that it never becomes a second one."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed, Charged, OutcomeUnknown, PaymentRejected, Unreachable
from coinslot.exchange import ConnectionLost, Reply
from coinslot.payment import SignedPayment
from coinslot.wallet import Wallet

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Seen, Shop


BODY = b'{"message":  "hi"}'


def one_payment(shop: Shop, attempts: int) -> bool:
    """Every attempt carried the same header and the same body."""
    paid = [seen for seen in shop.seen if seen.payment]
    return len(paid) == attempts and len({(seen.payment, seen.body, seen.path) for seen in paid}) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_the_same_payment_is_sent_again_when_the_shop_says_so(shop: Shop, buyer: Buyer, status: int) -> None:
    """A failure with retryWithSamePayment is followed by the same bytes, and then by the answer."""
    shop.paid = [shop.problem(status, charged="unknown", retryWithSamePayment=True), shop.sell]
    assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=2)


def test_a_lost_answer_is_fetched_with_the_same_payment(shop: Shop, buyer: Buyer, drop: Canned) -> None:
    """The connection breaks after paying; the shop keeps the answer for the same header."""
    shop.paid = [lambda seen: shop.sell(seen) and drop, drop, shop.sell]
    assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=3)
    assert len({authorization.nonce for authorization in shop.authorizations}) == 1


def test_a_slow_answer_is_fetched_with_the_same_payment(shop: Shop) -> None:
    """So it is after a timeout."""

    def hang(seen: Seen) -> Canned:
        time.sleep(0.6)
        return shop.sell(seen)

    shop.paid = [hang, shop.sell]
    retry_policy = RetryPolicy(budget_s=5, first_pause_s=0.5)
    with Buyer(
        shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=None, timeout_s=0.3, retry_policy=retry_policy
    ) as buyer:
        assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=2)


def test_a_truncated_answer_is_fetched_again(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """Half an answer is no answer."""
    shop.paid = [canned(200, b'{"ok":', {"content-length": "100", "connection": "close"}), shop.sell]
    assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=2)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateways_page_is_a_broken_connection(shop: Shop, buyer: Buyer, canned: type[Canned], status: int) -> None:
    """A proxy's 502 says nothing about the payment, so the shop itself is asked again."""
    shop.paid = [canned(status, b"<html>Bad Gateway</html>", {"content-type": "text/html"}), shop.sell]
    assert buyer.call("echo", BODY).receipt.success
    assert one_payment(shop, attempts=2)


@pytest.mark.parametrize("status", [500, 503])
def test_without_the_flag_nothing_is_repeated(shop: Shop, buyer: Buyer, status: int) -> None:
    """A full shop that charged nothing is the caller's to come back to."""
    shop.paid = [shop.problem(status, retry_after=1)]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.worth_keeping, caught.value.retry_after_s) == (False, False, 1.0)
    assert one_payment(shop, attempts=1)


@pytest.mark.parametrize("status", [400, 402, 404, 409, 429])
def test_a_refusal_is_final_whatever_else_it_says(shop: Shop, buyer: Buyer, status: int) -> None:
    """The flag on a 4xx does not start a retry."""
    shop.paid = [shop.problem(status, retryWithSamePayment=True)]
    with pytest.raises((CallFailed, PaymentRejected)):
        buyer.call("echo")
    assert one_payment(shop, attempts=1)


def test_a_500_without_words_leaves_the_outcome_open(shop: Shop, buyer: Buyer, canned: type[Canned]) -> None:
    """Nobody said whether it was charged."""
    shop.paid = [canned(500, b"oops")]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert (caught.value.charged, caught.value.worth_keeping) == ("unknown", True)
    assert one_payment(shop, attempts=1)


@pytest.mark.parametrize(
    ("said", "charged"), [(True, True), (False, False), ("unknown", "unknown"), ("yes", "unknown")]
)
def test_charged_is_what_the_shop_said(shop: Shop, buyer: Buyer, said: object, charged: Charged) -> None:
    """And what is no answer to the question is "unknown"."""
    shop.paid = [shop.problem(502, charged=said)]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert caught.value.charged == charged


def test_a_receipt_overrules_the_problem(
    shop: Shop, buyer: Buyer, canned: type[Canned], pack: Callable[[Any], str]
) -> None:
    """A settlement that succeeded was charged, whatever the body says."""
    problem = shop.problem(400, charged=False)
    shop.paid = [canned(400, problem.body, {"payment-response": pack(shop.receipt())})]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo")
    assert caught.value.charged is True


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
    """A clock of its own."""
    return Clock()


@pytest.fixture
def patient(shop: Shop, clock: Clock) -> Iterator[Buyer]:
    """A buyer with the default patience, on a clock of its own."""
    retry_policy = RetryPolicy(clock=clock, sleep=clock.sleep)
    with Buyer(
        shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=Decimal(1), timeout_s=2, retry_policy=retry_policy
    ) as buyer:
        yield buyer


def test_pauses_double_and_end(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """Without a word from the shop: 0.5, 1, 2, 4, 4 … seconds, 30 at most; then the outcome is unknown."""
    shop.paid = [shop.problem(503, charged="unknown", retryWithSamePayment=True)]
    with pytest.raises(CallFailed) as caught:
        patient.call("echo", BODY)
    assert clock.slept == [0.5, 1, 2, 4, 4, 4, 4, 4, 4]
    assert (caught.value.charged, caught.value.worth_keeping) == ("unknown", True)
    assert isinstance(caught.value.payment, SignedPayment)
    assert one_payment(shop, attempts=10)


def test_retry_after_is_honoured(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """The shop's own wait goes before ours, unless ours is longer."""
    again = {"charged": "unknown", "retryWithSamePayment": True}
    shop.paid = [shop.problem(503, retry_after=7, **again), shop.problem(503, retry_after=0, **again), shop.sell]
    patient.call("echo")
    assert clock.slept == [7, 1]


def test_retry_after_may_stand_in_the_document_or_be_a_date(
    shop: Shop, patient: Buyer, clock: Clock, canned: type[Canned]
) -> None:
    """Both forms of the header, and the document's member, are understood."""
    again = {"charged": "unknown", "retryWithSamePayment": True}
    dated = shop.problem(503, **again)
    shop.paid = [
        shop.problem(503, retryAfterSeconds=3, **again),
        lambda seen: canned(503, dated.body, {"retry-after": formatdate(time.time() + 9, usegmt=True)}),
        canned(503, dated.body, {"retry-after": "soon"}),
        shop.sell,
    ]
    patient.call("echo")
    assert clock.slept[0] == 3
    assert 8 <= clock.slept[1] <= 10
    assert clock.slept[2] == 2


def test_a_wait_beyond_the_budget_ends_the_call(shop: Shop, patient: Buyer, clock: Clock) -> None:
    """Waiting a minute is the caller's decision; the payment is kept for it."""
    shop.paid = [shop.problem(503, retry_after=60, charged="unknown", retryWithSamePayment=True)]
    with pytest.raises(CallFailed) as caught:
        patient.call("echo")
    assert (clock.slept, caught.value.retry_after_s, caught.value.worth_keeping) == ([], 60.0, True)


def test_a_connection_that_stays_broken_leaves_the_outcome_open(shop: Shop, patient: Buyer, drop: Canned) -> None:
    """The payment may have been settled each time."""
    shop.paid = [drop]
    with pytest.raises(OutcomeUnknown) as caught:
        patient.call("echo", BODY)
    assert (caught.value.charged, caught.value.worth_keeping) == ("unknown", True)
    assert one_payment(shop, attempts=10)


def test_a_refusal_after_a_lost_answer_proves_nothing(shop: Shop, buyer: Buyer, drop: Canned) -> None:
    """The lost attempt may have been charged: a 402 or a 400 after it leaves that open."""
    shop.paid = [drop, lambda seen: shop.demand({**shop.challenge(), "error": "payment_already_used"})]
    with pytest.raises(PaymentRejected) as rejected:
        buyer.call("echo")
    assert (rejected.value.charged, rejected.value.worth_keeping) == ("unknown", True)
    shop.paid = [drop, shop.problem(400)]
    with pytest.raises(CallFailed) as failed:
        buyer.call("echo")
    assert failed.value.charged == "unknown"


def test_a_kept_payment_brings_its_answer(shop: Shop, buyer: Buyer, drop: Canned) -> None:
    """Buyer.resume sends the payment of an earlier call and signs nothing."""
    shop.paid = [shop.problem(504, retry_after=99, charged=True, retryWithSamePayment=True), drop, shop.sell]
    with pytest.raises(CallFailed) as caught:
        buyer.call("echo", BODY)
    assert caught.value.charged is True
    assert buyer.resume(caught.value.payment).receipt.success
    assert one_payment(shop, attempts=3)


class Unplugged(BlockingExchange):
    """Reaches the shop once, for the price; then never again."""

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        if "PAYMENT-SIGNATURE" in headers:
            raise ConnectionLost("no connection could be made (unplugged)", sent=False)
        return await super().send(method, url, body, headers)


def test_a_payment_that_never_left_was_not_spent(shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no attempt reached the shop, nothing can have been charged."""
    monkeypatch.setattr("coinslot.buyer.BlockingExchange", Unplugged)
    retry_policy = RetryPolicy(clock=clock, sleep=clock.sleep)
    with (
        Buyer(shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=None, retry_policy=retry_policy) as buyer,
        pytest.raises(Unreachable) as caught,
    ):
        buyer.call("echo")
    assert (caught.value.charged, caught.value.worth_keeping) == (False, False)
    assert len(clock.slept) == 9


class UnpluggedLater(BlockingExchange):
    """Reaches the shop for the price and with the payment once; then never again."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._left = 2

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        self._left -= 1
        if self._left < 0:
            raise ConnectionLost("no connection could be made (unplugged)", sent=False)
        return await super().send(method, url, body, headers)


def test_a_payment_that_has_left_once_is_never_called_unsent(
    shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shop that says "not charged, send it again" and closes its port has the payment all the same."""
    monkeypatch.setattr("coinslot.buyer.BlockingExchange", UnpluggedLater)
    shop.paid = [shop.problem(503, charged=False, retryWithSamePayment=True)]
    retry_policy = RetryPolicy(clock=clock, sleep=clock.sleep)
    with (
        Buyer(shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=None, retry_policy=retry_policy) as buyer,
        pytest.raises(OutcomeUnknown) as caught,
    ):
        buyer.call("echo")
    assert (caught.value.charged, caught.value.worth_keeping, len(shop.payments)) == ("unknown", True, 1)


def test_an_answer_without_end_is_given_up(shop: Shop, monkeypatch: pytest.MonkeyPatch, canned: type[Canned]) -> None:
    """Neither time nor memory is unlimited."""
    monkeypatch.setattr("coinslot.exchange.MAX_ANSWER_BYTES", 1000)
    shop.paid = [canned(200, b"[" + b" " * 2000 + b"]")]
    retry_policy = RetryPolicy(budget_s=0)
    with (
        Buyer(shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=None, retry_policy=retry_policy) as buyer,
        pytest.raises(OutcomeUnknown, match="larger than 1000 bytes"),
    ):
        buyer.call("echo")


def test_an_answer_that_trickles_is_given_up(shop: Shop, canned: type[Canned]) -> None:
    """The time limit is for the whole answer, not for the next byte of it."""
    shop.paid = [canned(200, b"[" + b" " * 40 + b"]", pause_s=0.03)]
    retry_policy = RetryPolicy(budget_s=0)
    with (
        Buyer(
            shop.base_url, Wallet.evm(bytes(31) + b"\x01"), max_price=None, timeout_s=0.3, retry_policy=retry_policy
        ) as buyer,
        pytest.raises(OutcomeUnknown, match=r"0\.3 s"),
    ):
        buyer.call("echo")


def test_headers_that_trickle_are_given_up() -> None:
    """So it is for the headers."""
    ended = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
            while not ended.wait(0.02):
                connection.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            BlockingExchange(address, timeout_s=0.3) as exchange,
            pytest.raises(ConnectionLost, match=r"0\.3 s") as caught,
        ):
            completed(exchange.send("GET", address))
        ended.set()
        thread.join()
    assert caught.value.sent
