"""A shop whose calls are paid out of channels: a scripted one, with the project's own verifier and a ledger in memory."""

import base64
import json
import threading
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.money import Price
from shared.x402 import evm_channel
from shared.x402.evm_channel import Deposit, RefundRequest, Voucher
from shared.x402.evm_channel_ids import PREFIX
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Offer, Payment
from tests.client.conftest import Canned, Seen, Shop, packed

TOKEN = EVM_USDC["eip155:8453"]
PRICE = 1_000
TERMS = {"receiverAuthorizer": "0x" + 40 * "a", "withdrawDelay": 900, "minDeposit": "10000"}


@dataclass
class Account:
    """One channel."""

    balance: int = 0
    charged: int = 0
    done_top: int = 0
    top: int = 0
    signature: str = ""


@dataclass
class ChannelShop:
    """What the shop knows.

    Attributes:
        vouchers: of every paid request that was taken, in order, with its body.
        deposits, made: by their payment id; and as they were signed.
        answers: by payment id, as a server keeps them.
        shown: changes the `extra` of receipts.
        stated: changes the `extra` of the offer in corrective 402s.
    """

    shop: Shop
    pay_to: str
    accounts: dict[str, Account] = field(default_factory=dict)
    vouchers: list[tuple[int, bytes]] = field(default_factory=list)
    deposits: dict[str, int] = field(default_factory=dict)
    made: list[Deposit] = field(default_factory=list)
    answers: dict[str, tuple[bytes, Canned]] = field(default_factory=dict)
    refunds: list[int] = field(default_factory=list)
    shown: dict[str, Any] = field(default_factory=dict)
    stated: dict[str, Any] = field(default_factory=dict)
    _mutex: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.shop.unpaid = [lambda seen: self.demand(seen.path)]
        self.shop.paid = [self.sell]

    @property
    def offer(self) -> Offer:
        """What a call costs at most."""
        plain = evm_channel.offers(TOKEN, Price.of("0.001"), self.pay_to)[0]
        offer = evm_channel.completed(plain, TERMS)
        assert offer is not None
        return offer

    @property
    def account(self) -> Account:
        """The only one."""
        (account,) = self.accounts.values()
        return account

    def demand(self, path: str, error: str = "payment required", **extra: Any) -> Canned:
        """402, with `exact` beside the channel."""
        challenge = self.shop.challenge(path)
        offer = msgspec.to_builtins(self.offer)
        offer["extra"] |= extra
        return self.shop.demand({**challenge, "error": error, "accepts": [*challenge["accepts"], offer]})

    def sell(self, seen: Seen) -> Canned:
        """Take a voucher as our server does: any that covers what is charged and its own price."""
        with self._mutex:
            payment = msgspec.json.decode(base64.b64decode(seen.payment or "", validate=True), type=Payment)
            assert payment.accepted == self.offer
            checked = evm_channel.check(self.offer, payment.payload)
            if isinstance(checked, RefundRequest):
                return self._refund(seen, checked.voucher)
            voucher = checked.voucher if isinstance(checked, Deposit) else checked
            account = self.accounts.setdefault(voucher.channel_id.hex(), Account())
            if isinstance(checked, Deposit) and checked.payment_id not in self.deposits:
                self.deposits[checked.payment_id] = checked.value
                self.made.append(checked)
                account.balance += checked.value
            body, known = self.answers.get(voucher.payment_id, (b"", None))
            if known is not None:
                return known if body == seen.body else self.correct(seen, voucher, account)
            most = voucher.max_claimable
            if most < account.charged + PRICE or most <= account.done_top:
                return self.correct(seen, voucher, account)
            if most > account.balance:
                return self.demand(seen.path, PREFIX + "cumulative_exceeds_balance")
            if most > account.top:
                account.top, account.signature = most, "0x" + voucher.signature.hex()
            self.vouchers.append((most, seen.body))
            receipt: dict[str, Any] = {"success": True, "transaction": "", "network": TOKEN.network, "amount": ""}
            if isinstance(checked, Deposit):
                receipt |= {"transaction": "0x" + 64 * "d", "amount": str(checked.value)}
            if b"fails" in seen.body:
                problem = self.shop.problem(422)
                if isinstance(checked, Deposit):
                    problem.headers["payment-response"] = packed(receipt)
                return problem
            account.charged += PRICE
            account.done_top = max(account.done_top, most)
            extra = {"chargedAmount": str(PRICE), "channelState": self.state(voucher, account)} | self.shown
            shown = {"payment-response": packed(receipt | {"extra": extra})}
            answer = Canned(200, json.dumps({"ok": True, "max": most}).encode(), shown)
            self.answers[voucher.payment_id] = (seen.body, answer)
            return answer

    def state(self, voucher: Voucher, account: Account) -> dict[str, Any]:
        """The channel's, as receipts and corrections have it."""
        return {
            "channelId": "0x" + voucher.channel_id.hex(),
            "balance": str(account.balance),
            "totalClaimed": "0",
            "withdrawRequestedAt": 0,
            "refundNonce": "0",
            "chargedCumulativeAmount": str(max(account.charged, account.done_top)),
        }

    def correct(self, seen: Seen, voucher: Voucher, account: Account) -> Canned:
        """A corrective 402."""
        signed = {"signedMaxClaimable": str(account.top), "signature": account.signature}
        extra = {"channelState": self.state(voucher, account), "voucherState": signed} | self.stated
        return self.demand(seen.path, PREFIX + "cumulative_amount_mismatch", **extra)

    def _refund(self, seen: Seen, voucher: Voucher) -> Canned:
        account = self.accounts[voucher.channel_id.hex()]
        if voucher.max_claimable not in (account.charged, account.done_top):
            return self.correct(seen, voucher, account)
        amount = account.balance - account.charged
        account.balance -= amount
        self.refunds.append(amount)
        receipt = {"success": True, "transaction": "0x" + 64 * "e", "network": TOKEN.network, "amount": str(amount)}
        return Canned(200, json.dumps(receipt).encode(), {"payment-response": packed(receipt)})
