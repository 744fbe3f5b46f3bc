"""How tests build a Solana payment, right or wrong: with solders, one place for every folder of tests."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message, MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from shared.x402.wire import Offer

TOKEN = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
TOKEN_2022 = Pubkey.from_string("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
ATA = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
BUDGET = Pubkey.from_string("ComputeBudget111111111111111111111111111111")
MEMO = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
LIGHTHOUSE = Pubkey.from_string("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
SYSTEM = Pubkey.from_string("11111111111111111111111111111111")
RANDOM_MEMO = b"0123456789abcdef0123456789abcdef"


def ata(owner: Pubkey, mint: Pubkey, program: Pubkey = TOKEN) -> Pubkey:
    """The associated token account, by solders."""
    return Pubkey.find_program_address([bytes(owner), bytes(program), bytes(mint)], ATA)[0]


def unit_limit(units: int = 20_000) -> Instruction:
    """SetComputeUnitLimit."""
    return Instruction(BUDGET, b"\2" + units.to_bytes(4, "little"), [])


def unit_price(microlamports: int = 1) -> Instruction:
    """SetComputeUnitPrice."""
    return Instruction(BUDGET, b"\3" + microlamports.to_bytes(8, "little"), [])


def memo(text: bytes = RANDOM_MEMO, *signers: Pubkey) -> Instruction:
    """A memo, signed by whoever is named."""
    return Instruction(MEMO, text, [AccountMeta(signer, True, False) for signer in signers])


@dataclass
class Draft:
    """A payment of an offer, whose parts a test may change before it is built.

    Attributes:
        optional: what comes after the transfer.
        more: further keys that have to sign.
    """

    offer: Offer
    payer: Keypair
    blockhash: Hash = field(default_factory=Hash.new_unique)
    fee_payer: Pubkey = field(init=False)
    mint: Pubkey = field(init=False)
    source: Pubkey = field(init=False)
    destination: Pubkey = field(init=False)
    authority: Pubkey = field(init=False)
    amount: int = field(init=False)
    decimals: int = 6
    program: Pubkey = TOKEN
    limit: Instruction = field(default_factory=unit_limit)
    price: Instruction = field(default_factory=unit_price)
    optional: list[Instruction] = field(init=False)
    more: list[Keypair] = field(default_factory=list)

    def __post_init__(self) -> None:
        offered = self.offer.extra.get("memo")
        self.fee_payer = Pubkey.from_string(self.offer.extra["feePayer"])
        self.mint = Pubkey.from_string(self.offer.asset)
        self.authority = self.payer.pubkey()
        self.source = ata(self.authority, self.mint)
        self.destination = ata(Pubkey.from_string(self.offer.pay_to), self.mint)
        self.amount = int(self.offer.amount)
        self.optional = [memo(offered.encode() if offered else RANDOM_MEMO)]

    def transfer(self) -> Instruction:
        """TransferChecked of what the draft says."""
        accounts = [
            AccountMeta(self.source, False, True),
            AccountMeta(self.mint, False, False),
            AccountMeta(self.destination, False, True),
            AccountMeta(self.authority, True, False),
        ]
        return Instruction(self.program, b"\x0c" + self.amount.to_bytes(8, "little") + bytes([self.decimals]), accounts)

    def instructions(self) -> list[Instruction]:
        """All, in their order."""
        return [self.limit, self.price, self.transfer(), *self.optional]

    def message(self, instructions: Sequence[Instruction] | None = None) -> MessageV0:
        """Version 0, without tables."""
        chosen = self.instructions() if instructions is None else instructions
        return MessageV0.try_compile(self.fee_payer, list(chosen), [], self.blockhash)

    def payload(self, instructions: Sequence[Instruction] | None = None) -> dict[str, Any]:
        """The scheme's payload, signed by the payer."""
        return payload_of(self.message(instructions), [self.payer, *self.more])

    def legacy(self) -> dict[str, Any]:
        """The same in a legacy message."""
        message = Message.new_with_blockhash(self.instructions(), self.fee_payer, self.blockhash)
        return payload_of(message, [self.payer])


def sign(message: Message | MessageV0, keys: Sequence[Keypair]) -> list[Signature]:
    """A signature of every signer whose key is there, and zeros of the others."""
    signed = b"\x80" + bytes(message) if isinstance(message, MessageV0) else bytes(message)
    by_address = {key.pubkey(): key for key in keys}
    signers = message.account_keys[: message.header.num_required_signatures]
    return [
        by_address[address].sign_message(signed) if address in by_address else Signature.default()
        for address in signers
    ]


def raw_of(message: Message | MessageV0, keys: Sequence[Keypair]) -> bytes:
    """The transaction on the wire."""
    return bytes(VersionedTransaction.populate(message, sign(message, keys)))


def payload_of(message: Message | MessageV0, keys: Sequence[Keypair]) -> dict[str, Any]:
    """The scheme's payload."""
    return {"transaction": base64.b64encode(raw_of(message, keys)).decode()}


def raw(payload: dict[str, Any]) -> bytes:
    """A payload's transaction on the wire."""
    return base64.b64decode(payload["transaction"])
