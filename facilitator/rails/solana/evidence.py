"""What the chain says of a payment that is known by its id alone: the payer's history, read until a message has that hash."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from dataclasses import dataclass

from facilitator.rails.solana.node import NODE_ERRORS, Shown, SolanaNode
from shared.x402.networks import SolanaToken
from shared.x402.solana_address import decode_base58, encode_base58, token_account
from shared.x402.solana_message import read_transaction
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

EVIDENCE_TIMEOUT_S = 6.0
LONGEST_HISTORY = 1_000
"""Transactions of the payer's token account: as many as a node names at once."""
MOST_READ = 200
"""Of those, for one answer. What was read is remembered, so the next answer sees further back."""
MOST_REMEMBERED = 20_000
_AT_ONCE = 10

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_ID = re.compile(rf"(solana:{_BASE58}{{32}}):({_BASE58}{{32,44}}):({_BASE58}{{32,44}}):([0-9a-f]{{64}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SolanaPaymentId:
    """``solana:<genesis>:<mint>:<payer>:<SHA-256 of the message, hex>``."""

    network: str
    mint: str
    payer: str
    digest: bytes


def parse(text: str) -> SolanaPaymentId | None:
    """The parts of a payment id, or None when it is not one."""
    match = _ID.fullmatch(text)
    if match is None:
        return None
    network, mint, payer, digest = match.groups()
    try:
        decode_base58(payer, 32)
    except ValueError:
        return None
    return SolanaPaymentId(network, mint, payer, bytes.fromhex(digest))


class History:
    """Finds transactions by their message's hash."""

    def __init__(self, node: SolanaNode, token: SolanaToken) -> None:
        self._node = node
        self._token = token
        self._mint = decode_base58(token.mint, 32)
        self._signatures: OrderedDict[bytes, str] = OrderedDict()
        self._digests: OrderedDict[str, bytes] = OrderedDict()

    def learn(self, message: bytes, signature: str) -> None:
        """What we sent need not be searched for."""
        self._remember(hashlib.sha256(message).digest(), signature)

    async def evidence(self, named: SolanaPaymentId) -> Evidence:
        """What became of one payment. ``unused`` only when the payer's whole history was read."""
        try:
            async with asyncio.timeout(EVIDENCE_TIMEOUT_S):
                slot, as_of = await self._node.clock()
                return await self._find(named, slot, as_of)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
        return self._unknown(named)

    async def _find(self, named: SolanaPaymentId, slot: int, as_of: int) -> Evidence:
        known = self._signatures.get(named.digest)
        if known is not None and (shown := await self._node.transaction(known)) is not None:
            return self._evidence(named, known, shown, as_of)
        account = encode_base58(token_account(decode_base58(named.payer, 32), self._mint))
        signatures = [one.signature for one in await self._node.history(account, limit=LONGEST_HISTORY, slot=slot)]
        unread = [one for one in signatures if one not in self._digests]
        for start in range(0, min(len(unread), MOST_READ), _AT_ONCE):
            await asyncio.gather(*(self._read(one) for one in unread[start : start + _AT_ONCE]))
            found = self._signatures.get(named.digest)
            if found is not None and (shown := await self._node.transaction(found)) is not None:
                return self._evidence(named, found, shown, as_of)
        if len(signatures) == LONGEST_HISTORY or any(one not in self._digests for one in signatures):
            return self._unknown(named)
        return Evidence(status="unused", network=named.network, as_of=as_of, payer=named.payer)

    async def _read(self, signature: str) -> None:
        shown = await self._node.transaction(signature)
        if shown is None:
            return
        try:
            digest = hashlib.sha256(read_transaction(shown.raw).signed).digest()
        except ValueError:
            digest = b""  # of a form that no payment has
        self._remember(digest, signature)

    def _remember(self, digest: bytes, signature: str) -> None:
        self._signatures[digest] = signature
        self._digests[signature] = digest
        while len(self._digests) > MOST_REMEMBERED:
            _, oldest = self._digests.popitem(last=False)
            self._signatures.pop(oldest, None)

    def _evidence(self, named: SolanaPaymentId, signature: str, shown: Shown, as_of: int) -> Evidence:
        """Of the transaction with that message."""
        if shown.meta.err is not None:
            # It was executed and failed, and no node takes a message twice.
            return Evidence(status="void", network=named.network, as_of=as_of, transaction=signature, payer=named.payer)
        moved = self._moved(shown)
        if moved is None:
            return self._unknown(named)
        return Evidence(
            status="settled",
            network=named.network,
            as_of=as_of,
            transaction=signature,
            payer=named.payer,
            pay_to=moved[0],
            amount=str(moved[1]),
        )

    def _moved(self, shown: Shown) -> tuple[str, int] | None:
        """(recipient, amount) of the one account that has more of the token than before."""
        before = {one.account_index: int(one.ui_token_amount.amount) for one in shown.meta.pre_token_balances}
        gained = [
            (one.owner, int(one.ui_token_amount.amount) - before.get(one.account_index, 0))
            for one in shown.meta.post_token_balances
            if one.mint == self._token.mint and int(one.ui_token_amount.amount) > before.get(one.account_index, 0)
        ]
        return gained[0] if len(gained) == 1 and gained[0][0] else None

    def _unknown(self, named: SolanaPaymentId) -> Evidence:
        return Evidence(status="unknown", network=named.network, payer=named.payer)
