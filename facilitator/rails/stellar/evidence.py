"""What the chain shows of an authorization: whether it was used, and by which transfer.

The rule of evidence: a transaction proves a payment when it succeeded, its only operation is this transfer, it carries this
authorization entry and no other, and its events show the transfer. Of several entries some may be unused. A used nonce alone
proves nothing: its owner may have spent it on anything.
"""

import asyncio
import base64
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stellar_sdk import Address, FeeBumpTransactionEnvelope, MuxedAccount, TransactionBuilder, scval
from stellar_sdk import xdr as stellar_xdr
from stellar_sdk.address import AddressType
from stellar_sdk.soroban_rpc import EventFilter, EventFilterType, GetTransactionResponse, GetTransactionStatus

from facilitator import payment_id
from facilitator.payment_id import PaymentId
from facilitator.rails.stellar.node import NODE_ERRORS, StellarNode
from shared.x402 import stellar_envelope
from shared.x402.networks import StellarToken
from shared.x402.refusal import PaymentRefused
from shared.x402.stellar_address import parse
from shared.x402.stellar_xdr import ADDRESS, I128, Malformed
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

LOOKBACK_LEDGERS = 17_000
"""How far back evidence is looked for: about a day. Nodes keep a day at least, most a week."""
WINDOW_LEDGERS = 4_250
EVENTS_AT_ONCE = 200
MOST_LOOKED_INTO = 200
"""How many transactions of one payer are looked at: each takes a request to the node."""
AT_ONCE = 10
EVIDENCE_TIMEOUT_S = 4.0

