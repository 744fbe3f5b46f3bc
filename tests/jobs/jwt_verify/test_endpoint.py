"""The endpoint: what a request may be, and what comes back."""

import hmac
import itertools
import json
import string
import time
from functools import partial
from typing import Any

import jwt
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.jwt_verify.endpoint import ENDPOINT, MAX_CHARACTERS, Request, verify
from jobs.jwt_verify.secret import shared_secret
from jobs.jwt_verify.signature import ALGORITHMS
from shared.outcome import Ok
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of
from tests.jobs.jose import NOW, PUBLIC_KEY, SECRET, b64u, certificate, hs, pem, rs, signing_input
from workers.execute import execute

_request = partial(request_of, ENDPOINT)
_refusal = partial(refusal_of, ENDPOINT)
HS, RS = {"sharedSecret": SECRET}, {"publicKey": PUBLIC_KEY}


def _answer(token: str, now: float = NOW, **fields: Any) -> dict[str, Any]:
    """The answer as it is sent, read by another JSON reader."""
    answer: dict[str, Any] = json.loads(msgspec.json.encode(verify(_request({"token": token, **fields}), now)))
    assert tuple(answer) == tuple(ENDPOINT.example.response)
    assert answer["ok"] is True
    assert answer["valid"] is (answer["errors"] == [])
    assert answer["signatureValid"] or not answer["valid"]
    return answer


def _codes(answer: dict[str, Any]) -> list[str]:
    return [error["code"] for error in answer["errors"]]


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer, for the next seventy years."""
    assert answer_to(ENDPOINT, ENDPOINT.example.request) == ENDPOINT.example.response


def test_it_holds_a_secret() -> None:
    """The declaration says so, and a request does not show what it holds."""
    assert ENDPOINT.holds_secret
    assert not ENDPOINT.isolated
    assert repr(_request({"token": hs({}), **HS})) == "Request(...)"


def test_run_asks_the_clock() -> None:
    """A token that was valid a minute ago is not now."""
    now = time.time()
    for exp, code in ((now + 60, []), (now - 60, ["expired"])):
        answer = ENDPOINT.run(_request({"token": hs({"exp": exp}), **HS}), CONTEXT)
        assert [error.code for error in answer.errors] == code


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_every_algorithm(bits: int) -> None:
    """All six verify with their key, and with no other."""
    claims = {"sub": "ada", "exp": NOW + 1}
    for token, key, name in ((hs(claims, bits=bits), HS, "HS"), (rs(claims, bits=bits), RS, "RS")):
        answer = _answer(token, **key)
        assert (answer["valid"], answer["signatureValid"], answer["algorithm"]) == (True, True, f"{name}{bits}")
        assert (answer["payload"], answer["warnings"]) == (claims, [])
    assert _codes(_answer(hs(claims, bits=bits), sharedSecret=SECRET + ".")) == ["bad_signature"]
    assert _codes(_answer(hs(claims, bits=bits), sharedSecret=SECRET[:-1])) == ["bad_signature"]
    other = pem("CERTIFICATE", certificate()).replace("\n", "\r\n")
    assert _answer(rs(claims, bits=bits), publicKey=other)["valid"] is True


def test_the_hash_is_the_headers() -> None:
    """A signature by another hash of the same family is none."""
    for said in (256, 384, 512):
        for done in {256, 384, 512} - {said}:
            assert _codes(_answer(hs({}, {"alg": f"HS{said}"}, bits=done), **HS)) == ["bad_signature"]
            assert _codes(_answer(rs({}, {"alg": f"RS{said}"}, bits=done), **RS)) == ["bad_signature"]


@each(
    ("alg", "with_secret", "with_public_key"),
    [
        *((f"HS{bits}", "bad_signature", "alg_key_mismatch") for bits in (256, 384, 512)),
        *((f"RS{bits}", "alg_key_mismatch", "bad_signature") for bits in (256, 384, 512)),
        *((alg, "alg_none", "alg_none") for alg in ("none", "NONE", "nOnE")),
        *(
            (alg, "unsupported_alg", "unsupported_alg")
            for alg in ("none ", "n\u043ene", "", "hs256", "HS256 ", "RS1", "PS256")
        ),
        *((alg, "malformed", "malformed") for alg in (None, 256, ["HS256"], {"HS256": 1}, True)),
    ],
)
@each("signature", ["", "AAAA"])
def test_the_key_decides(alg: Any, with_secret: str, with_public_key: str, signature: str) -> None:
    """What a header may say to either key, and never be believed."""
    token = f"{signing_input({'alg': alg}, {'sub': 'ada'})}.{signature}"
    for key, code in ((HS, with_secret), (RS, with_public_key)):
        answer = _answer(token, **key)
        assert (answer["valid"], answer["signatureValid"], _codes(answer)) == (False, False, [code])
        assert answer["algorithm"] == (alg if isinstance(alg, str) else None)
        assert answer["header"] == {"alg": alg}
        assert answer["payload"] == {"sub": "ada"}


@each("text", [PUBLIC_KEY, PUBLIC_KEY.strip(), PUBLIC_KEY.replace("\n", "\r\n"), PUBLIC_KEY.replace("\n", "")])
@each("bits", [256, 384, 512])
def test_the_text_of_a_public_key_never_signs(text: str, bits: int) -> None:
    """A token with a MAC under the key's text is not valid with that key, in whichever field it is sent."""
    token = hs({"admin": True}, secret=text, bits=bits)
    answer = _answer(token, publicKey=text)
    assert (answer["signatureValid"], _codes(answer)) == (False, ["alg_key_mismatch"])
    refusal = _refusal({"token": token, "sharedSecret": text})
    assert (refusal.code, refusal.field) == ("invalid_key", "sharedSecret")


