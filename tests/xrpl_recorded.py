"""What the sandbox's XRP Ledger cannot execute, recorded: payments through an automated market maker (AMM).

The metadata has the shape that rippled gives it (xrpl.org, "Transaction Metadata", "Automated Market Makers"), and its values
are those of this ledger's own accounts and lines, so that balances and history agree.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec

from compose.sandbox.xrpl_ledger import Ledger, changed
from compose.sandbox.xrpl_state import BASE_FEE, PARTIAL_PAYMENT, State
from compose.sandbox.xrpl_wire import nodes_json, plain
from shared.x402.networks import XrplToken
from shared.x402.xrpl_keys import address, sha512_half

MAKER = address(b"sandbox market maker")
_FUNDS_DROPS, _FUNDS = 10**12, "1000000"

Json = dict[str, Any]


def pay_through_maker(ledger: Ledger, payer: str, payee: str, token: XrplToken, *, drops: int, value: str) -> str:
    """A payment of `value` of a token for `drops` of XRP; to the payer itself it is an exchange. Returns its hash.

    It is in force in the open ledger at once, and says that it would have delivered ten times as much.
    """
    if MAKER not in ledger.open.accounts:
        ledger.fund(MAKER, _FUNDS_DROPS)
        ledger.trust(MAKER, token.issuer, token.currency, _FUNDS, "0")
    before = ledger.open.copy()
    sequence = ledger.open.accounts[payer].sequence
    _move(ledger.open, payer, payee, token, drops=drops, amount=Decimal(value))
    arrived = {"currency": token.currency, "issuer": token.issuer, "value": value}
    transaction = {
        "TransactionType": "Payment",
        "Account": payer,
        "Destination": payee,
        "Amount": {**arrived, "value": plain(10 * Decimal(value))},
        "SendMax": str(10 * drops),
        "Flags": PARTIAL_PAYMENT,
        "Fee": str(BASE_FEE),
        "Sequence": sequence,
    }
    was, is_now = changed(before, State(dict(ledger.open.accounts), dict(ledger.open.lines)))
    meta = {
        "AffectedNodes": nodes_json(was, is_now),
        "DeliveredAmount": arrived,
        "TransactionResult": "tesSUCCESS",
        "delivered_amount": arrived,
    }
    transaction_hash = sha512_half(msgspec.json.encode([transaction, ledger.open_index])).hex().upper()
    ledger.record(transaction, transaction_hash, meta, was, is_now)
    return transaction_hash


def _move(state: State, payer: str, payee: str, token: XrplToken, *, drops: int, amount: Decimal) -> None:
    spender = state.accounts[payer]
    state.accounts[payer] = replace(spender, balance=spender.balance - drops - BASE_FEE, sequence=spender.sequence + 1)
    state.accounts[MAKER] = replace(state.accounts[MAKER], balance=state.accounts[MAKER].balance + drops)
    for holder, change in ((MAKER, -amount), (payee, amount)):
        key = holder, token.issuer, token.currency
        state.lines[key] = replace(state.lines[key], balance=state.lines[key].balance + change)
