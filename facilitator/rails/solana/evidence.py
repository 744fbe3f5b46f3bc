"""What the chain shows of a payment: the payer's history is read until a message has the hash in the payment id."""

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from typing import Any

from facilitator.payment_id import PaymentId, parse
from facilitator.rails.solana.node import NODE_ERRORS, FoundTransaction, SolanaNode
from shared.x402.networks import SolanaToken
from shared.x402.solana_address import decode_base58, encode_base58, is_address, token_account
from shared.x402.solana_message import read_transaction
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

EVIDENCE_TIMEOUT_S = 6.0
LONGEST_HISTORY = 1_000
"""How many transactions of the payer's token account are looked at: a node lists no more at once."""
MOST_READ = 200
"""How many of them are read for one answer. They are remembered, so the next answer reaches further back."""
MOST_REMEMBERED = 20_000
_AT_ONCE = 10

_FORM = re.compile(r"([1-9A-HJ-NP-Za-km-z]{32,44}):([0-9a-f]{64})", re.ASCII)


def parse_id(text: str, token: SolanaToken) -> PaymentId | None:
    """The parts of ``solana:<genesis>:<mint>:<payer>:<SHA-256 of the message>``, or None when it is no id of this token."""
    named = parse(text, token.network, token.mint, _FORM)
    return named if named and is_address(named.payer) else None


class History:
    """Finds transactions by the hash of their message."""

    def __init__(self, node: SolanaNode, token: SolanaToken) -> None:
        self._node = node
        self._token = token
        self._mint = decode_base58(token.mint, 32)
        self._signatures: OrderedDict[bytes, str] = OrderedDict()
        self._digests: OrderedDict[str, bytes] = OrderedDict()

    def learn(self, message: bytes, signature: str) -> None:
        """Remember a transaction that we sent, so that it need not be searched for."""
        self._remember(hashlib.sha256(message).digest(), signature)

    async def evidence(self, named: PaymentId) -> Evidence:
        """What became of one payment. Never raises. It is ``unused`` only when the payer's whole history was read."""
        try:
            async with asyncio.timeout(EVIDENCE_TIMEOUT_S):
                slot, as_of = await self._node.clock()
                return await self._find(named, slot, as_of)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
        return self._found("unknown", named)

    async def _find(self, named: PaymentId, slot: int, as_of: int) -> Evidence:
        if found := await self._known(named, as_of):
            return found
        account = encode_base58(token_account(decode_base58(named.payer, 32), self._mint))
        signatures = [one.signature for one in await self._node.history(account, limit=LONGEST_HISTORY, slot=slot)]
        unread = [one for one in signatures if one not in self._digests]
        for start in range(0, min(len(unread), MOST_READ), _AT_ONCE):
            await asyncio.gather(*(self._read(one) for one in unread[start : start + _AT_ONCE]))
            if found := await self._known(named, as_of):
                return found
        if len(signatures) == LONGEST_HISTORY or any(one not in self._digests for one in signatures):
            return self._found("unknown", named)
        return self._found("unused", named, as_of=as_of)

    async def _known(self, named: PaymentId, as_of: int) -> Evidence | None:
        """The evidence, when the transaction with that message is known and in a block."""
        signature = self._signatures.get(bytes.fromhex(named.nonce))
        shown = await self._node.transaction(signature) if signature else None
        return self._evidence(named, signature, shown, as_of) if signature and shown else None

    async def _read(self, signature: str) -> None:
        shown = await self._node.transaction(signature)
        if shown is None:
            return
        try:
            digest = hashlib.sha256(read_transaction(shown.raw).signed).digest()
        except ValueError:
            digest = b""  # no payment has this form
        self._remember(digest, signature)

    def _remember(self, digest: bytes, signature: str) -> None:
        self._signatures[digest] = signature
        self._digests[signature] = digest
        while len(self._digests) > MOST_REMEMBERED:
            _, oldest = self._digests.popitem(last=False)
            self._signatures.pop(oldest, None)

    def _evidence(self, named: PaymentId, signature: str, shown: FoundTransaction, as_of: int) -> Evidence:
        """What the transaction with that message shows."""
        if shown.meta.err is not None:
            # It was executed and failed, and no node takes a message twice.
            return self._found("void", named, as_of=as_of, transaction=signature)
        moved = self._moved(shown)
        if moved is None:
            return self._found("unknown", named)
        return self._found("settled", named, as_of=as_of, transaction=signature, pay_to=moved[0], amount=str(moved[1]))

    def _moved(self, shown: FoundTransaction) -> tuple[str, int] | None:
        """(recipient, amount) of the only account that has more of the token than before; None when there is not one."""
        before = {one.account_index: int(one.ui_token_amount.amount) for one in shown.meta.pre_token_balances}
        gained = [
            (one.owner, int(one.ui_token_amount.amount) - before.get(one.account_index, 0))
            for one in shown.meta.post_token_balances
            if one.mint == self._token.mint and int(one.ui_token_amount.amount) > before.get(one.account_index, 0)
        ]
        return gained[0] if len(gained) == 1 and gained[0][0] else None

    def _found(self, status: str, named: PaymentId, **shown: Any) -> Evidence:
        return Evidence(status=status, network=self._token.network, payer=named.payer, **shown)
