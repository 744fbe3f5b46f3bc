"""Why a call was undone: what contracts give as a reason, in words.

`Error(string)` is a text of the contract's author, `Panic(uint256)` an assertion of the compiler, anything else a custom error.
Source: Solidity documentation, Control Structures, "Error handling: Assert, Require, Revert and Exceptions".
"""

from typing import Annotated, Literal

import msgspec

from jobs.engines.evm import abi, signatures, text
from jobs.engines.evm.selectors import selector
from jobs.engines.evm.signatures import Argument
from jobs.fields import doc
from jobs.ports.chains import Reverted

ERROR = selector("Error(string)")
PANIC = selector("Panic(uint256)")
PANICS = {
    0x00: "generic compiler panic",
    0x01: "assertion failed",
    0x11: "arithmetic overflow or underflow",
    0x12: "division or modulo by zero",
    0x21: "conversion to an enum value that does not exist",
    0x22: "incorrectly encoded storage byte array",
    0x31: "pop on an empty array",
    0x32: "array index out of bounds",
    0x41: "too much memory allocated",
    0x51: "call of an uninitialized internal function",
}
MAX_DATA_SHOWN = 1024
_WORD = 32
_UINT256 = abi.parse_arguments("(uint256)")
_CAUSES = {
    "out_of_gas": "out of gas",
    "invalid_opcode": "invalid opcode",
    "insufficient_funds": "the sender does not have the value",
    "halted": "the call was stopped without a reason",
}

Kind = Literal[
    "error", "panic", "custom", "unknown", "empty", "out_of_gas", "invalid_opcode", "insufficient_funds", "halted"
]


class Revert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a call reverted."""

    kind: Annotated[
        Kind,
        doc(
            "What the contract returned: `error`, a text; `panic`, an assertion of the compiler; `custom`, an error "
            "whose signature is known; `unknown`, another error; `empty`, nothing. Else what stopped the call."
        ),
    ]
    reason: Annotated[str | None, doc("The reason in words. Null when there is none.")]
    selector: Annotated[str | None, doc("The first 4 bytes of the returned data, in hex. Null when there are fewer.")]
    signature: Annotated[
        str | None, doc("The signature of the error, such as `Error(string)`. Null when it is not known.")
    ]
    args: Annotated[list[Argument], doc("The arguments of a custom error, decoded.")]
    data: Annotated[str, doc("The returned data in hex, at most 1,024 bytes.")]


def explain(reverted: Reverted) -> Revert:
    """Explain a revert in words."""
    data = reverted.data
    if not data:
        if reverted.cause == "revert":
            return _revert("empty", None, data)
        return _revert(reverted.cause, _CAUSES[reverted.cause], data)
    head, body = data[:4], data[4:]
    if len(data) < 4:
        return _revert("unknown", None, data)
    if head == ERROR and (message := _message(body)) is not None:
        return _revert("error", text.clean(message, text.MAX_REASON) or None, data, "Error(string)")
    if head == PANIC and isinstance(code := _first(_UINT256, body), int):
        meaning = PANICS.get(code, "unknown code")
        return _revert("panic", f"Panic(0x{code:02x}): {meaning}", data, "Panic(uint256)")
    return _custom(data)


def _custom(data: bytes) -> Revert:
    known = signatures.known(data[:4], "error")
    if known is not None:
        try:
            found = signatures.arguments(known, abi.decode(known.arguments, data[4:]))
        except abi.Undecodable:
            pass
        else:
            inside = ", ".join(f"{each.name}={each.value}" if each.name else f"{each.value}" for each in found)
            return _revert("custom", text.clean(f"{known.name}({inside})", text.MAX_REASON), data, known.text, found)
    return _revert("unknown", f"custom error 0x{data[:4].hex()}", data)


def _revert(
    kind: Kind, reason: str | None, data: bytes, signature: str | None = None, args: list[Argument] | None = None
) -> Revert:
    return Revert(
        kind=kind,
        reason=reason,
        selector="0x" + data[:4].hex() if len(data) >= 4 else None,
        signature=signature,
        args=args or [],
        data="0x" + data[:MAX_DATA_SHOWN].hex(),
    )


def _message(body: bytes) -> str | None:
    """The text, or what is left of one that was cut off: callers in between may pass on a part."""
    raw = abi.string_bytes(body)
    if raw is None and len(body) > 2 * _WORD and int.from_bytes(body[:_WORD], "big") == _WORD:
        raw = body[2 * _WORD :].rstrip(b"\0")
    return None if raw is None else raw.decode("utf-8", "replace")


def _first(types: abi.Type, data: bytes) -> abi.Value | None:
    try:
        return abi.decode(types, data)[0]
    except abi.Undecodable:
        return None
