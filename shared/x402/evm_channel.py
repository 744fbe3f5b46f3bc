"""The verifier of payment channels on EVM networks: scheme `batch-settlement`, with one deposit on the chain and a signed
voucher for each call.

A channel is what its configuration hashes to. A voucher says how much of the deposit its receiver may claim in all, so each one
replaces those before it. `check` decides offline, in under 0.1 ms, what a payload is: a voucher, a deposit with the voucher of
its own call, or the wish to have the rest back. What was charged before is known to the ledger alone.

Only accounts sign vouchers here: `payerAuthorizer` zero would ask the payer's contract, on the chain, at every call.

Sources: x402-foundation specs/schemes/batch-settlement/scheme_batch_settlement_evm.md (commit 1889fdd5), EIP-712, EIP-3009.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from shared.money import Price
from shared.x402 import authorization
from shared.x402.evm import EvmAuthorization, canonical, signer_of
from shared.x402.evm import matches as matches
from shared.x402.evm_channel_ids import (
    COLLECTOR,
    MAX_DELAY_S,
    MIN_DELAY_S,
    PREFIX,
    ChannelConfig,
    chain_id_of,
    channel_id,
    deposit_digest,
    deposit_nonce,
    voucher_digest,
)
from shared.x402.exact import MAX_TIMEOUT_SECONDS
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer

SCHEME = "batch-settlement"
MAX_ATOMIC = 1 << 53
"""Amounts are below this: Redis counts in doubles. It is nine billion USDC."""

TERMS: tuple[str, ...] = ("receiverAuthorizer", "withdrawDelay", "minDeposit")
TOKEN_KEY = TOKEN_REASON = ""
"""A voucher has no room for a token of the server's. The ledger binds it to its request."""
MORE_SETTLE_S = 0.0
_DEPOSIT_CALLS = 10
"""The least deposit is the setting's, and that of so many calls."""

_ZERO = "0x" + 40 * "0"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_WORD = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_UINT = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voucher(authorization.Authorization):
    """A voucher that passed the static check: it pays one call.

    Attributes:
        payment_id: ``<network>:<asset>:<payer>:<channel id>.<max claimable>``, in lower case.
        channel_id: 32 bytes.
        max_claimable: how much may be claimed in all, with this voucher.
        price: what the call costs, as `amount` says it.
        signature: of `payer_authorizer`, with v of 27 or 28.
    """

    config: ChannelConfig
    channel_id: bytes
    max_claimable: int

    @property
    def price(self) -> int:
        """Atomic units of the call."""
        return int(self.amount)

    @property
    def other_signer(self) -> str:
        """Whose key signed it, where it is not the payer's own; else empty. Anybody can make a channel in a payer's name."""
        signer = self.config.payer_authorizer.lower()
        return "" if signer == self.payer else signer

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """A voucher is always in time."""
        return None

    def expires(self, now: int) -> int:
        """It never does. What the ledger does with the time concerns payments that are settled one by one."""
        return now


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit(EvmAuthorization):
    """A deposit that passed the static check, with the voucher of the call that it comes with.

    It is an EIP-3009 authorization for COLLECTOR, whose nonce names the channel: so what proves a payment proves a deposit.

    Attributes:
        payment_id: as that of an authorization of `exact`: with the nonce.
        pay_to: COLLECTOR.
        value, amount: what is deposited.
        salt: 32 bytes, from which the nonce is made.
    """

    voucher: Voucher
    salt: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest(authorization.Authorization):
    """The wish of a payer to have the rest of a channel back.

    Attributes:
        voucher: says nothing new: its `max_claimable` is what was charged already.
        wanted: atomic units; None: all that is left.
    """

    voucher: Voucher
    wanted: int | None

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """It is always in time."""
        return None

    def expires(self, now: int) -> int:
        """It is done at once or not at all."""
        return now


