"""Pays USDC on an EVM network: an EIP-3009 TransferWithAuthorization, signed over the token's EIP-712 domain."""

from __future__ import annotations

import re
import secrets
from decimal import Decimal
from typing import Any

from coincurve import PrivateKey

from client.errors import WalletUnusable
from client.signer import Unpayable
from shared.money import Price
from shared.x402.evm import SCHEME, address_of, token_on, transfer_digest
from shared.x402.networks import Rail
from shared.x402.wire import Offer

MAX_TIMEOUT_SECONDS = 600
"""An authorization is a bearer cheque: nobody gets one that lasts longer than ten minutes."""
ETHEREUM = "eip155:1"
VALID_AFTER = 0
"""Valid since ever, as the official clients sign it: a clock that runs ahead does no harm."""

# 18 digits keep every amount exact within the 28 digits of a Decimal, and are more than all the USDC there is.
_AMOUNT = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_ZERO = "0x" + 40 * "0"
# Both take exactly one transfer of the amount; the order of settling and answering is the server's risk and its word.
_FLOWS = (None, "authorization", "upfront")


class EvmSigner:
    """An account that holds USDC.

    Args:
        key: 32 bytes. It is kept in memory only and shown nowhere.
        network: CAIP-2 network whose known USDC contract is paid with.

    Raises:
        WalletUnusable: the key is not one of secp256k1, or no USDC contract is known on the network.
    """

    def __init__(self, key: bytes, *, network: str = "eip155:8453") -> None:
        try:
            if len(key) != 32:  # coincurve would pad it
                raise ValueError
            self._key = PrivateKey(key)
        except ValueError:
            raise WalletUnusable("the wallet's key is not a secp256k1 private key") from None
        try:
            self._token = token_on(network)
        except KeyError:
            raise WalletUnusable(f"no USDC contract is known on {network}") from None
        self.rail = Rail.ETHEREUM if network == ETHEREUM else Rail.BASE
        self.network = network
        self.asset = "USDC"
        self.address = address_of(self._key.public_key)

    def __repr__(self) -> str:
        return f"EvmSigner({self.address} on {self.network})"

    def quote(self, offer: Offer) -> Price:
        """What the offer costs in USDC. Raises Unpayable unless signing it can do nothing but pay that."""
        token, extra = self._token, offer.extra
        if offer.network != self.network:
            raise Unpayable(f"the wallet pays on {self.network}")
        if offer.scheme != SCHEME:
            raise Unpayable(f"scheme {offer.scheme[:40]!r} is not {SCHEME!r}")
        if offer.asset.lower() != token.address.lower():
            raise Unpayable(f"asset {offer.asset[:60]!r} is not the USDC contract of this network")
        if (extra.get("name"), extra.get("version")) != (token.name, token.version):
            raise Unpayable(f"the signing domain is not the token's own ({token.name!r}, version {token.version!r})")
        if extra.get("assetTransferMethod") not in (None, "eip3009"):
            raise Unpayable("the transfer method is not eip3009")
        if extra.get("paymentFlow") not in _FLOWS:
            raise Unpayable("the payment flow is unknown")
        if not _AMOUNT.fullmatch(offer.amount):
            raise Unpayable(f"amount {offer.amount[:40]!r} is not a whole number of atomic units")
        if not _ADDRESS.fullmatch(offer.pay_to) or offer.pay_to == _ZERO:
            raise Unpayable("payTo is not an address that can be paid")
        if not 0 < offer.max_timeout_seconds <= MAX_TIMEOUT_SECONDS:
            raise Unpayable(f"maxTimeoutSeconds {offer.max_timeout_seconds} is not within 1 and {MAX_TIMEOUT_SECONDS}")
        return Price(Decimal(offer.amount).scaleb(-token.decimals))

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"signature", "authorization"}``, all text, with a random nonce, valid until now + maxTimeoutSeconds."""
        nonce, valid_before = secrets.token_bytes(32), now + offer.max_timeout_seconds
        digest = transfer_digest(offer, self.address, offer.pay_to, int(offer.amount), VALID_AFTER, valid_before, nonce)
        signature = self._key.sign_recoverable(digest, hasher=None)
        return {
            # libsecp256k1 signs with the low s that tokens insist on; they want v as 27 or 28.
            "signature": "0x" + (signature[:64] + bytes([signature[64] + 27])).hex(),
            "authorization": {
                "from": self.address,
                "to": offer.pay_to,
                "value": offer.amount,
                "validAfter": str(VALID_AFTER),
                "validBefore": str(valid_before),
                "nonce": "0x" + nonce.hex(),
            },
        }
