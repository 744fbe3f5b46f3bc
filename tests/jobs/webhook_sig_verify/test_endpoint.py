"""The endpoint: what a request may be, what comes back, and that nothing secret does."""

import json
import time
from typing import Any

import msgspec
import pytest

from jobs.webhook_sig_verify import PROVIDERS
from jobs.webhook_sig_verify.endpoint import (
    ENDPOINT,
    MAX_HEADER_TEXT,
    MAX_PAYLOAD,
    MAX_SECRET,
    MAX_SIGNATURE,
)
from shared.endpoint import InvalidField
from shared.outcome import Ok
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of
from tests.jobs.webhook_sig_verify.deliveries import MALFORMED, MISMATCH, NOT_TIMES, NOW, VALID, ask, mac, verdict
from workers.execute import execute

_BODY = {"provider": "generic", "payload": "p", "signature": mac("k", "p"), "secret": "k"}


def _request(**changes: Any) -> Any:
    return request_of(ENDPOINT, _BODY | changes)


def _refusal(**changes: Any) -> InvalidField:
    return refusal_of(ENDPOINT, _BODY | changes)


CANARY = "canary-9f3c-\u00e9-secret"


def test_example_is_what_the_call_gives() -> None:
    """The documented example is a real answer."""
    assert ENDPOINT.holds_secret
    assert answer_to(ENDPOINT, ENDPOINT.example.request) == ENDPOINT.example.response


@each("name", ["provider", "payload", "signature", "secret"])
def test_required_fields(name: str) -> None:
    """Each must be there, as a string."""
    body = {key: value for key, value in _BODY.items() if key != name}
    for wrong in (body, body | {name: None}):
        with pytest.raises(msgspec.ValidationError, match=name):
            request_of(ENDPOINT, wrong)


@each("provider", ["", "Stripe", "STRIPE", " stripe", "stripe\n", "gitlab", "str\u0131pe", "__class__"])
def test_unknown_providers(provider: str) -> None:
    """Only the six names, as they are written; the refusal lists them and does not repeat what was sent."""
    refusal = _refusal(provider=provider)
    assert (refusal.field, refusal.code) == ("provider", "invalid_body")
    assert refusal.detail == "This is none of stripe, github, vercel, slack, cdp, generic."
    assert tuple(PROVIDERS) == ("stripe", "github", "vercel", "slack", "cdp", "generic")


@pytest.mark.parametrize(
    ("field", "limit"), [("payload", MAX_PAYLOAD), ("signature", MAX_SIGNATURE), ("secret", MAX_SECRET)]
)
def test_lengths(field: str, limit: int) -> None:
    """Bounded in code points."""
    for sign in ("x", "\U0001f4a1"):
        assert _request(**{field: sign * limit})
        with pytest.raises(msgspec.ValidationError, match=field):
            _request(**{field: sign * (limit + 1)})


@each(
    ("provider", "sent", "signed", "secret", "key", "says"),
    [
        ("generic", "a", "a\n", "k", "k", "line break at its end"),
        ("github", "a\n", "a", "k", "k", "without white space"),
        ("vercel", "a\r\nb", "a\nb", "k", "k", "LF in place of CRLF"),
        ("github", '{"a": [1, 2]}', '{"a":[1,2]}', "k", "k", "JSON without spaces"),
        ("generic", '{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}', "k", "k", "indent of two"),
        ("github", '{"a": "b c"}', "payload=%7B%22a%22%3A+%22b+c%22%7D", "k", "k", "as a form"),
        ("generic", "a", "a", "k\n", "k", "secret without white space"),
        ("generic", "a", "a", "6b", "k", "secret is the hex of"),
        ("generic", "a", "a", "a2E=", "ka", "secret is the base64 of"),
        ("github", "a", "a", "xoxb-1", "k", "a Slack token"),
        ("github", "a", "b", "k", "k", "not the raw body"),
    ],
)
def test_a_mismatch_has_its_cause(provider: str, sent: str, signed: str, secret: str, key: str, says: str) -> None:
    """What is tried is signed here with other means; it stays invalid."""
    signature = mac(key, signed, algorithm="sha1" if provider == "vercel" else "sha256")
    named = f"sha256={signature}" if provider == "github" else signature
    found = ask(provider=provider, payload=sent, signature=named, secret=secret)
    assert verdict(found) == MISMATCH
    assert says in found["hint"]


