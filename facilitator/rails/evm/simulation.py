"""Asks the node whether payments would execute, before anything is sent. All that wait are checked with one request; those of
contract wallets with one each."""

import asyncio
import dataclasses
import itertools
import time
from collections.abc import Sequence
from typing import Any

from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from facilitator.rails.evm.calldata import (
    aggregated_results,
    authorization_state,
    balance_of,
    deploying_trial,
    is_valid_signature,
    settling_call,
)
from facilitator.rails.evm.node import bytes_of, is_failure, number_of, view
from facilitator.rails.evm.transaction import Payment
from shared.nodes.json_rpc import Call
from shared.x402.erc6492 import deployment_of
from shared.x402.evm import EvmAuthorization, authorization_digest
from shared.x402.evm_channel import Deposit
from shared.x402.exact import exact_offer
from shared.x402.networks import EvmToken
from shared.x402.refusal import PaymentRefused

TRANSFER_GAS = 150_000
"""What a transfer from an account may take outside a group. It takes about 69,000 to 86,000."""
MEMBER_GAS = 85_000
"""What is allowed for a transfer in a group."""
MAX_GAS = 400_000
"""What a transfer from a contract wallet may take. The common ones take up to 150,000."""
MAX_DEPLOYING_GAS = 600_000
"""What the first payment of a wallet may take that is deployed with it. Proxies of the common ones take up to 300,000."""
GAS_MARGIN = 1.25
"""Between estimate and execution a token balance may become zero or stop being zero. That changes the gas by up to 20,000 of
about 75,000."""
NEAR_EXPIRY_S = 12
"""A payment that expires sooner would make a group expire that waits for its block."""

_ERC1271_MAGIC = bytes.fromhex("1626ba7e")
_FAILED = "invalid_exact_evm_transaction_simulation_failed"

Verdict = Exception | None
"""PaymentRefused, what is in NODE_ERRORS when nobody knows, or None for a payment that would settle now."""


