"""The EVM rail on the chain: settles EIP-3009 authorizations from our settler account, and finds the evidence of a payment.

The rule of evidence (Circle's FiatTokenV2): a transferWithAuthorization emits AuthorizationUsed(authorizer, nonce) and, as
the very next log, Transfer(from, to, value). Only that next log proves *this* payment: another Transfer in the same
transaction may belong to another one. A used nonce alone proves nothing, because cancelAuthorization uses it up as well.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from eth_account import Account
from hexbytes import HexBytes
from web3 import AsyncHTTPProvider, AsyncWeb3
from web3.exceptions import ContractLogicError, TransactionNotFound, Web3Exception
from web3.types import FilterParams, LogReceipt, TxParams, TxReceipt, Wei

from facilitator.rails.account import SettlerAccount
from facilitator.rails.calldata import (
    AUTHORIZATION_USED,
    TRANSFER,
    authorization_state,
    balance_of,
    is_valid_signature,
    transfer_with_authorization,
)
from shared.settings import InvalidSetting
from shared.x402 import evm
from shared.x402.evm import Authorization
from shared.x402.networks import EvmToken
from shared.x402.refusal import Refused
from shared.x402.wire import X402_VERSION, Evidence, FacilitatorCall, Kind, Offer, Settlement, Verification

log = logging.getLogger(__name__)

RPC_TIMEOUT_S = 4.0
RECEIPT_TIMEOUT_S = 6.0
"""Below the API's settle timeout, so that it hears `settlement_pending` with the transaction instead of nothing."""
FIRST_POLL_S = 0.01
LONGEST_POLL_S = 0.5
LOOKBACK_BLOCKS = 9_000
"""How far back evidence is looked for: five hours on Base. Many nodes refuse to search more than 10,000 blocks at once."""

_ERC1271_MAGIC = bytes.fromhex("1626ba7e")


