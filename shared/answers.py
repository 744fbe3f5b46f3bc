"""Where the answers of paid calls are kept: written once by a worker, read by the API for ever the same.

One payment has two keys in the ledger: its record (a hash, written by api/payment/ledger.py) and its answer, which the `done`
script of workers/answers.py writes, and nothing else.
"""

from __future__ import annotations

ANSWER_TTL_S = 24 * 3600
"""How long an answer can be fetched again with the same request."""


def record_key(payment_id: str) -> str:
    """Key of the payment's record."""
    return f"coinslot:payment:{payment_id}"


def answer_key(payment_id: str) -> str:
    """Key of the answer: an encoded Outcome."""
    return f"coinslot:answer:{payment_id}"
