"""Reads a transaction and everything around it that its explanation needs: two rounds, and more after a revert or a swap."""

from typing import Any, NamedTuple

from jobs.engines.evm import transactions
from jobs.engines.evm.known_tokens import WRAPPED_ETHER
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reverts import Revert, explain
from jobs.engines.evm.tokens import Token, metadata_calls, token_of
from jobs.engines.evm.transactions import DEPOSIT, Receipt, Transaction
from jobs.ports.chains import BlockTime, Call, Chain, Code, ReceiptByHash, Reverted, TransactionByHash, Unavailable
from jobs.tx_explain.actions import action_named
from jobs.tx_explain.beside import beside
from jobs.tx_explain.details import Details, Status
from jobs.tx_explain.events import Transfer, approvals, transfers
from jobs.tx_explain.flows import flows_of
from jobs.tx_explain.method import Method, method_of
from shared.outcome import UpstreamFailed

MAX_TOKENS = 30
"""How many tokens are asked for symbol and decimals. Those of the sender come first."""
MAX_INDEXED_TRANSFERS = 5_000

REPLAY_UNAVAILABLE = "replay_unavailable"
STATUS_INFERRED = "status_inferred"
RECEIPT_MISSING = "receipt_missing"
OTHER_CHAIN_NOT_ASKED = "other_chain_not_asked"
TOKENS_LEFT_OUT = "tokens_left_out"
SYMBOLS_UNREADABLE = "symbols_unreadable"


class Found(NamedTuple):
    """A transaction that exists. `timestamp`: of its block, seconds since 1970; None while it is pending."""

    details: Details
    timestamp: int | None


def find(reader: Reader, tx_hash: str) -> Found | None:
    """The transaction; None when the chain has none with this hash. Raises UpstreamFailed."""
    sent_node, receipt_node = reader.read(TransactionByHash(tx_hash), ReceiptByHash(tx_hash))
    if sent_node is None:
        if receipt_node is not None:
            raise UpstreamFailed("The node has a receipt and no transaction.", reason="bad_content")
        return None
    sent = transactions.transaction(sent_node)
    receipt = transactions.receipt(receipt_node) if receipt_node is not None else None
    if receipt is None and sent.block is not None:
        reader.warn(RECEIPT_MISSING)
    moved = tuple(transfers(receipt.logs, WRAPPED_ETHER[reader.chain])) if receipt else ()
    approved = tuple(approvals(receipt.logs)) if receipt else ()
    asked = _tokens(reader, sent, moved, [each.token for each in approved])
    has_code, timestamp, tokens = _around(reader, sent, receipt, asked)
    moved = tuple(_by_token(each, tokens) for each in moved)
    status = _status(reader, sent, receipt)
    method = _method(sent, moved)
    flows = flows_of(sent.sender, moved[:MAX_INDEXED_TRANSFERS])
    fee = _fee(sent, receipt)
    got: int | None = None
    givers: tuple[str, ...] = ()
    if status == "success" and receipt and has_code:
        action = action_named(method.name if method else None)
        is_withdrawal = action is not None and action.object == "got"
        got, givers = beside(reader, sent, receipt, moved, flows, fee, is_withdrawal=is_withdrawal)
    details = Details(
        chain=reader.chain,
        status=status,
        transaction=sent,
        receipt=receipt,
        has_code=has_code,
        method=method,
        transfers=moved,
        approvals=approved,
        flows=flows,
        tokens=tokens,
        fee=fee,
        ether_got=got,
        givers=givers,
        revert=_revert(reader, sent, receipt) if status == "reverted" and receipt else None,
    )
    return Found(details, timestamp)


def found_on(reader: Reader, tx_hash: str) -> Chain | None:
    """The other chain, when it has a transaction with this hash. It costs one call, and its failure is only a warning."""
    other: Chain = "ethereum" if reader.chain == "base" else "base"
    try:
        (sent,) = reader.read_of(other, TransactionByHash(tx_hash))
    except UpstreamFailed:
        reader.warn(OTHER_CHAIN_NOT_ASKED)
        return None
    return None if sent is None else other


