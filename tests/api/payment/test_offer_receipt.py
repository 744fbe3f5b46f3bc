"""Signed offers and receipts, with PyJWT as the second opinion on signatures."""

import base64
import dataclasses
import json
import secrets
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest

from api.payment.binding import Binder
from api.payment.gate import UNPAID, PaymentGate
from api.payment.offer_receipt import KEY, VALID_S, Signer, read_signer
from api.payment.rails import ConfiguredRail, configured_rails
from jobs import echo
from shared.settings.rails import EvmRailSettings, SolanaRailSettings, StellarRailSettings
from shared.settings.service import InvalidSetting, Settings
from tests.each import each

SHOP = "https://shop.test"
SEED = bytes(range(32))


@pytest.fixture
def rails() -> tuple[ConfiguredRail, ...]:
    """Of which one asks for a token."""
    return configured_rails(
        Settings(
            evm=EvmRailSettings(pay_to="0x" + "11" * 20),
            solana=SolanaRailSettings(pay_to="GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
            stellar=StellarRailSettings(pay_to="GDWUSKGGFDI4FRXK5EBTRECZSVQSSWJHHJOGH6JWG3AUMFFMQ435DIAG"),
        )
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time by which is signed, in Unix seconds."""
    clock = SimpleNamespace(now=1_800_000_000.5)
    clock.time = lambda: clock.now
    monkeypatch.setattr("api.payment.offer_receipt.time", clock)
    return clock


def verified(signature: str, document: bytes) -> Any:
    """The payload of a JWS by a key of the DID document."""
    kid = jwt.get_unverified_header(signature)["kid"]
    [method] = (method for method in json.loads(document)["verificationMethod"] if method["id"] == kid)
    key = jwt.PyJWK(method["publicKeyJwk"], algorithm="EdDSA")
    whole = jwt.api_jws.PyJWS().decode_complete(signature, key, algorithms=["EdDSA"])
    assert whole["header"] == {"alg": "EdDSA", "kid": kid}
    payload = whole["payload"].decode()
    assert payload == json.dumps(json.loads(payload), sort_keys=True, separators=(",", ":"))
    return json.loads(payload)


@each(
    ("base_url", "did", "path"),
    [
        ("https://shop.test", "did:web:shop.test", "/.well-known/did.json"),
        ("http://127.0.0.1:4020", "did:web:127.0.0.1%3A4020", "/.well-known/did.json"),
        ("https://Shop.test:8443/a/b%20c", "did:web:shop.test%3A8443:a:b%20c", "/did.json"),
    ],
)
def test_the_document_is_where_the_did_says(base_url: str, did: str, path: str) -> None:
    """A host's is in /.well-known, and that of an address below a path is there."""
    signer = Signer(SEED, base_url)
    document = json.loads(signer.document())
    assert (document["id"], signer.document_path) == (did, path)
    assert document["assertionMethod"] == [method["id"] for method in document["verificationMethod"]]
    assert all(method["id"].startswith(f"{did}#") for method in document["verificationMethod"])


def test_the_offers_of_a_challenge_are_signed(rails: tuple[ConfiguredRail, ...], clock: SimpleNamespace) -> None:
    """Whichever rails are up."""
    signer = Signer(SEED, SHOP)
    gate = PaymentGate(echo.ENDPOINT, rails, SHOP, Binder(SEED), signer=signer)
    for down in (None, rails[0]):
        if down:
            down.health.hold(is_held=True)
        answer = gate.refuse(UNPAID)
        challenge = json.loads(answer.body)
        signed = challenge["extensions"][KEY]["info"]["offers"]
        assert [one["acceptIndex"] for one in signed] == list(range(len(challenge["accepts"])))
        for accepted, one in zip(challenge["accepts"], signed, strict=True):
            terms = {name: accepted[name] for name in ("scheme", "network", "asset", "payTo", "amount")}
            expected = {"version": 1, "resourceUrl": SHOP + echo.ENDPOINT.path, "validUntil": int(clock.now) + VALID_S}
            assert verified(one["signature"], signer.document()) == terms | expected
        assert base64.b64decode(dict(answer.headers)[b"payment-required"]) == answer.body


def test_offers_are_signed_again_before_they_expire(rails: tuple[ConfiguredRail, ...], clock: SimpleNamespace) -> None:
    """And not for a call: until then all have the same."""
    gate = PaymentGate(echo.ENDPOINT, rails[:1], SHOP, Binder(SEED), signer=Signer(SEED, SHOP))
    first = gate.refuse(UNPAID)
    clock.now += VALID_S / 2 - 1
    assert gate.refuse(UNPAID) is first
    clock.now += 1
    second = gate.refuse(UNPAID)
    assert second.body != first.body
    assert gate.refuse(UNPAID) is second


def test_what_a_former_key_signed_can_be_verified(tmp_path: Path) -> None:
    """While the settings name its public key, which the document of its time has."""
    settings = Settings(base_url=SHOP, receipt_key_file=str(tmp_path / "key"))
    (tmp_path / "key").write_text(secrets.token_hex(32))
    before = read_signer(settings)
    assert before
    signed = before.jws({"version": 1})
    (tmp_path / "key").write_text(secrets.token_hex(32))
    public = json.loads(before.document())["verificationMethod"][0]["publicKeyJwk"]["x"]
    now = read_signer(dataclasses.replace(settings, receipt_former_keys=public))
    assert now
    assert verified(signed, now.document()) == verified(now.jws({"version": 1}), now.document()) == {"version": 1}


def test_a_wrong_key_file_is_a_sentence(tmp_path: Path) -> None:
    """And without one nothing is signed."""
    with pytest.raises(InvalidSetting, match="there is no such file"):
        read_signer(Settings(receipt_key_file=str(tmp_path / "missing")))
    with pytest.raises(InvalidSetting, match="RECEIPT_FORMER_KEYS must be public keys"):
        Settings(receipt_former_keys="0x11")
    assert read_signer(Settings()) is None
