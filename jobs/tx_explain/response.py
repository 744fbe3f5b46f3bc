"""What tx-explain answers."""

from typing import Annotated, Literal

import msgspec

from jobs.engines.evm.fields import Symbol, TokenAddress
from jobs.engines.evm.reverts import Revert
from jobs.engines.evm.signatures import Argument
from jobs.fields import Ok, doc
from jobs.ports.chains import Chain

MAX_SHOWN = 200
"""Transfers that are shown, and approvals."""


class Method(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The function that was called."""

    selector: Annotated[str, doc("The first 4 bytes of the calldata, in hex.")]
    name: Annotated[
        str | None, doc("The function's name. Null when the selector is not known or the arguments do not fit it.")
    ]
    signature: Annotated[
        str | None, doc("The function's signature, such as `transfer(address,uint256)`. Null like `name`.")
    ]
    args: Annotated[list[Argument], doc("The arguments, decoded. Empty when the function is not known.")]
    trailing_bytes: Annotated[int, doc("How many bytes follow the arguments.")]


class Transfer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens that moved."""

    standard: Annotated[Literal["erc20", "erc721", "erc1155"], doc("The standard of the token.")]
    token: TokenAddress
    symbol: Symbol
    decimals: Annotated[int | None, doc("The token's decimals. Null for NFTs, and when the token does not say.")]
    from_: Annotated[str, doc("Who gave them. The zero address when they were minted.")] = msgspec.field(name="from")
    to: Annotated[str, doc("Who got them. The zero address when they were burned.")]
    amount: Annotated[str, doc("How many, in the token's smallest unit; 1 for ERC-721.")]
    amount_formatted: Annotated[str | None, doc("How many, in whole tokens. Null without decimals, and for NFTs.")]
    token_id: Annotated[str | None, doc("The id of the NFT, in decimal. Null for ERC-20.")]
    log_index: Annotated[int, doc("The index of the event's log in its block.")]
    is_canonical: Annotated[bool, doc("Whether this is the well-known token of its symbol.")]


class Approval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A right to move tokens that was given or taken back."""

    standard: Annotated[
        Literal["erc20", "erc721", "erc1155"] | None,
        doc("The standard of the token. Null for a right to all tokens of a collection."),
    ]
    token: TokenAddress
    symbol: Symbol
    decimals: Annotated[int | None, doc("The token's decimals. Null for NFTs, and when the token does not say.")]
    owner: Annotated[str, doc("Whose tokens they are.")]
    spender: Annotated[str, doc("Who may move them.")]
    spender_label: Annotated[str | None, doc("What the spender is known as. Null when it is not known.")]
    amount: Annotated[str | None, doc("How many may be moved, in the smallest unit. Null for NFTs.")]
    amount_formatted: Annotated[
        str | None, doc("How many, in whole tokens, or `unlimited`. Null without decimals, and for NFTs.")
    ]
    is_unlimited: Annotated[bool, doc("Whether the right has no limit, or is for all tokens of a collection.")]
    token_id: Annotated[
        str | None, doc("The id of the NFT, in decimal. Null for ERC-20 and for all tokens of a collection.")
    ]
    granted: Annotated[bool, doc("True when it was given, false when it was taken back.")]
    expires_at: Annotated[str | None, doc("When the right ends, ISO 8601 in UTC. Null when it does not.")]
    through: Annotated[
        str | None, doc("The contract that keeps the right, which is Permit2. Null when the token keeps it.")
    ]
    log_index: Annotated[int, doc("The index of the event's log in its block.")]


class Signal(msgspec.Struct, frozen=True):
    """One thing worth knowing."""

    code: Annotated[str, doc("What it is, such as `swap` or `unlimited_approval`.")]
    severity: Annotated[Literal["info", "warning", "critical"], doc("How serious it is.")]
    message: Annotated[str, doc("The same in a sentence.")]


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The transaction. When it was not found, all fields that depend on it are null or empty."""

    ok: Ok
    chain: Annotated[Chain, doc("The chain that was read.")]
    chain_id: Annotated[int, doc("The chain's id: 1 for Ethereum, 8453 for Base.")]
    tx_hash: Annotated[str, doc("The hash of the transaction.")]
    status: Annotated[
        Literal["success", "reverted", "pending", "not_found"],
        doc("What became of the transaction. `not_found` when the chain has none with this hash."),
    ]
    narrative: Annotated[str, doc("What the transaction did, in a few sentences.")]
    found_on: Annotated[Chain | None, doc("The other chain, when the transaction is there. Else null.")] = None
    type: Annotated[str | None, doc("The kind of transaction (EIP-2718), such as `legacy` or `dynamic_fee`.")] = None
    from_: Annotated[str | None, doc("Who sent it, in checksum case.")] = msgspec.field(default=None, name="from")
    to: Annotated[str | None, doc("Its recipient, in checksum case. Null when it creates a contract.")] = None
    to_label: Annotated[
        str | None, doc("What the recipient is known as, such as `Permit2`. Null when it is not known.")
    ] = None
    contract_created: Annotated[str | None, doc("The contract that it created. Null when it created none.")] = None
    nonce: Annotated[str | None, doc("The sender's nonce for it, in decimal.")] = None
    value_wei: Annotated[str | None, doc("The ether that it carries, in wei.")] = None
    value_formatted: Annotated[str | None, doc("The ether that it carries, in whole units.")] = None
    ether_received_wei: Annotated[
        str | None,
        doc(
            "The ether that contracts sent to its sender, in wei: from the balances before and after its block. Null when "
            "there was no cause to look, and with the warning `ether_received_unknown` when that cannot be known."
        ),
    ] = None
    block_number: Annotated[str | None, doc("Its block, in decimal. Null while it is pending.")] = None
    timestamp: Annotated[str | None, doc("The time of its block, ISO 8601 in UTC. Null while it is pending.")] = None
    block_timestamp: Annotated[str | None, doc("The same as `timestamp`.")] = None
    confirmations: Annotated[
        int | None, doc("How many blocks confirm it, its own included. Null while it is pending.")
    ] = None
    gas_limit: Annotated[str | None, doc("The gas that it may use, in decimal.")] = None
    gas_used: Annotated[str | None, doc("The gas that it used, in decimal. Null while it is pending.")] = None
    effective_gas_price_wei: Annotated[
        str | None, doc("What it paid for each unit of gas, in wei. Null while it is pending, or not known.")
    ] = None
    l1_fee_wei: Annotated[
        str | None, doc("On Base the fee for its data on Ethereum, in wei. Null where there is none.")
    ] = None
    blob_fee_wei: Annotated[str | None, doc("The fee for its blobs, in wei. Null when it has none.")] = None
    fee_wei: Annotated[
        str | None, doc("All that the sender paid in fees, in wei. Null while it is pending, or not known.")
    ] = None
    fee_formatted: Annotated[str | None, doc("The same fee in ether. Null like `feeWei`.")] = None
    method: Annotated[Method | None, doc("The function that it called. Null when it called none.")] = None
    transfers: Annotated[list[Transfer], doc("The tokens that moved, in their order. At most 200 are listed.")] = []
    transfer_count: Annotated[int, doc("The number of all transfers.")] = 0
    approvals: Annotated[list[Approval], doc("The rights to move tokens that it changed. At most 200 are listed.")] = []
    approval_count: Annotated[int, doc("The number of all approvals.")] = 0
    delegations: Annotated[
        list[str], doc("The contracts whose code accounts run from now on (EIP-7702). The zero address ends that.")
    ] = []
    signals: Annotated[list[Signal], doc("What is worth knowing about it.")] = []
    revert_reason: Annotated[
        str | None, doc("Why it reverted, in words. Null when it did not, or the reason is not known.")
    ] = None
    revert: Annotated[
        Revert | None, doc("The revert in detail. Null when it did not revert, or the reason is not known.")
    ] = None
    warnings: Annotated[
        list[str], doc("Codes of what could not be known, such as `replay_unavailable`: the reason of the revert.")
    ] = []