def _tokens(reader: Reader, sent: Transaction, moved: tuple[Transfer, ...], approved: list[str]) -> list[str]:
    """The tokens to ask for their symbols: those that touch the sender, then the called one, then the others."""
    own = [each.token for each in moved if sent.sender in (each.sender, each.to)]
    called = [sent.to] if sent.to and len(sent.data) >= 4 else []
    wanted = list(dict.fromkeys([*own, *called, *approved, *(each.token for each in moved)]))
    if len(wanted) > MAX_TOKENS:
        reader.warn(TOKENS_LEFT_OUT)
    return wanted[:MAX_TOKENS]


def _around(
    reader: Reader, sent: Transaction, receipt: Receipt | None, asked: list[str]
) -> tuple[bool, int | None, dict[str, Token]]:
    """Whether a contract is called, when it was, and what the tokens say of themselves."""
    words = [call for token in asked for call in metadata_calls(token)]
    calls: list[Any] = []
    if sent.to:
        calls.append(Code(sent.to, is_constant=True))
    if receipt:
        calls.append(BlockTime(receipt.block))
    try:
        results = list(reader.read(*words, *calls)) if words or calls else []
    except UpstreamFailed as failure:
        if failure.reason != "bad_content" or not words:
            raise
        # Megabytes of symbols are more than is read of a node. Such tokens must not hide the transaction.
        reader.warn(SYMBOLS_UNREADABLE)
        results = [b""] * len(words) + list(reader.read(*calls))
    timestamp = results.pop() if receipt else None
    code = results.pop() if sent.to else b""
    tokens = {token: token_of(token, results[2 * at], results[2 * at + 1]) for at, token in enumerate(asked)}
    # A contract that was destroyed since has left its logs behind.
    return bool(code) or bool(receipt and receipt.logs), timestamp, tokens


def _by_token(each: Transfer, tokens: dict[str, Token]) -> Transfer:
    """The transfer, as one of an NFT when its token is from before the standards and has no decimals: CryptoKitties."""
    token = tokens.get(each.token)
    if each.is_indexed or token is None or token.decimals is not None:
        return each
    return Transfer("erc721", each.token, each.sender, each.to, 1, each.amount, each.index, False)


def _method(sent: Transaction, moved: tuple[Transfer, ...]) -> Method | None:
    method = method_of(sent.data) if sent.to else None
    is_nft = any(each.token == sent.to and each.standard == "erc721" for each in moved)
    return method.with_token_id() if method and is_nft else method


def _status(reader: Reader, sent: Transaction, receipt: Receipt | None) -> Status:
    if receipt is None:
        return "pending"
    if receipt.succeeded is not None:
        return "success" if receipt.succeeded else "reverted"
    # Before Byzantium (EIP-658) a receipt does not say. What failed took all of its gas, for there was no REVERT (EIP-140);
    # so does a plain transfer, which has no data.
    reader.warn(STATUS_INFERRED)
    took_all = receipt.gas_used >= sent.gas and bool(sent.data)
    return "reverted" if took_all and not receipt.logs else "success"


def _fee(sent: Transaction, receipt: Receipt | None) -> int | None:
    if receipt is None:
        return None
    if sent.type == DEPOSIT:
        return 0
    price = receipt.gas_price if receipt.gas_price is not None else sent.gas_price
    return None if price is None else receipt.gas_used * price + (receipt.l1_fee or 0) + receipt.blob_fee


def _revert(reader: Reader, sent: Transaction, receipt: Receipt) -> Revert | None:
    """The reason, found by a repetition of the call.

    A receipt has no reason. The call is repeated on the state after its block, and where it works there, on the one before:
    the state of the transaction was between the two. None when neither reverts, or the node has not kept them.
    """
    again = Call(to=sent.to, data=sent.data, sender=sent.sender, value=sent.value, gas=sent.gas)
    for block in (receipt.block, receipt.block - 1):
        try:
            (outcome,) = reader.read_past(block, again)
        except UpstreamFailed:
            break
        if isinstance(outcome, Unavailable):
            break
        if isinstance(outcome, Reverted):
            return _explained(outcome, sent, receipt)
    if receipt.gas_used >= sent.gas:
        return explain(Reverted(b"", "out_of_gas"))
    reader.warn(REPLAY_UNAVAILABLE)
    return None


def _explained(outcome: Reverted, sent: Transaction, receipt: Receipt) -> Revert:
    """What reverts without a word, having used all of its gas, ran out of it."""
    if not outcome.data and outcome.cause == "revert" and receipt.gas_used >= sent.gas:
        return explain(Reverted(b"", "out_of_gas"))
    return explain(outcome)
