"""The offer-receipt extension: the shop signs its offers and, once a call is answered, a receipt for it.

Source: specs/extensions/extension-offer-and-receipt.md of x402-foundation/x402, as JWS with EdDSA. The key has no other use. A
DID document (did:web) below the shop's public address names it, so anybody who is shown an offer or a receipt can check it.
"""

import base64
import hashlib
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shared.settings.secret_files import read_key
from shared.settings.service import Settings
from shared.x402.exact import MAX_TIMEOUT_SECONDS
from shared.x402.wire import Offer

KEY = "offer-receipt"
VERSION = 1
VALID_S = MAX_TIMEOUT_SECONDS
"""How long a signed offer holds. After a change of prices the former one is taken for longer (api/payment/price_lists.py)."""
DID_DOCUMENT = "application/did+json"


class Signer:
    """The key, and the DID document that names it.

    Args:
        seed: the Ed25519 key, 32 bytes.
        base_url: public address of the API.
        former: public keys that signed before, as the document's `x`.
    """

    def __init__(self, seed: bytes, base_url: str, former: Iterable[str] = ()) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = urlsplit(base_url)
        # A port's colon would begin a part of the path (W3C CCG, did:web method specification, 3.1).
        parts = [quote(public.netloc.lower(), safe="")] + [
            quote(part, safe="%") for part in public.path.split("/") if part
        ]
        self._did = ":".join(["did:web", *parts])
        self.document_path = "/.well-known/did.json" if len(parts) == 1 else "/did.json"
        """Of the document, on the API."""
        own = _text(self._key.public_key().public_bytes_raw())
        self._public = tuple(dict.fromkeys((own, *former)))
        self._header = _text(msgspec.json.encode({"alg": "EdDSA", "kid": self._kid(own)})).encode()

    def jws(self, payload: dict[str, Any]) -> str:
        """The JWS compact serialization of a payload in canonical JSON (RFC 8785). It takes some 65 us."""
        content = self._header + b"." + _text(msgspec.json.encode(payload, order="sorted")).encode()
        return f"{content.decode()}.{_text(self._key.sign(content))}"

    def document(self) -> bytes:
        """The DID document. The key that signs now is the first."""
        methods = [
            {
                "id": self._kid(public),
                "type": "JsonWebKey2020",
                "controller": self._did,
                "publicKeyJwk": {"kty": "OKP", "crv": "Ed25519", "x": public},
            }
            for public in self._public
        ]
        return msgspec.json.encode(
            {
                "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"],
                "id": self._did,
                "verificationMethod": methods,
                "assertionMethod": [method["id"] for method in methods],
            }
        )

    def _kid(self, public: str) -> str:
        return f"{self._did}#{_text(hashlib.sha256(public.encode()).digest()[:6])}"


class Proofs:
    """What the challenges and the answers of one call have of the extension. Without a signer they have nothing of it.

    Args:
        url: of the call.
    """

    def __init__(self, signer: Signer | None, url: str) -> None:
        self._signer = signer
        self._url = url
        self._offers: Sequence[Offer] = ()
        self._signed: list[dict[str, Any]] = []
        self._renew_at = math.inf

    @property
    def are_outdated(self) -> bool:
        """Whether the offers are to be signed again, because half of their time is over."""
        return time.time() >= self._renew_at

    def of_offers(self, offers: Sequence[Offer]) -> dict[str, Any]:
        """The extension of a challenge, by its key, with these offers signed; empty without any."""
        if self._signer is None or not offers:
            self._renew_at = math.inf
            return {}
        if offers != self._offers or self.are_outdated:
            now = int(time.time())
            self._signed = [
                {
                    "format": "jws",
                    "acceptIndex": index,
                    "signature": self._signer.jws(self._terms(offer, now + VALID_S)),
                }
                for index, offer in enumerate(offers)
            ]
            self._offers, self._renew_at = offers, now + VALID_S / 2
        return {KEY: _extension("offers", self._signed)}

    def delivered(self, settlement: bytes) -> bytes:
        """The settlement of an answered call, as JSON, with a signed receipt."""
        if self._signer is None or not settlement:
            return settlement
        content = msgspec.json.decode(settlement)
        payload = {
            "version": VERSION,
            "network": content["network"],
            "resourceUrl": self._url,
            "payer": content["payer"],
            "issuedAt": int(time.time()),
        }
        if content["transaction"]:  # a call that a channel pays has none
            payload["transaction"] = content["transaction"]
        receipt = {"format": "jws", "signature": self._signer.jws(payload)}
        return msgspec.json.encode({**content, "extensions": {KEY: _extension("receipt", receipt)}})

    def _terms(self, offer: Offer, valid_until: int) -> dict[str, Any]:
        return {
            "version": VERSION,
            "resourceUrl": self._url,
            "scheme": offer.scheme,
            "network": offer.network,
            "asset": offer.asset,
            "payTo": offer.pay_to,
            "amount": offer.amount,
            "validUntil": valid_until,
        }


def read_signer(settings: Settings) -> Signer | None:
    """The signer of the settings; None where there is none.

    Raises:
        InvalidSetting: the key file is missing or has another form.
    """
    if not settings.receipt_key_file:
        return None
    former = filter(None, settings.receipt_former_keys.split(","))
    return Signer(read_key(Path(settings.receipt_key_file)), settings.base_url, former)


def _extension(name: str, value: Any) -> dict[str, Any]:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: {"type": "object" if isinstance(value, dict) else "array"}},
        "required": [name],
    }
    return {"info": {name: value}, "schema": schema}


def _text(content: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
