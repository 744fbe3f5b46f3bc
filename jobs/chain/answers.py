"""Reads the answer of a token's contract to the question that was paid for."""

from typing import Any

from jobs.engines.evm.reader import NotAContract
from jobs.engines.evm.reverts import Revert, explain
from jobs.engines.evm.tokens import word
from jobs.ports.chains import Reverted


def number_or_revert(answer: Any, code: bytes, *, question: str) -> tuple[int | None, Revert | None]:
    """The number that a contract answered, or why it did not.

    Args:
        code: what stands at the contract's address.
        question: what was asked, for a sentence: ``balanceOf``.

    Raises:
        NotAContract: no code, or no 32 bytes: then it is not a contract of this kind.
    """
    if not code:
        raise NotAContract("There is no contract at the token's address on this chain.")
    if isinstance(answer, Reverted):
        return None, explain(answer)
    number = word(answer)
    if number is None:
        raise NotAContract(f"What is at the token's address does not answer {question}: it is no token of this kind.")
    return number, None
