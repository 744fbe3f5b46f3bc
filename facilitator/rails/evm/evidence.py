"""What the chain shows of an authorization: whether it was used, and by which transfer.

The rule of evidence (Circle's FiatTokenV2): a transferWithAuthorization emits AuthorizationUsed(authorizer, nonce) and, as
the very next log, Transfer(from, to, value). Only that next log proves *this* payment: another Transfer in the same
transaction may belong to another payment. A used nonce alone proves nothing, because cancelAuthorization also uses it up.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any

from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.payment_id import PaymentId, parse
from facilitator.rails.evm.calldata import AUTHORIZATION_CANCELED, AUTHORIZATION_USED, TRANSFER
from facilitator.rails.evm.node import is_nonce_used, number_of
from shared.x402.evm import EvmAuthorization
from shared.x402.networks import EvmToken
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

LOOKBACK_BLOCKS = 9_000
"""How far back evidence is looked for: five hours on Base. Many nodes refuse to search more than 10,000 blocks at once."""

_FORM = re.compile(r"(0x[0-9a-f]{40}):0x([0-9a-f]{64})", re.ASCII)
_USED, _CANCELED, _TRANSFER = ("0x" + topic.hex() for topic in (AUTHORIZATION_USED, AUTHORIZATION_CANCELED, TRANSFER))

Log = dict[str, Any]
"""As a node has it: ``address``, ``topics``, ``data`` and ``logIndex``, all in hex."""
Use = tuple[str, str]
"""Payer and nonce of an authorization, both 0x hex of 32 bytes."""
Transfer = tuple[str, int]
"""Recipient, in lower case, and value."""


def parse_id(text: str, token: EvmToken) -> PaymentId | None:
    """The parts of ``eip155:<chain>:<asset>:<payer>:<nonce>``, or None when it is no id of this token."""
    return parse(text, token.network, token.address.lower(), _FORM)


class Authorizations:
    """Looks for authorizations of one token on the chain."""

    def __init__(self, node: JsonRpcNode, token: EvmToken) -> None:
        self._node = node
        self._token = token

    async def evidence(self, payer: str, nonce: bytes) -> Evidence:
        """What became of one authorization. Never raises. A used nonce whose log is not found is ``unknown``."""
        try:
            return await self._evidence(payer, nonce)
        except NODE_ERRORS as error:
            log.warning("no evidence: %s", type(error).__name__)
        return self._found("unknown", payer)

    def made_by(self, receipt: dict[str, Any]) -> dict[Use, Transfer]:
        """The payments that a transaction made. Raises what is in NODE_ERRORS."""
        return transfers_in(receipt["logs"], self._token.address)

    async def _evidence(self, payer: str, nonce: bytes) -> Evidence:
        # One after the other: the state must not be older than the time that the answer speaks of.
        block = await self._node.ask("eth_getBlockByNumber", "latest", False)
        as_of, head = number_of(block["timestamp"]), number_of(block["number"])
        if not await is_nonce_used(self._node, self._token, payer, nonce):
            return self._found("unused", payer, as_of=as_of)
        for use in await self._find_use(payer, nonce, since=max(0, head - LOOKBACK_BLOCKS)):
            if use["topics"][0] == _CANCELED:
                return self._found("void", payer, as_of=as_of)
            receipt = await self._node.ask("eth_getTransactionReceipt", use["transactionHash"])
            transfer = self.made_by(receipt).get((_topic(payer), "0x" + nonce.hex()))
            if transfer is not None:
                transaction = use["transactionHash"]
                return self._found(
                    "settled", payer, as_of=as_of, transaction=transaction, pay_to=transfer[0], amount=str(transfer[1])
                )
        return self._found("unknown", payer)

    def _found(self, status: str, payer: str, **shown: Any) -> Evidence:
        return Evidence(status=status, network=self._token.network, payer=payer, **shown)

    async def _find_use(self, payer: str, nonce: bytes, *, since: int) -> Sequence[Log]:
        search = {
            "address": self._token.address,
            "topics": [[_USED, _CANCELED], _topic(payer), "0x" + nonce.hex()],
            "fromBlock": hex(since),
            "toBlock": "latest",
        }
        found: list[Log] = await self._node.ask("eth_getLogs", search)
        return found


def transfers_in(logs: Iterable[Log], asset: str) -> dict[Use, Transfer]:
    """The payments that a transaction made: of each authorization that it used, the transfer right after the use."""
    ours = {number_of(one["logIndex"]): one for one in logs if one["address"].lower() == asset.lower()}
    made: dict[Use, Transfer] = {}
    for index, use in ours.items():
        topics, after = use["topics"], ours.get(index + 1)
        if len(topics) != 3 or topics[0] != _USED or after is None:
            continue
        # An NFT's Transfer has a fourth topic.
        if len(after["topics"]) == 3 and after["topics"][:2] == [_TRANSFER, topics[1]]:
            made[topics[1], topics[2]] = "0x" + after["topics"][2][-40:].lower(), number_of(after["data"])
    return made


def proves_payment(made: dict[Use, Transfer], authorization: EvmAuthorization) -> bool:
    """Whether the payments of a transaction include the transfer of this very authorization."""
    use = _topic(authorization.payer), "0x" + authorization.nonce.hex()
    return made.get(use) == (authorization.pay_to.lower(), authorization.value)


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
