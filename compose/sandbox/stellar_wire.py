"""Encodes ledger entries, results, meta and events as XDR, as Stellar nodes send them."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from stellar_sdk import Address, CreateAccount, Keypair, Payment, StrKey, scval, xdr

from compose.sandbox.stellar_contract import Account, TrustLine
from compose.sandbox.stellar_ledger import Applied, Ledger
from compose.sandbox.stellar_transaction import Code, Sent

_AUTHORIZED = 1


def entry_of(ledger: Ledger, key: xdr.LedgerKey) -> tuple[xdr.LedgerEntryData, int, int | None] | None:
    """An entry, the ledger of its last change, and the last ledger of its life if it has one; None if there is no entry."""
    kinds = xdr.LedgerEntryType
    if key.account is not None:
        account = _account(key.account.account_id)
        held = ledger.state.accounts.get(account)
        return (xdr.LedgerEntryData(kinds.ACCOUNT, account=_account_entry(account, held)), 1, None) if held else None
    if key.trust_line is not None:
        account = _account(key.trust_line.account_id)
        line = ledger.state.lines.get(account)
        if line is None or key.trust_line.asset != ledger.asset.to_trust_line_asset_xdr_object():
            return None
        entry = _line_entry(ledger, account, line)
        return xdr.LedgerEntryData(kinds.TRUSTLINE, trust_line=entry), 1, None
    return _contract_data(ledger, key.contract_data) if key.contract_data is not None else None


def result_of(applied: Applied) -> xdr.TransactionResult:
    """The result of a transaction."""
    code = Code.txFAILED if applied.error else Code.txSUCCESS
    results = [_operation_result(applied, each) for each in applied.sent.operations]
    sent = applied.sent
    if sent.outer is None:
        return _result(applied.fee_charged, xdr.TransactionResultResult(code, results=results))
    wrapped = Code.txFEE_BUMP_INNER_FAILED if applied.error else Code.txFEE_BUMP_INNER_SUCCESS
    pair = _pair(sent, xdr.InnerTransactionResultResult(code, results=results))
    return _result(applied.fee_charged, xdr.TransactionResultResult(wrapped, inner_result_pair=pair))


def error_result(sent: Sent, code: Code, *, inner: bool) -> xdr.TransactionResult:
    """The result of a transaction that was refused."""
    if not inner:
        return _result(0, xdr.TransactionResultResult(code))
    pair = _pair(sent, xdr.InnerTransactionResultResult(code))
    return _result(0, xdr.TransactionResultResult(Code.txFEE_BUMP_INNER_FAILED, inner_result_pair=pair))


def meta_of(applied: Applied) -> xdr.TransactionMeta:
    """The meta of a transaction, with only the value and the events of its call."""
    effect = applied.effect
    none = xdr.LedgerEntryChanges([])
    events = effect.events if effect else []
    soroban = xdr.SorobanTransactionMetaV2(xdr.SorobanTransactionMetaExt(0), effect.value) if effect else None
    operations = [xdr.OperationMetaV2(xdr.ExtensionPoint(0), none, events) for _ in applied.sent.operations]
    return xdr.TransactionMeta(
        4, v4=xdr.TransactionMetaV4(xdr.ExtensionPoint(0), none, operations, none, soroban, [], [])
    )


def known_ledgers(ledger: Ledger) -> dict[str, Any]:
    """The newest and the oldest ledger that is kept, as many answers have them."""
    return {
        "latestLedger": ledger.sequence,
        "latestLedgerCloseTime": str(ledger.close_time),
        "oldestLedger": ledger.oldest,
        "oldestLedgerCloseTime": str(ledger.time_of(ledger.oldest)),
    }


def transaction_json(ledger: Ledger, transaction_hash: str) -> dict[str, Any]:
    """The answer of getTransaction."""
    known = {"txHash": transaction_hash, **known_ledgers(ledger)}
    applied = ledger.transaction(transaction_hash)
    if applied is None:
        return {"status": "NOT_FOUND", **known}
    events = [[each.to_xdr() for each in applied.effect.events] if applied.effect else []]
    return {
        "status": "FAILED" if applied.error else "SUCCESS",
        **known,
        "applicationOrder": applied.order,
        "feeBump": applied.sent.outer is not None,
        "envelopeXdr": applied.sent.text,
        "resultXdr": result_of(applied).to_xdr(),
        "resultMetaXdr": meta_of(applied).to_xdr(),
        "events": {"transactionEventsXdr": [], "contractEventsXdr": events},
        "ledger": applied.ledger,
        "createdAt": str(applied.close_time),
    }


def event_json(applied: Applied, index: int) -> dict[str, Any]:
    """One event, as in the answer of getEvents."""
    assert applied.effect is not None
    event = applied.effect.events[index]
    content = event.body.v0
    assert content is not None
    assert event.contract_id is not None
    return {
        "type": "contract",
        "ledger": applied.ledger,
        "ledgerClosedAt": datetime.fromtimestamp(applied.close_time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "contractId": Address.from_raw_contract(event.contract_id.contract_id.hash).address,
        "id": event_id(applied, index),
        "operationIndex": 0,
        "transactionIndex": applied.order,
        "txHash": applied.sent.hash,
        "inSuccessfulContractCall": True,
        "topic": [each.to_xdr() for each in content.topics],
        "value": content.data.to_xdr(),
    }


def event_id(applied: Applied, index: int) -> str:
    """The id of an event: ledger, transaction and operation (SEP-35), and number. Ids sort in the order of events."""
    return f"{applied.ledger << 32 | applied.order << 12:019d}-{index:010d}"


def diagnostics(events: list[xdr.ContractEvent], function: bytes) -> list[str]:
    """The diagnostic events of a simulation: the call, its events, and its return."""
    kind = xdr.ContractEventType.DIAGNOSTIC
    marks = []
    for name in ("fn_call", "fn_return"):
        topics = [scval.to_symbol(name), scval.to_symbol(function.decode("ascii", "replace"))]
        body = xdr.ContractEventBody(0, v0=xdr.ContractEventV0(topics, scval.to_void()))
        marks.append(xdr.ContractEvent(xdr.ExtensionPoint(0), None, kind, body))
    return [xdr.DiagnosticEvent(True, each).to_xdr() for each in (marks[0], *events, marks[1])]


def _operation_result(applied: Applied, operation: Any) -> xdr.OperationResult:
    kinds = xdr.OperationType
    if isinstance(operation, CreateAccount):
        created = xdr.CreateAccountResultCode
        code = created.CREATE_ACCOUNT_UNDERFUNDED if applied.error else created.CREATE_ACCOUNT_SUCCESS
        inside = xdr.OperationResultTr(kinds.CREATE_ACCOUNT, create_account_result=xdr.CreateAccountResult(code))
    elif isinstance(operation, Payment):
        paid = xdr.PaymentResultCode
        outcome = paid.PAYMENT_UNDERFUNDED if applied.error else paid.PAYMENT_SUCCESS
        inside = xdr.OperationResultTr(kinds.PAYMENT, payment_result=xdr.PaymentResult(outcome))
    else:
        called = xdr.InvokeHostFunctionResultCode
        if applied.error:
            result = xdr.InvokeHostFunctionResult(called.INVOKE_HOST_FUNCTION_TRAPPED)
        else:
            assert applied.effect is not None
            done = xdr.InvokeHostFunctionSuccessPreImage(applied.effect.value, applied.effect.events)
            digest = hashlib.sha256(done.to_xdr_bytes()).digest()
            result = xdr.InvokeHostFunctionResult(called.INVOKE_HOST_FUNCTION_SUCCESS, success=xdr.Hash(digest))
        inside = xdr.OperationResultTr(kinds.INVOKE_HOST_FUNCTION, invoke_host_function_result=result)
    return xdr.OperationResult(xdr.OperationResultCode.opINNER, tr=inside)


def _pair(sent: Sent, result: xdr.InnerTransactionResultResult) -> xdr.InnerTransactionResultPair:
    inner = xdr.InnerTransactionResult(xdr.Int64(0), result, xdr.InnerTransactionResultExt(0))
    return xdr.InnerTransactionResultPair(xdr.Hash(bytes.fromhex(sent.inner_hash)), inner)


def _result(fee: int, result: xdr.TransactionResultResult) -> xdr.TransactionResult:
    return xdr.TransactionResult(xdr.Int64(fee), result, xdr.TransactionResultExt(0))


def _account(account_id: xdr.AccountID) -> str:
    assert account_id.account_id.ed25519 is not None
    return StrKey.encode_ed25519_public_key(account_id.account_id.ed25519.uint256)


def _account_entry(account: str, held: Account) -> xdr.AccountEntry:
    return xdr.AccountEntry(
        account_id=Keypair.from_public_key(account).xdr_account_id(),
        balance=xdr.Int64(held.balance),
        seq_num=xdr.SequenceNumber(xdr.Int64(held.sequence)),
        num_sub_entries=xdr.Uint32(held.sub_entries),
        inflation_dest=None,
        flags=xdr.Uint32(0),
        home_domain=xdr.String32(b""),
        thresholds=xdr.Thresholds(b"\1\0\0\0"),
        signers=[],
        ext=xdr.AccountEntryExt(0),
    )


def _line_entry(ledger: Ledger, account: str, line: TrustLine) -> xdr.TrustLineEntry:
    return xdr.TrustLineEntry(
        account_id=Keypair.from_public_key(account).xdr_account_id(),
        asset=ledger.asset.to_trust_line_asset_xdr_object(),
        balance=xdr.Int64(line.balance),
        limit=xdr.Int64(line.limit),
        flags=xdr.Uint32(_AUTHORIZED),
        ext=xdr.TrustLineEntryExt(0),
    )


def _contract_data(
    ledger: Ledger, key: xdr.LedgerKeyContractData
) -> tuple[xdr.LedgerEntryData, int, int | None] | None:
    owner = Address.from_xdr_sc_address(key.contract).address
    since, until = 1, None
    if key.key.nonce_key is not None:
        nonce = ledger.state.nonces.get((owner, key.key.nonce_key.nonce.int64))
        if nonce is None or key.durability != xdr.ContractDataDurability.TEMPORARY:
            return None
        until, since = nonce
        value = scval.to_void()
    elif owner == ledger.contract.address and key.key.type == xdr.SCValType.SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        kind = xdr.ContractExecutableType.CONTRACT_EXECUTABLE_STELLAR_ASSET
        instance = xdr.SCContractInstance(xdr.ContractExecutable(kind), None)
        value = xdr.SCVal(xdr.SCValType.SCV_CONTRACT_INSTANCE, instance=instance)
    else:
        return None
    entry = xdr.ContractDataEntry(xdr.ExtensionPoint(0), key.contract, key.key, key.durability, value)
    return xdr.LedgerEntryData(xdr.LedgerEntryType.CONTRACT_DATA, contract_data=entry), since, until