def test_empty_texts() -> None:
    """There is a signature of an empty payload; an empty signature is malformed; an empty secret is refused."""
    assert verdict(ask(**_BODY | {"payload": "", "signature": mac("k")})) == VALID
    assert verdict(ask(**_BODY | {"signature": ""})) == MALFORMED
    with pytest.raises(msgspec.ValidationError, match="secret"):
        _request(secret="")


@each("secret", [" ", "\n", "\x00", "k\n", " k"])
def test_the_secret_is_used_as_it_is(secret: str) -> None:
    """Whitespace and all: a key is whatever its sender says."""
    assert verdict(ask(**_BODY | {"secret": secret, "signature": mac(secret, "p")})) == VALID


@each("timestamp", [*NOT_TIMES, "1 ", "1,0"])
@each("provider", ["slack", "github"])
def test_timestamps_that_are_none(provider: str, timestamp: str) -> None:
    """Refused before anything is paid, for whichever provider."""
    with pytest.raises(msgspec.ValidationError) as caught:
        _request(provider=provider, timestamp=timestamp)
    cause = caught.value.__cause__
    assert cause.field == "timestamp" if isinstance(cause, InvalidField) else "`$.timestamp`" in str(caught.value)


@pytest.mark.parametrize("more", [{}, {"timestamp": None}])
def test_slack_needs_a_timestamp(more: dict[str, Any]) -> None:
    """Absent and null are the same."""
    refusal = _refusal(provider="slack", **more)
    assert (refusal.field, refusal.code) == ("timestamp", "invalid_body")


@each("provider", [provider for provider in PROVIDERS if provider != "slack"])
def test_the_others_do_not(provider: str) -> None:
    """Nor headers; null is the same as nothing."""
    assert _request(provider=provider)
    assert _request(provider=provider, timestamp=None, headers=None)


@each("tolerance", [-1, 86_401, None])
def test_tolerances(tolerance: Any) -> None:
    """A whole number of seconds up to a day."""
    with pytest.raises(msgspec.ValidationError, match=r"toleranceSeconds|out of range"):
        _request(toleranceSeconds=tolerance)
    assert [_request(toleranceSeconds=good).tolerance_seconds for good in (0, 1, 86_400)] == [0, 1, 86_400]
    assert _request().tolerance_seconds == 300


def test_header_bounds() -> None:
    """At most 100, and 32 768 code points of names and values together."""
    assert _request(headers={f"h{number}": "" for number in range(100)})
    with pytest.raises(msgspec.ValidationError, match="headers"):
        _request(headers={f"h{number}": "" for number in range(101)})
    assert _request(headers={"ab": "\U0001f4a1" * (MAX_HEADER_TEXT - 2)})
    assert _refusal(headers={"ab": "x" * (MAX_HEADER_TEXT - 1)}).field == "headers"
    assert _refusal(headers={"x" * MAX_HEADER_TEXT: "", "a": ""}).field == "headers"


def test_headers_that_are_the_same() -> None:
    """Which of two values was signed cannot be known."""
    refusal = _refusal(headers={"X-Event-Id": "a", "x-event-id": "b"})
    assert (refusal.field, refusal.code) == ("headers", "invalid_body")


@each("field", ["payload", "signature", "secret", "timestamp", "provider"])
@each("escaped", [b"\\ud800", b"\\udfff", b"a\\ud83dz", b"\\udca1\\ud83d", b"\xed\xa0\x80", b"\xff"])
def test_text_that_is_not_unicode_is_refused(field: str, escaped: bytes) -> None:
    """Lone surrogates and broken UTF-8 have no bytes that could have been signed."""
    body = {**_BODY, field: "MARK"}
    with pytest.raises((msgspec.DecodeError, UnicodeError)):
        request_of(ENDPOINT, json.dumps(body).encode().replace(b"MARK", escaped))


def test_escapes_are_the_characters_they_mean() -> None:
    """However the JSON writes a payload, the same bytes are signed."""
    signature = mac("k", "\U0001f4a1/\u00e9\x00\n").encode()
    for written in (b"\\ud83d\\uDCA1\\/\\u00e9\\u0000\\n", "\U0001f4a1/\u00e9".encode() + b"\\u0000\\u000a"):
        raw = b'{"provider":"generic","payload":"' + written + b'","secret":"k","signature":"' + signature + b'"}'
        answered = execute(ENDPOINT, raw, CONTEXT)
        assert isinstance(answered, Ok)
        assert msgspec.json.decode(answered.body)["valid"] is True


