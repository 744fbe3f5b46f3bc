"""What the result of a simulation means for a payment."""

import enum
from typing import Any

from facilitator.rails.solana.node import Account, SolanaNode
from shared.x402.solana import SolanaAuthorization
from shared.x402.solana_address import TOKEN_PROGRAM, encode_base58


class Verdict(enum.Enum):
    """What a simulation says of a transaction."""

    GOOD = enum.auto()
    """The network would execute it now."""
    PROCESSED = enum.auto()
    """It is in a block."""
    UNKNOWN_BLOCKHASH = enum.auto()
    """The node does not know its blockhash yet, or no longer."""
    OURS = enum.auto()
    """The fee payer, the node or a full network is at fault. It may be executed later."""
    BAD = enum.auto()
    """The payment is at fault."""


_VERDICTS = {"AlreadyProcessed": Verdict.PROCESSED, "BlockhashNotFound": Verdict.UNKNOWN_BLOCKHASH} | dict.fromkeys(
    (
        "AccountInUse",
        "AccountNotFound",  # means the fee payer: a missing token account is an error of the program
        "ClusterMaintenance",
        "CommitCancelled",
        "InsufficientFundsForFee",
        "InvalidAccountForFee",
        "ProgramCacheHitMaxLimit",
        "ResanitizationNeeded",
        "WouldExceedAccountDataBlockLimit",
        "WouldExceedAccountDataTotalLimit",
        "WouldExceedMaxAccountCostLimit",
        "WouldExceedMaxBlockCostLimit",
        "WouldExceedMaxVoteCostLimit",
    ),
    Verdict.OURS,
)
_FEE_PAYER = {"InsufficientFundsForRent": {"account_index": 0}}


def verdict_of(err: Any) -> Verdict:
    """What a simulation's error means. None is a success."""
    if err is None:
        return Verdict.GOOD
    if err == _FEE_PAYER:
        return Verdict.OURS
    return _VERDICTS.get(err, Verdict.BAD) if isinstance(err, str) else Verdict.BAD


async def reason_of(node: SolanaNode, authorization: SolanaAuthorization) -> str:
    """Why a transfer is not executed, by the state of its accounts: errors of the program differ between its versions.

    Raises what is in NODE_ERRORS.
    """
    addresses = [encode_base58(authorization.source), encode_base58(authorization.destination)]
    source, destination = await node.accounts(addresses)
    if _held(destination) is None:
        return "invalid_exact_svm_payload_recipient_account_missing"
    held = _held(source)
    return "insufficient_funds" if held is None or held < authorization.value else "transaction_simulation_failed"


def _held(account: Account | None) -> int | None:
    """The atomic units in a token account; None when the account is missing or no token account."""
    if account is None or account.owner != encode_base58(TOKEN_PROGRAM) or len(account.content) != 165:
        return None
    return int.from_bytes(account.content[64:72], "little")
