"""Which instructions a payment may have, in which order, and how much it may cost the fee payer.

The static layout of scheme_exact_svm.md: compute unit limit, compute unit price, transfer, then up to three memos and
Lighthouse assertions, which wallets add. The fee payer appears in no instruction, so that its signature allows nothing but the
fee.
"""

from typing import NamedTuple

from shared.x402.refusal import PaymentRefused
from shared.x402.solana_address import TOKEN_PROGRAM, decode_base58
from shared.x402.solana_message import Instruction, Message

MAX_COMPUTE_UNITS = 400_000
"""The specification's default. The official clients ask for 20,000."""
MAX_COMPUTE_PRICE = 5_000_000
"""Microlamports for one unit: the specification's cap."""
MAX_PRIORITY_FEE = 100_000
"""Lamports: units times price. It is what 20,000 units, as the official clients ask for, cost at the highest price. Both caps
together would allow twenty times that, which we would pay for each call of a tenth of a cent."""

COMPUTE_BUDGET_PROGRAM = decode_base58("ComputeBudget111111111111111111111111111111", 32)
MEMO_PROGRAM = decode_base58("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", 32)
LIGHTHOUSE_PROGRAM = decode_base58("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95", 32)

_SET_UNIT_LIMIT, _SET_UNIT_PRICE, _TRANSFER_CHECKED = 2, 3, 12
_FEWEST, _MOST = 3, 6
_OPTIONAL = ("fourth", "fifth", "sixth")
_FEE_PAYER, _PAYER = 0, 1
_PREFIX = "invalid_exact_svm_payload_"
_BUDGET = _PREFIX + "transaction_instructions_compute_"


class Transfer(NamedTuple):
    """The payer's TransferChecked instruction."""

    source: bytes
    mint: bytes
    destination: bytes
    amount: int
    decimals: int


def check_layout(message: Message, *, fee_payer: bytes, memo: bytes | None) -> Transfer:
    """The transfer in a message that contains only what a payment may contain.

    Args:
        fee_payer: the account that must pay the fee.
        memo: the text of the only memo; None when memos do not matter.

    Raises:
        PaymentRefused: the message contains anything else.
    """
    if message.lookups:
        # Only the chain knows the accounts in a table. The fee payer may be one of them.
        raise PaymentRefused(_PREFIX + "address_lookup_tables")
    if message.signers > 2:
        raise PaymentRefused(_PREFIX + "excessive_signers")
    if message.signers < 2:
        raise PaymentRefused(_PREFIX + "missing_payer_signature")
    if message.keys[_FEE_PAYER] != fee_payer:
        raise PaymentRefused(_PREFIX + "fee_payer_mismatch")
    instructions = message.instructions
    if not _FEWEST <= len(instructions) <= _MOST:
        raise PaymentRefused(_PREFIX + "transaction_instructions_length")
    _check_fee_payer(instructions)
    units = _budget(message, instructions[0], _SET_UNIT_LIMIT, 4, MAX_COMPUTE_UNITS, "limit")
    price = _budget(message, instructions[1], _SET_UNIT_PRICE, 8, MAX_COMPUTE_PRICE, "price")
    if units * price > MAX_PRIORITY_FEE * 1_000_000:
        raise PaymentRefused(_BUDGET + "price_instruction_too_high")
    transfer = _transfer(message, instructions[2])
    _check_optional(message, instructions[3:], memo)
    return transfer


def _check_fee_payer(instructions: tuple[Instruction, ...]) -> None:
    for number, instruction in enumerate(instructions):
        if _FEE_PAYER in instruction.accounts:
            what = "transferring_funds" if number == 2 else "in_instruction_accounts"
            raise PaymentRefused(f"{_PREFIX}transaction_fee_payer_{what}")


def _budget(message: Message, instruction: Instruction, kind: int, size: int, most: int, name: str) -> int:
    """The number that an instruction of the compute budget program sets."""
    data = instruction.data
    if (
        message.keys[instruction.program] != COMPUTE_BUDGET_PROGRAM
        or instruction.accounts
        or len(data) != 1 + size
        or data[0] != kind
    ):
        raise PaymentRefused(f"{_BUDGET}{name}_instruction")
    number = int.from_bytes(data[1:], "little")
    if number > most:
        raise PaymentRefused(f"{_BUDGET}{name}_instruction_too_high")
    return number


def _transfer(message: Message, instruction: Instruction) -> Transfer:
    data, accounts, keys = instruction.data, instruction.accounts, message.keys
    if (
        keys[instruction.program] != TOKEN_PROGRAM
        or len(data) != 10
        or data[0] != _TRANSFER_CHECKED
        or len(accounts) != 4  # more are the signers of a multisig account
        or accounts[3] != _PAYER
    ):
        raise PaymentRefused(_PREFIX + "no_transfer_instruction")
    source, mint, destination = keys[accounts[0]], keys[accounts[1]], keys[accounts[2]]
    return Transfer(source, mint, destination, int.from_bytes(data[1:9], "little"), data[9])


def _check_optional(message: Message, instructions: tuple[Instruction, ...], memo: bytes | None) -> None:
    memos = []
    for place, instruction in zip(_OPTIONAL, instructions, strict=False):
        program = message.keys[instruction.program]
        if program == MEMO_PROGRAM:
            memos.append(instruction.data)
        elif program != LIGHTHOUSE_PROGRAM:
            raise PaymentRefused(f"{_PREFIX}unknown_{place}_instruction")
    if memo is None:
        return
    if len(memos) != 1:
        raise PaymentRefused(_PREFIX + "memo_count")
    if memos[0] != memo:
        raise PaymentRefused(_PREFIX + "memo_mismatch")