_PREFIX = "invalid_exact_stellar_payload_"
_FORM = re.compile(r"([A-Z2-7]{56}):(-?[1-9][0-9]{0,18}|0)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of a token. `payee` is an account or a contract, never a multiplexed account."""

    payer: str
    payee: str
    amount: int


def parse_id(text: str, token: StellarToken) -> PaymentId | None:
    """The parts of ``stellar:<network>:<contract>:<payer>:<nonce>``, or None when it is no id of this token."""
    named = payment_id.parse(text, token.network, token.contract, _FORM)
    if named is None or parse(named.payer) is None or not -(1 << 63) <= int(named.nonce) < 1 << 63:
        return None
    return named


def simulated(events: Iterable[str]) -> list[stellar_xdr.ContractEvent]:
    """The events that the contracts emitted in a simulation."""
    shown = (stellar_xdr.DiagnosticEvent.from_xdr(each).event for each in events)
    return [each for each in shown if each.type == stellar_xdr.ContractEventType.CONTRACT]


def emitted(transaction: GetTransactionResponse) -> list[stellar_xdr.ContractEvent]:
    """The events that the contracts emitted in a transaction."""
    if transaction.events is not None and transaction.events.contract_events_xdr is not None:
        texts = [text for texts in transaction.events.contract_events_xdr for text in texts]
        return [stellar_xdr.ContractEvent.from_xdr(text) for text in texts]
    # Nodes before RPC 23 have the events only in the meta.
    meta = stellar_xdr.TransactionMeta.from_xdr(transaction.result_meta_xdr or "")
    if meta.v4 is not None:
        return [event for operation in meta.v4.operations for event in operation.events]
    assert meta.v3 is not None
    return list(meta.v3.soroban_meta.events) if meta.v3.soroban_meta else []


def events_refusal(events: Sequence[stellar_xdr.ContractEvent], contract: str, expected: Transfer) -> str | None:
    """Why these events are not exactly the expected transfer; None when they are."""
    found = []
    for event in events:
        read = _transfer(event)
        if read is None:
            return _PREFIX + "event_not_transfer"
        if event.contract_id is None:
            return _PREFIX + "event_missing_contract_id"
        if Address.from_raw_contract(event.contract_id.contract_id.hash).address != contract:
            return _PREFIX + "event_wrong_asset"
        found.append(read)
    if len(found) != 1:
        return _PREFIX + ("multiple_transfers" if found else "no_transfer_events")
    [transfer] = found
    if transfer.payer != expected.payer:
        return _PREFIX + "event_wrong_from"
    if transfer.payee != expected.payee:
        return _PREFIX + "event_wrong_to"
    return None if transfer.amount == expected.amount else _PREFIX + "event_wrong_amount"


class Transfers:
    """Looks for authorizations on the chain."""

    def __init__(self, node: StellarNode) -> None:
        self._node = node
        self._token = node.token

    async def evidence(self, payer: str, nonce: int, *, hint: str = "") -> Evidence:
        """What became of one authorization. Never raises. It is ``unknown`` when the node does not answer or does not show it.

        Args:
            hint: a transaction that probably contains it.
        """
        try:
            async with asyncio.timeout(EVIDENCE_TIMEOUT_S):
                return await self._evidence(payer, nonce, hint)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
        return self._found("unknown", payer)

    async def _evidence(self, payer: str, nonce: int, hint: str) -> Evidence:
        height = await self._node.look()
        if hint and (found := await self._settled_in(hint, payer, nonce, height.close_time)):
            return found
        used_in = await self._node.nonce_used_in(payer, nonce)
        earliest = max(height.oldest, height.ledger - LOOKBACK_LEDGERS)
        first, end = (used_in, used_in + 1) if used_in else (earliest, height.ledger + 1)
        left = MOST_LOOKED_INTO
        while end > first:
            start = max(first, end - WINDOW_LEDGERS)
            hashes, is_whole = await self._transactions(payer, start, end, left)
            for at in range(0, len(hashes), AT_ONCE):
                together = hashes[at : at + AT_ONCE]
                for found in await asyncio.gather(
                    *(self._settled_in(each, payer, nonce, height.close_time) for each in together)
                ):
                    if found:
                        return found
            left -= len(hashes)
            end = start if is_whole and left > 0 else first
            if not is_whole or left <= 0:
                return self._found("unknown", payer)
        knows_all = height.oldest <= 1 or height.ledger - height.oldest >= LOOKBACK_LEDGERS
        if used_in or not knows_all:
            return self._found("unknown", payer)
        return self._found("unused", payer, as_of=height.close_time)

    async def _transactions(self, payer: str, start: int, end: int, most: int) -> tuple[list[str], bool]:
        """The transactions with transfers of a payer in some ledgers, newest first, and whether these are all."""
        topics = [scval.to_symbol("transfer").to_xdr(), scval.to_address(payer).to_xdr(), "*"]
        wanted = EventFilter(
            type=EventFilterType.CONTRACT,
            contractIds=[self._token.contract],
            topics=[topics, [*topics, "*"]],  # contracts of classic assets add the asset
        )
        hashes: list[str] = []
        page = await self._node.server.get_events(start, end, [wanted], limit=EVENTS_AT_ONCE)
        while True:
            hashes += [event.transaction_hash for event in page.events if event.transaction_hash not in hashes[-1:]]
            if len(page.events) < EVENTS_AT_ONCE:
                return hashes[::-1], True
            if len(hashes) >= most:
                return hashes[::-1][:most], False
            page = await self._node.server.get_events(filters=[wanted], cursor=page.cursor, limit=EVENTS_AT_ONCE)

    async def _settled_in(self, transaction_hash: str, payer: str, nonce: int, as_of: int) -> Evidence | None:
        """The evidence, when this transaction used that authorization; else None."""
        transaction = await self._node.find(transaction_hash)
        if transaction.status != GetTransactionStatus.SUCCESS:
            return None
        paid = self._payment(transaction.envelope_xdr or "", payer, nonce)
        if paid is None:
            return None
        payee = parse(paid[0])
        assert payee is not None
        if events_refusal(emitted(transaction), self._token.contract, Transfer(payer, payee.account.text, paid[1])):
            return None
        return self._found(
            "settled", payer, as_of=as_of, transaction=transaction_hash, pay_to=paid[0], amount=str(paid[1])
        )

    def _found(self, status: str, payer: str, **shown: Any) -> Evidence:
        return Evidence(status=status, network=self._token.network, payer=payer, **shown)

    def _payment(self, text: str, payer: str, nonce: int) -> tuple[str, int] | None:
        """(recipient, amount) when this transaction does nothing but one transfer by that authorization; else None."""
        envelope = TransactionBuilder.from_xdr(text, self._token.passphrase)
        if isinstance(envelope, FeeBumpTransactionEnvelope):
            envelope = envelope.transaction.inner_transaction_envelope
        try:
            read = stellar_envelope.read(base64.b64decode(envelope.to_xdr()))
        except (Malformed, PaymentRefused):
            return None
        call, entries = read.call, read.entries
        if len(entries) != 1 or (entries[0].address.text, entries[0].nonce) != (payer, nonce):
            return None
        if (
            entries[0].call.raw != call.raw
            or call.contract.text != self._token.contract
            or call.function != b"transfer"
        ):
            return None
        match call.args:
            case ((_, sender), (kind, recipient), (number, amount)) if (kind, number) == (ADDRESS, I128):
                return (recipient.text, amount) if sender.account.text == payer else None
        return None


def _transfer(event: stellar_xdr.ContractEvent) -> Transfer | None:
    """The transfer of a ``["transfer", from, to, …]`` event; None for another event. A multiplexed payee has a map as data."""
    content = event.body.v0
    if content is None or len(content.topics) < 3 or any(each.address is None for each in content.topics[1:3]):
        return None
    name = content.topics[0].sym
    data = content.data
    if data.map is not None:
        fields = {scval.from_symbol(each.key): each.val for each in data.map.sc_map if each.key.sym is not None}
        data = fields.get("amount", data)
    if name is None or name.sc_symbol != b"transfer" or data.i128 is None:
        return None
    payer, payee = (scval.from_address(each) for each in content.topics[1:3])
    return Transfer(payer.address, _account(payee), scval.from_int128(data))


def _account(address: Address) -> str:
    if address.type == AddressType.MUXED_ACCOUNT:
        return MuxedAccount.from_account(address.address).account_id
    return address.address
