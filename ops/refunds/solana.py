"""Refunds on Solana: unsigned transactions of TransferChecked instructions, which the recipient of the payments signs."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ops.refunds.debts import Debt
from ops.refunds.transfers import Built, Found, NotPossible, Options, Transfer, asked, batches, listed
from shared.settings.rails import SolanaRailSettings
from shared.x402.networks import SOLANA_USDC
from shared.x402.solana_address import ATA_PROGRAM, TOKEN_PROGRAM, decode_base58, encode_base58, token_account
from shared.x402.solana_layout import MEMO_PROGRAM
from shared.x402.solana_message import read_transaction

FORM = re.compile(r"[1-9A-HJ-NP-Za-km-z]{80,88}", re.ASCII)
AT_ONCE = 8
"""Transfers of one transaction. It has 1232 bytes, and each transfer takes 90 where it makes the payer's token account."""

_ACCOUNTS_AT_ONCE = 100
_STATE, _FROZEN = 108, 2
_TRANSFER, _TRANSFER_CHECKED = 3, 12
_CREATE_IDEMPOTENT = b"\x01"
_SYSTEM_PROGRAM = bytes(32)


def address(text: str) -> str:
    """The only spelling of an address."""
    return text


def lacks(own: SolanaRailSettings, payer: str, debts: Sequence[Debt]) -> str:
    """Why a payer cannot be paid; empty when he can. A token account that does not exist is made."""
    data = _accounts(own, debts)[payer]
    return "its token account is frozen" if data and data[_STATE] == _FROZEN else ""


def built(own: SolanaRailSettings, debts: Sequence[Debt], options: Options) -> Built:
    """The transfers of one sender."""
    notes, last = [], None
    existing: Mapping[str, bytes | None] = {}
    if own.rpc_url:
        existing = _accounts(own, debts)
    blockhash = options.blockhash
    if blockhash is None:
        if not own.rpc_url:
            raise NotPossible("no node says a blockhash: give one with --blockhash")
        with asked(own) as node:
            latest = node("getLatestBlockhash", {"commitment": "confirmed"})["value"]
        blockhash, last = latest["blockhash"], latest["lastValidBlockHeight"]
        notes.append(
            "The transactions for Solana are valid for about a minute. A wallet that signs later puts a new blockhash into "
            "them, or the plan is made with --blockhash."
        )
    if makes := len({debt.payer for debt in debts if not existing.get(debt.payer)}):
        notes.append(
            f"{makes} payers on Solana have no token account: the transfer makes it for 0.002 SOL of the sender's."
        )
    transactions = [
        {"transaction": _transaction(batch, existing, blockhash), "payments": listed(batch)}
        for batch in batches(debts, AT_ONCE)
    ]
    document = {"feePayer": debts[0].pay_to, "blockhash": blockhash, "lastValidBlockHeight": last}
    return Built({".json": {**document, "transactions": transactions}}, notes)


def found(own: SolanaRailSettings, transaction: str) -> Found | None:
    """What the chain shows of a transaction; None when it does not know it. Raises NotPossible, and what nodes raise."""
    with asked(own) as node:
        config = {"commitment": "confirmed", "encoding": "base64", "maxSupportedTransactionVersion": 0}
        shown = node("getTransaction", transaction, config)
    if shown is None:
        return None
    if shown["meta"]["err"] is not None:
        raise NotPossible("failed")
    read = read_transaction(base64.b64decode(shown["transaction"][0], validate=True))
    transfers = list(_transfers(read.message, shown["meta"]))
    return Found(encode_base58(read.signatures[0]), int(shown["blockTime"]), transfers)


