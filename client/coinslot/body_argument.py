"""The JSON argument of `coinslot call`: text, `-` for standard input, or `@FILE`. Its bytes are sent unchanged."""

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from coinslot.errors import InvalidCall

MAX_BODY_BYTES = 4 * 1024 * 1024


def read(argument: str | None) -> bytes | None:
    """The body's bytes; None without an argument.

    Raises:
        InvalidCall: the body cannot be read, is too large, or is not a JSON object. The text never quotes it.
    """
    if argument is None:
        return None
    if argument == "-":
        body = sys.stdin.buffer.read(MAX_BODY_BYTES + 1) if sys.stdin else b""
    elif argument.startswith("@"):
        body = _file(Path(argument[1:]))
    else:
        body = os.fsencode(argument)
    if len(body) > MAX_BODY_BYTES:
        raise InvalidCall(f"the body is larger than {MAX_BODY_BYTES} bytes")
    try:
        msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.ValidationError:
        raise InvalidCall("the body is JSON, but not an object", hint=_EXAMPLE) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        where = f" ({error})" if isinstance(error, msgspec.DecodeError) else ""
        raise InvalidCall(f"the body is not JSON{where}", hint=_EXAMPLE) from None
    return body


_EXAMPLE = """Give it like '{"message": "hello"}', or as @FILE, or as - for standard input."""


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BODY_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise InvalidCall(f"cannot read the body from {path}: {why}") from None
