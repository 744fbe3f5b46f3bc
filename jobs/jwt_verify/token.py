"""Takes a compact JSON Web Token apart, strictly (RFC 7515 section 7.1, RFC 7519 section 7.2). Nothing is verified here.

Where the RFCs allow a choice, the stricter one is made, so that two readers cannot see different things in one token:

- Exactly three parts of base64url without padding, white space or stray bits after the last byte. No `Bearer ` in front.
- Header and payload are UTF-8 JSON objects: no NaN, no lone surrogates, no repeated name in an object, at most 100 levels,
  numbers within the range of a double, integers of at most 4300 digits.

Every part that can be read is returned, even when another cannot. `faults` says what is wrong, without quoting the token.
"""

import base64
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from jobs.fields import doc
from shared.raw_json import levels

MAX_DEPTH = 100
"""Levels of objects and arrays, with the outermost."""

Code = Literal[
    "malformed",
    "alg_none",
    "unsupported_alg",
    "alg_key_mismatch",
    "unsupported_crit",
    "bad_signature",
    "expired",
    "not_yet_valid",
    "issuer_mismatch",
    "audience_mismatch",
    "missing_claim",
]

_BASE64URL = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_SPACE = re.compile(r"\s")

_T = TypeVar("_T")


class Fault(msgspec.Struct, frozen=True):
    """One reason why a token is not valid."""

    code: Annotated[Code, doc("The reason, as a code.")]
    message: Annotated[str, doc("The reason in a sentence.")]
    claim: Annotated[str | None, doc("The name of the claim that it is about. Null when it is about no claim.")] = None


class Caution(msgspec.Struct, frozen=True):
    """A weakness that does not make the token invalid."""

    code: Annotated[
        Literal[
            "weak_key",
            "key_in_header",
            "audience_not_checked",
            "no_expiry",
            "issued_in_future",
            "date_in_milliseconds",
        ],
        doc("The weakness, as a code."),
    ]
    message: Annotated[str, doc("The weakness in a sentence.")]


@dataclass(frozen=True, slots=True, repr=False)
class Token:
    """The readable parts of a token.

    Attributes:
        header: None when it is not a JSON object.
        payload: None when it is not a JSON object. A signature can cover any payload (RFC 7515).
        signing_input: the two parts that the signature covers, as received.
        signature: None when there are not three parts, or the third is not base64url.
        payload_encoded: False when the header requires, or may require, a payload that is not base64url (RFC 7797).
        payload_canonical: whether the payload is the one base64url text of its bytes. A signature over any other text is not
            valid (RFC 7515 section 5.2, step 3).
        faults: all of them `malformed`.
    """

    header: dict[str, Any] | None
    payload: dict[str, Any] | None
    signing_input: bytes
    signature: bytes | None
    payload_encoded: bool
    payload_canonical: bool
    faults: tuple[Fault, ...]


class _Unreadable(Exception):
    """The reason why a part cannot be read: the end of a sentence that begins with the part's name."""


def read(text: str) -> Token:
    """Take a token apart. Never raises."""
    parts = text.split(".")
    header, header_fault = _attempt("header", parts[0], _object)
    encoded = header is None or header.get("b64", True) is True
    misshapen = _why_misshapen(text, len(parts))
    if misshapen:
        return Token(header, None, b"", None, encoded, False, (Fault("malformed", misshapen),))
    payload, payload_fault = _attempt("payload", parts[1], _object) if encoded else (None, None)
    if payload_fault and _is_nested(header):
        payload_fault = "The payload is another token, as the header's cty says: verify that one on its own."
    signature, signature_fault = _attempt("signature", parts[2], _bytes)
    return Token(
        header=header,
        payload=payload,
        signing_input=".".join(parts[:2]).encode(),
        signature=signature,
        payload_encoded=encoded,
        payload_canonical=base64url(parts[1]) is not None,
        faults=tuple(Fault("malformed", why) for why in (header_fault, payload_fault, signature_fault) if why),
    )


def base64url(text: str) -> bytes | None:
    """The bytes of canonical base64url without padding (RFC 4648 section 3.5). None for anything else."""
    if not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64.urlsafe_b64encode(data).rstrip(b"=") == text.encode() else None


def standard_base64(text: str) -> bytes | None:
    """The bytes of canonical base64 with padding (RFC 4648 section 4). None for anything else."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data) == text.encode() else None


def _attempt(name: str, part: str, reader: Callable[[str], _T]) -> tuple[_T | None, str | None]:
    """What a part says, or else a sentence why it says nothing."""
    try:
        return reader(part), None
    except _Unreadable as why:
        return None, f"The {name} {why}."


def _bytes(part: str) -> bytes:
    data = base64url(part)
    if data is not None:
        return data
    if _SPACE.search(part):
        raise _Unreadable("has white space in it")
    if "=" in part:
        raise _Unreadable("has padding ('='), which base64url in tokens has not")
    if not _BASE64URL.fullmatch(part):
        raise _Unreadable("has characters that are not base64url")
    if len(part) % 4 == 1:
        raise _Unreadable("has a length that base64url cannot have; the token may be cut off")
    raise _Unreadable("is not canonical base64url: bits behind its last byte are set")


def _object(part: str) -> dict[str, Any]:
    data = _bytes(part)
    if not data:
        raise _Unreadable("is empty")
    try:
        text = data.decode()
        if levels(data) > MAX_DEPTH:  # before json.loads recurses: how deep it may is up to whoever set the limit
            raise _Unreadable(f"has more than {MAX_DEPTH} levels")
        value = json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse)
        msgspec.json.encode(value)  # it will be part of the answer, where lone surrogates cannot be
    except UnicodeDecodeError:
        raise _Unreadable("is not UTF-8") from None
    except UnicodeEncodeError:
        raise _Unreadable("has half of a surrogate pair") from None
    except json.JSONDecodeError:
        raise _Unreadable("is not JSON") from None
    except ValueError:
        raise _Unreadable("has an integer of more than 4300 digits") from None  # which int() refuses
    if not isinstance(value, dict):
        raise _Unreadable("is not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Unreadable("has an object with the same name twice")
    return result


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Unreadable("has a number beyond the range of a double")
    return number


def _refuse(constant: str) -> Any:
    raise _Unreadable("has NaN or Infinity, which JSON has not")


def _is_nested(header: dict[str, Any] | None) -> bool:
    """Whether the payload is another token (RFC 7519 section 5.2)."""
    cty = (header or {}).get("cty")
    return isinstance(cty, str) and cty.lower() == "jwt"


def _why_misshapen(text: str, parts: int) -> str | None:
    if text.lstrip().startswith("{"):
        return "This is the JSON form of a signature; a token has the compact form, three parts joined by dots."
    if text[:7].lower() == "bearer ":
        return "This begins with the word Bearer; the token is what follows it."
    if parts == 5:
        return "This is an encrypted token (JWE, five parts); only signed ones, of three parts, can be verified."
    return None if parts == 3 else "A signed token has exactly three parts joined by dots."
