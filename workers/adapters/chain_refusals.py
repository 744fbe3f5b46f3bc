"""What an error of a node means, judged by what was asked: nodes share neither codes nor words.

    asked                            the error says                        it is
    anything                         too many calls                        UpstreamFailed `rate_limited`
    eth_call, eth_estimateGas        code 3, revert data, "reverted"       Reverted
    eth_call, eth_estimateGas        that the EVM stopped, and why         Reverted with its cause
    anything of a block              there is no such block                `block_not_found`, or Unavailable for an old block
    anything of a block              its state is not kept                 the same
    a transaction, a receipt         code -32001, "not found"              None: the node has none
    anything else                                                          UpstreamFailed `bad_content`

What was asked is well formed, so a node that calls it invalid (-32602) is wrong, or has no such block: anvil says that of
blocks whose state it has dropped, too. A node's words are compared here and go no further.
"""

import re
from typing import Any

from jobs.ports.chains import (
    Call,
    Cause,
    ChainCall,
    EstimateGas,
    ReceiptByHash,
    Reverted,
    TransactionByHash,
    Unavailable,
)
from shared.nodes.json_rpc import REVERTED, RpcError
from shared.outcome import UpstreamFailed
from workers.adapters.chain_calls import is_of_block

RECENT_S = 120
"""A block that is younger is kept by every node that has it: "not found" means that the node does not have it yet."""

_RATE_LIMITED = frozenset({-32005, -32029, 429})
_RESOURCE_NOT_FOUND = -32001
_WORDS_READ = 1_000
"""Characters of a node's text that are compared: patterns take their time on megabytes."""
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_TOO_MANY = _words("rate limit", "too many requests", "request limit", "quota", "throttl", "capacity", "compute units")
_NO_BLOCK = _words(
    "header not found", "block not found", "unknown block", "block ?out ?of ?range", "could not find block"
)
_NO_STATE = _words(
    *("missing trie node", "prun", "archive", "histor", "state .*(not|un)available", "no state", "missing state"),
    *("distance to target block", "state already discarded", "state not found"),
)
_NOT_FOUND = _words("not found", "unknown transaction", "no such transaction")
_REVERT = _words("revert")
_CAUSES: tuple[tuple[Cause, re.Pattern[str]], ...] = (
    ("insufficient_funds", _words("insufficient (funds|balance)", "enough balance", "lack ?of ?fund", "out ?of ?fund")),
    (
        "out_of_gas",
        # OOG: what revm calls memory that nobody could pay.
        _words("out ?of ?gas", r"oog\b", "gas required exceeds", "intrinsic gas", "gas .*overflow", "insufficient gas"),
    ),
    ("invalid_opcode", _words("invalid ?(fe)?opcode", "opcode", "invalid ?instruction", "bad ?instruction")),
    (
        "halted",
        _words(
            *("stack", "jump", "write ?protection", "static ?call", "collision", "(code|init ?code) ?size"),
            "vm execution",
            *("out ?of ?(offset|bounds)", "return ?data", "evm error", "call ?depth", "precompile", "halt"),
        ),
    ),
)


def meaning(call: ChainCall, error: RpcError, *, age_s: float | None) -> Any:
    """The result that the error stands for.

    Args:
        age_s: of the block, where the node has just shown that it has it; None: it has not.

    Raises:
        UpstreamFailed: `rate_limited`, `block_not_found` or `bad_content`.
    """
    more = error.data if isinstance(error.data, str) else ""
    text = f"{error.message[:_WORDS_READ]} {more[:_WORDS_READ]}".lower()
    is_execution = isinstance(call, Call | EstimateGas)
    data = _revert_data(error.data)
    # First of all: the rest of the text may be the contract's own.
    if is_execution and (error.code == REVERTED or data is not None or _REVERT.search(text)):
        return Reverted(data or b"")
    if is_throttling(error):
        raise UpstreamFailed("The node has had too many calls.", reason="rate_limited")
    if is_of_block(call) and (_NO_BLOCK.search(text) or _NO_STATE.search(text)):
        if age_s is not None and age_s > RECENT_S:
            return Unavailable()
        raise UpstreamFailed("The node does not have this block.", reason="block_not_found")
    if is_execution:
        for cause, words in _CAUSES:
            if words.search(text):
                return Reverted(b"", cause)
    if isinstance(call, TransactionByHash | ReceiptByHash) and (
        error.code == _RESOURCE_NOT_FOUND or _NOT_FOUND.search(text)
    ):
        return None
    raise UpstreamFailed("The node refused a question that it should know.", reason="bad_content")


def is_throttling(error: RpcError) -> bool:
    """Whether the node has had too many calls."""
    return error.code in _RATE_LIMITED or bool(_TOO_MANY.search(error.message[:_WORDS_READ].lower()))


def _revert_data(data: Any) -> bytes | None:
    """What REVERT returned: as hex, behind a word ("Reverted 0x...", OpenEthereum), or in an object (Hardhat)."""
    if isinstance(data, dict):
        data = data.get("data")
    if isinstance(data, str):
        data = data.removeprefix("Reverted ")
        if _HEX.fullmatch(data):
            return bytes.fromhex(data[2:])
    return None