def test_a_header_without_alg() -> None:
    """It is malformed, and so is a token whose header is no object."""
    assert _codes(_answer(hs({}, {"typ": "JWT"}), **HS)) == ["malformed"]
    answer = _answer(hs({"sub": "ada"}, []), **HS)
    assert (answer["header"], answer["algorithm"], _codes(answer)) == (None, None, ["malformed"])
    assert answer["payload"] == {"sub": "ada"}


def test_two_algs() -> None:
    """A header that says two things is not read."""
    assert _codes(_answer(hs({}, '{"alg":"none","alg":"HS256"}'), **HS)) == ["malformed"]


@each("name", ["jwk", "jku", "x5c", "x5u"])
def test_keys_in_the_header_are_not_used(name: str) -> None:
    """They are warned of, and the token is judged by the key that was sent."""
    answer = _answer(hs({"exp": NOW + 1}, {"alg": "HS256", name: {"kty": "oct", "k": b64u(SECRET)}}), **HS)
    assert (answer["valid"], [warning["code"] for warning in answer["warnings"]]) == (True, ["key_in_header"])
    forged = hs({}, {"alg": "HS256", name: {"kty": "oct", "k": b64u("mine")}}, secret="mine")
    assert _codes(_answer(forged, **HS)) == ["bad_signature"]


def test_the_rest_of_the_header_is_shown() -> None:
    """kid, typ and whatever else is there come back as they are."""
    header = {"alg": "HS256", "typ": "at+jwt", "kid": "../../etc/passwd", "x": {"y": [None, 1.5]}}
    answer = _answer(hs({"exp": NOW + 1}, header), **HS)
    assert (answer["valid"], answer["header"], answer["warnings"]) == (True, header, [])


@each(
    ("crit", "code"),
    [
        (["exp"], "unsupported_crit"),
        (["http://example.com/UNDEFINED"], "unsupported_crit"),
        (["b64"], "unsupported_crit"),
        ([], "malformed"),
        ("exp", "malformed"),
        (None, "malformed"),
        ([5], "malformed"),
        ({}, "malformed"),
    ],
)
def test_crit(crit: Any, code: str) -> None:
    """No extension is understood; the signature is reported all the same."""
    answer = _answer(hs({"sub": "ada"}, {"alg": "HS256", "crit": crit, "exp": 1}), **HS)
    assert (answer["valid"], answer["signatureValid"], _codes(answer)) == (False, True, [code])
    assert answer["payload"] == {"sub": "ada"}


