"""Calls that the buyer pays out of channels: what is signed, by how many processes, after which crash, for which lies."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections import Counter
from contextlib import aclosing, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from coincurve import PrivateKey

from coinslot import resuming
from coinslot.buyer import Buyer, ignore
from coinslot.capped_buyer import CappedBuyer
from coinslot.channel_signer import ChannelSigner, Depositing
from coinslot.channel_store import Channel
from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed, CapReached, PaymentRejected
from coinslot.evm_signer import EvmSigner
from coinslot.payment_folder import PaymentFolder, claim
from coinslot.spending_caps import Caps
from coinslot.wallet import Wallet
from shared.x402 import evm_channel_ids
from shared.x402.evm import address_of
from tests.channel_signing import Payer
from tests.client.channel_shop import PRICE, ChannelShop
from tests.client.conftest import DROP, KEY, Canned, Shop, configured
from tests.signing import rsv

NO_PATIENCE = RetryPolicy(budget_s=0)


@pytest.fixture
def channel_shop(shop: Shop) -> ChannelShop:
    """The shop, paid out of channels."""
    return ChannelShop(shop, shop.challenge()["accepts"][0]["payTo"])


@pytest.fixture
def payments(tmp_path: Path) -> PaymentFolder:
    """An empty folder."""
    return PaymentFolder(tmp_path / "state")


def a_buyer(shop: Shop, payments: PaymentFolder, *, patience: RetryPolicy = NO_PATIENCE, **how: Any) -> Buyer:
    """A wallet that pays out of channels."""
    own = EvmSigner(KEY)
    signer = ChannelSigner(own, payments.channels, shop.base_url, Depositing(own, **how))
    return Buyer(
        shop.base_url,
        Wallet((signer,)),
        max_price=Decimal("0.01"),
        payments=payments,
        retry_policy=patience,
        timeout_s=3,
    )


def only(payments: PaymentFolder) -> Channel:
    """The only channel of the folder."""
    (channel,) = payments.channels.all()
    return channel


def test_one_deposit_pays_many_calls(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """Vouchers grow by the price of each, and when they reach the deposit, another one follows with the next call."""
    with a_buyer(channel_shop.shop, payments) as buyer:
        answers = [buyer.call("echo", {"n": n}) for n in range(11)]
    assert [answer.body["max"] for answer in answers] == [PRICE * n for n in range(1, 12)]
    assert list(channel_shop.deposits.values()) == [10_000, 10_000]
    channel = only(payments)
    assert (channel.balance, channel.used, channel.vouchers, channel.deposits) == (20_000, 11_000, {}, {})
    assert payments.files() == []
    assert sum(Decimal(spent.amount) for spent in payments.spending.read()) == Decimal("0.011")


def test_what_was_not_charged_is_signed_for_again(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """The channel has as much left as before the call that failed."""
    with a_buyer(channel_shop.shop, payments) as buyer:
        buyer.call("echo", {"n": 1})
        with pytest.raises(CallFailed):
            buyer.call("echo", "fails")
        assert buyer.call("echo", {"n": 2}).body["max"] == 2 * PRICE
    assert only(payments).left == 8_000


def test_an_amount_below_one_that_counts_is_not_signed_for_again(tmp_path: Path, channel_shop: ChannelShop) -> None:
    """Until those above it have not been charged either."""
    channel = Channel("", "eip155:8453", Payer(channel_shop.offer).config, channel_shop.offer)
    first, second, third = (channel.take(PRICE) for _ in range(3))
    channel.end(first, 0)
    channel.end(second, PRICE)
    channel.end(third, 0)
    assert channel.take(PRICE) == third
    other = Channel("", "eip155:8453", Payer(channel_shop.offer).config, channel_shop.offer)
    first, second = (other.take(PRICE) for _ in range(2))
    other.end(first, 0)
    assert other.take(PRICE) == 3 * PRICE
    other.end(3 * PRICE, 0)
    other.end(second, 0)
    assert (other.take(PRICE), other.vouchers.keys()) == (first, {str(first)})


_DIES = """
import os, sys
from decimal import Decimal
from pathlib import Path
from coinslot.buyer import Buyer
from coinslot.channel_signer import ChannelSigner, Depositing
from coinslot.evm_signer import EvmSigner
from coinslot.payment_folder import PaymentFolder
from coinslot.wallet import Wallet
url, folder, when = sys.argv[1:]
own = EvmSigner(bytes.fromhex(sys.stdin.read()))
payments = PaymentFolder(Path(folder))
signer = ChannelSigner(own, payments.channels, url, Depositing(own))
die = lambda *_, **__: os.kill(os.getpid(), 9)
if when == "unsaved":
    payments.save = die
with Buyer(url, Wallet((signer,)), max_price=Decimal(1), payments=payments,
           on_signed=die if when == "unsent" else lambda _: None) as buyer:
    buyer.call("echo", {"n": "first"})
    die()
