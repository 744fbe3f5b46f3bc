"""Whether a recipient on Stellar has a trust line for USDC."""

from __future__ import annotations

import base64
import struct
from contextlib import closing

from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import StellarRailSettings
from shared.x402 import stellar_address
from shared.x402.networks import STELLAR_USDC

# Of Stellar-ledger-entries.x.
_ACCOUNT_ENTRY, _TRUST_LINE_ENTRY, _ED25519, _ALPHANUM4 = 0, 1, 0, 1


def lacks(own: StellarRailSettings, *, timeout_s: float) -> list[str] | None:
    """What the recipient lacks, as sentences; None when the node does not say."""
    token, address = STELLAR_USDC.get(own.network), stellar_address.parse(own.pay_to)
    if token is None:
        return None
    if address is None:
        return [f"{own.pay_to} is no address"]
    if address.kind == stellar_address.CONTRACT:
        return []  # its balance is in the asset's contract
    issuer = stellar_address.parse(token.issuer)
    assert issuer is not None
    account = struct.pack(">I32s", _ED25519, address.key)
    asset = struct.pack(">I4sI32s", _ALPHANUM4, b"USDC", _ED25519, issuer.key)
    of_account = _base64(struct.pack(">I", _ACCOUNT_ENTRY) + account)
    of_line = _base64(struct.pack(">I", _TRUST_LINE_ENTRY) + account + asset)
    with closing(JsonRpc(own.rpc_url, timeout_s=timeout_s)) as node:
        entries = node.named("getLedgerEntries", keys=[of_account, of_line])["entries"] or []
    found = {entry["key"] for entry in entries}
    if of_account not in found:
        return [f"{address.account.text} does not exist"]
    return [] if of_line in found else [f"{address.account.text} has no trust line for USDC of {token.issuer}"]


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
