"""The free check of a body: whether a paid call would take it, and the 402 that the call gets now."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import msgspec

from api.admission import Judgement
from api.errors import Problem
from api.pages.entry import Entry
from api.pages.snippets import coinslot
from api.payment.gate import UNPAID
from api.unknown_fields import shown

MOST_BYTES = 16 * 1024
"""The longest body that is checked. Its form, in which each byte may be three, is within PEEK_BYTES of api/body.py."""
FIELD = "body"
"""The form's only field."""
FORM_TYPE = "application/x-www-form-urlencoded"
_MOST_NAMED = 8


class Fault(NamedTuple):
    """A detail of a problem. `suggestions`: those that the message does not name."""

    field: str
    message: str
    suggestions: list[str]


@dataclass(frozen=True)
class Check:
    """A body, and what is said of it.

    Attributes:
        judgement: of a paid call with this body.
    """

    entry: Entry
    body: bytes
    judgement: Judgement

    @property
    def text(self) -> str:
        """The body, for a person."""
        return self.body.decode(errors="replace")

    @property
    def faults(self) -> list[Fault]:
        """All that is wrong, where that is more than the problem's sentence."""
        problem = self.judgement.problem
        faults = [_fault(**detail) for detail in problem.details] if problem else []
        return faults if len(faults) > 1 or any(fault.suggestions for fault in faults) else []

    @property
    def ignored(self) -> list[str]:
        """The first fields that the call would ignore."""
        return [shown(name) for name in self.judgement.ignored[:_MOST_NAMED]]

    @property
    def command(self) -> str:
        """What buys the call with this body."""
        entry = self.entry
        return coinslot(entry.gate.listing, entry.terms, entry.base_url, self.text.strip() or "{}")

    @property
    def challenge(self) -> str:
        """The 402 that an unpaid call with this body gets now: JSON on several lines."""
        return msgspec.json.format(self.entry.gate.refuse(UNPAID, self.body).body.decode(), indent=2)


def require_form(content_type: str) -> None:
    """Raise Problem when a Content-Type header is not that of a form."""
    if content_type.partition(";")[0].strip().lower() != FORM_TYPE:
        raise Problem(
            code="unsupported_media_type", detail=f"Send a form ({FORM_TYPE}) with the body in the field `{FIELD}`."
        )


def body_of(form: bytes | None) -> bytes:
    """The body in a form, byte by byte, but for the ends of lines: a browser sends CRLF for each.

    Args:
        form: None when it is too long, or declares no length.

    Raises:
        Problem: `too_large`.
    """
    if form is None:
        raise _too_large()
    fields = (field.partition(b"=") for field in form.split(b"&"))
    value = next((value for name, _, value in fields if name == FIELD.encode()), b"")
    body = unquote_to_bytes(value.replace(b"+", b" ")).replace(b"\r\n", b"\n")
    if len(body) > MOST_BYTES:
        raise _too_large()
    return body


def _fault(field: str, message: str, suggestions: Iterable[str] = ()) -> Fault:
    return Fault(field, message, [one for one in suggestions if f"`{one}`" not in message])


def _too_large() -> Problem:
    detail = (
        f"A body of at most {MOST_BYTES:,} bytes is checked here, in a form that declares its length. A paid call checks a "
        "longer body before it is charged."
    )
    return Problem(code="too_large", detail=detail)
