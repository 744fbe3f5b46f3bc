"""Whatever a shop answers to a payment that it has received: the payment counts, and is kept while its outcome is unknown."""

import json
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from coinslot import capped_buyer
from coinslot.answer import Answer
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.buyer import ignore
from coinslot.capped_buyer import CappedBuyer
from coinslot.configuration import Configuration
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.purchase import Purchases
from coinslot.spending_caps import Caps
from coinslot.wallet import Wallet
from tests.client.conftest import Shop, configured
from tests.time_limits import patience

CAPS = Caps(Decimal("0.01"), Decimal("0.005"), Decimal("0.005"), {"echo": Decimal("0.005")})
LEFT = Decimal("0.004")
"""Of each cap, after one call for 0.001."""
TIMEOUT_S = {"close": patience(30), "reset": patience(30), "left open": patience(2)}
"""By what comes after the answer. Only a connection that is left open is waited for so long."""


class HostileShop:
    """Sells echo over a plain socket, and plays these bytes to whoever has paid.

    Attributes:
        played: The bytes.
        ends: What comes after them: the connection is closed, reset, or left open.
        received: How many payments have arrived.
    """

    def __init__(self) -> None:
        self.demand = b""
        self.played = b""
        self.ends = "close"
        self.received = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as requests:
                try:
                    while not self._answer(connection, requests.readline):
                        pass
                    if self.ends == "left open":
                        requests.read()
                except OSError:  # the buyer has had enough
                    continue

    def _answer(self, connection: socket.socket, line: Callable[[], bytes]) -> bool:
        """Answer the next request. Returns whether it was the last of the connection."""
        first = line()
        headers = {}
        while text := line().strip().lower():
            name, _, value = text.partition(b":")
            headers[name] = value
        if not headers:
            return True
        if first.startswith(b"GET "):  # it has no list of prices
            connection.sendall(b"HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n")
            return False
        if b"payment-signature" not in headers:
            connection.sendall(self.demand)
            return False
        self.received += 1
        connection.sendall(self.played)
        if self.ends == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return True


@pytest.fixture(scope="module")
def hostile() -> Iterator[HostileShop]:
    """The shop."""
    shop = HostileShop()
    yield shop
    shop.close()


def buy_blocking(found: Configuration, timeout_s: float) -> Answer:
    """As Buyer does, within the caps."""
    reserved: list[str] = []
    journal = found.payments.journal
    with BlockingExchange(found.base_url, timeout_s=timeout_s) as exchange:
        purchases = Purchases(
            base_url=found.base_url,
            wallet=Wallet((found.signer,)),
            exchange=exchange,
            max_price=None,
            retry_policy=RetryPolicy(budget_s=0),
            payments=found.payments,
            on_signed=ignore,
            on_progress=ignore,
            reserve=lambda choice: reserved.append(journal.reserve("echo", choice.price, CAPS, now=int(time.time()))),
            reservation=reserved.pop,
        )
        return completed(purchases.call("echo", None, keep=True))


def buy_async(found: Configuration, timeout_s: float) -> Answer:
    """As `coinslot mcp` does."""

    async def buy() -> Answer:
        buyer = CappedBuyer(found, CAPS, timeout_s=timeout_s)
        try:
            return await buyer.call("echo", None)
        finally:
            await buyer.aclose()

    return anyio.run(buy)


