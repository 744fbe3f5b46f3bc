"""Checks a token's signature. The key decides the family of the algorithm; the header only selects the hash within it."""

from dataclasses import dataclass
from typing import Any

from jobs.jwt_verify.key import Key
from jobs.jwt_verify.token import Caution, Fault, Token

ALGORITHMS = {"HS256": 256, "HS384": 384, "HS512": 512, "RS256": 256, "RS384": 384, "RS512": 512}
"""The supported algorithms, and the bits of their hash. Names are case-sensitive."""

_KEY_HEADERS = ("jwk", "jku", "x5c", "x5u")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known about a token before its claims are judged.

    Attributes:
        algorithm: the header's `alg` when it is text.
        valid: the signature belongs to this key and this token.
    """

    algorithm: str | None
    valid: bool
    faults: tuple[Fault, ...]
    cautions: tuple[Caution, ...]


def check(token: Token, key: Key) -> Verdict:
    """Verify the signature, if key and header allow it."""
    header = token.header
    algorithm = None if header is None else header.get("alg")
    bits = ALGORITHMS.get(algorithm) if isinstance(algorithm, str) and algorithm.startswith(key.family) else None
    faults: list[Fault] = []
    valid = False
    if header is not None:
        fault = _algorithm_fault(algorithm, key)
        faults = [fault for fault in (fault, _critical_fault(token, header)) if fault is not None]
        if bits and token.signature is not None and token.payload_encoded and token.payload_canonical:
            valid = key.verifies(token.signing_input, token.signature, bits=bits)
            if not valid:
                faults.append(Fault("bad_signature", "The signature does not belong to this token and this key."))
    return Verdict(
        algorithm=algorithm if isinstance(algorithm, str) else None,
        valid=valid,
        faults=tuple(faults),
        cautions=tuple(_cautions(header or {}, key.weakness(bits))),
    )


def _algorithm_fault(algorithm: Any, key: Key) -> Fault | None:
    if not isinstance(algorithm, str):
        return Fault("malformed", "The header's alg is missing, or is not text.")
    if algorithm.lower() == "none":
        return Fault("alg_none", "The header says that the token is not signed; such tokens are never valid.")
    if algorithm not in ALGORITHMS:
        return Fault("unsupported_alg", f"The header's alg is none of {', '.join(ALGORITHMS)}.")
    if not algorithm.startswith(key.family):
        wanted, given = ("publicKey", "sharedSecret") if key.family == "HS" else ("sharedSecret", "publicKey")
        detail = f"The header's alg is {algorithm}, which needs {wanted}; given is {given}."
        return Fault("alg_key_mismatch", detail)
    return None


def _critical_fault(token: Token, header: dict[str, Any]) -> Fault | None:
    """RFC 7515 section 4.1.11. No extension is supported, not even RFC 7797's b64."""
    if "crit" in header:
        names = header["crit"]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            return Fault("malformed", "The header's crit is not a list of names.")
        return Fault("unsupported_crit", "The header's crit demands an extension that is not supported.")
    if not token.payload_encoded:
        return Fault("unsupported_crit", "The header's b64 asks for an unencoded payload, which is not supported.")
    return None


def _cautions(header: dict[str, Any], weakness: str | None) -> list[Caution]:
    cautions = [] if weakness is None else [Caution("weak_key", weakness)]
    if any(name in header for name in _KEY_HEADERS):
        detail = "The header has or names a key (jwk, jku, x5c, x5u). It was neither fetched nor used."
        cautions.append(Caution("key_in_header", detail))
    return cautions
