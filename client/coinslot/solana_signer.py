"""Pays USDC on Solana: signs a transaction with one transfer, whose fee the facilitator pays."""

from __future__ import annotations

import base64
import re
import secrets
from typing import TYPE_CHECKING, Any

import msgspec

from coinslot import node
from coinslot.errors import WalletUnusable
from coinslot.offer_terms import atomic_price, check_method, check_terms, known_token
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402.networks import SOLANA_USDC, Rail
from shared.x402.solana import TOKEN_KEY, is_memo
from shared.x402.solana_address import TOKEN_PROGRAM, decode_base58, is_address, token_account
from shared.x402.solana_layout import COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM
from shared.x402.wire import Offer

if TYPE_CHECKING:
    from solders.hash import Hash
    from solders.keypair import Keypair

_HEX_SEED = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_BASE_UNITS, _UNITS_A_BYTE = 20_000, 400
"""Compute units: a transfer takes 6,200 at most, a memo 1,400 and 360 more for each byte."""
_PRICE = 1
"""Microlamports for a compute unit, as in the official clients."""


def signer(secret: str, *, network: str, rpc_url: str, rail: Rail) -> SolanaSigner:
    """The signer of a wallet's key (client/coinslot/wallet_source.py). Raises WalletUnusable."""
    return SolanaSigner(secret, network=network, rpc_url=rpc_url)


class SolanaSigner(Signer):
    """A wallet that holds USDC. It needs no SOL.

    Args:
        secret: base58 of 64 bytes, as wallets export it; a JSON array of 64 numbers, as solana-keygen writes it; or the seed
            of 32 bytes as 64 hex digits. It is kept in memory and shown nowhere.
        network: CAIP-2 network whose known USDC mint is paid with.
        rpc_url: the node that is asked for a recent blockhash and nothing else.

    Raises:
        WalletUnusable: the secret has none of these forms, or no USDC mint is known on the network.
    """

    def __init__(self, secret: str, *, network: str, rpc_url: str) -> None:
        self._keypair = _keypair(secret.strip())
        self._token = known_token(SOLANA_USDC, network, "USDC mint")
        self._rpc_url = rpc_url
        super().__init__(Rail.SOLANA, network=network, asset="USDC", address=str(self._keypair.pubkey()))

    def quote(self, offer: Offer) -> Price:
        token, extra = self._token, offer.extra
        check_terms(offer, self.network)
        if offer.asset != token.mint:
            raise Unpayable(f"asset {offer.asset[:60]!r} is not the USDC mint of this network")
        check_method(offer)
        if not is_address(offer.pay_to) or offer.pay_to == self.address:
            raise Unpayable("payTo is not an address that can be paid")
        if not is_address(extra.get("feePayer")) or extra["feePayer"] == self.address:
            raise Unpayable("feePayer is not another account that pays the fee")
        if TOKEN_KEY in extra and not is_memo(extra[TOKEN_KEY]):
            raise Unpayable("the memo is not a text of 1 to 256 bytes")
        return atomic_price(offer, token.decimals)

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"transaction"}``, with the offered memo or a random one. It is valid for about a minute, whatever `now` is.

        Raises:
            Unreachable: the node gives no blockhash.
        """
        from solders.message import MessageV0, to_bytes_versioned
        from solders.pubkey import Pubkey
        from solders.signature import Signature
        from solders.transaction import VersionedTransaction

        # Without a memo, two payments of the same amount with the same blockhash would be one transaction.
        memo = offer.extra[TOKEN_KEY] if TOKEN_KEY in offer.extra else secrets.token_hex(16)
        message = MessageV0.try_compile(
            Pubkey.from_string(offer.extra["feePayer"]), self._instructions(offer, memo.encode()), [], self._blockhash()
        )
        signature = self._keypair.sign_message(to_bytes_versioned(message))
        transaction = VersionedTransaction.populate(message, [Signature.default(), signature])
        return {"transaction": base64.b64encode(bytes(transaction)).decode()}

    def _instructions(self, offer: Offer, memo: bytes) -> list[Any]:
        from solders.instruction import AccountMeta, Instruction
        from solders.pubkey import Pubkey

        mint, owner = decode_base58(self._token.mint, 32), bytes(self._keypair.pubkey())
        source, destination = token_account(owner, mint), token_account(decode_base58(offer.pay_to, 32), mint)
        units = _BASE_UNITS + _UNITS_A_BYTE * len(memo)
        budget = Pubkey(COMPUTE_BUDGET_PROGRAM)
        transfer = b"\x0c" + int(offer.amount).to_bytes(8, "little") + bytes([self._token.decimals])
        accounts = [
            AccountMeta(Pubkey(source), is_signer=False, is_writable=True),
            AccountMeta(Pubkey(mint), is_signer=False, is_writable=False),
            AccountMeta(Pubkey(destination), is_signer=False, is_writable=True),
            AccountMeta(Pubkey(owner), is_signer=True, is_writable=False),
        ]
        return [
            Instruction(budget, b"\x02" + units.to_bytes(4, "little"), []),
            Instruction(budget, b"\x03" + _PRICE.to_bytes(8, "little"), []),
            Instruction(Pubkey(TOKEN_PROGRAM), transfer, accounts),
            Instruction(Pubkey(MEMO_PROGRAM), memo, []),
        ]

    def _blockhash(self) -> Hash:
        from solders.hash import Hash

        call = {"jsonrpc": "2.0", "id": 1, "method": "getLatestBlockhash", "params": [{"commitment": "confirmed"}]}
        with node.connected("Solana", self._rpc_url) as ask:
            return Hash(decode_base58(ask(call)["result"]["value"]["blockhash"], 32))


def _keypair(secret: str) -> Keypair:
    from solders.keypair import Keypair

    try:
        if _HEX_SEED.fullmatch(secret):
            return Keypair.from_seed(bytes.fromhex(secret))
        if secret.startswith("["):
            return Keypair.from_bytes(bytes(msgspec.json.decode(secret, type=list[int])))
        return Keypair.from_bytes(decode_base58(secret, 64))
    except (ValueError, msgspec.MsgspecError):
        raise WalletUnusable("the wallet's key is not a Solana secret key") from None
