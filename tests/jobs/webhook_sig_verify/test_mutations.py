"""Every provider: what is changed by one character is not valid, and whatever is sent gets an answer."""

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.webhook_sig_verify import PROVIDERS
from tests.each import each
from tests.jobs.webhook_sig_verify.deliveries import MISMATCH, NOW, PAYLOADS, SECRETS, VALID, ask, mac, verdict

PAYLOAD = '{"id": 1, "text": "caf\u00e9 \U0001f4a1"}'
SECRET = "whsec_abc+/=\u00e9"
H = "content-type x-event-id"
HEADERS = {"content-type": "a b", "x-event-id": "c.d"}


def _signed(payload: str, secret: str) -> dict[str, dict[str, Any]]:
    """Signatures of which every character counts."""
    plain = mac(secret, payload)
    sha1 = mac(secret, payload, algorithm="sha1")
    timed = mac(secret, NOW, ".", payload)
    v1 = mac(secret, NOW, ".", H, ".", "a b.c.d", ".", payload)
    v0 = mac(secret, "v0:", NOW, ":", payload)
    deliveries: dict[str, dict[str, Any]] = {
        "stripe": {"provider": "stripe", "signature": f"t={NOW},v1={timed}"},
        "github": {"provider": "github", "signature": f"sha256={plain}"},
        "github sha1": {"provider": "github", "signature": f"sha1={sha1}"},
        "vercel": {"provider": "vercel", "signature": sha1},
        "slack": {"provider": "slack", "signature": f"v0={v0}", "timestamp": str(NOW)},
        "cdp v0": {"provider": "cdp", "signature": f"t={NOW},v0={timed}"},
        "cdp v1": {"provider": "cdp", "signature": f"t={NOW},h={H},v1={v1}", "headers": HEADERS},
        "generic hex": {"provider": "generic", "signature": f"sha256={plain}"},
        "generic base64": {"provider": "generic", "signature": base64.b64encode(bytes.fromhex(plain)).decode()},
    }
    return {name: {"payload": payload, "secret": secret} | delivery for name, delivery in deliveries.items()}


DELIVERIES = _signed(PAYLOAD, SECRET)
NAMES = sorted(DELIVERIES)
relaxed = settings(deadline=None)

unicode = st.characters(exclude_categories=["Cs"])  # what UTF-8 has
texts = st.text(unicode, max_size=40)
signs = st.one_of(st.sampled_from("0123456789abcdefABCDEF=,.+-_/ \t\n\x00gG"), unicode)


def _with(text: str, position: int, sign: str) -> str:
    position %= len(text)
    return text[:position] + sign + text[position + 1 :]


@each("secret", SECRETS)
@each("payload", PAYLOADS)
def test_every_payload(payload: str, secret: str) -> None:
    """Any payload under any secret is valid as it was signed, for every provider, and not with one character more."""
    deliveries = _signed(payload, secret)
    assert {delivery["provider"] for delivery in deliveries.values()} == set(PROVIDERS)
    for delivery in deliveries.values():
        assert verdict(ask(**delivery)) == VALID
        assert verdict(ask(**delivery | {"payload": payload + "\x00"})) == MISMATCH


@relaxed
@given(st.integers(0, 200), signs)
@each("name", NAMES)
def test_another_payload(name: str, position: int, sign: str) -> None:
    """One character more, less or another: the signature does not match."""
    for changed in (
        _with(PAYLOAD, position, sign),
        _with(PAYLOAD, position, ""),
        PAYLOAD[:position] + sign + PAYLOAD[position:],
    ):
        if changed != PAYLOAD:
            assert verdict(ask(**DELIVERIES[name] | {"payload": changed})) == MISMATCH


@relaxed
@given(st.integers(0, 200), signs)
@each("name", NAMES)
def test_another_secret(name: str, position: int, sign: str) -> None:
    """One character another: the signature does not match."""
    changed = _with(SECRET, position, sign)
    if changed != SECRET:
        assert verdict(ask(**DELIVERIES[name] | {"secret": changed})) == MISMATCH


