"""The accounts of the sandbox's EVM chain."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from coincurve import PrivateKey

from compose.sandbox.keys import load_keys
from shared.x402.evm import address_of, checksummed


@dataclass(frozen=True, slots=True)
class Wallets:
    """Three accounts that exist on the sandbox's chains only. The keys do not appear in repr().

    Attributes:
        payer_key, payer: the buyer, who holds USDC and needs no ETH.
        settler_key, settler: the facilitator's account, which pays the gas.
        pay_to_key, pay_to: the recipient of payments.
    """

    payer_key: str = field(repr=False)
    settler_key: str = field(repr=False)
    pay_to_key: str = field(repr=False)
    payer: str
    settler: str
    pay_to: str


_ROLES = ("payer", "settler", "pay_to")


def load_wallets(var: Path) -> Wallets:
    """Read this machine's keys, making them the first time."""
    keys = load_keys(var, "wallets", lambda: {f"{role}_key": "0x" + secrets.token_hex(32) for role in _ROLES})
    accounts = {role: _address_of(keys[f"{role}_key"]) for role in _ROLES}
    return Wallets(keys["payer_key"], keys["settler_key"], keys["pay_to_key"], **accounts)


def _address_of(key: str) -> str:
    return checksummed(address_of(PrivateKey(bytes.fromhex(key.removeprefix("0x"))).public_key))