class _Signed(msgspec.Struct, frozen=True, rename="camel"):
    channel_id: str
    max_claimable_amount: str
    signature: str


class _Erc3009(msgspec.Struct, frozen=True, rename="camel"):
    valid_after: str
    valid_before: str
    salt: str
    signature: str


class _Authorizations(msgspec.Struct, frozen=True, rename="camel"):
    erc3009_authorization: _Erc3009


class _DepositFields(msgspec.Struct, frozen=True):
    amount: str
    authorization: _Authorizations


class _Payload(msgspec.Struct, frozen=True, rename="camel"):
    type: str
    channel_config: ChannelConfig
    voucher: _Signed
    deposit: _DepositFields | None = None
    amount: str | None = None


def offers(token: EvmToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs at most, without the terms. Raises ExcessPrecision when the token cannot express the price."""
    offer = Offer(
        scheme=SCHEME,
        network=token.network,
        amount=str(price.atomic(token.decimals)),
        asset=token.address,
        pay_to=pay_to,
        max_timeout_seconds=MAX_TIMEOUT_SECONDS,
        extra={"name": token.name, "version": token.version, "paymentFlow": "upfront"},
    )
    return (offer,)


def completed(offer: Offer, terms: Mapping[str, Any]) -> Offer | None:
    """The offer with the authorizer, the delay and the least deposit; None while they are not known."""
    authorizer, delay, least = (terms.get(term) for term in TERMS)
    if not (isinstance(authorizer, str) and isinstance(least, str) and type(delay) is int):
        return None
    if not (_ADDRESS.fullmatch(authorizer) and _UINT.fullmatch(least)):
        return None
    least = str(max(int(least), _DEPOSIT_CALLS * int(offer.amount)))
    extra = {**offer.extra, "receiverAuthorizer": authorizer, "withdrawDelay": delay, "minDeposit": least}
    return msgspec.structs.replace(offer, extra=extra)


def is_payable(offer: Offer) -> bool:
    """Whether amount, recipient and terms have the form that `check` relies on."""
    extra = offer.extra
    authorizer, delay = extra.get("receiverAuthorizer"), extra.get("withdrawDelay")
    return bool(
        _UINT.fullmatch(offer.amount)
        and _ADDRESS.fullmatch(offer.pay_to)
        and isinstance(authorizer, str)
        and _ADDRESS.fullmatch(authorizer)
        and type(delay) is int
        and MIN_DELAY_S <= delay <= MAX_DELAY_S
        and isinstance(least := extra.get("minDeposit"), str)
        and _UINT.fullmatch(least)
    )


def check(offer: Offer, payload: dict[str, Any]) -> Voucher | Deposit | RefundRequest:
    """Decide what `payload` is, and whether it is signed for a channel of `offer`.

    Args:
        offer: our own offer with its terms, never the client's copy of it.
        payload: the `payload` member of the payment, of type ``voucher``, ``deposit`` or ``refund``.

    Raises:
        PaymentRefused: with the specification's reason.
    """
    try:
        decoded = msgspec.convert(payload, _Payload)
    except msgspec.ValidationError:
        raise _refused("voucher_payload") from None
    voucher = _voucher(offer, decoded.channel_config, decoded.voucher)
    if decoded.type == "voucher":
        return voucher
    if decoded.type == "deposit" and decoded.deposit is not None:
        return _deposit(offer, voucher, decoded.deposit)
    if decoded.type == "refund":
        return _refund(voucher, decoded.amount)
    raise _refused("voucher_payload")


def unsigned_voucher(network: str, config: ChannelConfig) -> Voucher:
    """A voucher over nothing: what stands for one where only its channel matters."""
    own_id = channel_id(chain_id_of(network), config)
    return Voucher(
        payment_id="",
        network=network,
        asset=config.token,
        payer=config.payer.lower(),
        pay_to=config.receiver,
        amount="0",
        signature=b"",
        config=config,
        channel_id=own_id,
        max_claimable=0,
    )


def _voucher(offer: Offer, config: ChannelConfig, signed: _Signed) -> Voucher:
    if not _SIGNATURE.fullmatch(signed.signature):
        raise _refused("voucher_payload")
    max_claimable = _atomic(signed.max_claimable_amount, "voucher_payload")
    chain_id = chain_id_of(offer.network)
    own_id = channel_id(chain_id, config)
    if signed.channel_id.lower() != "0x" + own_id.hex():
        raise _refused("channel_id_mismatch")
    for name, said, ours in (
        ("receiver_mismatch", config.receiver, offer.pay_to),
        ("receiver_authorizer_mismatch", config.receiver_authorizer, offer.extra["receiverAuthorizer"]),
        ("token_mismatch", config.token, offer.asset),
    ):
        if said.lower() != ours.lower():
            raise _refused(name)
    if config.withdraw_delay != offer.extra["withdrawDelay"]:
        raise _refused("withdraw_delay_mismatch")
    signature = bytes.fromhex(signed.signature[2:])
    authorizer = config.payer_authorizer.lower()
    if authorizer == _ZERO or signer_of(voucher_digest(chain_id, own_id, max_claimable), signature) != authorizer:
        raise _refused("voucher_signature")
    payer, asset = config.payer.lower(), offer.asset.lower()
    return Voucher(
        payment_id=f"{offer.network}:{asset}:{payer}:0x{own_id.hex()}.{max_claimable}",
        network=offer.network,
        asset=offer.asset,
        payer=payer,
        pay_to=offer.pay_to,
        amount=offer.amount,
        signature=canonical(signature),
        config=config,
        channel_id=own_id,
        max_claimable=max_claimable,
    )


def _deposit(offer: Offer, voucher: Voucher, fields: _DepositFields) -> Deposit:
    signed = fields.authorization.erc3009_authorization
    if not (_WORD.fullmatch(signed.salt) and _SIGNATURE.fullmatch(signed.signature)):
        raise _refused("deposit_payload")
    amount = _atomic(fields.amount, "deposit_payload")
    if amount < int(offer.extra["minDeposit"]):
        raise _refused("deposit_below_min_deposit")
    valid_after, valid_before = (_atomic(text, "deposit_payload") for text in (signed.valid_after, signed.valid_before))
    salt, signature = bytes.fromhex(signed.salt[2:]), bytes.fromhex(signed.signature[2:])
    nonce = deposit_nonce(voucher.channel_id, salt)
    digest = deposit_digest(offer, voucher.payer, amount, valid_after, valid_before, nonce)
    if signer_of(digest, signature) != voucher.payer:
        raise _refused("deposit_signature")
    return Deposit(
        payment_id=f"{offer.network}:{offer.asset.lower()}:{voucher.payer}:0x{nonce.hex()}",
        network=offer.network,
        asset=offer.asset,
        payer=voucher.payer,
        pay_to=COLLECTOR,
        amount=str(amount),
        value=amount,
        valid_after=valid_after,
        valid_before=valid_before,
        nonce=nonce,
        signature=canonical(signature),
        voucher=voucher,
        salt=salt,
    )


def _refund(voucher: Voucher, amount: str | None) -> RefundRequest:
    return RefundRequest(
        payment_id=voucher.payment_id,
        network=voucher.network,
        asset=voucher.asset,
        payer=voucher.payer,
        pay_to=voucher.pay_to,
        amount=voucher.amount,
        signature=voucher.signature,
        voucher=voucher,
        wanted=None if amount is None else _atomic(amount, "refund_amount_invalid"),
    )


def _atomic(text: str, reason: str) -> int:
    if not _UINT.fullmatch(text) or (number := int(text)) >= MAX_ATOMIC:
        raise _refused(reason)
    return number


def _refused(reason: str) -> PaymentRefused:
    return PaymentRefused(PREFIX + reason)