class Simulator:
    """Simulates payments.

    Args:
        sender: the account that will send the transfers.
    """

    def __init__(self, node: JsonRpcNode, token: EvmToken, sender: str) -> None:
        self._node = node
        self._token = token
        self._sender = sender

    async def check(self, payments: Sequence[Payment]) -> list[Verdict]:
        """Check time windows, signatures and effects. Never raises.

        Of payments that would settle it sets `gas`, `estimated`, `balance` and `is_isolated`, and takes the wrapper off the
        signature of a wallet that is there.
        """
        # A wallet's code may answer as much as its gas allows, and an answer that is too long fails all of its request.
        together = [one for one in payments if one.authorization.signature_checked]
        parts = [together, *([one] for one in payments if not one.authorization.signature_checked)]
        checked = await asyncio.gather(*(self._check(part) for part in parts if part))
        verdicts = dict(zip(itertools.chain(*parts), itertools.chain(*checked), strict=True))
        return [verdicts[one] for one in payments]

    async def _check(self, payments: Sequence[Payment]) -> list[Verdict]:
        """With one request. Never raises."""
        verdicts: list[Verdict] = []
        now = int(time.time())
        refusals = [one.authorization.window_refusal(now) for one in payments]
        try:
            asked = [one for one, refusal in zip(payments, refusals, strict=True) if refusal is None]
            answers = await self._node.ask_all([call for one in asked for call in self._questions(one.authorization)])
        except NODE_ERRORS as error:
            return [error if refusal is None else PaymentRefused(refusal) for refusal in refusals]
        triples = iter(zip(answers[::3], answers[1::3], answers[2::3], strict=True))
        for payment, refusal in zip(payments, refusals, strict=True):
            try:
                if refusal is not None:
                    raise PaymentRefused(refusal)
                await self._judge(payment, *next(triples), now)
            except (PaymentRefused, *NODE_ERRORS) as error:
                verdicts.append(error)
            else:
                verdicts.append(None)
        return verdicts

    def _questions(self, authorization: EvmAuthorization) -> tuple[Call, Call, Call]:
        """The payer's code and balance, and what the transfer or the wallet's own check of its signature would give."""
        code = Call("eth_getCode", (authorization.payer, "latest"))
        balance = view(self._token.address, balance_of(authorization.payer))
        if authorization.signature_checked:
            return code, balance, Call("eth_call", (self._transfer(authorization, _most_gas(authorization)), "latest"))
        offer = exact_offer(
            *(self._token.network, self._token.address, authorization.amount, authorization.pay_to),
            name=self._token.name,
            version=self._token.version,
        )
        digest = authorization_digest(offer, authorization)
        if deployment := deployment_of(authorization.signature):
            to, tried = deploying_trial(self._token.address, authorization, deployment, digest)
            trial = {"from": self._sender, "to": to, "data": "0x" + tried.hex(), "gas": hex(MAX_DEPLOYING_GAS)}
            return code, balance, Call("eth_call", (trial, "latest"))
        data = is_valid_signature(digest, authorization.signature)
        asked = {"to": authorization.payer, "data": "0x" + data.hex(), "gas": hex(MAX_GAS)}
        return code, balance, Call("eth_call", (asked, "latest"))

    async def _judge(self, payment: Payment, code: Any, balance: Any, called: Any, now: int) -> None:
        """Raises PaymentRefused, and what is in NODE_ERRORS."""
        authorization, has_code = payment.authorization, bool(bytes_of(code))
        failed = is_failure(called)
        deployment = deployment_of(authorization.signature)
        if deployment and has_code:  # it was deployed meanwhile: a second time could burn all gas
            payment.authorization = dataclasses.replace(authorization, signature=deployment.signature)
            (verdict,) = await self._check([payment])
            if verdict is not None:
                raise verdict
            return
        if deployment:
            await self._judge_deploying(payment, [] if failed else aggregated_results(bytes_of(called)))
            return
        if not authorization.signature_checked:
            if not has_code:
                raise PaymentRefused("invalid_exact_evm_payload_undeployed_smart_wallet")
            if failed or bytes_of(called)[:4] != _ERC1271_MAGIC:
                raise PaymentRefused("invalid_exact_evm_payload_signature")
        if has_code:
            # The token asks this code about the signature, and it may take as much gas as it is given.
            await self._estimate(payment)
            return
        if failed:
            raise PaymentRefused(await self._reason(authorization))
        if isinstance(authorization, Deposit):  # never in a group, whose members are transfers of the token
            await self._estimate(payment)
            return
        payment.gas = TRANSFER_GAS
        payment.balance = int.from_bytes(bytes_of(balance))
        payment.is_isolated = payment.is_isolated or authorization.valid_before < now + NEAR_EXPIRY_S

    async def _judge_deploying(self, payment: Payment, results: list[tuple[bool, bytes]]) -> None:
        """Of a wallet that is deployed with its payment. Raises PaymentRefused, and what is in NODE_ERRORS.

        Args:
            results: of the factory, of the wallet's own check, and of the transfer; empty when all of it failed.
        """
        (is_deployed, _), (_, said), (is_paid, _) = results if len(results) == 3 else [(False, b"")] * 3
        if not is_deployed or not said:
            raise PaymentRefused("smart_wallet_deployment_failed")
        if said[:4] != _ERC1271_MAGIC:
            raise PaymentRefused("invalid_exact_evm_payload_signature")
        if not is_paid:
            raise PaymentRefused(await self._reason(payment.authorization))
        await self._estimate(payment, MAX_DEPLOYING_GAS)

    async def _estimate(self, payment: Payment, most: int = MAX_GAS) -> None:
        authorization = payment.authorization
        try:
            payment.estimated = number_of(await self._node.ask("eth_estimateGas", self._transfer(authorization, most)))
        except NODE_ERRORS as error:
            if not is_failure(error):
                raise
            raise PaymentRefused(await self._reason(authorization)) from None
        payment.gas, payment.is_isolated = int(payment.estimated * GAS_MARGIN), True

    async def _reason(self, authorization: EvmAuthorization) -> str:
        """Why the transfer reverts, by the chain's state: the text of a revert differs between nodes, or is missing."""
        used, balance = await self._node.ask_all(
            [
                view(self._token.address, authorization_state(authorization.payer, authorization.nonce)),
                view(self._token.address, balance_of(authorization.payer)),
            ]
        )
        if any(bytes_of(used)):
            return "invalid_exact_evm_nonce_already_used"
        return "insufficient_funds" if int.from_bytes(bytes_of(balance), "big") < authorization.value else _FAILED

    def _transfer(self, authorization: EvmAuthorization, gas: int) -> dict[str, str]:
        to, data = settling_call(self._token.address, [authorization])
        return {"from": self._sender, "to": to, "data": "0x" + data.hex(), "gas": hex(gas)}


def _most_gas(authorization: EvmAuthorization) -> int:
    return MAX_GAS if isinstance(authorization, Deposit) else TRANSFER_GAS