@relaxed
@given(st.integers(0, 200), signs)
@each("name", NAMES)
def test_another_signature(name: str, position: int, sign: str) -> None:
    """One character another, but for the case of hex, the two alphabets of base64 and what fills up its end: not valid."""
    delivery = DELIVERIES[name]
    signature = delivery["signature"]
    changed = _with(signature, position, sign)
    if name == "generic base64":
        is_same = changed.translate(str.maketrans("-_", "+/")).rstrip().rstrip("=") == signature.rstrip("=")
    else:
        is_same = changed.lower() == signature.lower()
    if not is_same:
        assert ask(**delivery | {"signature": changed})["valid"] is False


@relaxed
@given(st.integers(0, 200))
@each("name", NAMES)
def test_a_shorter_signature(name: str, position: int) -> None:
    """One character less, but for the padding of base64: not valid."""
    delivery = DELIVERIES[name]
    changed = _with(delivery["signature"], position, "")
    if changed != delivery["signature"].removesuffix("="):
        assert ask(**delivery | {"signature": changed})["valid"] is False


@pytest.mark.parametrize("name", [name for name in NAMES if name != "generic base64"])
@relaxed
@given(st.data())
def test_the_case_of_hex_does_not_count(name: str, data: st.DataObject) -> None:
    """Every digit may be written either way."""
    delivery = DELIVERIES[name]
    start = len(delivery["signature"]) - (40 if "sha1" in name or name == "vercel" else 64)
    text = delivery["signature"]
    upper = data.draw(st.lists(st.booleans(), min_size=len(text) - start, max_size=len(text) - start))
    digits = [sign.upper() if is_upper else sign for sign, is_upper in zip(text[start:], upper, strict=True)]
    assert verdict(ask(**delivery | {"signature": text[:start] + "".join(digits)})) == VALID


@relaxed
@given(st.integers(0, 9), st.sampled_from("0123456789"))
def test_another_time(position: int, digit: str) -> None:
    """One digit another: the signature does not match, however old it makes it."""
    changed = _with(str(NOW), position, digit)
    if changed != str(NOW):
        assert verdict(ask(**DELIVERIES["slack"] | {"timestamp": changed})) == MISMATCH
        for name in ("stripe", "cdp v0", "cdp v1"):
            signature = DELIVERIES[name]["signature"].replace(str(NOW), changed)
            assert verdict(ask(**DELIVERIES[name] | {"signature": signature})) == MISMATCH


@relaxed
@given(st.sampled_from(sorted(HEADERS)), st.integers(0, 200), signs)
def test_another_header(name: str, position: int, sign: str) -> None:
    """One character of a value that is covered: the signature does not match."""
    changed = _with(HEADERS[name], position, sign)
    if changed != HEADERS[name]:
        assert verdict(ask(**DELIVERIES["cdp v1"] | {"headers": HEADERS | {name: changed}})) == MISMATCH


@relaxed
@given(
    st.one_of(
        texts,
        st.text("0123456789abcdefABCDEF=,.:tvh1 \t-_+/", max_size=120),
        st.lists(st.sampled_from(["t=1", f"t={NOW}", "v0=", "v1=", "h=a b", "h=", "0" * 64, ",", "=", " "])).map(
            "".join
        ),
    ),
    texts,
    st.one_of(st.none(), st.dictionaries(st.sampled_from(["a", "b", "", "\u00e9"]), texts)),
)
@each("provider", PROVIDERS)
def test_any_signature_gets_a_whole_answer(
    provider: str, signature: str, payload: str, headers: dict[str, str] | None
) -> None:
    """Nobody signed these, so they are not valid, and the answer has every key and one reason."""
    found = ask(provider=provider, payload=payload, signature=signature, secret=SECRET, headers=headers, timestamp=NOW)
    assert found["valid"] is False
    assert found["reason"] in {"signature_mismatch", "malformed_signature", "missing_header", "unsupported_scheme"}
    assert len(found) == 11
    assert found["hint"]


@each("payload", PAYLOADS)
def test_providers_do_not_pass_for_each_other(payload: str) -> None:
    """The signature of one scheme is not valid under another that signs something else."""
    stripe = f"t={NOW},v1={mac(SECRET, NOW, '.', payload)}"
    assert ask(provider="stripe", payload=payload, signature=stripe, secret=SECRET)["valid"] is True
    for provider in ("github", "vercel", "slack", "cdp", "generic"):
        found = ask(provider=provider, payload=payload, signature=stripe, secret=SECRET, timestamp=NOW)
        assert found["valid"] is False