@pytest.mark.parametrize("crit", [{}, {"crit": ["b64"]}])
def test_b64_false(crit: dict[str, Any]) -> None:
    """An unencoded payload is not supported, whether crit says so or not; nothing of it is taken for verified."""
    answer = _answer(hs({"sub": "ada"}, {"alg": "HS256", "b64": False, **crit}), **HS)
    assert (answer["signatureValid"], answer["payload"], _codes(answer)) == (False, None, ["unsupported_crit"])


@each(
    "token", ["x", "..", "a.b.c", f"Bearer {hs({})}", f"{hs({})}\n", f"{hs({})}=", f"{hs({})}.AA", "{}", "é.é.é", " "]
)
def test_malformed_tokens(token: str) -> None:
    """They are an answer, and nothing of them was verified."""
    answer = _answer(token, **HS)
    assert (answer["valid"], answer["signatureValid"]) == (False, False)
    assert "malformed" in _codes(answer)


def test_all_that_is_wrong_is_said() -> None:
    """Signature first, then the claims, each with its name."""
    answer = _answer(
        hs({"exp": NOW, "nbf": NOW + 31, "iss": 5, "aud": ["x"]}, secret="x"),
        issuer="https://login.example",
        audience=["a", "b"],
        requiredClaims=["sub"],
        clockToleranceSec=30,
        **HS,
    )
    assert [(error["code"], error["claim"]) for error in answer["errors"]] == [
        ("bad_signature", None),
        ("not_yet_valid", "nbf"),
        ("issuer_mismatch", "iss"),
        ("audience_mismatch", "aud"),
        ("missing_claim", "sub"),
    ]
    assert answer["claims"] == {
        "iss": {"present": True, "value": 5, "ok": False},
        "aud": {"present": True, "value": ["x"], "ok": False},
        "exp": {"present": True, "value": NOW, "ok": True},
        "nbf": {"present": True, "value": NOW + 31, "ok": False},
    }
    assert (answer["expired"], answer["notYetValid"]) == (False, True)


def test_huge_numbers_stay_json() -> None:
    """Every number that comes back is one that was in the token."""
    answer = _answer(hs('{"exp":' + "9" * 4300 + ',"nbf":-1e308,"iat":1e-400}'), **HS)
    assert (answer["valid"], answer["expiresAt"], answer["notBefore"]) == (True, None, None)
    assert answer["claims"]["exp"]["value"] == int("9" * 4300)


@each(
    ("claims", "asked", "codes"),
    [
        ({"aud": "shop", "exp": NOW + 1}, {}, ["audience_not_checked"]),
        ({"aud": ["shop"], "exp": NOW + 1}, {"audience": "shop"}, []),
        ({"aud": None, "exp": NOW + 1}, {}, []),
        ({"aud": "shop"}, {}, ["audience_not_checked", "no_expiry"]),
        ({"iat": NOW + 31, "exp": NOW + 99}, {"clockToleranceSec": 30}, ["issued_in_future"]),
        ({"iat": NOW + 30, "exp": NOW + 99}, {"clockToleranceSec": 30}, []),
        ({"iat": NOW * 1000, "exp": NOW + 99}, {}, ["date_in_milliseconds"]),
        ({"exp": (NOW + 60) * 1000}, {}, ["date_in_milliseconds"]),
        ({"iat": "2026", "exp": NOW + 99}, {}, []),
    ],
)
def test_what_a_valid_token_does_not_show(claims: Any, asked: Any, codes: list[str]) -> None:
    """Each is a warning: the token is valid all the same."""
    answer = _answer(hs(claims), **asked, **HS)
    assert (answer["valid"], [warning["code"] for warning in answer["warnings"]]) == (True, codes)


