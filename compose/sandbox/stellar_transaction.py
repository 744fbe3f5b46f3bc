"""Reads a Stellar transaction and checks whether the network would put it into its queue.

Rules: CAP-15 (fee bumps), CAP-46-07 and -08 (Soroban fees and resources), CAP-63 and the documentation of Stellar RPC.
"""

from dataclasses import dataclass
from typing import Any

from stellar_sdk import (
    CreateAccount,
    FeeBumpTransactionEnvelope,
    InvokeHostFunction,
    Keypair,
    Payment,
    TransactionBuilder,
    TransactionEnvelope,
    xdr,
)
from stellar_sdk.exceptions import BadSignatureError

from compose.sandbox.stellar_contract import State

BASE_FEE = 100
BASE_RESERVE = 5_000_000
STROOPS = 10_000_000
INSTRUCTIONS = 900_000
"""Instructions of one call. On the real network they differ by some per cent between ledgers, so clients add a margin."""
Code = xdr.TransactionResultCode


class Unreadable(ValueError):
    """The text is not a transaction, or the sandbox cannot apply it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A transaction as it was sent.

    Attributes:
        hash: of the envelope, in hex. A fee bump and its inner transaction have different hashes.
        inner: the transaction that is applied.
        fee: the offered stroops in total.
        fee_source: the account that pays the fee.
    """

    text: str
    hash: str
    inner: TransactionEnvelope
    outer: FeeBumpTransactionEnvelope | None
    fee: int
    fee_source: str

    @property
    def source(self) -> str:
        """The account whose sequence number is used."""
        return self.inner.transaction.source.account_id

    @property
    def inner_hash(self) -> str:
        """The hash of the inner transaction, in hex."""
        return self.inner.hash_hex()

    @property
    def resource_fee(self) -> int:
        """The part of the fee that pays for resources."""
        data = self.inner.transaction.soroban_data
        return data.resource_fee.int64 if data else 0

    @property
    def operations(self) -> list[Any]:
        """The operations of the inner transaction."""
        return self.inner.transaction.operations


def read(text: str, passphrase: str) -> Sent:
    """The transaction in this base64 text. Raises Unreadable."""
    try:
        envelope = TransactionBuilder.from_xdr(text, passphrase)
    except Exception as error:  # the SDK raises many kinds, and their text may quote the caller
        raise Unreadable(f"could not unmarshal transaction: {type(error).__name__}") from error
    outer = envelope if isinstance(envelope, FeeBumpTransactionEnvelope) else None
    inner = outer.transaction.inner_transaction_envelope if outer else envelope
    assert isinstance(inner, TransactionEnvelope)
    for operation in inner.transaction.operations:
        calls = isinstance(operation, InvokeHostFunction) and operation.host_function.invoke_contract is not None
        if not calls and not isinstance(operation, CreateAccount | Payment):
            raise Unreadable(f"the sandbox has no operation {type(operation).__name__}")
    if outer:
        fee, fee_source = outer.transaction.fee, outer.transaction.fee_source.account_id
    else:
        fee, fee_source = inner.transaction.fee, inner.transaction.source.account_id
    return Sent(text, envelope.hash_hex(), inner, outer, fee, fee_source)


def resource_fee(resources: xdr.SorobanResources) -> int:
    """Minimum fee of these resources in stroops, close to that of a transfer on the real network."""
    keys = len(resources.footprint.read_only) + len(resources.footprint.read_write)
    written = resources.disk_read_bytes.uint32 + resources.write_bytes.uint32
    return 5_000 + resources.instructions.uint32 // 100 + 1_500 * keys + 2 * written


def refusal(sent: Sent, state: State, *, close_time: int, reserved: int = 0) -> tuple[Code, bool] | None:
    """Why the network refuses the transaction, and whether a fee bump's inner transaction is the cause; None if it does not.

    Args:
        close_time: of the next ledger, in Unix seconds.
        reserved: stroops of the fee's source that other transactions in the queue offer.
    """
    outer = sent.outer
    if outer is not None:
        if code := _outer_refusal(sent, outer):
            return code, False
        if not _signed(outer, [sent.fee_source]):
            return Code.txBAD_AUTH, False
    if code := _inner_refusal(sent, state, close_time):
        return code, outer is not None
    payer = state.accounts.get(sent.fee_source)
    if payer is None:
        return Code.txNO_ACCOUNT, False
    if payer.balance - (2 + payer.sub_entries) * BASE_RESERVE - reserved < sent.fee:
        return Code.txINSUFFICIENT_BALANCE, False
    return None


def _outer_refusal(sent: Sent, outer: FeeBumpTransactionEnvelope) -> Code | None:
    operations = len(sent.operations)
    offered = outer.transaction.fee - sent.resource_fee
    inside = sent.inner.transaction.fee - sent.resource_fee
    if offered < BASE_FEE * (operations + 1) or offered * max(operations, 1) < inside * (operations + 1):
        return Code.txINSUFFICIENT_FEE
    return None


def _inner_refusal(sent: Sent, state: State, close_time: int) -> Code | None:
    transaction = sent.inner.transaction
    if not transaction.operations:
        return Code.txMISSING_OPERATION
    bounds = transaction.preconditions.time_bounds if transaction.preconditions else None
    if bounds and bounds.min_time > close_time:
        return Code.txTOO_EARLY
    if bounds and 0 < bounds.max_time < close_time:
        return Code.txTOO_LATE
    if code := _soroban_refusal(sent):
        return code
    if sent.outer is None and sent.fee - sent.resource_fee < BASE_FEE * len(transaction.operations):
        return Code.txINSUFFICIENT_FEE
    account = state.accounts.get(sent.source)
    if account is None:
        return Code.txNO_ACCOUNT
    if transaction.sequence != account.sequence + 1:
        return Code.txBAD_SEQ
    signers = [sent.source, *(each.source.account_id for each in transaction.operations if each.source)]
    if not _signed(sent.inner, signers):
        return Code.txBAD_AUTH
    if len(sent.inner.signatures) > len(set(signers)):
        return Code.txBAD_AUTH_EXTRA
    return None


def _soroban_refusal(sent: Sent) -> Code | None:
    transaction = sent.inner.transaction
    data = transaction.soroban_data
    calls = [each for each in transaction.operations if isinstance(each, InvokeHostFunction)]
    if not calls:
        return Code.txSOROBAN_INVALID if data else None
    if len(transaction.operations) != 1:
        return Code.txMALFORMED
    if data is None or data.resource_fee.int64 < resource_fee(data.resources):
        return Code.txSOROBAN_INVALID
    return Code.txSOROBAN_INVALID if data.resource_fee.int64 > transaction.fee else None


def _signed(envelope: TransactionEnvelope | FeeBumpTransactionEnvelope, signers: list[str]) -> bool:
    """Whether each of them signed it with the account's own key."""
    digest = envelope.hash()
    return all(any(_verifies(signer, digest, each) for each in envelope.signatures) for signer in signers)


def _verifies(signer: str, digest: bytes, signature: Any) -> bool:
    key = Keypair.from_public_key(signer)
    if key.signature_hint() != signature.signature_hint:
        return False
    try:
        key.verify(digest, signature.signature)
    except BadSignatureError:
        return False
    return True
