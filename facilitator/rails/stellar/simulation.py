"""Asks the node whether a payment's call would do exactly what it should, before anything is sent."""

from dataclasses import dataclass

from stellar_sdk import InvokeHostFunction, TransactionEnvelope, xdr
from stellar_sdk.soroban_rpc import SimulateTransactionResponse

from facilitator.rails.stellar.evidence import Transfer, events_refusal, simulated
from facilitator.rails.stellar.node import StellarNode
from shared.x402.refusal import PaymentRefused
from shared.x402.stellar import EXPIRED, StellarAuthorization
from shared.x402.stellar_address import parse
from shared.x402.wire import FacilitatorCall

_PREFIX = "invalid_exact_stellar_payload_"


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that would settle: the client's operation, and the resources that the node measured."""

    operation: InvokeHostFunction
    data: xdr.SorobanTransactionData


class Simulator:
    """Simulates payments.

    Args:
        source: the account that the simulated transactions name.
        most_for_fee: stroops that one settlement may cost, and that a payment may declare.
    """

    def __init__(self, node: StellarNode, source: str, most_for_fee: int) -> None:
        self._node = node
        self._source = source
        self._most_for_fee = most_for_fee

    async def check(self, call: FacilitatorCall, authorization: StellarAuthorization) -> Ready:
        """What to send, after every check. Raises PaymentRefused, and what is in NODE_ERRORS."""
        height = self._node.height or await self._node.look()
        if authorization.expiration_ledger <= height.ledger:
            raise PaymentRefused(EXPIRED)
        envelope = TransactionEnvelope.from_xdr(
            call.payment_payload.payload["transaction"], self._node.token.passphrase
        )
        [operation] = envelope.transaction.operations
        assert isinstance(operation, InvokeHostFunction)
        result = await self._node.simulate(operation, self._source)
        fee = result.min_resource_fee or 0
        if result.error or result.restore_preamble or not result.transaction_data:
            raise PaymentRefused(await self._reason(authorization, result))
        # The height may be some ledgers old. This ledger is as new as the simulation.
        if reason := authorization.ledger_refusal(result.latest_ledger, height.ledger_s):
            raise PaymentRefused(reason)
        events = simulated(result.events or ())
        if reason := events_refusal(events, self._node.token.contract, expected_of(authorization)):
            raise PaymentRefused(reason)
        if authorization.fee < fee:
            raise PaymentRefused(_PREFIX + "fee_below_minimum")
        if max(authorization.fee, fee) > self._most_for_fee:
            raise PaymentRefused(_PREFIX + "fee_exceeds_maximum")
        # The resources that the node has measured, not those that the client declares: too few fail at our cost.
        data = xdr.SorobanTransactionData.from_xdr(result.transaction_data)
        data.resource_fee = xdr.Int64(fee)
        return Ready(operation, data)

    async def _reason(self, authorization: StellarAuthorization, result: SimulateTransactionResponse) -> str:
        """Why the call fails, by the chain's state: the text of a simulation differs between versions."""
        if authorization.expiration_ledger <= result.latest_ledger:
            return EXPIRED
        if await self._node.nonce_used_in(authorization.payer, authorization.nonce) is not None:
            return "invalid_exact_stellar_nonce_already_used"
        if await self._node.balance(authorization.payer) < authorization.value:
            return "insufficient_funds"
        return _PREFIX + "simulation_failed"


def expected_of(authorization: StellarAuthorization) -> Transfer:
    """The only transfer that a payment may make."""
    payee = parse(authorization.pay_to)
    assert payee is not None
    return Transfer(authorization.payer, payee.account.text, authorization.value)