def test_weak_keys_are_warned_of() -> None:
    """The token is judged all the same."""
    claims = {"exp": NOW + 1}
    answer = _answer(hs(claims, secret="secret"), sharedSecret="secret")
    assert (answer["valid"], [warning["code"] for warning in answer["warnings"]]) == (True, ["weak_key"])
    assert _answer(hs(claims, secret="x" * 32), sharedSecret="x" * 32)["warnings"] == []
    assert len(_answer(hs(claims, secret="x" * 32, bits=384), sharedSecret="x" * 32)["warnings"]) == 1


@each(
    ("fields", "field"),
    [
        ({}, "publicKey"),
        ({"publicKey": None, "sharedSecret": None}, "publicKey"),
        ({**HS, **RS}, "sharedSecret"),
        ({"publicKey": "", "sharedSecret": "x"}, "sharedSecret"),
    ],
)
def test_exactly_one_key(fields: dict[str, Any], field: str) -> None:
    """None or two are refused before anything is paid."""
    refusal = _refusal({"token": "x", **fields})
    assert (refusal.code, refusal.field) == ("invalid_body", field)


@each(
    ("fields", "field"),
    [
        ({"sharedSecret": ""}, "sharedSecret"),
        ({"sharedSecret": "a b", "secretEncoding": "base64"}, "sharedSecret"),
        ({"sharedSecret": "a", "secretEncoding": "base64url"}, "sharedSecret"),
        ({"sharedSecret": "abc", "secretEncoding": "hex"}, "sharedSecret"),
        ({"publicKey": ""}, "publicKey"),
        ({"publicKey": "not a key"}, "publicKey"),
        ({"publicKey": pem("RSA PRIVATE KEY", b"x")}, "publicKey"),
    ],
)
def test_bad_keys_are_refused_with_the_request(fields: dict[str, Any], field: str) -> None:
    """Before anything is paid, by name of the field."""
    refusal = _refusal({"token": "x", **fields})
    assert (refusal.code, refusal.field) == ("invalid_key", field)


@each(
    ("fields", "where"),
    [
        ({"token": ""}, "token"),
        ({"token": "x" * (MAX_CHARACTERS + 1)}, "token"),
        ({"sharedSecret": "x" * (MAX_CHARACTERS + 1)}, "sharedSecret"),
        ({"publicKey": "x" * (MAX_CHARACTERS + 1)}, "publicKey"),
        ({"secretEncoding": "HEX"}, "secretEncoding"),
        ({"clockToleranceSec": -1}, "clockToleranceSec"),
        ({"clockToleranceSec": 3601}, "clockToleranceSec"),
        ({"issuer": ""}, "issuer"),
        ({"issuer": []}, "issuer"),
        ({"issuer": [""]}, "issuer"),
        ({"issuer": "x" * 1001}, "issuer"),
        ({"issuer": ["x"] * 51}, "issuer"),
        ({"audience": []}, "audience"),
        ({"audience": ["x"] * 51}, "audience"),
        ({"requiredClaims": [""]}, "requiredClaims"),
        ({"requiredClaims": ["x"] * 51}, "requiredClaims"),
    ],
)
def test_types_and_bounds(fields: dict[str, Any], where: str) -> None:
    """What is out of bounds or of another type is refused by the field's name."""
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{where}"):
        _request({"token": "x", **HS, **fields})


def test_bounds_are_accepted() -> None:
    """The longest token and key, the most names; null where it is the default."""
    head = f"{b64u(json.dumps({'alg': 'HS256'}))}."
    names = ["x" * 1000] * 50
    assert _codes(_answer(head + "x" * (MAX_CHARACTERS - len(head)), issuer=names, audience=names, **HS)) == [
        "malformed"
    ]
    token = hs({"a": "x" * 12_200})
    assert MAX_CHARACTERS - 100 < len(token) <= MAX_CHARACTERS
    nothing = {"publicKey": None, "issuer": None, "audience": None, "requiredClaims": None}
    assert _answer(token, **HS, **nothing)["valid"] is True
    assert _answer(hs({}, secret="x" * MAX_CHARACTERS), sharedSecret="x" * MAX_CHARACTERS, requiredClaims=[])["valid"]


