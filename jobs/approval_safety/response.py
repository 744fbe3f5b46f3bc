"""What approval-safety answers."""

from __future__ import annotations

from typing import Literal

import msgspec

from jobs.evm.reader import Response as ChainResponse

Severity = Literal["info", "low", "medium", "high", "critical"]
Level = Literal["low", "medium", "high", "critical"]
Recommendation = Literal["proceed", "reduce_amount", "reject"]


class Flags(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`eoaSpender`: also an account that delegated to a contract. `unverifiable`: the spender's age cannot be known."""

    unlimited_approval: bool
    fresh_contract: bool
    eoa_spender: bool
    copycat_token: bool
    known_malicious: bool
    unverifiable: bool


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`severity`: `info` adds nothing to the score. `points`: what it adds. `evidence`: what it stands on."""

    code: str
    severity: Severity
    message: str
    points: int
    evidence: dict[str, str]


class ShownToken(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`name`, `symbol`: a stranger's text, cleaned. `canonicalAddress`: of the token that its name or symbol stands for."""

    address: str
    name: str | None
    symbol: str | None
    decimals: int | None
    total_supply: str | None
    is_canonical: bool
    canonical_address: str | None


class ShownSpender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`ageDays`: at least; null when unknown. `implementation`: whose code it runs in the end. `label`: what it is known as."""

    address: str
    is_contract: bool
    delegated_to: str | None
    code_size: int
    age_days: int | None
    is_proxy: bool
    is_upgradeable: bool
    implementation: str | None
    label: str | None


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    """`riskScore`: 0 to 100. `amountFormatted`: null without decimals. `ownerBalance`, `currentAllowance`: of `owner`."""

    risk_level: Level
    risk_score: int
    recommendation: Recommendation
    flags: Flags
    findings: list[Finding]
    token: ShownToken
    spender: ShownSpender
    amount: str
    amount_formatted: str | None
    owner_balance: str | None
    current_allowance: str | None
    data_version: str
