"""What approval-safety answers."""

from typing import Annotated, Literal

import msgspec

from jobs.engines.evm.fields import Decimals, Symbol, TokenAddress
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.fields import doc

Severity = Literal["info", "low", "medium", "high", "critical"]
Level = Literal["low", "medium", "high", "critical"]
Recommendation = Literal["proceed", "reduce_amount", "wait", "reject"]


class Flags(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The main risks as flags."""

    unlimited_approval: Annotated[bool, doc("Whether the amount has no limit.")]
    fresh_contract: Annotated[bool, doc("Whether there was no code at the spender's address seven days ago.")]
    eoa_spender: Annotated[
        bool, doc("Whether the spender is no contract but an account with a key, delegated (EIP-7702) or not.")
    ]
    copycat_token: Annotated[bool, doc("Whether the token passes for a well-known one.")]
    known_malicious: Annotated[bool, doc("Whether token, spender or its code is on a list of malicious addresses.")]
    unverifiable: Annotated[bool, doc("Whether the age of the spender's code cannot be known.")]


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One rule that applies."""

    code: Annotated[str, doc("The rule, as a code.")]
    severity: Annotated[Severity, doc("How serious it is. `info` adds nothing to the score.")]
    message: Annotated[str, doc("What was found, in a sentence.")]
    points: Annotated[int, doc("What it adds to the score.")]
    evidence: Annotated[dict[str, str], doc("The evidence for it, by name.")]


class ShownToken(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The token."""

    address: TokenAddress
    name: Annotated[str | None, doc("The token's own name, without invisible characters. Null when it has none.")]
    symbol: Symbol
    decimals: Decimals
    total_supply: Annotated[
        str | None, doc("The total supply, in the smallest unit. Null when the token does not say.")
    ]
    is_canonical: Annotated[bool, doc("Whether this is the well-known token of its name.")]
    canonical_address: Annotated[
        str | None, doc("The well-known token that its name or symbol stands for. Null when there is none.")
    ]


class ShownSpender(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The spender."""

    address: Annotated[str, doc("The spender, in checksum case.")]
    is_contract: Annotated[bool, doc("Whether it is a contract.")]
    delegated_to: Annotated[
        str | None, doc("The contract whose code the account runs (EIP-7702). Null when it has not delegated.")
    ]
    code_size: Annotated[int, doc("Size of its code, in bytes.")]
    age_days: Annotated[
        int | None, doc("For how many days its code has been there at least. Null when that cannot be known.")
    ]
    is_proxy: Annotated[bool, doc("Whether it runs the code of another contract.")]
    is_upgradeable: Annotated[bool, doc("Whether somebody can replace the code that it runs.")]
    implementation: Annotated[str | None, doc("The contract whose code it runs in the end. Null when it is its own.")]
    label: Annotated[str | None, doc("What it is known as, such as `Permit2`. Null when it is not known.")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    risk_level: Annotated[Level, doc("`low` up to 25, `medium` up to 74, `high` up to 94, else `critical`.")]
    risk_score: Annotated[int, doc("The risk from 0 to 100: the sum of the points of all findings, at most 100.")]
    recommendation: Annotated[
        Recommendation,
        doc(
            "What to do. `reduce_amount`: approve what you need now, and ask again. `wait`: less would not help; approve "
            "later, or when you know that what was found is in order."
        ),
    ]
    flags: Flags
    findings: Annotated[list[Finding], doc("What was found, the most serious first.")]
    token: ShownToken
    spender: ShownSpender
    amount: Annotated[str, doc("The amount of the request, in the token's smallest unit.")]
    amount_formatted: Annotated[
        str | None, doc("The amount in whole tokens, or `unlimited`. Null without decimals, and for an NFT.")
    ]
    owner_balance: Annotated[
        str | None,
        doc("How much the owner has, in the smallest unit. Null without an owner, or an answer of the token."),
    ]
    current_allowance: Annotated[
        str | None, doc("How much the spender may take already, in the smallest unit. Null like `ownerBalance`.")
    ]
    data_version: Annotated[
        str, doc("The lists of tokens and addresses: the day of the last review, and both versions.")
    ]
