"""A number like `2.0` or `2e0` is an integer (JSON Schema, 6.1.1). msgspec takes none for one, so it is written as one first.

Only numbers that an integer is expected for change. In a field for any JSON, `2.0` and `2` are told apart.
"""

import re
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
MOST = 16
"""Such numbers in one body. Each costs one more decoding."""
_MOST_DIGITS = 20
_FOUND = re.compile(r"Expected `int(?: \| null)?`, got `float` - at `\$((?:\.[^.\[`]+|\[\d+\])+)`")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


def decoded(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """What a decoder makes of a body. Raises as it does."""
    for _ in range(MOST):
        try:
            return decoder.decode(body)
        except msgspec.ValidationError as error:
            found = _FOUND.match(str(error))
            path = [int(index) if index else name for name, index in _STEP.findall(found[1])] if found else []
            if not path or (written := _written(msgspec.Raw(body), path)) is None:
                raise
            body = bytes(written)
    return decoder.decode(body)


def _written(raw: msgspec.Raw, path: list[str | int]) -> msgspec.Raw | None:
    """The JSON with the number at the path as an integer; all else as it is. None when it is no whole number."""
    if not path:
        text = bytes(raw).decode()
        number = Decimal(text)
        if abs(number.adjusted()) > _MOST_DIGITS or number != number.to_integral_value():
            return None
        return msgspec.Raw(str(int(number)).encode())
    step, rest = path[0], path[1:]
    kind: Any = list[msgspec.Raw] if isinstance(step, int) else dict[str, msgspec.Raw]
    members = msgspec.json.decode(raw, type=kind)
    try:
        written = _written(members[step], rest)
    except LookupError:  # a name with a dot or a bracket in it
        return None
    if written is None:
        return None
    members[step] = written
    return msgspec.Raw(msgspec.json.encode(members))
