"""AsyncBuyer takes the steps of Buyer, and lets other tasks run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from coinslot import AsyncBuyer, PaymentFolder, RetryPolicy, Wallet
from coinslot.errors import OutcomeUnknown, PriceTooHigh
from coinslot.payment_folder import claim
from coinslot.progress import Progress, Quoted, Sending, Waiting
from tests.client.conftest import DROP, KEY, Shop

pytestmark = pytest.mark.anyio


async def test_a_call_that_is_sent_again(shop: Shop, tmp_path: Path) -> None:
    """The same payment until there is an answer, and the caller sees each step."""
    shop.paid = [DROP, shop.sell]
    steps: list[Progress] = []
    async with AsyncBuyer(
        shop.base_url,
        Wallet.evm(KEY),
        max_price=Decimal("0.01"),
        retry_policy=RetryPolicy(first_pause_s=0.01),
        payments=PaymentFolder(tmp_path),
        on_progress=steps.append,
    ) as buyer:
        answer = await buyer.call("echo", {"message": "hi"})
    assert answer.body == {"ok": True, "youSent": "hi"}
    assert (len(shop.payments), len(set(shop.payments))) == (2, 1)
    assert [type(step) for step in steps] == [Quoted, Sending, Waiting]
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
