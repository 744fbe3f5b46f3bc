"""Fees and transfers of Stellar, from its RPC, which keeps a week at most."""

import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from ops.chains import TIMEOUT_S, Fee, NotKept, Transfer
from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import RailSettings, StellarRailSettings
from shared.x402 import stellar_address
from shared.x402.networks import STELLAR_USDC, StellarToken, Token
from shared.x402.stellar_xdr import ADDRESS, I128, MAP, SYMBOL, Reader

COIN = ("XLM", 7)
PAYERS_PAY = False
PAGE = 200
_BALANCE_AT = 84
"""In a trust line of the ledger: after its kind, its account, and the asset's code and issuer."""
_SYMBOL_TRANSFER = base64.b64encode(struct.pack(">II8s", SYMBOL, 8, b"transfer")).decode()

# Of Stellar-ledger-entries.x.
_ACCOUNT_ENTRY, _TRUST_LINE_ENTRY, _ED25519, _ALPHANUM4 = 0, 1, 0, 1


def fees(url: str, transactions: Sequence[str]) -> Mapping[str, Fee]:
    """What the results say: a TransactionResult begins with `feeCharged`."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    found = {}
    for name in transactions:
        shown = node.named("getTransaction", hash=name)
        if shown["status"] != "NOT_FOUND":
            found[name] = Fee(struct.unpack_from(">q", base64.b64decode(shown["resultXdr"]))[0])
    return found


def transfers(url: str, own: RailSettings, token: Token, since: int) -> Iterator[Transfer]:
    """The token's events `transfer` to the recipient, the oldest first."""
    node = JsonRpc(url, timeout_s=TIMEOUT_S)
    recipient = stellar_address.parse(own.pay_to)
    if recipient is None:
        raise ValueError("the recipient is no address")
    topics = [_SYMBOL_TRANSFER, "*", _value_of(recipient.account)]
    wanted = {
        "type": "contract",
        "contractIds": [token.contract],  # type: ignore[union-attr]
        "topics": [topics, [*topics, "*"]],  # contracts of classic assets add the asset
    }
    health = node.named("getHealth")
    oldest, latest = int(health["oldestLedger"]), int(health["latestLedger"])
    start: dict[str, Any] = {"startLedger": oldest, "pagination": {"limit": PAGE}}
    page = node.named("getEvents", filters=[wanted], **start)
    kept_since = int(page["oldestLedgerCloseTime"])  # nodes write it as a number or as text
    while True:
        for event in page["events"]:
            at = int(datetime.fromisoformat(event["ledgerClosedAt"]).astimezone(UTC).timestamp())
            if at >= since:
                payer = _read(event["topic"][1])[1].account.text
                yield Transfer(
                    event["txHash"], int(event["id"].partition("-")[2]), payer, str(_amount(event["value"])), at
                )
        cursor = page["cursor"]
        if len(page["events"]) < PAGE and int(cursor.partition("-")[0]) >> 32 >= latest:
            break
        page = node.named("getEvents", filters=[wanted], pagination={"limit": PAGE, "cursor": cursor})
    if oldest > 1 and kept_since > since:
        raise NotKept(f"it keeps events since {datetime.fromtimestamp(kept_since, UTC):%Y-%m-%d %H:%M} UTC only")


def holds(url: str, token: StellarToken, holder: str) -> int:
    """What the trust line of an account has; 0 where there is none.

    Raises:
        ValueError: the holder is a contract, whose balance is in the token's own storage; or it is no address.
    """
    address = stellar_address.parse(holder)
    if address is None or address.kind == stellar_address.CONTRACT:
        raise ValueError("no account")
    found = JsonRpc(url, timeout_s=TIMEOUT_S).named("getLedgerEntries", keys=[trust_line(address, token)])["entries"]
    return int(struct.unpack_from(">q", base64.b64decode(found[0]["xdr"]), _BALANCE_AT)[0]) if found else 0


def is_final(url: str, own: RailSettings, transaction: str) -> bool:
    """Whether a closed ledger has it: there is no other."""
    status: str = JsonRpc(url, timeout_s=TIMEOUT_S).named("getTransaction", hash=transaction)["status"]
    return status == "SUCCESS"


def finality(own: RailSettings) -> str:
    """Of every settlement on it."""
    return "a closed ledger"


def _value_of(address: stellar_address.Address) -> str:
    """An account or a contract as a Soroban value, in base64."""
    kind = struct.pack(">II", ADDRESS, address.kind)
    key_type = struct.pack(">I", 0) if address.kind == stellar_address.ACCOUNT else b""
    return base64.b64encode(kind + key_type + address.key).decode()


def _read(text: str) -> tuple[int, Any]:
    return Reader(base64.b64decode(text)).value()


def _amount(text: str) -> int:
    """Of a transfer's data: a number, or a map with it where the recipient has customers."""
    kind, content = _read(text)
    if kind == MAP:
        kind, content = next(value for (_, name), value in content if name == b"amount")
    if kind != I128:
        raise ValueError("no amount")
    return int(content)


def lacks(own: StellarRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token, address = STELLAR_USDC.get(own.network), stellar_address.parse(own.pay_to)
    if token is None:
        return None
    if address is None:
        return [f"{own.pay_to} is no address"]
    if address.kind == stellar_address.CONTRACT:
        return []  # its balance is in the asset's contract
    of_account = _base64(struct.pack(">II32s", _ACCOUNT_ENTRY, _ED25519, address.key))
    of_line = trust_line(address, token)
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        entries = node.named("getLedgerEntries", keys=[of_account, of_line])["entries"] or []
    found = {entry["key"] for entry in entries}
    if of_account not in found:
        return [f"{address.account.text} does not exist"]
    return [] if of_line in found else [f"{address.account.text} has no trust line for USDC of {token.issuer}"]


def trust_line(address: stellar_address.Address, token: StellarToken) -> str:
    """The key of an account's trust line for USDC in the ledger, in base64."""
    issuer = stellar_address.parse(token.issuer)
    assert issuer is not None
    account = struct.pack(">I32s", _ED25519, address.key)
    asset = struct.pack(">I4sI32s", _ALPHANUM4, b"USDC", _ED25519, issuer.key)
    return _base64(struct.pack(">I", _TRUST_LINE_ENTRY) + account + asset)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
