"""SPL Token accounts as bytes: USDC's mint, and the accounts that hold it. The layouts are those of the token program."""

import struct
from typing import NamedTuple

from solders.account import Account
from solders.pubkey import Pubkey

from shared.x402.networks import SOLANA_USDC
from shared.x402.solana_address import TOKEN_PROGRAM, token_account

USDC = SOLANA_USDC["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
MINT = Pubkey.from_string(USDC.mint)
TOKEN = Pubkey(TOKEN_PROGRAM)
SYSTEM = Pubkey(bytes(32))

_MINT = struct.Struct("<I32sQBBI32s")
_ACCOUNT = struct.Struct("<32s32sQI32sBIQQI32s")
_SUPPLY = 10**16
_MINT_LAMPORTS, _ACCOUNT_LAMPORTS = 1_461_600, 2_039_280
_INITIALIZED = 1


class Holding(NamedTuple):
    """What a token account holds, in atomic units."""

    mint: Pubkey
    owner: Pubkey
    amount: int


def mint_account() -> Account:
    """USDC's mint. Nobody in the sandbox has its authority."""
    data = _MINT.pack(1, bytes(MINT), _SUPPLY, USDC.decimals, _INITIALIZED, 0, bytes(32))
    return Account(_MINT_LAMPORTS, data, TOKEN)


def holding_account(owner: Pubkey, amount: int) -> Account:
    """An account of `owner` with this amount of USDC."""
    data = _ACCOUNT.pack(bytes(MINT), bytes(owner), amount, 0, bytes(32), _INITIALIZED, 0, 0, 0, 0, bytes(32))
    return Account(_ACCOUNT_LAMPORTS, data, TOKEN)


def address_of(owner: Pubkey) -> Pubkey:
    """The associated account of `owner` for USDC."""
    return Pubkey(token_account(bytes(owner), bytes(MINT)))


def read_holding(account: Account | None) -> Holding | None:
    """The tokens of an account; None when it is not a token account."""
    if account is None or account.owner != TOKEN or len(account.data) != _ACCOUNT.size:
        return None
    mint, owner, amount, *_ = _ACCOUNT.unpack(account.data)
    return Holding(Pubkey(mint), Pubkey(owner), amount)
