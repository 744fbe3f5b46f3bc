"""What can go wrong, in sentences: what every status but 200 means for the caller."""

from __future__ import annotations

from typing import NamedTuple


class Status(NamedTuple):
    """One row. `charged`: whether the call has been paid for then."""

    status: str
    meaning: str
    charged: str
    next: str


STATUSES = (
    Status("402", "Not paid yet, or the payment was refused.", "no", "Pay what the new challenge asks for."),
    Status(
        "400", "The body is not valid; `field` names the place.", "no", "Correct it. The payment can still be used."
    ),
    Status("409", "The payment identifier belongs to another request.", "no", "Take another identifier."),
    Status("413, 415", "The body is too large, or is not JSON.", "no", "Correct it. The payment can still be used."),
    Status("429", "This payer calls this endpoint too often.", "no", "Wait, then send the same payment."),
    Status(
        "502",
        "Another system failed or said no; `reason` says which.",
        "yes",
        "If `retryable`: repeat with the same payment, free. Otherwise this is the answer.",
    ),
    Status(
        "503", "Full or down, or the settlement is not known yet.", "no, or unknown", "Repeat with the same payment."
    ),
    Status("504", "The answer took too long.", "yes", "Repeat with the same payment to fetch it, free."),
)
"""What this service answers instead of a 200, from the caller's side. Every such body but the 402 has `charged`, and the
few 400s that show only while the call runs say there that they were charged."""
