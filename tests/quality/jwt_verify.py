"""jwt-verify: good tokens are valid, and each way to spoil one makes it invalid."""

import base64
import hashlib
import hmac
import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from jobs.jwt_verify.endpoint import ENDPOINT, Request, verify
from jobs.jwt_verify.public_key import public_key
from tests.jobs.calls import request_of
from tests.jobs.jose import NOW, SECRET, b64u, hs, pem, spki
from tests.quality.scorer import Measure

_UNKNOWN = ("aud", "iss", "secret", "audiences", "exp")
_UNKNOWN_SET_ASIDE = ("Audience", "issuers", "expected_audience", "nonce")
_CLAIMS = {"sub": "ada", "exp": NOW + 60, "nbf": NOW - 60}


def measures(held_out: bool) -> Iterator[Measure]:
    """Tokens that must be valid, and tokens that must not."""
    good = _more_good() if held_out else [hs(_CLAIMS, bits=bits) for bits in (256, 384, 512)]
    bad = _more_spoiled() if held_out else _spoiled()
    yield Measure("valid", len(good), sum(_is_valid(token) for token in good))
    yield Measure("not valid", len(bad), sum(not _is_valid(token) for token in bad))
    if not held_out:
        warned = _warned()
        yield Measure("warned", len(warned), sum(_codes(claims, asked) == codes for claims, asked, codes in warned))
    unknown = _UNKNOWN_SET_ASIDE if held_out else _UNKNOWN
    yield Measure("unknown fields refused", len(unknown), sum(map(_is_refused, unknown)))
    roca = [public_key(pem("PUBLIC KEY", spki(_roca(17 if held_out else 12345, bits)))) for bits in (2048, 3072)]
    yield Measure("keys of the ROCA generator", len(roca), sum("ROCA" in (key.weakness(256) or "") for key in roca))


def _is_refused(field: str) -> bool:
    """Before the payment, by its name."""
    try:
        request_of(ENDPOINT, {"token": hs(_CLAIMS), "sharedSecret": SECRET, field: "OTHER"})
    except msgspec.ValidationError as refused:
        return f"`{field}`" in str(refused)
    return False


def _roca(power: int, bits: int) -> int:
    """A modulus as that generator makes them: a power of 65537 modulo the product of the small primes."""
    primes = [number for number in range(2, 702) if all(number % divisor for divisor in range(2, number))]
    small = math.prod(primes)
    return (2 ** (bits - 1) // small + 1) * small + pow(65537, power, small)


def _warned() -> list[tuple[Any, Any, list[str]]]:
    """Claims of valid tokens, what the request asks besides, and the warnings."""
    return [
        ({**_CLAIMS, "aud": "OTHER"}, {}, ["audience_not_checked"]),
        ({**_CLAIMS, "aud": ["a"]}, {"audience": "a"}, []),
        ({"sub": "ada"}, {}, ["no_expiry"]),
        ({**_CLAIMS, "iat": NOW + 600}, {}, ["issued_in_future"]),
        ({**_CLAIMS, "iat": NOW}, {}, []),
    ]


def _codes(claims: Any, asked: Any) -> list[str]:
    return [one.code for one in verify(Request(token=hs(claims), shared_secret=SECRET, **asked), float(NOW)).warnings]


def _is_valid(token: str) -> bool:
    return verify(Request(token=token, shared_secret=SECRET), float(NOW)).valid


def _more_good() -> list[str]:
    header = {"typ": "JWT", "alg": "HS256", "kid": "é", "x": [1, {"y": None}]}
    return [
        hs({}),
        hs({"exp": NOW + 0.5}),
        hs({"iat": NOW + 10**6}),
        hs({"aud": ["a", "b"], "n": 10**40}),
        hs(_CLAIMS, header),
    ]


def _spoiled() -> list[str]:
    header, payload, mac = hs(_CLAIMS).split(".")
    return [
        f"{header}.{payload}.{mac[:-2]}",
        f"{header}.{payload}.",
        f"{header}.{b64u(json.dumps({**_CLAIMS, 'sub': 'eve'}))}.{mac}",
        f"{b64u(json.dumps({'alg': 'none'}))}.{payload}.",
        hs({**_CLAIMS, "exp": NOW}),
        hs({**_CLAIMS, "nbf": NOW + 1}),
        hs(_CLAIMS, secret="another secret that is long enough for the hash 123"),
    ]


def _more_spoiled() -> list[str]:
    header, payload, _ = hs(_CLAIMS).split(".")
    padded = base64.urlsafe_b64encode(json.dumps({**_CLAIMS, "sub": "ad"}).encode()).decode()
    return [
        *(
            _signed(header, text)
            for text in (padded if padded.endswith("=") else padded + "=", payload + "\n", payload + "*")
        ),
        *(hs({**_CLAIMS, "exp": value}) for value in ("4102444800", True, None, [NOW + 60], -1)),
        *(hs(_CLAIMS, {"alg": name}) for name in ("hs256", "HS1024", "RS256", "nOnE", "")),
        hs(_CLAIMS, {"alg": "HS256", "crit": ["exp"]}),
        hs(_CLAIMS, {"alg": "HS256", "b64": False, "crit": ["b64"]}),
        hs('{"sub": "a", "sub": "b"}'),
        hs("[1]"),
        _signed(header + "=", payload),
    ]


def _signed(header: str, payload: str) -> str:
    mac = hmac.new(SECRET.encode(), f"{header}.{payload}".encode(), hashlib.sha256).digest()
    return f"{header}.{payload}.{b64u(mac)}"
