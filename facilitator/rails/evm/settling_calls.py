"""Which call settles payments: of the token for one, of Multicall3 for several, of the channels' contract for a deposit."""

from __future__ import annotations

from collections.abc import Sequence

from facilitator.rails.evm import calldata, channel_calldata
from shared.x402.erc6492 import deployment_of
from shared.x402.evm import EvmAuthorization
from shared.x402.evm_channel import Deposit
from shared.x402.evm_channel_ids import CONTRACT


def settling_call(asset: str, authorizations: Sequence[EvmAuthorization]) -> tuple[str, bytes]:
    """The contract and the data. A deposit is settled by itself, and so is what a wallet pays that is to be deployed.

    Args:
        asset: the token's address.
    """
    if len(authorizations) > 1:
        return calldata.aggregated(asset, authorizations)
    (payment,) = authorizations
    if isinstance(payment, Deposit):
        return CONTRACT, channel_calldata.deposit(payment)
    if deployment := deployment_of(payment.signature):
        return calldata.deploying(asset, payment, deployment)
    return asset, calldata.transfer_with_authorization(payment)