class Reverted(Exception):
    """The chain would not execute the transfer. `reason` is the specification's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EvmRail:
    """One token on one EVM network.

    Args:
        rpc_url: JSON-RPC node.
        settler_key: 32 bytes, of the account that pays the gas.
    """

    def __init__(self, token: EvmToken, rpc_url: str, settler_key: bytes) -> None:
        self.token = token
        # web3's own retries would hide how long a call takes; whoever asked repeats it.
        provider = AsyncHTTPProvider(
            rpc_url, request_kwargs={"timeout": RPC_TIMEOUT_S}, exception_retry_configuration=None
        )
        # None of its middleware (names, validation, gas prices): each call passes through all of it for nothing.
        self._web3 = AsyncWeb3(provider, middleware=[])
        self._account = SettlerAccount(self._web3, Account.from_key(settler_key), token.chain_id)
        self._settling: dict[str, asyncio.Task[Settlement]] = {}
        self._sent: dict[str, HexBytes] = {}

    @property
    def kind(self) -> Kind:
        """What /supported says of it."""
        return Kind(x402_version=X402_VERSION, scheme=evm.SCHEME, network=self.token.network)

    @property
    def signers(self) -> tuple[str, ...]:
        """The accounts that send settlements."""
        return (self._account.address,)

    async def start(self) -> None:
        """Raises InvalidSetting when the node serves another chain: settling there would be settling nothing."""
        chain_id = await self._web3.eth.chain_id
        if chain_id != self.token.chain_id:
            raise InvalidSetting(f"the node serves chain {chain_id}, not {self.token.chain_id}")

    async def stop(self) -> None:
        """Wait for what is being settled, then close the connections."""
        await asyncio.gather(*self._settling.values(), return_exceptions=True)
        await self._web3.provider.disconnect()

    async def verify(self, call: FacilitatorCall) -> Verification:
        """Whether the payment would settle now. Changes nothing."""
        try:
            authorization = self._check(call)
            if reason := authorization.window_refusal(int(time.time())):
                raise Refused(reason)
            await self._check_wallet(authorization)
            await self._simulate(authorization)
        except (Refused, Reverted) as refused:
            return Verification(is_valid=False, invalid_reason=refused.reason, payer=_payer(call))
        except (Web3Exception, OSError, TimeoutError) as error:
            return Verification(
                is_valid=False, invalid_reason="unexpected_verify_error", invalid_message=type(error).__name__
            )
        return Verification(is_valid=True, payer=authorization.payer)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        """Settle the payment, or say how it was settled before. The same payment twice is one transaction."""
        try:
            authorization = self._check(call)
        except Refused as refused:
            return self._failed(refused.reason, _payer(call))
        running = self._settling.get(authorization.payment_id)
        if running is None:
            # A task of its own: whoever asked may hang up, and the settlement still ends well.
            running = asyncio.create_task(self._settle(authorization))
            self._settling[authorization.payment_id] = running
            running.add_done_callback(lambda _: self._settling.pop(authorization.payment_id, None))
        return await asyncio.shield(running)

    async def evidence(self, payer: str, nonce: bytes) -> Evidence:
        """What the chain says of one authorization."""
        network = self.token.network
        try:
            if not await self._is_used(payer, nonce):
                return Evidence(status="unused", network=network, payer=payer)
            found = await self._find_transfer(payer, nonce)
        except (Web3Exception, OSError, TimeoutError) as error:
            log.warning("no evidence: %s", type(error).__name__)
            return Evidence(status="unknown", network=network, payer=payer)
        if found is None:
            return Evidence(status="void", network=network, payer=payer)
        transaction, pay_to, value = found
        return Evidence(
            status="settled", network=network, transaction=transaction, payer=payer, pay_to=pay_to, amount=str(value)
        )

    def _check(self, call: FacilitatorCall) -> Authorization:
        offer, accepted = call.payment_requirements, call.payment_payload.accepted
        if (call.x402_version, call.payment_payload.x402_version) != (X402_VERSION, X402_VERSION):
            raise Refused("invalid_x402_version")
        if offer.scheme != evm.SCHEME or accepted.scheme != evm.SCHEME:
            raise Refused("unsupported_scheme")
        if offer.network != self.token.network or accepted.network != offer.network:
            raise Refused("invalid_network")
        if offer.asset.lower() != self.token.address.lower():
            raise Refused("invalid_payment_requirements")
        if (offer.extra.get("name"), offer.extra.get("version")) != (self.token.name, self.token.version):
            raise Refused("missing_eip712_domain")
        if not evm.is_payable(offer):
            raise Refused("invalid_payment_requirements")
        return evm.check(offer, call.payment_payload.payload)

    async def _settle(self, authorization: Authorization) -> Settlement:
        """Never raises: what is not known is `settlement_pending`, or `unexpected_settle_error` when nothing was sent."""
        sent = self._sent.get(authorization.payment_id)
        try:
            if sent is None:
                if reason := authorization.window_refusal(int(time.time())):
                    return await self._settled_before(authorization) or self._failed(reason, authorization.payer)
                try:
                    await self._check_wallet(authorization)
                    gas = await self._simulate(authorization)
                except (Refused, Reverted) as refused:
                    earlier = await self._settled_before(authorization)
                    return earlier or self._failed(refused.reason, authorization.payer)
                sent = await self._account.send(self.token.address, transfer_with_authorization(authorization), gas)
                self._sent[authorization.payment_id] = sent
            receipt = await self._receipt(sent)
        except (Web3Exception, OSError, TimeoutError, ValueError) as error:
            log.warning("settling %s: %s", authorization.payment_id, type(error).__name__)
            return self._open(authorization, sent)
        if receipt is None:
            return self._open(authorization, sent)
        self._sent.pop(authorization.payment_id, None)
        if receipt["status"] == 1 and _transfer_after_use(receipt["logs"], authorization):
            return self._succeeded(authorization, sent.to_0x_hex())
        # Somebody else may have sent the same authorization first: the payer has paid all the same.
        return await self._settled_before(authorization) or self._failed(
            "invalid_transaction_state", authorization.payer
        )

    async def _settled_before(self, authorization: Authorization) -> Settlement | None:
        evidence = await self.evidence(authorization.payer, authorization.nonce)
        if evidence.status == "unknown":
            raise Web3Exception("the chain cannot be asked")
        is_ours = (
            evidence.status == "settled"
            and evidence.pay_to == authorization.pay_to.lower()
            and evidence.amount == str(authorization.value)
        )
        return self._succeeded(authorization, evidence.transaction) if is_ours else None

    async def _check_wallet(self, authorization: Authorization) -> None:
        """ERC-1271 for what could not be checked offline, as the token itself decides."""
        if authorization.signature_checked:
            return
        address = self._web3.to_checksum_address(authorization.payer)
        if not await self._web3.eth.get_code(address):
            raise Refused("invalid_exact_evm_payload_undeployed_smart_wallet")
        offer = Offer(
            scheme=evm.SCHEME,
            network=self.token.network,
            amount=str(authorization.value),
            asset=self.token.address,
            pay_to=authorization.pay_to,
            max_timeout_seconds=evm.MAX_TIMEOUT_SECONDS,
            extra={"name": self.token.name, "version": self.token.version},
        )
        digest = evm.transfer_digest(
            offer,
            authorization.payer,
            authorization.pay_to,
            authorization.value,
            authorization.valid_after,
            authorization.valid_before,
            authorization.nonce,
        )
        call: TxParams = {"to": address, "data": is_valid_signature(digest, authorization.signature)}
        try:
            answer = await self._web3.eth.call(call)
        except ContractLogicError:
            answer = HexBytes(b"")
        if bytes(answer[:4]) != _ERC1271_MAGIC:
            raise Refused("invalid_exact_evm_payload_signature")

    async def _simulate(self, authorization: Authorization) -> int:
        """Gas that the transfer takes. Raises Reverted, with the reason that the chain's state shows."""
        call: TxParams = {
            "from": self._web3.to_checksum_address(self._account.address),
            "to": self._web3.to_checksum_address(self.token.address),
            "data": transfer_with_authorization(authorization),
            "value": Wei(0),
        }
        try:
            return await self._web3.eth.estimate_gas(call)
        except ContractLogicError:
            pass
        # The revert's text differs between nodes, or is missing: the state says why.
        if await self._is_used(authorization.payer, authorization.nonce):
            raise Reverted("invalid_exact_evm_nonce_already_used")
        balance = int.from_bytes(await self._read(balance_of(authorization.payer)), "big")
        if balance < authorization.value:
            raise Reverted("insufficient_funds")
        raise Reverted("invalid_exact_evm_transaction_simulation_failed")

    async def _is_used(self, payer: str, nonce: bytes) -> bool:
        return any(await self._read(authorization_state(payer, nonce)))

    async def _read(self, data: bytes) -> bytes:
        call: TxParams = {"to": self._web3.to_checksum_address(self.token.address), "data": HexBytes(data)}
        return bytes(await self._web3.eth.call(call))

    async def _find_transfer(self, payer: str, nonce: bytes) -> tuple[str, str, int] | None:
        head = await self._web3.eth.block_number
        search: FilterParams = {
            "address": self._web3.to_checksum_address(self.token.address),
            "topics": [HexBytes(AUTHORIZATION_USED), HexBytes(_topic(payer)), HexBytes(nonce)],
            "fromBlock": max(0, head - LOOKBACK_BLOCKS),
            "toBlock": "latest",
        }
        for used in await self._web3.eth.get_logs(search):
            receipt = await self._web3.eth.get_transaction_receipt(used["transactionHash"])
            found = _transfer_at(receipt["logs"], used["logIndex"] + 1, payer)
            if found is not None and receipt["status"] == 1:
                return (used["transactionHash"].to_0x_hex(), *found)
        return None

    async def _receipt(self, transaction: HexBytes) -> TxReceipt | None:
        """The receipt, or None when it is not there in time."""
        give_up_at = time.monotonic() + RECEIPT_TIMEOUT_S
        pause = FIRST_POLL_S
        while time.monotonic() < give_up_at:
            try:
                return await self._web3.eth.get_transaction_receipt(transaction)
            except TransactionNotFound:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_POLL_S)
        return None

    def _succeeded(self, authorization: Authorization, transaction: str) -> Settlement:
        return Settlement(
            success=True,
            transaction=transaction,
            network=self.token.network,
            payer=authorization.payer,
            amount=str(authorization.value),
        )

    def _failed(self, reason: str, payer: str | None) -> Settlement:
        return Settlement(success=False, transaction="", network=self.token.network, payer=payer, error_reason=reason)

    def _open(self, authorization: Authorization, sent: HexBytes | None) -> Settlement:
        reason = "settlement_pending" if sent is not None else "unexpected_settle_error"
        return Settlement(
            success=False,
            transaction=sent.to_0x_hex() if sent is not None else "",
            network=self.token.network,
            payer=authorization.payer,
            error_reason=reason,
        )


def _payer(call: FacilitatorCall) -> str | None:
    authorization = call.payment_payload.payload.get("authorization")
    payer = authorization.get("from") if isinstance(authorization, dict) else None
    return payer if isinstance(payer, str) else None


def _topic(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def _transfer_after_use(logs: Sequence[LogReceipt], authorization: Authorization) -> bool:
    for entry in logs:
        topics = [bytes(topic) for topic in entry["topics"]]
        if topics == [AUTHORIZATION_USED, _topic(authorization.payer), authorization.nonce] and (
            entry["address"].lower() == authorization.asset.lower()
        ):
            found = _transfer_at(logs, entry["logIndex"] + 1, authorization.payer)
            return found == (authorization.pay_to.lower(), authorization.value)
    return False


def _transfer_at(logs: Sequence[Any], index: int, payer: str) -> tuple[str, int] | None:
    """(recipient, value) of the Transfer from `payer` that is log `index` of its block, or None."""
    for entry in logs:
        topics = [bytes(topic) for topic in entry["topics"]]
        if entry["logIndex"] == index and len(topics) == 3 and topics[:2] == [TRANSFER, _topic(payer)]:
            return "0x" + topics[2][12:].hex(), int.from_bytes(bytes(entry["data"]), "big")
    return None