def test_the_longest_body_is_accepted() -> None:
    """The body limit has room for a secret of 16 384 emoji in the longest way to write them, beside the longest token."""
    body = json.dumps({"token": "x" * MAX_CHARACTERS, "sharedSecret": "\U0001f600" * MAX_CHARACTERS}).encode()
    assert len(body) > 200_000
    assert len(body) < ENDPOINT.max_body_bytes - 16 * 1024
    assert isinstance(execute(ENDPOINT, body, CONTEXT), Ok)


_CANARY = "canary8f3a71"


@each(
    "fields",
    [
        {"sharedSecret": f"{_CANARY} {_CANARY}", "secretEncoding": "base64"},
        {"sharedSecret": _CANARY, "secretEncoding": "hex"},
        {"sharedSecret": f"-----BEGIN {_CANARY}"},
        {"publicKey": _CANARY},
        {"publicKey": pem(_CANARY.upper(), b"x")},
        {"publicKey": pem("PUBLIC KEY", _CANARY.encode())},
        {"publicKey": pem("CERTIFICATE", _CANARY.encode())},
        {"publicKey": f"-----BEGIN PRIVATE KEY-----{_CANARY}"},
        {"publicKey": _CANARY, "sharedSecret": _CANARY},
        {"sharedSecret": _CANARY * 2000},
        {"sharedSecret": "x", "issuer": {_CANARY: 1}},
    ],
)
def test_refusals_quote_nothing(fields: dict[str, Any]) -> None:
    """Neither the error nor what led to it holds a part of the request."""
    with pytest.raises(msgspec.ValidationError) as caught:
        _request({"token": f"{_CANARY}.{_CANARY}.{_CANARY}", **fields})
    error: BaseException | None = caught.value
    while error is not None:
        shown = f"{error!r} {vars(error)}".lower()
        assert _CANARY not in shown
        assert b64u(_CANARY)[:-2].lower() not in shown
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("alg", ["HS256", _CANARY, None])
@pytest.mark.parametrize(
    "payload", [{"iss": _CANARY, "aud": _CANARY, "exp": _CANARY}, _CANARY, f'{{"{_CANARY}": NaN}}']
)
def test_errors_quote_nothing(alg: Any, payload: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Messages say what is wrong without a word of the token or the key, and nothing is logged."""
    token = hs(payload, {"alg": alg, "crit": [_CANARY], "jku": _CANARY}, secret="other")
    body = json.dumps({"token": token, "sharedSecret": _CANARY, "issuer": "a", "audience": "b"}).encode()
    answer = execute(ENDPOINT, body, CONTEXT)
    assert isinstance(answer, Ok)
    decoded = json.loads(answer.body)
    assert len(decoded["errors"]) >= 2
    assert _CANARY not in json.dumps([decoded["errors"], decoded["warnings"]])
    assert [record for record in caplog.records if record.name != "asyncio"] == []


def _second_opinion(token: str, key: str, algorithms: list[str]) -> bool:
    """PyJWT's, with the checks switched off that are no claim of ours."""
    off = {"verify_iat": False, "verify_sub": False, "verify_jti": False, "verify_aud": False}
    try:
        jwt.decode(token, key, algorithms=algorithms, options=off)
    except jwt.InvalidTokenError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_agrees_with_another_verifier() -> None:
    """Claims, headers, keys and signatures in all combinations: valid here is what is valid there."""
    now = int(time.time())
    claims: list[Any] = [
        {},
        {"iat": now + 1000, "sub": 5, "jti": 5, "aud": 5},
        {"exp": now + 1000, "nbf": now - 1000},
        {"exp": now - 1000},
        {"nbf": now + 1000},
        {"exp": "soon"},
        {"nbf": None},
        "text",
        [],
    ]
    headers: list[Any] = [{"alg": alg} for alg in ("HS256", "HS512", "RS256", "none", "ES256", None)]
    headers += [{"alg": "HS256", "crit": ["x"]}, {"alg": "RS256", "b64": False}, {"alg": "HS256", "typ": 5}]
    agreed = {True: 0, False: 0}
    for payload, header in itertools.product(claims, headers):
        tokens = [hs(payload, header), hs(payload, header, secret="x"), hs(payload, header)[:-1]]
        if header["alg"] == "RS256":
            tokens.append(rs(payload, header))
        for token, (fields, key, family) in itertools.product(tokens, ((HS, SECRET, "HS"), (RS, PUBLIC_KEY, "RS"))):
            ours = verify(_request({"token": token, **fields}), now).valid
            assert ours is _second_opinion(token, key, [name for name in ALGORITHMS if name.startswith(family)])
            agreed[ours] += 1
    assert agreed[True] == 9
    assert agreed[False] > 400


@each(
    "payload", ['{"nbf": true}', '{"nbf": "1"}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}', '{"a": 1e400}', '{"a": NaN}']
)
def test_stricter_than_another_verifier(payload: str) -> None:
    """The known differences: PyJWT takes these."""
    assert _second_opinion(hs(payload), SECRET, ["HS256"])
    answer = _answer(hs(payload), **HS)
    assert (answer["signatureValid"], _codes(answer)) == (True, ["malformed"])


_TOKENS = {
    "HS": (hs({"sub": "ada", "exp": NOW + 1}, {"alg": "HS256", "typ": "JWT"}), HS),
    "RS": (rs({"sub": "ada", "exp": NOW + 1}, {"alg": "RS256", "typ": "JWT"}), RS),
}


@settings(deadline=None, max_examples=1000)
@given(st.sampled_from(["HS", "RS"]), st.data())
def test_no_edit_goes_unseen(family: str, data: st.DataObject) -> None:
    """Any part cut out of a valid token and replaced by any text: it is the same token, or it is not valid."""
    token, key = _TOKENS[family]
    start = data.draw(st.integers(0, len(token)))
    end = data.draw(st.integers(start, min(len(token), start + 6)))
    text = data.draw(st.text(max_size=6) | st.text(alphabet=f"{string.ascii_letters}01289-_.=\n", max_size=6))
    changed = token[:start] + text + token[end:]
    if changed:
        assert _answer(changed[:MAX_CHARACTERS], **key)["valid"] is (changed == token)


@settings(deadline=None)
@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=20))
def test_any_text_gets_a_whole_answer(token: str, secret: str) -> None:
    """Whatever is sent, the answer is JSON with every key, and no text is a valid token."""
    shared_secret(secret, "utf8")
    assert _answer(token, sharedSecret=secret)["valid"] is False


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["iss", "aud", "exp", "nbf", "iat", "x"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
        | st.lists(st.text(max_size=3), max_size=3),
    )
)
def test_any_claims_get_a_whole_answer(claims: dict[str, Any]) -> None:
    """A right signature is reported for any claims, which come back as they are."""
    answer = _answer(hs(claims), issuer="a", audience=["b", "c"], requiredClaims=["x"], **HS)
    assert (answer["signatureValid"], answer["payload"]) == (True, claims)
    for name, claim in answer["claims"].items():
        assert (claim["present"], claim["value"]) == (name in claims, claims.get(name))


def test_a_payload_that_is_not_canonical_is_not_signed() -> None:
    """RFC 7515 section 5.2: a text that is not base64url is no payload, although its MAC fits."""
    header, payload = signing_input({"alg": "HS256"}, {"a": 1}).split(".")
    for spoiled in (payload + "=", payload[:-1] + chr(ord(payload[-1]) + 1)):
        mac = hmac.new(SECRET.encode(), f"{header}.{spoiled}".encode(), "sha256").digest()
        answer = verify(Request(token=f"{header}.{spoiled}.{b64u(mac)}", shared_secret=SECRET), NOW)
        assert (answer.valid, answer.signature_valid, [fault.code for fault in answer.errors]) == (
            False,
            False,
            ["malformed"],
        )
