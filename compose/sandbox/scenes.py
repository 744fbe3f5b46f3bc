"""What the sandbox's two EVM chains carry beside payments: tokens, contracts, accounts and transactions to ask about.

All addresses are the same on both chains but USDC's own. They are written out here because the examples of the endpoints that
read chains use them; so is the hash of the transfer. Nothing of it exists anywhere else, but for USDC and MALICIOUS.

The chain begins 30 days ago with everything but FRESH_SPENDER, and has a block for each transaction since (scene_transactions).
"""

from __future__ import annotations

from collections.abc import Mapping

from shared.x402.evm import keccak256
from shared.x402.networks import EVM_USDC

BASE, ETHEREUM = 8453, 1
USDC: Mapping[int, str] = {chain_id: EVM_USDC[f"eip155:{chain_id}"].address for chain_id in (BASE, ETHEREUM)}
"""By chain id: the real addresses."""

GENESIS_DAYS_AGO = 30
DAY_S = 86_400

# Accounts.

HOLDER = "0xA98c2fdBdeE9C58d7A964810137d78d69335F99f"
"""Sends every transaction: ether, USDC, a bit of every token."""
HOLDER_KEY = keccak256(b"coinslot sandbox: holder")
"""Everybody may use it: what it holds is play money."""
FRIEND = "0x5ce7e00000000000000000000000000000000001"
"""Has 25 USDC and 0.1 ether, all of it from HOLDER."""
DUSTY = "0x5Ce7E00000000000000000000000000000000002"
"""Has 0.005 USDC, and ether for gas."""
GASLESS = "0x5cE7E00000000000000000000000000000000003"
"""Has 100 USDC and no ether."""
BLACKLISTED = "0x5ce7E00000000000000000000000000000000004"
"""Has 50 USDC and 1 ether. USDC says that it is blacklisted."""
DELEGATED = "0x5cE7e00000000000000000000000000000000005"
"""Has 75 USDC and 1 ether, and leads to OLD_SPENDER by EIP-7702."""
EMPTY = "0x5cE7e00000000000000000000000000000000006"
"""Has nothing and has done nothing."""

# Tokens.

ERC20 = "0x5cE7E00000000000000000000000000000000101"
"""An ordinary ERC-20: Scene Token, SCN, 18 decimals."""
BYTES32_ERC20 = "0x5CE7E00000000000000000000000000000000102"
"""Name and symbol are bytes32; transfers and approvals return nothing."""
BARE_ERC20 = "0x5CE7e00000000000000000000000000000000103"
"""No name, no symbol, no decimals."""
COPYCAT = "0x5ce7e00000000000000000000000000000000104"
"""USD Coin, USD and a Cyrillic letter that looks like a C."""
GREEDY_ERC20 = "0x5CE7e00000000000000000000000000000000105"
"""Every call burns all its gas."""
ERC721 = "0x5cE7e00000000000000000000000000000000106"
"""ERC-721. FRIEND has number 1, HOLDER has 2 and the largest number there is; 3 does not exist."""
ERC1155 = "0x5Ce7E00000000000000000000000000000000107"
"""ERC-1155. HOLDER has 5 of number 1."""

# Contracts.

OLD_SPENDER = "0x5ce7E00000000000000000000000000000000201"
"""An exchange that HOLDER has approved without a limit."""
FRESH_SPENDER = "0xd39fFeB0F02D39983509F652331c03FFB00417e7"
"""The same code, two days old. Not there 7 days ago."""
PROXY = "0x5cE7E00000000000000000000000000000000202"
"""EIP-1967: leads to OLD_SPENDER."""
UPGRADED_PROXY = "0x5cE7e00000000000000000000000000000000203"
"""EIP-1967: as old, and leads to FRESH_SPENDER."""
MINIMAL_PROXY = "0x5ce7E00000000000000000000000000000000204"
"""EIP-1167: leads to OLD_SPENDER."""
REVERTS = "0x5ce7E00000000000000000000000000000000205"
"""Fails in each way (contracts/Reverts.sol)."""
SILENT = "0x5cE7E00000000000000000000000000000000206"
"""A contract that answers every call with nothing."""
MALICIOUS = "0x000067464bdCBeC51051ddCcE8551e702F130000"
"""Known from the Ledger Connect Kit hack, on both chains. Here it has OLD_SPENDER's code."""

# Transactions, all sent by HOLDER, by chain id and name. What each is: scene_transactions.

TRANSACTIONS: Mapping[int, Mapping[str, str]] = {
    BASE: {
        "transfer": "0xbc1fa1ae44eba28d5e063391e49063bc9d595bf0dc6d19731f146711d0e803b8",
        "approval": "0x72c9fc44f545e62e2d7f52549a33d79d9508a6621a229f713081db78b72933d1",
        "payment": "0xd0d2f124949f8826ca7860629861f0742716b6f881f569916ac0770f07e507ee",
        "erc721": "0x843b04940434f5f4597461993525f628d8c83222c84b0289fea8bd756aa67875",
        "creation": "0x3b0076707be37300682b2fee3f824fc93679e386fc85d42002b3bcfeafb9c8bf",
        "swap": "0x2d5f4386779cf4ef89677b8a7207da1469058d623ba2d18cb8c3892c6a56b3fa",
        "refused": "0x89f35155f8eb104ca5bc1448e5ad63ba4f3d586e41f2051b9783c810934129c9",
        "pending": "0x4fb454f44df72c1d366849de0449011874c7452fe609b6a70135dc4517aa0321",
    },
    ETHEREUM: {
        "transfer": "0xa3898f2cd8399efe439a84a59e4bd451ca6321eb6ca46273a515ed849c4f7e02",
        "approval": "0xa89e560b5cbdb8514998cfc4fa613e878992c35bc4239891ebf1819c60306719",
        "payment": "0xbf1b9a25f4dbe9cf2cd6a782ef8116aad7d9dba7dd6f379562c0be045497e6a9",
        "erc721": "0x8d301b2b96e8c17ee19d4201b286d7da9c8a55a809c52a71330ef3251e9e9b8c",
        "creation": "0xdbe6dc9991e3f3b14a11cee12b260948e1ea43143ddf3e714464f4b04def3a84",
        "swap": "0x88357bac7d85f56ca42b710ea06c77284989d47dd365f80b1cca37ded9e9ae80",
        "refused": "0xd09016c5a277591ac4a68a3c1adc83833246af53bebbddc76b094844d102dee5",
        "pending": "0x3555e5d0b20f9707c97a8914147b8f87edbed2cd12ed14f56083cd6d3524a986",
    },
}
