"""Makes the answer from the details."""

from jobs.engines.evm.address import checksummed
from jobs.engines.evm.known_contracts import known_contract
from jobs.engines.evm.known_tokens import known_tokens
from jobs.engines.evm.quantity import ether
from jobs.engines.evm.reader import Reader, iso
from jobs.engines.evm.unlimited import unlimited_form
from jobs.ports.chains import CHAIN_IDS
from jobs.tx_explain import events
from jobs.tx_explain.details import Details
from jobs.tx_explain.narrative import narrative
from jobs.tx_explain.reading import Found
from jobs.tx_explain.response import MAX_SHOWN, Approval, Method, Response, Transfer
from jobs.tx_explain.signals import signals

_TYPES = {
    0: "legacy",
    1: "access_list",
    2: "dynamic_fee",
    3: "blob",
    4: "set_code",
    0x7E: "deposit",
}
"""EIP-2718 types: EIP-2930, EIP-1559, EIP-4844, EIP-7702, and OP Stack deposits."""


def answer(reader: Reader, found: Found) -> Response:
    """The answer about a transaction that exists."""
    details, sent, receipt = found.details, found.details.transaction, found.details.receipt
    price = None if receipt is None else receipt.gas_price if receipt.gas_price is not None else sent.gas_price
    at = None if found.timestamp is None else iso(found.timestamp)
    return Response(
        ok=True,
        chain=details.chain,
        chain_id=CHAIN_IDS[details.chain],
        tx_hash=sent.hash,
        status=details.status,
        narrative=narrative(details),
        type=_TYPES.get(sent.type, f"0x{sent.type:02x}"),
        from_=checksummed(sent.sender),
        to=_shown(sent.to),
        to_label=_label(details, sent.to),
        contract_created=_shown(receipt.created if receipt and details.status == "success" else None),
        nonce=str(sent.nonce),
        value_wei=str(sent.value),
        value_formatted=ether(sent.value),
        block_number=None if receipt is None else str(receipt.block),
        timestamp=at,
        block_timestamp=at,
        confirmations=None if receipt is None else max(0, (reader.block or 0) - receipt.block + 1),
        gas_limit=str(sent.gas),
        gas_used=None if receipt is None else str(receipt.gas_used),
        effective_gas_price_wei=_number(price),
        l1_fee_wei=_number(receipt.l1_fee if receipt else None),
        blob_fee_wei=_number(receipt.blob_fee if receipt and sent.blobs else None),
        fee_wei=_number(details.fee),
        fee_formatted=None if details.fee is None else ether(details.fee),
        method=_method(details),
        transfers=[_transfer(details, each) for each in details.transfers[:MAX_SHOWN]],
        transfer_count=len(details.transfers),
        approvals=[_approval(details, each, found.timestamp) for each in details.approvals[:MAX_SHOWN]],
        approval_count=len(details.approvals),
        delegations=[checksummed(each) for each in sent.delegates],
        signals=signals(details),
        revert_reason=details.revert.reason if details.revert else None,
        revert=details.revert,
        ether_received_wei=_number(details.ether_got),
        warnings=reader.warnings,
    )


def _method(details: Details) -> Method | None:
    method = details.method
    if method is None or not details.has_code:
        return None
    return Method(
        selector=method.selector,
        name=method.name,
        signature=method.signature,
        args=list(method.args),
        trailing_bytes=method.trailing,
    )


def _transfer(details: Details, each: events.Transfer) -> Transfer:
    token = details.token(each.token)
    decimals = token.decimals if each.standard == "erc20" else None
    return Transfer(
        standard=each.standard,
        token=checksummed(each.token),
        symbol=token.symbol,
        decimals=decimals,
        from_=checksummed(each.sender),
        to=checksummed(each.to),
        amount=str(each.amount),
        amount_formatted=token.formatted(each.amount) if each.standard == "erc20" else None,
        token_id=_number(each.token_id),
        log_index=each.index,
        is_canonical=each.token in known_tokens(details.chain),
    )


def _approval(details: Details, each: events.Approval, block_time: int | None) -> Approval:
    token = details.token(each.token)
    expires = block_time if each.expires == 0 else each.expires
    return Approval(
        standard=each.standard,
        token=checksummed(each.token),
        symbol=token.symbol,
        decimals=token.decimals if each.standard == "erc20" else None,
        owner=checksummed(each.owner),
        spender=checksummed(each.spender),
        spender_label=_label(details, each.spender),
        amount=_number(each.amount),
        amount_formatted=token.formatted_allowance(each.amount),
        is_unlimited=each.is_granted and (each.standard is None or unlimited_form(each.amount or 0) is not None),
        token_id=_number(each.token_id),
        granted=each.is_granted,
        expires_at=None if expires is None else iso(expires),
        through=_shown(each.through),
        log_index=each.index,
    )


def _label(details: Details, address: str | None) -> str | None:
    known = known_contract(details.chain, address) if address else None
    return known.name if known else None


def _shown(address: str | None) -> str | None:
    return checksummed(address) if address else None


def _number(number: int | None) -> str | None:
    return None if number is None else str(number)
