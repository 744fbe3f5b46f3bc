"""What tx-explain answers."""

from __future__ import annotations

from typing import Literal

import msgspec

from jobs.evm.reverts import Revert
from jobs.evm.signatures import Argument
from jobs.ports.chains import Chain

MAX_SHOWN = 200
"""Transfers that are shown, and approvals."""


class Method(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`name`, `signature`: null when the selector is unknown, or its arguments are not there. `trailingBytes`: behind them."""

    selector: str
    name: str | None
    signature: str | None
    args: list[Argument]
    trailing_bytes: int


class Transfer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`amountFormatted`: null without decimals. `tokenId`: null for ERC-20. `isCanonical`: its symbol stands for this token."""

    standard: Literal["erc20", "erc721", "erc1155"]
    token: str
    symbol: str | None
    decimals: int | None
    from_: str = msgspec.field(name="from")
    to: str
    amount: str
    amount_formatted: str | None
    token_id: str | None
    log_index: int
    is_canonical: bool


class Approval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`standard`: null for all tokens of a collection. `amount`: of ERC-20. `granted`: false when it was taken back."""

    standard: Literal["erc20", "erc721", "erc1155"] | None
    token: str
    symbol: str | None
    decimals: int | None
    owner: str
    spender: str
    amount: str | None
    amount_formatted: str | None
    is_unlimited: bool
    token_id: str | None
    granted: bool
    log_index: int


class Signal(msgspec.Struct, frozen=True):
    """`severity`: `info`, `warning` or `critical`."""

    code: str
    severity: Literal["info", "warning", "critical"]
    message: str


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is known. Of a hash that was not found, everything but `narrative` and `foundOn` is null or empty.

    `blockTimestamp`: the same as `timestamp`. `confirmations`: blocks on top of it, its own included. `feeWei`: gas, `l1FeeWei`
    and `blobFeeWei` together. `delegations`: to whose code accounts hand themselves (EIP-7702). `transferCount`,
    `approvalCount`: of all; the first 200 are shown.
    """

    ok: bool
    chain: Chain
    chain_id: int
    tx_hash: str
    status: Literal["success", "reverted", "pending", "not_found"]
    narrative: str
    found_on: Chain | None = None
    type: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    to: str | None = None
    contract_created: str | None = None
    nonce: str | None = None
    value_wei: str | None = None
    value_formatted: str | None = None
    block_number: str | None = None
    timestamp: str | None = None
    block_timestamp: str | None = None
    confirmations: int | None = None
    gas_limit: str | None = None
    gas_used: str | None = None
    effective_gas_price_wei: str | None = None
    l1_fee_wei: str | None = None
    blob_fee_wei: str | None = None
    fee_wei: str | None = None
    fee_formatted: str | None = None
    method: Method | None = None
    transfers: list[Transfer] = []
    transfer_count: int = 0
    approvals: list[Approval] = []
    approval_count: int = 0
    delegations: list[str] = []
    signals: list[Signal] = []
    revert_reason: str | None = None
    revert: Revert | None = None
    warnings: list[str] = []
