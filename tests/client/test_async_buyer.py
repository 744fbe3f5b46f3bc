"""AsyncBuyer takes the steps of Buyer, and lets other tasks run."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from coinslot import AsyncBuyer, PaymentFolder, RetryPolicy, Wallet
from coinslot.async_exchange import AsyncExchange
from coinslot.errors import OutcomeUnknown, PriceTooHigh
from coinslot.exchange import ConnectionLost
from coinslot.payment_folder import claim
from coinslot.progress import Progress, Quoted, Sending, Waiting
from tests.client.conftest import DROP, KEY, Shop

pytestmark = pytest.mark.anyio


async def test_a_call_that_is_sent_again(shop: Shop, tmp_path: Path) -> None:
    """The same payment until there is an answer, which the caller hears of."""
    shop.paid = [DROP, shop.sell]
    told: list[Progress] = []
    async with AsyncBuyer(
        shop.base_url,
        Wallet.evm(KEY),
        max_price=Decimal("0.01"),
        retry_policy=RetryPolicy(first_pause_s=0.01),
        payments=PaymentFolder(tmp_path),
        on_progress=told.append,
    ) as buyer:
        answer = await buyer.call("echo", {"message": "hi"})
    assert answer.body == {"ok": True, "youSent": "hi"}
    assert (len(shop.payments), len(set(shop.payments))) == (2, 1)
    assert [type(step) for step in told] == [Quoted, Sending, Waiting]
    assert PaymentFolder(tmp_path).files() == []


async def test_calls_run_at_the_same_time(shop: Shop) -> None:
    """One buyer for many tasks: each its own payment."""
    async with (
        AsyncBuyer(shop.base_url, Wallet.evm(KEY), max_price=None, payments=None) as buyer,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(5):
            tasks.start_soon(buyer.call, "echo")
    assert len(set(shop.payments)) == 5


async def test_an_answer_whose_headers_trickle_is_given_up() -> None:
    """The time limit is for the whole answer."""

    async def trickle(stream: SocketStream) -> None:
        async with stream:
            with contextlib.suppress(anyio.BrokenResourceError):
                await stream.send(b"HTTP/1.1 200 OK\r\nx-slow: ")
                while True:
                    await stream.send(b"a")
                    await anyio.sleep(0.02)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, trickle)
        address = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        exchange = AsyncExchange(address, timeout_s=0.3)
        with anyio.fail_after(10), pytest.raises(ConnectionLost, match=r"0\.3 s") as caught:
            await exchange.send("GET", address)
        assert caught.value.sent
        await exchange.aclose()
        tasks.cancel_scope.cancel()


async def test_the_limit_and_the_saved_payment(shop: Shop, tmp_path: Path) -> None:
    """What Buyer refuses is refused, and what it keeps is kept."""
    async with AsyncBuyer(shop.base_url, Wallet.evm(KEY), max_price=Decimal("0.0009"), payments=None) as buyer:
        with pytest.raises(PriceTooHigh):
            await buyer.call("echo")
    shop.paid = [DROP, shop.sell]
    async with AsyncBuyer(
        shop.base_url,
        Wallet.evm(KEY),
        max_price=None,
        retry_policy=RetryPolicy(budget_s=0),
        payments=PaymentFolder(tmp_path),
    ) as buyer:
        with pytest.raises(OutcomeUnknown) as caught:
            await buyer.call("echo")
        assert (await buyer.resume(claim(caught.value.saved))).receipt.success
    assert PaymentFolder(tmp_path).files() == []
