"""Top-level fields that an endpoint does not know: surely a slip, or ignored and named in a header.

A body without a single known field, or with a name that is nearly a known one (`massage`), would be charged for another call
than its caller meant. Any other unknown field may belong to a newer or an older client. A request that is declared with
`forbid_unknown_fields` has none that are ignored: there a field that is not read would be a check that is not made.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import quote

import msgspec

from api.errors import Problem
from api.long_bodies import LONG_BYTES

MAX_DISTANCE = 2
"""A name within so many letters of a known one is a slip, unless nothing of it is left."""
MAX_DISTANCE_BESIDE = 1
"""The same where the body has the known field as well: `tokenId` beside `token` is another field, `massage` beside `message` is
none."""
HEADER = b"warnings"

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MOST_NAMED = 8
_MOST_JUDGED = 8
"""Unknown names that are compared with the known ones. It takes 10 us a pair, and who sends many has made no slip."""
_MOST_CHARS = 64
_names_of = msgspec.json.Decoder(dict[str, msgspec.Raw])


class UnknownFields:
    """Judges the unknown fields of one endpoint's bodies."""

    def __init__(self, request: type[msgspec.Struct]) -> None:
        self._known = request.__struct_encode_fields__
        self._forbidden = request.__struct_config__.forbid_unknown_fields
        # Finds known fields, and leaves all values as they are.
        fields = [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in request.__struct_fields__]
        renamed = dict(zip(request.__struct_fields__, self._known, strict=True))
        self._present = msgspec.json.Decoder(msgspec.defstruct("Present", fields, rename=renamed))

    def named(self, error: msgspec.ValidationError, body: bytes) -> tuple[str, ...]:
        """The unknown fields of a body, when `error` is that there are some; of a long body the first.

        Raises msgspec.DecodeError when the body is not one JSON object.
        """
        first = _UNKNOWN.fullmatch(str(error))
        if first is None:
            return ()
        if len(body) > LONG_BYTES:
            return (first[1],)
        return tuple(name for name in _names_of.decode(body) if name not in self._known)

    def problem(self, unknown: Sequence[str], body: bytes) -> Problem | None:
        """The refusal of a body with unknown fields; None when they are ignored."""
        found = self._present.decode(body)
        fields = zip(found.__struct_fields__, self._known, strict=True)
        present = {known for field, known in fields if getattr(found, field) is not msgspec.UNSET}
        for name in unknown[:_MOST_JUDGED]:
            if near := [known for known in self._by_distance(name) if _is_slip(name, known, known in present)]:
                return _problem(name, near, f"There is no field `{shown(name)}` here: did you mean `{near[0]}`?")
        if present and not self._forbidden:
            return None
        name = unknown[0]
        nearest = sorted(self._by_distance(name), key=lambda known: not known.startswith(name))
        known = ", ".join(f"`{name}`" for name in self._known)
        which = f"There is no field `{shown(name)}` here" if present else "None of these fields is known here"
        return _problem(name, nearest, f"{which}. The known ones are {known}.")

    def _by_distance(self, name: str) -> list[str]:
        return sorted(self._known, key=lambda known: _distance(name[:_MOST_CHARS], known))


def header(ignored: Iterable[str]) -> tuple[tuple[bytes, bytes], ...]:
    """The header that names ignored fields, as a list of RFC 9651; empty without any."""
    named = ", ".join(f'unknown_field;name="{shown(name)}"' for name in list(ignored)[:_MOST_NAMED])
    return ((HEADER, named.encode()),) if named else ()


def shown(name: str) -> str:
    """A caller's name as ASCII without quotes and blanks, and not too long."""
    return quote(name[:_MOST_CHARS].encode("utf-8", "replace"), safe="$-_.~")


def _problem(name: str, nearest: Sequence[str], detail: str) -> Problem:
    details = {"field": shown(name), "message": detail, "suggestions": list(nearest[:5])}
    return Problem(code="unknown_field", detail=detail, field=shown(name), details=(details,))


def _is_slip(name: str, known: str, is_present: bool) -> bool:
    distance = _distance(name[:_MOST_CHARS], known)
    most = MAX_DISTANCE_BESIDE if is_present else MAX_DISTANCE
    return distance <= most and distance < min(len(name), len(known))


@lru_cache(maxsize=4096)
def _distance(one: str, other: str) -> int:
    """The edit distance (Levenshtein) of two short names."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row[0] = row[0], number
        for at, another in enumerate(other, start=1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != another))
    return row[-1]
