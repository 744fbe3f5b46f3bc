"""The sandbox's keys: random, made once per machine, kept in var/sandbox/wallets.json for this user's eyes only."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class Wallets:
    """Three accounts that exist on the sandbox's chains only. The keys do not appear in repr().

    Attributes:
        payer_key, payer: the buyer, who holds USDC and needs no ETH.
        settler_key, settler: the facilitator's account, which pays the gas.
        pay_to_key, pay_to: where the money goes.
    """

    payer_key: str = field(repr=False)
    settler_key: str = field(repr=False)
    pay_to_key: str = field(repr=False)
    payer: str
    settler: str
    pay_to: str


def load_wallets(var: Path) -> Wallets:
    """Read this machine's keys, making them the first time."""
    path = var.resolve() / "sandbox" / "wallets.json"
    if not path.exists():
        _create(path)
    path.chmod(0o600)
    keys: dict[str, str] = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    accounts = {role: _address_of(keys[f"{role}_key"]) for role in ("payer", "settler", "pay_to")}
    return Wallets(keys["payer_key"], keys["settler_key"], keys["pay_to_key"], **accounts)


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    keys = {f"{role}_key": "0x" + secrets.token_hex(32) for role in ("payer", "settler", "pay_to")}
    # Whole and private before it has its name, and the first of two starts wins.
    draft = path.with_name(f"wallets.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(keys)) + b"\n")
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _address_of(key: str) -> str:
    from eth_account import Account  # takes most of a second to import

    account: Any = Account.from_key(key)
    address: str = account.address
    return address
