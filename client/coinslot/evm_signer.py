"""Pays USDC on an EVM network: signs an EIP-3009 TransferWithAuthorization in the token's EIP-712 domain."""

import re
import secrets
from typing import Any

from coincurve import PrivateKey

from coinslot.errors import WalletUnusable
from coinslot.offer_terms import atomic_price, check_method, check_terms, known_token
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402.evm import address_of, transfer_digest
from shared.x402.networks import EVM_USDC, EvmToken, Rail
from shared.x402.wire import Offer

ETHEREUM = "eip155:1"
VALID_AFTER = 0
"""Valid from the beginning of time, as the official clients sign it: then a clock that is ahead does no harm."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_ZERO = "0x" + 40 * "0"


def signer(secret: str, *, network: str, rpc_url: str, rail: Rail) -> "EvmSigner":
    """The signer of a wallet's key (client/coinslot/wallet_source.py). Raises WalletUnusable."""
    return EvmSigner(bytes.fromhex(secret), network=network)


class EvmSigner(Signer):
    """An account that holds USDC.

    Args:
        key: 32 bytes. It is kept in memory and shown nowhere.
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
        self._token = known_token(EVM_USDC, network, "USDC contract")
        super().__init__(
            Rail.ETHEREUM if network == ETHEREUM else Rail.BASE,
            network=network,
            asset="USDC",
            address=address_of(self._key.public_key),
        )

    def quote(self, offer: Offer) -> Price:
        check_terms(offer, self.network)
        check_token(offer, self._token)
        check_method(offer, "eip3009")
        if not _ADDRESS.fullmatch(offer.pay_to) or offer.pay_to == _ZERO:
            raise Unpayable("payTo is not an address that can be paid")
        return atomic_price(offer, self._token.decimals)

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"signature", "authorization"}``, all text, with a random nonce, valid until now + maxTimeoutSeconds."""
        nonce, valid_before = secrets.token_bytes(32), now + offer.max_timeout_seconds
        digest = transfer_digest(offer, self.address, offer.pay_to, int(offer.amount), VALID_AFTER, valid_before, nonce)
        return {
            "signature": self.sign_digest(digest),
            "authorization": {
                "from": self.address,
                "to": offer.pay_to,
                "value": offer.amount,
                "validAfter": str(VALID_AFTER),
                "validBefore": str(valid_before),
                "nonce": "0x" + nonce.hex(),
            },
        }

    def sign_digest(self, digest: bytes) -> str:
        """The signature of 32 bytes, in hex: with the low s that tokens and channels require, and v of 27 or 28."""
        signature = self._key.sign_recoverable(digest, hasher=None)
        return "0x" + (signature[:64] + bytes([signature[64] + 27])).hex()


def check_token(offer: Offer, token: EvmToken) -> None:
    """Check that the offer asks for this token, in its own signing domain. Raises Unpayable."""
    if offer.asset.lower() != token.address.lower():
        raise Unpayable(f"asset {offer.asset[:60]!r} is not the USDC contract of this network")
    if (offer.extra.get("name"), offer.extra.get("version")) != (token.name, token.version):
        raise Unpayable(f"the signing domain is not the token's own ({token.name!r}, version {token.version!r})")
