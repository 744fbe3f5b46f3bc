"""Refunds on Stellar: unsigned transactions of classic payments, and for a payer that is a contract a call of the token's."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ops.chains import TIMEOUT_S
from ops.chains import stellar as chain
from ops.refunds.debts import Debt
from ops.refunds.transfers import Built, Found, NotPossible, Options, Transfer, asked, batches, listed
from shared.settings.rails import StellarRailSettings
from shared.x402 import stellar_address
from shared.x402.networks import STELLAR_USDC, StellarToken

if TYPE_CHECKING:
    from stellar_sdk import Account, TransactionBuilder

FORM = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
AT_ONCE = 50
"""Payments of one transaction. The network takes a hundred."""
FEE = 10_000
"""The most that is offered for each payment, in stroops. The network takes what it needs."""
VALID_S = 7 * 24 * 3600


def address(text: str) -> str:
    """The account that holds the money."""
    parsed = stellar_address.parse(text)
    return parsed.account.text if parsed else text


def lacks(own: StellarRailSettings, payer: str, debts: Sequence[Debt]) -> str:
    """Why a payer cannot be paid; empty when he can."""
    from stellar_sdk import Account

    sender = address(debts[0].pay_to)
    if _is_contract(payer) and not _is_contract(sender):
        try:
            _call(own, _builder(own, Account(sender, 0), int(time.time())), sender, debts[0])
        except NotPossible as error:
            return str(error)
    return "; ".join(chain.lacks(dataclasses.replace(own, pay_to=payer), timeout_s=TIMEOUT_S) or ())


def built(own: StellarRailSettings, debts: Sequence[Debt], options: Options) -> Built:
    """The transfers of one sender."""
    from stellar_sdk import Account

    sender = address(debts[0].pay_to)
    if _is_contract(sender):
        raise NotPossible(f"{sender} is a contract: its own rules say how it sends")
    if not own.rpc_url and (options.sequence is None or any(_is_contract(debt.payer) for debt in debts)):
        raise NotPossible("no node says the sequence number of the sender: give it with --sequence, or set a node")
    sequence = _sequence(own, sender) if options.sequence is None else options.sequence
    account = Account(sender, sequence)
    transactions = list(_transactions(own, account, debts, options.now))
    note = (
        f"The transactions for Stellar use the numbers after {sequence} of {sender}, in their order, and are valid for a week. "
        "The sender does nothing else before that."
    )
    return Built({".json": {"networkPassphrase": _token(own).passphrase, "transactions": transactions}}, [note])


def found(own: StellarRailSettings, transaction: str) -> Found | None:
    """What the network shows of a transaction; None when it does not know it. Raises NotPossible, and what nodes raise."""
    from stellar_sdk import FeeBumpTransactionEnvelope, InvokeHostFunction, Payment, TransactionBuilder

    token = _token(own)
    with asked(own) as node:
        shown = node.named("getTransaction", hash=transaction.lower())
    if shown["status"] == "NOT_FOUND":
        return None
    if shown["status"] != "SUCCESS":
        raise NotPossible("failed")
    envelope = TransactionBuilder.from_xdr(shown["envelopeXdr"], token.passphrase)
    if isinstance(envelope, FeeBumpTransactionEnvelope):
        envelope = envelope.transaction.inner_transaction_envelope
    transfers = []
    for at, operation in enumerate(envelope.transaction.operations):
        if isinstance(operation, Payment) and operation.asset.contract_id(token.passphrase) == token.contract:
            sender = (operation.source or envelope.transaction.source).account_id
            value = (Decimal(operation.amount) * 10**token.decimals).to_integral_exact()
            to = operation.destination.account_id
            transfers.append(Transfer(str(at), token.contract, sender, to, value))
        elif isinstance(operation, InvokeHostFunction):  # it is the only one
            events = (shown.get("events") or {}).get("contractEventsXdr") or []
            transfers += _transfers_in([text for texts in events for text in texts], token)
    return Found(envelope.hash_hex(), int(shown["createdAt"]), transfers)


def _transfers_in(events: Sequence[str], token: StellarToken) -> Iterator[Transfer]:
    """The transfers in ``["transfer", from, to, …]`` events of the token's contract. One to a multiplexed account has a map."""
    from stellar_sdk import Address, scval, xdr

    for at, text in enumerate(events):
        event = xdr.ContractEvent.from_xdr(text)
        content, contract = event.body.v0, event.contract_id
        if content is None or contract is None or len(content.topics) < 3 or content.topics[0].sym is None:
            continue
        is_token = Address.from_raw_contract(contract.contract_id.hash).address == token.contract
        if not is_token or content.topics[0].sym.sc_symbol != b"transfer":
            continue
        data = content.data
        if data.map is not None:
            data = next(one.val for one in data.map.sc_map if scval.from_symbol(one.key) == "amount")
        sender, to = (address(scval.from_address(each).address) for each in content.topics[1:3])
        yield Transfer(f"e{at}", token.contract, sender, to, Decimal(scval.from_int128(data)))


