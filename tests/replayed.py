"""What an answer and its documented example have in common, whenever and wherever it was asked for."""

import re
from collections.abc import Iterator
from typing import Any

MEASURED = frozenset(
    (
        *("elapsedMs", "ageSeconds", "daysUntilExpiry", "fetchedAt", "observedAt", "checkedAt", "cursor"),
        # Of ledgers, which go on.
        *("blockNumber", "blockTimestamp", "timestamp", "confirmations", "ledgerIndex", "fromLedger", "toLedger"),
        *("gasPriceWei", "feeWei", "feeFormatted", "effectiveGasPriceWei", "minGasWei", "balanceWei", "totalSupply"),
    )
)
"""Fields that say when something was, how long it took or will take, how old it is, or what everybody else has done since."""
MADE_ANEW = frozenset(
    (
        *("validFrom", "validTo", "serialNumber", "fingerprintSha256", "chain", "ipAddress"),
        "dataVersion",  # of lists that scripts/data makes
        *("payer", "transaction"),
    )
)
"""Fields of what the sandbox or a script makes each time."""
_FEE = re.compile(r"paid [0-9.]+ ETH")


def unmeasured(answer: Any) -> Any:
    """An answer without these fields, at any depth, and without the fee in a transaction's narrative."""
    if isinstance(answer, str):
        return _FEE.sub("paid some ETH", answer)
    if isinstance(answer, dict):
        return {name: unmeasured(value) for name, value in answer.items() if name not in MEASURED | MADE_ANEW}
    return [unmeasured(each) for each in answer] if isinstance(answer, list) else answer


def assert_documented(answer: Any, example: Any) -> None:
    """Fails with a sentence that says in which fields an answer differs from the documented one, and what to do about it."""
    differing = list(_differing(unmeasured(answer), unmeasured(example)))
    assert not differing, (
        f"The answer differs from the response of the documented example in {', '.join(differing)}. The example shows a call "
        "that was made: write this answer into it. If it differs in each call (a time, a random value), choose a request whose "
        "answer is always the same, or add the field's name to MEASURED or MADE_ANEW in tests/replayed.py. "
        f"The answer is {answer!r}"
    )


def _differing(answer: Any, example: Any, place: str = "") -> Iterator[str]:
    if isinstance(answer, dict) and isinstance(example, dict):
        for name in sorted({*answer, *example}):
            yield from _differing(answer.get(name, ...), example.get(name, ...), f"{place}.{name}" if place else name)
    elif isinstance(answer, list) and isinstance(example, list) and len(answer) == len(example):
        for number, pair in enumerate(zip(answer, example, strict=True)):
            yield from _differing(*pair, f"{place}[{number}]")
    elif answer != example:
        yield place or "the whole"
