"""What the sandbox's two EVM chains carry beside payments: tokens, contracts, accounts and transactions to ask about.

All addresses are the same on both chains but USDC's own. They are written out here because the examples of the endpoints that
read chains use them; so is the hash of the transfer. On the real chains only HOLDER, FRIEND, USDC, PERMIT2, ERC721 and
MALICIOUS exist, and are something else.

The chain begins 30 days ago with everything but FRESH_SPENDER, and has a block for each transaction since
(fixture_transactions).
anvil keeps states for 50 minutes on Base, and for 100 on Ethereum: after that the past has no state there.
"""

from collections.abc import Mapping

from shared.x402.networks import EVM_USDC

BASE, ETHEREUM, TESTNET = 8453, 1, 84532
USDC: Mapping[int, str] = {chain_id: EVM_USDC[f"eip155:{chain_id}"].address for chain_id in (BASE, ETHEREUM, TESTNET)}
"""By chain id: the real addresses."""

GENESIS_DAYS_AGO = 30
DAY_S = 86_400

# Accounts.

HOLDER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
"""Sends every transaction: ether, USDC, a bit of every token."""
HOLDER_KEY = bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
"""The first of the keys that every local chain's tools know: what it holds is play money."""
FRIEND = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
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
ERC721 = "0x03c4738Ee98aE44591e1A4A4F3CaB6641d95DD9a"
"""ERC-721. HOLDER has number 1 and the largest number there is, FRIEND has 2; 3 does not exist."""
ERC1155 = "0x1155115511551155115511551155115511551155"
"""ERC-1155. HOLDER has 3 of number 7."""

# Contracts.

OLD_SPENDER = "0x5ce7E00000000000000000000000000000000201"
"""An exchange that HOLDER has approved without a limit."""
FRESH_SPENDER = "0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9"
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
PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
"""HOLDER allows it 5 USDC. There is no code here."""
MALICIOUS = "0x000067464bdCBeC51051ddCcE8551e702F130000"
"""Known from the Ledger Connect Kit hack, on both chains. Here it has OLD_SPENDER's code."""

# Transactions, all sent by HOLDER, by chain id and name. What each is: fixture_transactions.

TRANSACTIONS: Mapping[int, Mapping[str, str]] = {
    BASE: {
        "transfer": "0x5f4a8b699ab0183d8b9b4a5a844bb32cbae1a09d2b94d538a7d9dc52c4b34841",
        "approval": "0xdfaea9144af4c8499ddbae2e0601ec334f8a856417c4655d0273b2f7caf6ea8a",
        "payment": "0x28b821e036d3e9d3722e2f9497481558209e4dd43eb07df3cdc8bf8f1ad32fdc",
        "erc721": "0x2d4685360985eecbf47b3d48eea5665b6da9c7cb66260928b5695a3f5e9ff14f",
        "creation": "0x304b4dd97a6bf562801bdb2c5d101c98391c253bc1b454f8196523afb65f5a0c",
        "swap": "0x5c4fcb7dbe7b85cbe9d06cfbe5cee48ee39509cc0ca1127f73789c6e56b42169",
        "refused": "0xb04bad39046fe3de9cd2e80cbaf9e5a1b4fb4ca61a590c9a6689f59b01126e48",
        "pending": "0x9c8182800dacdbe0837247ec1562a7ab4238cfc7664abddfa7b8a841f32d616c",
    },
    ETHEREUM: {
        "transfer": "0xefbd26d55938b2b36906047a7257fdd7f038380e4f51e0c6bbf6c061c9a8d214",
        "approval": "0x67c3862123f4999d3783b679745bf9fcedc44632081778390605b5feda2102eb",
        "payment": "0xc23a3b18af5c6ebb372ce72317c995e3fa52d5d9796fe1166d828d98564fcc03",
        "erc721": "0x15d2990fce49565cfde51a3693ddb2722ccb10475c848e9e8f00407942550255",
        "creation": "0x6bcd5b68cdee876ab6ca6746ca5101508f4cdc69dcfb6dcc2c0d2401ebdf2459",
        "swap": "0x235cd20d17de6940c072a1ab2ae27decd436e2a6218fef6fb2eb01588d522217",
        "refused": "0x93b1bf4f5d6f444fc8b2ed4a67a99f552b8f20d6fee4dc2d08d98e8a1cc742ea",
        "pending": "0x2424f9cd883234d99a1a7d66a7505cf57d3dc22e567d579b0eac7c05a519ca2c",
    },
}
