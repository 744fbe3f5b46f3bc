"""One line of the journal. Each has the number of its layout, so a file that was cut off or written anew has it, too."""

from __future__ import annotations

import msgspec

from facilitator.rails.evm.calldata import settling_call
from facilitator.rails.evm.transaction import Bid, Form, Payment, Sent
from shared.layouts import SETTLER_JOURNAL
from shared.x402.evm import EvmAuthorization
from shared.x402.evm_channel import Deposit, unsigned_voucher
from shared.x402.evm_channel_ids import ChannelConfig
from shared.x402.networks import EvmToken

_OF_DEPOSIT = ("config", "salt")


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """One payment of a transaction: what was signed, and the signature. Only a deposit has `config` and `salt`."""

    payment_id: str
    payer: str
    pay_to: str
    amount: str
    valid_after: int
    valid_before: int
    nonce: bytes
    signature: bytes
    signature_checked: bool
    config: ChannelConfig | None = None
    salt: bytes = b""

    @classmethod
    def of(cls, authorization: EvmAuthorization) -> Member:
        """What is written of a payment."""
        member = cls(
            **{name: getattr(authorization, name) for name in cls.__struct_fields__ if name not in _OF_DEPOSIT}
        )
        if isinstance(authorization, Deposit):
            member = msgspec.structs.replace(member, config=authorization.voucher.config, salt=authorization.salt)
        return member

    def authorization(self, token: EvmToken) -> EvmAuthorization:
        """The payment as it was checked; of a deposit without the voucher of its call."""
        fields = msgspec.structs.asdict(self)
        config, salt = (fields.pop(name) for name in _OF_DEPOSIT)
        fields |= {"network": token.network, "asset": token.address, "value": int(self.amount)}
        if config is None:
            return EvmAuthorization(**fields)
        return Deposit(**fields, voucher=unsigned_voucher(token.network, config), salt=salt)


class Entry(msgspec.Struct, frozen=True):
    """One form of a transaction.

    Attributes:
        account, chain_id: of the account that sent it.
        hash: of the transaction.
        members: the payments that it makes, in the order of its calls.
    """

    account: str
    chain_id: int
    number: int
    hash: str
    gas: int
    max_fee: int
    tip: int
    members: tuple[Member, ...]
    layout: int = SETTLER_JOURNAL.written

    @classmethod
    def of(cls, sent: Sent, form: Form, account: str, chain_id: int) -> Entry:
        """What is written of a form."""
        members = tuple(Member.of(payment.authorization) for payment in sent.members)
        return cls(account, chain_id, sent.number, form.hash, sent.gas, form.bid.max_fee, form.bid.tip, members)

    @property
    def bid(self) -> Bid:
        """What the form offers."""
        return Bid(self.max_fee, self.tip)

    def transaction(self, token: EvmToken) -> Sent:
        """The transaction, without forms. Nobody waits for its payments. Raises what a spoiled entry raises."""
        authorizations = [member.authorization(token) for member in self.members]
        to, data = settling_call(token.address, authorizations)
        valid_before = max(one.valid_before for one in authorizations)
        sent = Sent(self.number, to, data, self.gas, valid_before, offered=self.bid)
        sent.members = tuple(Payment(one, sent=sent, is_withdrawn=True) for one in authorizations)
        return sent