def _transfers(message: Any, meta: dict[str, Any]) -> Iterator[Transfer]:
    loaded = meta.get("loadedAddresses") or {"writable": [], "readonly": []}
    keys = [*map(encode_base58, message.keys), *loaded["writable"], *loaded["readonly"]]
    balances = [*meta["preTokenBalances"], *meta["postTokenBalances"]]
    held = {keys[one["accountIndex"]]: (one["owner"], one["mint"]) for one in balances}
    calls = [(f"{at}", one.program, one.accounts, one.data) for at, one in enumerate(message.instructions)]
    for group in meta.get("innerInstructions") or []:
        for at, one in enumerate(group["instructions"]):
            data = _data(one["data"])
            calls.append((f"{group['index']}.{at}", one["programIdIndex"], bytes(one["accounts"]), data))
    for number, program, accounts, data in calls:
        if keys[program] != encode_base58(TOKEN_PROGRAM) or data[:1] not in (b"\x03", b"\x0c"):
            continue
        source, destination = keys[accounts[0]], keys[accounts[1 if data[0] == _TRANSFER else 2]]
        if source in held and destination in held:
            (sender, mint), (to, _) = held[source], held[destination]
            yield Transfer(number, mint, sender, to, Decimal(int.from_bytes(data[1:9], "little")))


def _data(text: str) -> bytes:
    """The data of an inner instruction, where it has the length of a transfer's; empty for any other."""
    for size in (9, 10):
        try:
            return decode_base58(text, size)
        except ValueError:
            continue
    return b""


def _transaction(debts: Sequence[Debt], existing: Mapping[str, bytes | None], blockhash: str) -> str:
    from solders.hash import Hash
    from solders.message import Message
    from solders.pubkey import Pubkey
    from solders.transaction import Transaction

    # The memo makes it different from another transaction with the same transfers.
    memo = f"refund of {debts[0].payment.rpartition(':')[2]}".encode()
    instructions = [one for debt in debts for one in _instructions(debt, makes=not existing.get(debt.payer))]
    instructions.append(_instruction(MEMO_PROGRAM, memo))
    payer = Pubkey.from_string(debts[0].pay_to)
    message = Message.new_with_blockhash(instructions, payer, Hash.from_string(blockhash))
    return base64.b64encode(bytes(Transaction.new_unsigned(message))).decode()


def _instructions(debt: Debt, *, makes: bool) -> Iterator[Any]:
    sender, payer, mint = (decode_base58(text, 32) for text in (debt.pay_to, debt.payer, debt.asset))
    source, destination = token_account(sender, mint), token_account(payer, mint)
    if makes:
        others = ((payer, False), (mint, False), (_SYSTEM_PROGRAM, False), (TOKEN_PROGRAM, False))
        yield _instruction(ATA_PROGRAM, _CREATE_IDEMPOTENT, (sender, True), (destination, True), *others, signer=sender)
    decimals = next(token.decimals for token in SOLANA_USDC.values() if token.mint == debt.asset)
    data = bytes([_TRANSFER_CHECKED]) + int(debt.amount).to_bytes(8, "little") + bytes([decimals])
    accounts = ((source, True), (mint, False), (destination, True), (sender, False))
    yield _instruction(TOKEN_PROGRAM, data, *accounts, signer=sender)


def _instruction(program: bytes, data: bytes, *accounts: tuple[bytes, bool], signer: bytes = b"") -> Any:
    """An instruction with accounts, each of which may be written or not."""
    from solders.instruction import AccountMeta, Instruction
    from solders.pubkey import Pubkey

    metas = [AccountMeta(Pubkey(key), is_signer=key == signer, is_writable=writable) for key, writable in accounts]
    return Instruction(Pubkey(program), data, metas)


def _accounts(own: SolanaRailSettings, debts: Sequence[Debt]) -> dict[str, bytes | None]:
    """The token account of each payer; None where there is none."""
    token = SOLANA_USDC[own.network]
    payers = sorted({debt.payer for debt in debts})
    found: dict[str, bytes | None] = {}
    with asked(own) as node:
        for batch in batches(payers, _ACCOUNTS_AT_ONCE):
            names = [
                encode_base58(token_account(decode_base58(one, 32), decode_base58(token.mint, 32))) for one in batch
            ]
            answer = node("getMultipleAccounts", names, {"commitment": "confirmed", "encoding": "base64"})["value"]
            for payer, account in zip(batch, answer, strict=True):
                found[payer] = base64.b64decode(account["data"][0], validate=True) if account else None
    return found