def test_the_largest_request_fits_the_body_limit() -> None:
    """Every field at its bound, in the longest way to write it, and it gets its answer."""
    sign = "\U0001f4a1"
    payload, secret = sign * MAX_PAYLOAD, sign * MAX_SECRET
    headers = {f"h{number}": "" for number in range(99)}
    headers["x"] = sign * (MAX_HEADER_TEXT - 1 - sum(map(len, headers)))
    v1 = mac(secret, NOW, ".x.", headers["x"], ".", payload)
    signature = f"t={NOW},h=x,v1={v1},"
    signature += sign * (MAX_SIGNATURE - len(signature))
    body = {
        "provider": "cdp",
        "payload": payload,
        "signature": signature,
        "secret": secret,
        "timestamp": "9" * 18,
        "headers": headers,
        "toleranceSeconds": 86_400,
    }
    assert len(json.dumps(body, indent=1)) <= ENDPOINT.max_body_bytes
    assert verdict(ask(**body)) == VALID


def test_run_asks_the_clock() -> None:
    """A delivery of an hour ago is late now, and one of this second is not."""
    now = int(time.time())
    for at, late in ((now, False), (now - 3600, True)):
        answer = ENDPOINT.run(
            _request(provider="slack", timestamp=at, signature=f"v0={mac('k', 'v0:', at, ':p')}"), CONTEXT
        )
        assert (answer.reason == "timestamp_out_of_tolerance") is late


def test_digests_are_compared_in_constant_time_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one, also after the one that is right."""
    compared: list[tuple[Any, Any]] = []

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return bool(one == other)

    monkeypatch.setattr("jobs.webhook_sig_verify.verdict.hmac.compare_digest", compare)
    right, wrong = mac("k", NOW, ".p"), "0" * 64
    signature = f"t={NOW},v1={wrong},v1={right},v1={wrong}"
    assert verdict(ask(provider="stripe", payload="p", signature=signature, secret="k")) == VALID
    assert [other.hex() for _, other in compared] == [wrong, right, wrong]
    assert {(type(one), type(other), len(one), len(other)) for one, other in compared} == {(bytes, bytes, 32, 32)}


def _bodies_with_a_canary() -> list[dict[str, Any]]:
    """Valid, not valid for every reason, and refused."""
    signed = {"provider": "stripe", "payload": "p", "secret": CANARY}
    right = mac(CANARY, NOW, ".p")
    return [
        *(
            signed | {"signature": text}
            for text in (f"t={NOW},v1={right}", f"t={NOW},v1={'0' * 64}", f"t={NOW},v0=", "")
        ),
        signed | {"signature": f"t={NOW},v1={right}", "toleranceSeconds": 1},
        signed | {"provider": "cdp", "signature": f"t={NOW},h=a,v1={right}"},
        signed | {"provider": CANARY, "signature": CANARY},
        signed | {"provider": "slack", "signature": CANARY},
        signed | {"provider": "slack", "signature": "", "timestamp": CANARY},
        signed | {"signature": 5},
        signed | {"signature": "", "headers": {CANARY: "a", CANARY.upper(): "b"}},
        signed | {"signature": "", "headers": {CANARY: 1}},
        signed | {"signature": "", "toleranceSeconds": CANARY},
        {"provider": "stripe", "payload": CANARY, "signature": CANARY, "secret": CANARY * 1_000},
    ]


@pytest.mark.parametrize("body", _bodies_with_a_canary())
def test_nothing_secret_comes_back(body: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """Neither the secret nor the right signature is in an answer, an error or what is logged."""
    raw = json.dumps(body).encode()
    try:
        request = request_of(ENDPOINT, raw)
    except msgspec.ValidationError as error:
        cause = error.__cause__
        shown = f"{error!r} {cause!r} {getattr(cause, '__dict__', '')}"
    else:
        outcome = execute(ENDPOINT, raw, CONTEXT)
        assert isinstance(outcome, Ok)
        shown = f"{outcome.body.decode()} {request!r} {request} {ask(**body)}"
    shown = (shown + caplog.text).lower()
    assert "canary" not in shown
    if isinstance(body["signature"], str):
        assert mac(CANARY, NOW, ".p") not in shown
        assert mac(CANARY, NOW, ".a..p") not in shown


@each("signature", ["ab" * 64, "ab" * 20, "sha256=" + "ab" * 64])
def test_a_digest_of_another_length_is_told_the_algorithm(signature: str) -> None:
    """The value may be whole, and of SHA-512."""
    found = ask(provider="generic", payload="a", signature=signature, secret="k")
    assert verdict(found) == (False, "malformed_signature")
    assert "HMAC-SHA256" in found["hint"]