"""


def killed(shop: Shop, payments: PaymentFolder, when: str, channel_shop: ChannelShop) -> None:
    """A buyer's process ends by SIGKILL: before its request is saved, before it is sent, or while it waits for the answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", _DIES, shop.base_url, str(payments.path), when],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )

    def kill(seen: Any) -> Canned:
        channel_shop.sell(seen)
        process.kill()
        return DROP

    if when == "unanswered":
        shop.paid = [kill, channel_shop.sell]
    process.communicate(KEY.hex().encode())
    assert process.returncode == -9


@pytest.mark.parametrize("when", ["unsaved", "unsent", "unanswered"])
def test_a_killed_process_costs_one_voucher_at_most(
    channel_shop: ChannelShop, payments: PaymentFolder, when: str
) -> None:
    """Its request is sent again first, with the same voucher, and the answer is kept; nothing is signed twice."""
    killed(channel_shop.shop, payments, when, channel_shop)
    assert only(payments).signed == PRICE
    with a_buyer(channel_shop.shop, payments) as buyer:
        assert buyer.call("echo", {"n": "second"}).body["max"] == 2 * PRICE
    first, second = (PRICE, b'{"n":"first"}'), (2 * PRICE, b'{"n":"second"}')
    assert channel_shop.vouchers == ([second] if when == "unsaved" else [first, second])
    kept = [resuming.resume(claim(path), payments, timeout_s=1, on_progress=ignore) for path in payments.files()]
    assert [answer.body["max"] for answer in kept] == ([] if when == "unsaved" else [PRICE])
    assert list(channel_shop.deposits.values()) == [10_000]


def _buy(url: str, folder: Path, number: int, dies: bool) -> None:
    """Eight calls of one process, half of which fail; it may die after the fourth."""
    own = EvmSigner(KEY)
    payments = PaymentFolder(folder)
    signer = ChannelSigner(own, payments.channels, url, Depositing(own, amount=Decimal("0.02")))
    with Buyer(url, Wallet((signer,)), max_price=Decimal(1), payments=payments) as buyer:
        for n in range(8):
            with suppress(CallFailed):
                buyer.call("echo", f"{number}.{n}" + ("fails" if n % 2 else ""))
            if dies and n == 3:
                os._exit(9)


