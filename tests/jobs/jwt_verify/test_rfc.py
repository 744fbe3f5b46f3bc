"""The examples of RFC 7515, 7519, 7520 and 7797."""

import base64
from typing import Any

import msgspec
import pytest

from jobs.jwt_verify.endpoint import Request, Response, verify
from tests.each import each
from tests.jobs.jose import PUBLIC_KEY, pem, spki

AT = 1_300_819_379
"""The second before RFC 7519's example expires."""

PAYLOAD = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
CLAIMS = {"iss": "joe", "exp": 1300819380, "http://example.com/is_root": True}

A1_SECRET = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
A1 = f"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{PAYLOAD}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

A2_N = (
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_"
    "YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD"
    "Zlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
)
A2_KEY = pem("PUBLIC KEY", spki(n=int.from_bytes(base64.urlsafe_b64decode(A2_N + "=="))))
A2_SIGNATURE = (
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQ"
    "jbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqt"
    "FZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
)
A2 = f"eyJhbGciOiJSUzI1NiJ9.{PAYLOAD}.{A2_SIGNATURE}"
A3 = (
    f"eyJhbGciOiJFUzI1NiJ9.{PAYLOAD}."
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
)
A5 = f"eyJhbGciOiJub25lIn0.{PAYLOAD}."

QUOTE = (
    "SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlv"
    "dSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4"
)
BILBO_SIGNATURE = (
    "MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wnB-BDkoBwA78185hX-"
    "Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrD"
    "aLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg"
)
BILBO = f"eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.{QUOTE}.{BILBO_SIGNATURE}"
QUOTE_SECRET = "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"
QUOTE_HS_HEADER = "eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9"
QUOTE_HS = f"{QUOTE_HS_HEADER}.{QUOTE}.s0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0"


def _verify(token: str, *, at: float = AT, **fields: Any) -> Response:
    return verify(msgspec.convert({"token": token, **fields}, Request), at)


def _hs(token: str, **fields: Any) -> Response:
    return _verify(token, sharedSecret=A1_SECRET, secretEncoding="base64url", **fields)


def _codes(response: Response) -> list[str]:
    return [error.code for error in response.errors]


def test_rfc7515_a1() -> None:
    """HS256, with line breaks inside of header and payload that the signature covers."""
    answer = _hs(A1, issuer="joe")
    assert (answer.valid, answer.signature_valid, answer.algorithm, answer.errors) == (True, True, "HS256", [])
    assert answer.header == {"typ": "JWT", "alg": "HS256"}
    assert answer.payload == CLAIMS
    assert answer.expires_at == "2011-03-22T18:43:00Z"


def test_rfc7515_a2() -> None:
    """RS256."""
    answer = _verify(A2, publicKey=A2_KEY)
    assert (answer.valid, answer.algorithm, answer.errors, answer.warnings) == (True, "RS256", [], [])
    assert answer.payload == CLAIMS


@pytest.mark.parametrize("key", [{"publicKey": A2_KEY}, {"sharedSecret": "secret"}])
def test_rfc7515_a3(key: dict[str, str]) -> None:
    """ES256 is not supported, whatever the key."""
    answer = _verify(A3, **key)
    assert (answer.valid, answer.signature_valid, _codes(answer)) == (False, False, ["unsupported_alg"])


def test_rfc7515_a5() -> None:
    """An unsecured token is never valid, and what it says is shown."""
    answer = _hs(A5)
    assert (answer.valid, answer.signature_valid, _codes(answer)) == (False, False, ["alg_none"])
    assert answer.payload == CLAIMS


def test_rfc7515_a6() -> None:
    """The JSON form of the same signatures has its own message."""
    protected, payload, signature = A2.split(".")
    answer = _verify(f'{{"payload":"{payload}","protected":"{protected}","signature":"{signature}"}}', publicKey=A2_KEY)
    assert (answer.valid, answer.header, _codes(answer)) == (False, None, ["malformed"])
    assert "JSON form" in answer.errors[0].message


def test_rfc7515_e() -> None:
    """The negative test case for crit: here it is unsigned as well, and its payload is no JSON."""
    token = (
        "eyJhbGciOiJub25lIiwNCiAiY3JpdCI6WyJodHRwOi8vZXhhbXBsZS5jb20vVU5ERUZJTkVEIl0sDQogImh0dHA6Ly9leGFtcGxlLmNvbS9VTkRFRklO"
        "RUQiOnRydWUNCn0.RkFJTA."
    )
    answer = _hs(token)
    assert (answer.valid, _codes(answer)) == (False, ["malformed", "alg_none", "unsupported_crit"])


@each(
    ("token", "key"),
    [
        (BILBO, {"publicKey": PUBLIC_KEY}),
        (QUOTE_HS, {"sharedSecret": QUOTE_SECRET, "secretEncoding": "base64url"}),
        (QUOTE_HS, {"sharedSecret": QUOTE_SECRET + "=", "secretEncoding": "base64url"}),
        (QUOTE_HS, {"sharedSecret": QUOTE_SECRET.replace("-", "+") + "=", "secretEncoding": "base64"}),
        (QUOTE_HS, {"sharedSecret": base64.urlsafe_b64decode(QUOTE_SECRET + "=").hex(), "secretEncoding": "hex"}),
    ],
)
def test_rfc7520(token: str, key: dict[str, str]) -> None:
    """Sections 4.1 and 4.4: the signature of a text that is no JSON is right, but it is not a valid token."""
    answer = _verify(token, **key)
    assert (answer.valid, answer.signature_valid, answer.payload, _codes(answer)) == (False, True, None, ["malformed"])
    assert (answer.expired, answer.not_yet_valid, answer.claims.exp.present) == (None, None, False)
    assert answer.header is not None
    assert "kid" in answer.header


def test_rfc7520_detached() -> None:
    """Section 4.5: without its payload the signature is not right."""
    answer = _verify(
        f"{QUOTE_HS_HEADER}..s0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0",
        sharedSecret=QUOTE_SECRET,
        secretEncoding="base64url",
    )
    assert (answer.signature_valid, _codes(answer)) == (False, ["malformed", "bad_signature"])


@pytest.mark.parametrize("payload", ["", "$"])
def test_rfc7797(payload: str) -> None:
    """Section 4.2: an unencoded payload is not supported, detached or not, and is not taken for an encoded one."""
    token = f"eyJhbGciOiJIUzI1NiIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19.{payload}.A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY"
    answer = _hs(token)
    assert (answer.valid, answer.signature_valid, _codes(answer)) == (False, False, ["unsupported_crit"])


def test_rfc7519_expiry() -> None:
    """Section 4.1.4: the time must be before the expiration."""
    assert _hs(A1, at=1_300_819_379).valid
    assert _codes(_hs(A1, at=1_300_819_380)) == ["expired"]
