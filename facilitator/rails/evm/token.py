"""A token as a node shows it: would a transfer execute, did one, and what became of an authorization.

The rule of evidence (Circle's FiatTokenV2): a transferWithAuthorization emits AuthorizationUsed(authorizer, nonce) and, as
the very next log, Transfer(from, to, value). Only that next log proves *this* payment: another Transfer in the same
transaction may belong to another one. A used nonce alone proves nothing, because cancelAuthorization uses it up as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from typing import Any

import aiohttp
from hexbytes import HexBytes
from web3 import AsyncWeb3
from web3.exceptions import ContractLogicError, TransactionNotFound, Web3Exception
from web3.types import FilterParams, LogReceipt, TxParams, TxReceipt, Wei

from facilitator.rails.evm.calldata import (
    AUTHORIZATION_CANCELED,
    AUTHORIZATION_USED,
    TRANSFER,
    authorization_state,
    balance_of,
    is_valid_signature,
    transfer_with_authorization,
)
from facilitator.rails.evm.transaction import Sent
from shared.x402.evm import EvmAuthorization
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Evidence

log = logging.getLogger(__name__)

FIRST_POLL_S = 0.01
LONGEST_POLL_S = 0.5
LOOKBACK_BLOCKS = 9_000
"""How far back evidence is looked for: five hours on Base. Many nodes refuse to search more than 10,000 blocks at once."""
MAX_GAS = 400_000
"""A transfer from an account takes about 75,000, from a common contract wallet up to 150,000."""
NODE_ERRORS = (Web3Exception, aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, KeyError)
"""What a call to the node raises when it does not answer, or not as it should."""

_ERC1271_MAGIC = bytes.fromhex("1626ba7e")


class TokenOnChain:
    """Reads one token. Every method but `evidence` raises what is in NODE_ERRORS."""

    def __init__(self, web3: AsyncWeb3[Any], token: EvmToken) -> None:
        self._web3 = web3
        self._token = token
        self._address = web3.to_checksum_address(token.address)

    async def simulate(self, authorization: EvmAuthorization, *, sender: str) -> int:
        """Gas that the transfer takes when `sender` sends it. Raises Refused, with the reason that the chain's state shows."""
        call: TxParams = {
            "from": self._web3.to_checksum_address(sender),
            "to": self._address,
            "data": HexBytes(transfer_with_authorization(authorization)),
            "value": Wei(0),
        }
        try:
            gas = await self._web3.eth.estimate_gas(call)
        except ContractLogicError:
            pass
        else:
            if gas > MAX_GAS:
                # A contract wallet checks its own signature, with as much of our gas as it likes.
                raise PaymentRefused("invalid_exact_evm_transaction_simulation_failed")
            return gas
        # The revert's text differs between nodes, or is missing: the state says why.
        if await self._is_used(authorization.payer, authorization.nonce):
            raise PaymentRefused("invalid_exact_evm_nonce_already_used")
        balance = int.from_bytes(await self._read(balance_of(authorization.payer)), "big")
        raise PaymentRefused(
            "insufficient_funds" if balance < authorization.value else "invalid_exact_evm_transaction_simulation_failed"
        )

    async def check_wallet(self, payer: str, digest: bytes, signature: bytes) -> None:
        """ERC-1271, as the token itself asks it. Raises Refused."""
        address = self._web3.to_checksum_address(payer)
        if not await self._web3.eth.get_code(address):
            raise PaymentRefused("invalid_exact_evm_payload_undeployed_smart_wallet")
        try:
            answer = await self._web3.eth.call(
                {"to": address, "data": HexBytes(is_valid_signature(digest, signature)), "gas": MAX_GAS}
            )
        except ContractLogicError:
            answer = HexBytes(b"")
        if bytes(answer[:4]) != _ERC1271_MAGIC:
            raise PaymentRefused("invalid_exact_evm_payload_signature")

    async def receipt(self, sent: Sent, *, give_up_at: float) -> TxReceipt | None:
        """The receipt, or None when it is not there by `give_up_at` (monotonic seconds)."""
        pause = FIRST_POLL_S
        while True:
            for form in tuple(sent.forms):
                with contextlib.suppress(TransactionNotFound, *NODE_ERRORS):
                    return await self._web3.eth.get_transaction_receipt(form.hash)
            if time.monotonic() >= give_up_at:
                return None
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_POLL_S)

    async def evidence(self, payer: str, nonce: bytes) -> Evidence:
        """What became of one authorization. Only what the chain shows is said: a used nonce without its log is unknown."""
        network = self._token.network
        try:
            block = await self._web3.eth.get_block("latest")
            as_of, head = block["timestamp"], block["number"]
            if not await self._is_used(payer, nonce):
                return Evidence(status="unused", network=network, as_of=as_of, payer=payer)
            for use in await self._find_use(payer, nonce, since=max(0, head - LOOKBACK_BLOCKS)):
                if bytes(use["topics"][0]) == AUTHORIZATION_CANCELED:
                    return Evidence(status="void", network=network, as_of=as_of, payer=payer)
                receipt = await self._web3.eth.get_transaction_receipt(use["transactionHash"])
                found = transfer_at(receipt["logs"], use["logIndex"] + 1, self._token.address, payer)
                if found is not None:
                    return Evidence(
                        status="settled",
                        network=network,
                        as_of=as_of,
                        transaction=use["transactionHash"].to_0x_hex(),
                        payer=payer,
                        pay_to=found[0],
                        amount=str(found[1]),
                    )
        except (TransactionNotFound, *NODE_ERRORS) as error:
            log.warning("no evidence: %s", type(error).__name__)
        return Evidence(status="unknown", network=network, payer=payer)

    async def _find_use(self, payer: str, nonce: bytes, *, since: int) -> Sequence[LogReceipt]:
        events = [HexBytes(AUTHORIZATION_USED), HexBytes(AUTHORIZATION_CANCELED)]
        search: FilterParams = {
            "address": self._address,
            "topics": [events, HexBytes(_topic(payer)), HexBytes(nonce)],
            "fromBlock": since,
            "toBlock": "latest",
        }
        return await self._web3.eth.get_logs(search)

    async def _is_used(self, payer: str, nonce: bytes) -> bool:
        return any(await self._read(authorization_state(payer, nonce)))

    async def _read(self, data: bytes) -> bytes:
        return bytes(await self._web3.eth.call({"to": self._address, "data": HexBytes(data)}))


def proves_payment(logs: Sequence[LogReceipt], authorization: EvmAuthorization) -> bool:
    """Whether a transaction's logs show the transfer of this very authorization."""
    for entry in logs:
        topics = [bytes(topic) for topic in entry["topics"]]
        if topics == [AUTHORIZATION_USED, _topic(authorization.payer), authorization.nonce] and (
            entry["address"].lower() == authorization.asset.lower()
        ):
            found = transfer_at(logs, entry["logIndex"] + 1, authorization.asset, authorization.payer)
            return found == (authorization.pay_to.lower(), authorization.value)
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