def test_processes_share_one_channel(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """Four at the same time, one of which dies: no amount is used for two calls that were charged, and each is covered."""
    context = multiprocessing.get_context("spawn")
    arguments = (channel_shop.shop.base_url, payments.path)
    processes = [context.Process(target=_buy, args=(*arguments, number, number == 0)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [9, 0, 0, 0]
    answered = [one for one in channel_shop.vouchers if b"fails" not in one[1]]
    assert len(answered) == len({most for most, _ in answered}) == len({body for _, body in answered}) == 14
    channel = only(payments)
    assert channel_shop.account.charged == 14 * PRICE <= channel.used <= channel.balance == channel_shop.account.balance
    assert channel.signed == max(most for most, _ in channel_shop.vouchers)


CAPS = Caps(per_call=Decimal(1), per_day=Decimal(1), total=Decimal(1), per_endpoint={})


def capped(shop: Shop, payments: PaymentFolder, depositing: Depositing | None) -> CappedBuyer:
    """A wallet that pays out of channels, within caps."""
    signer = ChannelSigner(EvmSigner(KEY), payments.channels, shop.base_url, depositing)
    return CappedBuyer(replace(configured(shop.base_url, payments.path), signer=signer), CAPS, timeout_s=3)


async def bought(buyer: CappedBuyer, number: int) -> int:
    """The voucher that paid a call."""
    answer = await buyer.call("echo", {"n": number})
    assert answer.saved is not None
    answer.saved.remove()
    most: int = answer.body["max"]
    return most


def reservations(payments: PaymentFolder) -> Counter[str]:
    """How many lines of each state the journal of caps has."""
    return Counter(json.loads(line)["state"] for line in payments.journal.path.read_text().splitlines())


def test_calls_at_the_same_time_wait_for_one_deposit(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """Six tasks of one process, and a single deposit that covers all. A voucher that is overtaken is signed anew, higher.

    A call that waits for the deposit is reserved under the caps once.
    """

    async def run() -> list[int]:
        found: list[int] = []

        async def one(number: int) -> None:
            found.append(await bought(buyer, number))

        depositing = Depositing(EvmSigner(KEY), amount=Decimal("0.05"))
        async with (
            aclosing(capped(channel_shop.shop, payments, depositing)) as buyer,
            anyio.create_task_group() as tasks,
        ):
            for number in range(6):
                tasks.start_soon(one, number)
        return found

    assert len(set(anyio.run(run))) == 6
    assert channel_shop.account.charged == 6 * PRICE
    assert list(channel_shop.deposits.values()) == [50_000]
    counted = reservations(payments)
    assert (counted["paid"], counted["unsent"], counted["reserved"] - counted["refused"]) == (6, 0, 6)


def test_the_cap_of_deposits_is_for_all_channels(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """What is locked in one counts for the next, and what was spent does not."""
    with a_buyer(channel_shop.shop, payments, cap=Decimal("0.0189")) as buyer:
        for n in range(10):
            buyer.call("echo", {"n": n})
        buyer.call("echo", {"n": 10})
        channel_shop.pay_to = address_of(PrivateKey(bytes(31) + b"\x05").public_key)
        with pytest.raises(CapReached, match=r"0\.01 dollars and the 0\.009 that channels hold already"):
            buyer.call("echo", {"n": 11})
    assert len(channel_shop.deposits) == 2


@pytest.mark.parametrize(
    "shown",
    [
        {"chargedAmount": "9000"},
        {"chargedAmount": "-1"},
        {"channelState": {"chargedCumulativeAmount": "9000", "balance": "1000000"}},
        {"channelState": 7},
    ],
)
def test_a_receipt_is_believed_no_further_than_what_was_signed(
    channel_shop: ChannelShop, payments: PaymentFolder, shown: dict[str, Any]
) -> None:
    """The next voucher is one price higher, whatever the shop says."""
    with a_buyer(channel_shop.shop, payments) as buyer:
        buyer.call("echo", {"n": 1})
        if isinstance(state := shown.get("channelState"), dict):
            state["channelId"] = only(payments).id
        channel_shop.shown = shown
        buyer.call("echo", {"n": 2})
        assert buyer.call("echo", {"n": 3}).body["max"] == 3 * PRICE
    assert only(payments).balance == 10_000


def forget(payments: PaymentFolder, used: int) -> None:
    """The store believes that less was charged than is true."""
    with payments.channels.changing() as channels:
        (channel,) = channels.values()
        channel.base = channel.top = used


def test_a_correction_with_our_own_signature_is_believed(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """Once, and then the call is answered."""
    with a_buyer(channel_shop.shop, payments) as buyer:
        for n in range(3):
            buyer.call("echo", {"n": n})
        forget(payments, PRICE)
        assert buyer.call("echo", {"n": 3}).body["max"] == 4 * PRICE
    assert len(channel_shop.shop.payments) == 5


def test_both_vouchers_of_a_corrected_call_are_reserved(channel_shop: ChannelShop, payments: PaymentFolder) -> None:
    """The shop could claim both, so the first counts under the caps as every refused payment does.

    Where too little is left for the second one, it is not signed and does not count.
    """
    with a_buyer(channel_shop.shop, payments) as buyer:
        for n in range(9):
            buyer.call("echo", {"n": n})
    spent = []

    async def run() -> None:
        async with aclosing(capped(channel_shop.shop, payments, None)) as buyer:
            for n in range(9, 11):
                forget(payments, (n - 1) * PRICE)
                try:
                    await bought(buyer, n)
                finally:
                    spent.append((await buyer.left()).spent)

    with pytest.raises(CapReached, match=r"0 dollars are left in the channel"):
        anyio.run(run)
    assert spent == [Decimal("0.002"), Decimal("0.003")]
    assert reservations(payments) == {"reserved": 4, "paid": 1, "refused": 2, "unsent": 1}


@pytest.mark.parametrize("lie", ["above", "foreign", "unproven", "none"])
def test_a_correction_that_proves_nothing_is_not(channel_shop: ChannelShop, payments: PaymentFolder, lie: str) -> None:
    """A start above what the store has signed, another's signature, or a signature over less than what is claimed."""
    with a_buyer(channel_shop.shop, payments) as buyer:
        for n in range(3):
            buyer.call("echo", {"n": n})
        channel = only(payments)
        forget(payments, PRICE)
        start = 3_000 if lie == "foreign" else 9_000
        most = 9_000 if lie == "above" else 3_000
        signer = PrivateKey() if lie == "foreign" else PrivateKey(KEY)
        chain = evm_channel_ids.chain_id_of(channel.network)
        signature = rsv(signer, evm_channel_ids.voucher_digest(chain, channel.raw_id, most))
        channel_shop.stated = {
            "channelState": {"channelId": channel.id, "chargedCumulativeAmount": str(start), "balance": "10000"},
            "voucherState": {"signedMaxClaimable": str(most), "signature": "0x" + signature.hex()},
        }
        if lie == "none":
            del channel_shop.stated["channelState"]["chargedCumulativeAmount"]
        with pytest.raises(PaymentRejected, match="cumulative_amount_mismatch"):
            buyer.call("echo", {"n": 3})
    assert len(channel_shop.shop.payments) == 4
    assert only(payments).signed == 3 * PRICE
