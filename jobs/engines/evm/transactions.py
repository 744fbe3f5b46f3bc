"""Reads a transaction and its receipt from a node's JSON-RPC objects, in which anything may be missing or garbled.

Fields: execution-apis, schemas/transaction.yaml and receipt.yaml; `l1Fee` and type 0x7e: OP Stack specification, "Deposits" and
"L1 cost fees"; `status` since Byzantium (EIP-658); blob fields: EIP-4844; `authorizationList`: EIP-7702.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from shared.outcome import UpstreamFailed

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_DATA = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
MAX_AUTHORIZATIONS = 50

DEPOSIT = 0x7E
"""The type of OP Stack deposits: transactions that L1, not a signature, authorizes."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """What was sent. Addresses are in lower case.

    Attributes:
        to: None when it creates a contract.
        gas_price: what it pays at most for a unit of gas; None where it says none (deposits).
        mint: wei that a deposit brings to its sender from L1.
        delegates: EIP-7702: the contracts that accounts delegate to with it; the zero address ends a delegation.
        is_system: a deposit of the protocol itself.
    """

    hash: str
    type: int
    sender: str
    to: str | None
    value: int
    data: bytes
    gas: int
    nonce: int
    gas_price: int | None
    block: int | None
    mint: int
    delegates: tuple[str, ...]
    blobs: int
    is_system: bool


@dataclass(frozen=True, slots=True)
class Log:
    """An event. `topics`: 0x and 64 digits each, in lower case."""

    address: str
    topics: tuple[str, ...]
    data: bytes
    index: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of a transaction.

    Attributes:
        succeeded: None before Byzantium (block 4,370,000 of Ethereum), whose receipts have a state root instead.
        gas_price: paid for a unit of gas; None where the node does not say.
        l1_fee: wei that the OP Stack takes for the data on L1; None on a chain that has none.
        blob_fee: wei paid for blobs.
    """

    succeeded: bool | None
    block: int
    gas_used: int
    gas_price: int | None
    l1_fee: int | None
    blob_fee: int
    created: str | None
    logs: tuple[Log, ...]


def transaction(node: Any) -> Transaction:
    """Read a transaction. Raises UpstreamFailed `bad_content`."""
    found = _object(node)
    authorizations = found.get("authorizationList") or []
    hashes = found.get("blobVersionedHashes") or []
    if not isinstance(authorizations, list) or not isinstance(hashes, list):
        _garbled()
    return Transaction(
        hash=_text(found, "hash", _HASH),
        type=_number(found, "type", 0),
        sender=_text(found, "from", _ADDRESS),
        to=_optional(found, "to"),
        value=_number(found, "value"),
        data=_data(found.get("input", found.get("data"))),
        gas=_number(found, "gas"),
        nonce=_number(found, "nonce", 0),
        gas_price=_maybe(found, "gasPrice"),
        block=_maybe(found, "blockNumber"),
        mint=_number(found, "mint", 0),
        delegates=tuple(_text(_object(each), "address", _ADDRESS) for each in authorizations[:MAX_AUTHORIZATIONS]),
        blobs=len(hashes),
        is_system=bool(found.get("isSystemTx")),
    )


def receipt(node: Any) -> Receipt:
    """Read a receipt. Raises UpstreamFailed `bad_content`."""
    found = _object(node)
    logs = found.get("logs") or []
    if not isinstance(logs, list):
        _garbled()
    status = _maybe(found, "status")
    return Receipt(
        succeeded=None if status is None else status == 1,
        block=_number(found, "blockNumber"),
        gas_used=_number(found, "gasUsed"),
        gas_price=_maybe(found, "effectiveGasPrice"),
        l1_fee=_maybe(found, "l1Fee"),
        blob_fee=_number(found, "blobGasUsed", 0) * _number(found, "blobGasPrice", 0),
        created=_optional(found, "contractAddress"),
        logs=tuple(_log(_object(each), at) for at, each in enumerate(logs)),
    )


def _log(found: Mapping[str, Any], at: int) -> Log:
    topics = found.get("topics")
    if not isinstance(topics, list) or len(topics) > 4:
        _garbled()
    return Log(
        address=_text(found, "address", _ADDRESS),
        topics=tuple(_matched(topic, _HASH) for topic in topics),
        data=_data(found.get("data")),
        index=_number(found, "logIndex", at),
    )


def _object(node: Any) -> Mapping[str, Any]:
    return node if isinstance(node, dict) else _garbled()


def _text(found: Mapping[str, Any], key: str, form: re.Pattern[str]) -> str:
    return _matched(found.get(key), form)


def _matched(value: Any, form: re.Pattern[str]) -> str:
    return value.lower() if isinstance(value, str) and form.fullmatch(value) else _garbled()


def _optional(found: Mapping[str, Any], key: str) -> str | None:
    return None if found.get(key) is None else _text(found, key, _ADDRESS)


def _data(value: Any) -> bytes:
    return bytes.fromhex(_matched("0x" if value is None else value, _DATA)[2:])


def _maybe(found: Mapping[str, Any], key: str) -> int | None:
    return None if found.get(key) is None else _number(found, key)


def _number(found: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = found.get(key)
    if value is None and default is not None:
        return default
    return int(value, 16) if isinstance(value, str) and _QUANTITY.fullmatch(value) else _garbled()


def _garbled() -> NoReturn:
    raise UpstreamFailed("The node's answer is no transaction.", reason="bad_content")
