"""Asks the node whether a transfer would execute, before anything is sent."""

from __future__ import annotations

import time
from typing import Any

from hexbytes import HexBytes
from web3 import AsyncWeb3
from web3.exceptions import ContractLogicError
from web3.types import TxParams, Wei

from facilitator.rails.evm.calldata import (
    balance_of,
    is_valid_signature,
    transfer_with_authorization,
)
from facilitator.rails.evm.node import is_nonce_used, read_contract
from shared.x402.evm import EvmAuthorization, authorization_digest
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer

MAX_GAS = 400_000
"""A transfer from an account takes about 75,000, from a common contract wallet up to 150,000."""

_ERC1271_MAGIC = bytes.fromhex("1626ba7e")
_FAILED = "invalid_exact_evm_transaction_simulation_failed"


class Simulator:
    """Simulates payments. Every method raises what is in NODE_ERRORS.

    Args:
        sender: the account that will send the transfer.
    """

    def __init__(self, web3: AsyncWeb3[Any], token: EvmToken, sender: str) -> None:
        self._web3 = web3
        self._token = token
        self._address = web3.to_checksum_address(token.address)
        self._sender = web3.to_checksum_address(sender)

    async def check(self, offer: Offer, authorization: EvmAuthorization) -> int:
        """The gas of the transfer, after the time window, the signature and the simulation were checked.

        Raises:
            PaymentRefused: the payment would not settle now.
        """
        if reason := authorization.window_refusal(int(time.time())):
            raise PaymentRefused(reason)
        if not authorization.signature_checked:
            digest = authorization_digest(offer, authorization)
            await self._check_wallet(authorization.payer, digest, authorization.signature)
        call: TxParams = {
            "from": self._sender,
            "to": self._address,
            "data": HexBytes(transfer_with_authorization(authorization)),
            "value": Wei(0),
        }
        try:
            gas = await self._web3.eth.estimate_gas(call)
        except ContractLogicError:
            raise PaymentRefused(await self._reason(authorization)) from None
        if gas > MAX_GAS:
            # A contract wallet checks its own signature, and may use as much of our gas as it likes.
            raise PaymentRefused(_FAILED)
        return gas

    async def _check_wallet(self, payer: str, digest: bytes, signature: bytes) -> None:
        """Ask a contract wallet about its signature (ERC-1271), as the token does. Raises PaymentRefused."""
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

    async def _reason(self, authorization: EvmAuthorization) -> str:
        """Why the transfer reverts, by the chain's state: the text of a revert differs between nodes, or is missing."""
        if await is_nonce_used(self._web3, self._token, authorization.payer, authorization.nonce):
            return "invalid_exact_evm_nonce_already_used"
        balance = await read_contract(self._web3, self._token.address, balance_of(authorization.payer))
        return "insufficient_funds" if int.from_bytes(balance, "big") < authorization.value else _FAILED
