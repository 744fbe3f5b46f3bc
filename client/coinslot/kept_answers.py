"""Answers that came when nobody waited for them, beside their saved payments: `coinslot resume` prints them."""

import msgspec

from coinslot.answer import Answer
from coinslot.payment_folder import SavedPayment
from coinslot.state_folder import write_file
from shared.x402.wire import Settlement


class _Kept(msgspec.Struct, frozen=True, rename="camel"):
    """The file. `raw` is base64 in it."""

    raw: bytes
    receipt: Settlement | None
    request_id: str


def keep(saved: SavedPayment, answer: Answer) -> None:
    """Have the answer on the disk. Raises OSError when it is not."""
    write_file(saved.answer_path, msgspec.json.encode(_Kept(answer.raw, answer.receipt, answer.request_id)))


def find(saved: SavedPayment) -> Answer | None:
    """The answer that was kept."""
    try:
        kept = msgspec.json.decode(saved.answer_path.read_bytes(), type=_Kept)
        body = msgspec.json.decode(kept.raw)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    payment = saved.payment
    return Answer(body, kept.raw, payment.price, payment.offer, kept.receipt, kept.request_id, saved=saved)
