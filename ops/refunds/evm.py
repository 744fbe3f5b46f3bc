"""Refunds on an EVM network: ERC-20 transfers, as a batch of Safe's Transaction Builder and as plain calls."""

import dataclasses
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ops.chains import TIMEOUT_S
from ops.chains import evm as chain
from ops.refunds.debts import Debt
from ops.refunds.transfers import Built, Found, NotPossible, Options, Transfer, asked, batches, listed
from shared.settings.rails import EvmRailSettings
from shared.x402.evm import checksummed, keccak256, selector

FORM = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
AT_ONCE = 50
"""Transfers of one batch: two million gas. Safe's service refused batches of 200 (safe-global/safe-react-apps, issue 749)."""

_TRANSFER = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()


def address(text: str) -> str:
    """The only spelling of an address."""
    return text.lower()


def lacks(own: EvmRailSettings, payer: str, debts: Sequence[Debt]) -> str:
    """Why a payer cannot be paid; empty when he can."""
    return "; ".join(chain.lacks(dataclasses.replace(own, pay_to=payer), timeout_s=TIMEOUT_S) or ())


def built(own: EvmRailSettings, debts: Sequence[Debt], options: Options) -> Built:
    """The transfers of one sender."""
    calls = [{"to": checksummed(debt.asset), "value": "0", "data": _calldata(debt)} for debt in debts]
    files: dict[str, Any] = {
        f"-safe-{number}.json": _safe(own, debts[0].pay_to, batch, options)
        for number, batch in enumerate(batches(calls, AT_ONCE), 1)
    }
    files["-calls.json"] = {
        "chainId": own.network.partition(":")[2],
        "from": debts[0].pay_to,
        "calls": [call | one for call, one in zip(calls, ({"for": each} for each in listed(debts)), strict=True)],
    }
    note = "A Safe takes the files -safe- in its Transaction Builder. Any other wallet sends the calls of -calls.json."
    return Built(files, [note + " They are the same transfers: use one of both."])


def found(own: EvmRailSettings, transaction: str) -> Found | None:
    """What the chain shows of a transaction; None when it does not know it. Raises NotPossible, and what nodes raise."""
    with asked(own) as node:
        receipt = node("eth_getTransactionReceipt", transaction.lower())
        if receipt is None:
            return None
        block = node("eth_getBlockByNumber", receipt["blockNumber"], False)
        if block is None or block["hash"] != receipt["blockHash"]:
            raise NotPossible("is in no block yet")
        on_top = int(node("eth_blockNumber"), 16) - int(receipt["blockNumber"], 16)
    if own.finality.isdigit() and on_top < int(own.finality):
        raise NotPossible(f"has {on_top} of {own.finality} blocks on top of its own")
    if receipt["status"] != "0x1":
        raise NotPossible("failed")
    transfers = [
        Transfer(
            number=str(at),
            asset=log["address"].lower(),
            sender=_account(log["topics"][1]),
            to=_account(log["topics"][2]),
            value=Decimal(int(log["data"], 16)),
        )
        for at, log in enumerate(receipt["logs"])  # a reorganisation changes `logIndex`, which counts in the block
        if len(log["topics"]) == 3 and log["topics"][0] == _TRANSFER  # an NFT's has a fourth
    ]
    return Found(receipt["transactionHash"].lower(), int(block["timestamp"], 16), transfers)


def _calldata(debt: Debt) -> str:
    words = bytes.fromhex(debt.payer.removeprefix("0x")).rjust(32, b"\0") + int(debt.amount).to_bytes(32, "big")
    return "0x" + (selector("transfer(address,uint256)") + words).hex()


def _account(topic: str) -> str:
    return "0x" + topic[-40:].lower()


def _safe(own: EvmRailSettings, pay_to: str, calls: Sequence[dict[str, str]], options: Options) -> dict[str, Any]:
    """A BatchFile of safe-global/safe-react-apps, apps/tx-builder/src/typings/models.ts."""
    batch: dict[str, Any] = {
        "version": "1.0",
        "chainId": own.network.partition(":")[2],
        "createdAt": options.now * 1000,
        "meta": {
            "name": "Refunds of Coinslot",
            "description": "",
            "txBuilderVersion": "1.18.0",
            "createdFromSafeAddress": checksummed(pay_to),
            "createdFromOwnerAddress": "",
        },
        "transactions": list(calls),
    }
    nameless = batch | {"meta": batch["meta"] | {"name": None}}
    batch["meta"]["checksum"] = "0x" + keccak256(_serialized(nameless).encode()).hex()
    return batch


def _serialized(value: Any) -> str:
    """What the checksum is of (apps/tx-builder/src/lib/checksum.ts). Builders that find another one only warn."""
    if isinstance(value, list):
        return f"[{','.join(map(_serialized, value))}]"
    if isinstance(value, dict):
        names = sorted(value)
        written = json.dumps(names, separators=(",", ":"))
        return f"{{{written}{''.join(f'{_serialized(value[name])},' for name in names)}}}"
    return json.dumps(value)
