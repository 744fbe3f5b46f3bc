"""What the chain shows of an authorization: whether it was used, and by which transfer.

The rule of evidence (Circle's FiatTokenV2): a transferWithAuthorization emits AuthorizationUsed(authorizer, nonce) and, as
the very next log, Transfer(from, to, value). Only that next log proves *this* payment: another Transfer in the same
transaction may belong to another payment. A used nonce alone proves nothing, because cancelAuthorization also uses it up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

from hexbytes import HexBytes
from web3 import AsyncWeb3
from web3.types import FilterParams, LogReceipt

from facilitator.payment_id import PaymentId, parse
from facilitator.rails.evm.calldata import AUTHORIZATION_CANCELED, AUTHORIZATION_USED, TRANSFER
from facilitator.rails.evm.node import NODE_ERRORS, is_nonce_used
from shared.x402.evm import EvmAuthorization
from shared.x402.networks import EvmToken
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

LOOKBACK_BLOCKS = 9_000
"""How far back evidence is looked for: five hours on Base. Many nodes refuse to search more than 10,000 blocks at once."""

_FORM = re.compile(r"(0x[0-9a-f]{40}):0x([0-9a-f]{64})", re.ASCII)


def parse_id(text: str, token: EvmToken) -> PaymentId | None:
    """The parts of ``eip155:<chain>:<asset>:<payer>:<nonce>``, or None when it is no id of this token."""
    return parse(text, token.network, token.address.lower(), _FORM)


class Authorizations:
    """Looks for authorizations of one token on the chain."""

    def __init__(self, web3: AsyncWeb3[Any], token: EvmToken) -> None:
        self._web3 = web3
        self._token = token

    async def evidence(self, payer: str, nonce: bytes) -> Evidence:
        """What became of one authorization. Never raises. A used nonce whose log is not found is ``unknown``."""
        try:
            return await self._evidence(payer, nonce)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
        return self._found("unknown", payer)

    async def _evidence(self, payer: str, nonce: bytes) -> Evidence:
        block = await self._web3.eth.get_block("latest")
        as_of, head = block["timestamp"], block["number"]
        if not await is_nonce_used(self._web3, self._token, payer, nonce):
            return self._found("unused", payer, as_of=as_of)
        for use in await self._find_use(payer, nonce, since=max(0, head - LOOKBACK_BLOCKS)):
            if bytes(use["topics"][0]) == AUTHORIZATION_CANCELED:
                return self._found("void", payer, as_of=as_of)
            receipt = await self._web3.eth.get_transaction_receipt(use["transactionHash"])
            transfer = transfer_at(receipt["logs"], use["logIndex"] + 1, self._token.address, payer)
            if transfer is not None:
                transaction = use["transactionHash"].to_0x_hex()
                return self._found(
                    "settled", payer, as_of=as_of, transaction=transaction, pay_to=transfer[0], amount=str(transfer[1])
                )
        return self._found("unknown", payer)

    def _found(self, status: str, payer: str, **shown: Any) -> Evidence:
        return Evidence(status=status, network=self._token.network, payer=payer, **shown)

    async def _find_use(self, payer: str, nonce: bytes, *, since: int) -> Sequence[LogReceipt]:
        events = [HexBytes(AUTHORIZATION_USED), HexBytes(AUTHORIZATION_CANCELED)]
        search: FilterParams = {
            "address": self._web3.to_checksum_address(self._token.address),
            "topics": [events, HexBytes(_topic(payer)), HexBytes(nonce)],
            "fromBlock": since,
            "toBlock": "latest",
        }
        return await self._web3.eth.get_logs(search)


def proves_payment(logs: Sequence[LogReceipt], authorization: EvmAuthorization) -> bool:
    """Whether a transaction's logs show the transfer of this very authorization."""
    for entry in logs:
        topics = [bytes(topic) for topic in entry["topics"]]
        if topics == [AUTHORIZATION_USED, _topic(authorization.payer), authorization.nonce] and (
            entry["address"].lower() == authorization.asset.lower()
        ):
            transfer = transfer_at(logs, entry["logIndex"] + 1, authorization.asset, authorization.payer)
            return transfer == (authorization.pay_to.lower(), authorization.value)
    return False


def transfer_at(logs: Sequence[LogReceipt], index: int, asset: str, payer: str) -> tuple[str, int] | None:
    """(recipient, value) of the token's Transfer from `payer` that is log `index` of its block, or None."""
    for entry in logs:
        if entry["address"].lower() != asset.lower():
            continue
        topics = [bytes(topic) for topic in entry["topics"]]
        if entry["logIndex"] == index and len(topics) == 3 and topics[:2] == [TRANSFER, _topic(payer)]:
            return "0x" + topics[2][12:].hex(), int.from_bytes(bytes(entry["data"]), "big")
    return None


def _topic(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])