@contextmanager
def one_attempt() -> Iterator[None]:
    """A payment without an answer is not sent again: that would only take time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capped_buyer, "RetryPolicy", lambda: RetryPolicy(budget_s=0))
        yield


SEND_AGAIN = b'{"charged":false,"retryWithSamePayment":true}'
LINES = [
    b"location: /" + b"a" * 65_530,
    b"location: /" + "\u00e9".encode() * 15_000,
    b"location: http://[",
    b"location: //\xff:99999999999/",
    b"set-cookie: a=b; expires=Thu, 99 Foo 99999999 99:99:99 GMT; domain=[",
    b"content-type: application/json; charset=\xff\x00",
    b"content-encoding: gzip",
    b"content-length: -1",
    b"content-length: 99999999999999999999",
    b"transfer-encoding: chunked",
    b"transfer-encoding: gzip, chunked",
    b"retry-after: Thu, 99 Foo 99999999 99:99:99 +999999",
    b"payment-response: e30=",
    b"payment-required: \xe9",
    b"x-request-id: \xff\r\n folded",
    b"connection: upgrade\r\nupgrade: h2c",
    b"a: b\r\n" * 5_000 + b"c: d",
]
BODIES = [
    b"",
    b"{}",
    b'{"ok":true}',
    b"\x1f\x8b\x08\x00garbage",
    b"ffffffffffffffffff\r\n",
    b"5\r\nhello\r\n0\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    b'{"charged":"unknown","retryWithSamePayment":true,"retryAfterSeconds":1e308}',
    b'{"charged":false,"detail":[]}',
    SEND_AGAIN,
    b"[" * 3_000,
]
STATUSES = [100, 101, 200, 204, 302, 304, 307, 400, 402, 404, 429, 500, 503, 599]


@some.composite
def answers(draw: some.DrawFn) -> bytes:
    """Something like an answer of HTTP/1.1."""
    interim = draw(some.sampled_from([b"", b"HTTP/1.1 103 x\r\nlink: a\r\n\r\n" * 3, b"HTTP/1.1 100\r\n\r\n" * 2_000]))
    status = draw(some.sampled_from(STATUSES) | some.integers(0, 10_000))
    headers = draw(some.lists(some.sampled_from(LINES) | some.binary(max_size=40), max_size=3))
    body = draw(some.sampled_from(BODIES) | some.binary(max_size=200))
    if draw(some.booleans()):
        headers.append(b"content-length: %d" % len(body))
    garbage = draw(some.sampled_from([b"", b"", b"\x00garbage", b"HTTP/1.1 200 OK\r\n\r\n"]))
    complete = interim + b"\r\n".join([b"HTTP/1.1 %d x" % status, *headers, b"", body]) + garbage
    return complete[: draw(some.none() | some.integers(0, len(complete)))]


@given(played=answers() | some.binary(max_size=300), ends=some.sampled_from(["close", "reset"]))
@example(played=b"HTTP/1.1 302 x\r\n" + LINES[0] + b"\r\ncontent-length: 0\r\n\r\n", ends="close")
@example(played=b"HTTP/1.1 302 x\r\n" + LINES[1] + b"\r\ncontent-length: 0\r\n\r\n", ends="close")
@example(played=b"HTTP/1.1 200 x\r\nx-slow: a", ends="left open")
@example(played=b"HTTP/1.1 503 x\r\n\r\n" + SEND_AGAIN, ends="close")
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_payment_that_arrived_counts_and_is_kept(hostile: HostileShop, shop: Shop, played: bytes, ends: str) -> None:
    """It is never taken for unsent. Its file goes only when the shop says whether it was charged."""
    shop.base_url = hostile.base_url
    challenge = json.dumps(shop.challenge()).encode()
    hostile.demand = b"HTTP/1.1 402 x\r\ncontent-length: %d\r\n\r\n%b" % (len(challenge), challenge)
    hostile.played, hostile.ends = played, ends
    for buy in (buy_blocking, buy_async):
        received = hostile.received
        with tempfile.TemporaryDirectory() as folder, one_attempt():
            found = configured(hostile.base_url, Path(folder))
            payments = found.payments
            charged: object = "answered"
            try:
                buy(found, TIMEOUT_S[ends])
            except CoinslotError as error:
                charged = error.charged
            assert hostile.received == received + 1
            left = payments.journal.left(CAPS, endpoint="echo", now=int(time.time()))
            assert (left.today, left.total, left.endpoint) == (LEFT, LEFT, LEFT)
            journal, is_kept = payments.journal.path.read_bytes(), bool(payments.files())
            assert b"unsent" not in journal
            assert is_kept or charged in (True, False)
            assert not is_kept or b"refused" not in journal, "a payment that is sent again later is not refused"
            if charged is False:
                assert any(word in played for word in (b" 402 ", b" 429 ", b'"charged":false'))