def _transactions(
    own: StellarRailSettings, account: Account, debts: Sequence[Debt], now: int
) -> Iterator[dict[str, Any]]:
    from stellar_sdk import Asset

    token = _token(own)
    for batch in batches([debt for debt in debts if not _is_contract(debt.payer)], AT_ONCE):
        builder = _builder(own, account, now)
        for debt in batch:
            amount = debt.value.scaleb(-token.decimals)
            builder.append_payment_op(debt.payer, Asset("USDC", token.issuer), format(amount, "f"))
        yield {"envelope": builder.build().to_xdr(), "payments": listed(batch)}
    for debt in debts:
        if _is_contract(debt.payer):
            envelope = _call(own, _builder(own, account, now), account.account.account_id, debt)
            yield {"envelope": envelope, "payments": listed([debt])}


def _builder(own: StellarRailSettings, account: Account, now: int) -> TransactionBuilder:
    from stellar_sdk import TransactionBuilder

    return TransactionBuilder(account, _token(own).passphrase, FEE).add_time_bounds(0, now + VALID_S)


def _call(own: StellarRailSettings, builder: TransactionBuilder, sender: str, debt: Debt) -> str:
    """A call of the token's contract, with the resources that the node says it takes."""
    from stellar_sdk import scval, xdr

    args = [scval.to_address(sender), scval.to_address(debt.payer), scval.to_int128(int(debt.amount))]
    envelope = builder.append_invoke_contract_function_op(debt.asset, "transfer", args, []).build()
    with asked(own) as node:
        answer = node.named("simulateTransaction", transaction=envelope.to_xdr())
    if answer.get("error") or answer.get("restorePreamble"):
        raise NotPossible("the network would not make the transfer")
    [result] = answer["results"]
    operation: Any = envelope.transaction.operations[0]
    operation.auth = [xdr.SorobanAuthorizationEntry.from_xdr(text) for text in result["auth"]]
    envelope.transaction.soroban_data = xdr.SorobanTransactionData.from_xdr(answer["transactionData"])
    envelope.transaction.fee = FEE + int(answer["minResourceFee"])
    return str(envelope.to_xdr())


def _sequence(own: StellarRailSettings, sender: str) -> int:
    from stellar_sdk import Keypair, xdr

    account = xdr.LedgerKeyAccount(Keypair.from_public_key(sender).xdr_account_id())
    key = xdr.LedgerKey(xdr.LedgerEntryType.ACCOUNT, account=account)
    with asked(own) as node:
        entries = node.named("getLedgerEntries", keys=[key.to_xdr()])["entries"] or []
    if not entries:
        raise NotPossible(f"{sender} does not exist")
    entry = xdr.LedgerEntryData.from_xdr(entries[0]["xdr"]).account
    assert entry is not None
    return entry.seq_num.sequence_number.int64


def _is_contract(text: str) -> bool:
    return text.startswith("C")


def _token(own: StellarRailSettings) -> StellarToken:
    return STELLAR_USDC[own.network]
