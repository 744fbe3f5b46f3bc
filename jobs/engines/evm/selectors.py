"""The selectors, topics and storage slots that the engines use, and the standard of each."""

from shared.x402.evm import keccak256


def selector(signature: str) -> bytes:
    """The first four bytes of the hash of ``transfer(address,uint256)``."""
    return keccak256(signature.encode())[:4]


def topic(signature: str) -> str:
    """The hash of ``Transfer(address,address,uint256)``: 0x and 64 digits."""
    return "0x" + keccak256(signature.encode()).hex()


def erc1967_slot(name: str) -> int:
    """ERC-1967: the hash of ``eip1967.proxy.implementation``, less one, so that no key of a mapping hashes to it."""
    return int.from_bytes(keccak256(name.encode()), "big") - 1


# ERC-20; `balanceOf` is ERC-721's, too.
BALANCE_OF = selector("balanceOf(address)")
ALLOWANCE = selector("allowance(address,address)")
DECIMALS = selector("decimals()")
SYMBOL = selector("symbol()")
NAME = selector("name()")
TOTAL_SUPPLY = selector("totalSupply()")
TRANSFER = selector("transfer(address,uint256)")
"""ERC-721's, too: the third argument is then an id."""

OWNER_OF = selector("ownerOf(uint256)")
"""ERC-721."""
BALANCE_OF_ID = selector("balanceOf(address,uint256)")
"""ERC-1155."""
SUPPORTS_INTERFACE = selector("supportsInterface(bytes4)")
"""ERC-165."""
IS_ERC721 = SUPPORTS_INTERFACE + bytes.fromhex("80ac58cd").ljust(32, b"\0")
IS_ERC1155 = SUPPORTS_INTERFACE + bytes.fromhex("d9b67a26").ljust(32, b"\0")
"""Calldata that asks a contract whether it is one."""

IS_BLACKLISTED = selector("isBlacklisted(address)")
PAUSED = selector("paused()")
"""Circle's FiatToken."""
IMPLEMENTATION = selector("implementation()")
"""Of an ERC-1967 beacon."""
L1_FEE_UPPER_BOUND = selector("getL1FeeUpperBound(uint256)")
"""OP Stack, Fjord: the L1 fee of a transaction of so many bytes, at most. Asked of GAS_PRICE_ORACLE."""
GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000f"

TRANSFER_TOPIC = topic("Transfer(address,address,uint256)")
"""ERC-20 with three topics, ERC-721 with four."""
APPROVAL_TOPIC = topic("Approval(address,address,uint256)")
APPROVAL_FOR_ALL_TOPIC = topic("ApprovalForAll(address,address,bool)")
TRANSFER_SINGLE_TOPIC = topic("TransferSingle(address,address,address,uint256,uint256)")
TRANSFER_BATCH_TOPIC = topic("TransferBatch(address,address,address,uint256[],uint256[])")
PERMIT2_APPROVAL_TOPIC = topic("Approval(address,address,address,uint160,uint48)")
PERMIT2_PERMIT_TOPIC = topic("Permit(address,address,address,uint160,uint48,uint48)")
"""Permit2's AllowanceTransfer: owner, token and spender are topics; amount, expiry and nonce are data."""
PERMIT2_LOCKDOWN_TOPIC = topic("Lockdown(address,address,address)")
"""Permit2: the owner is a topic; token and spender, whose allowance is none from then on, are data."""
DEPOSIT_TOPIC = topic("Deposit(address,uint256)")
WITHDRAWAL_TOPIC = topic("Withdrawal(address,uint256)")
"""WETH9 wraps and unwraps without a Transfer."""

IMPLEMENTATION_SLOT = erc1967_slot("eip1967.proxy.implementation")
BEACON_SLOT = erc1967_slot("eip1967.proxy.beacon")
ADMIN_SLOT = erc1967_slot("eip1967.proxy.admin")
PROXIABLE_SLOT = int.from_bytes(keccak256(b"PROXIABLE"), "big")
"""ERC-1822, before ERC-1967."""
ZEPPELIN_SLOT = int.from_bytes(keccak256(b"org.zeppelinos.proxy.implementation"), "big")
"""OpenZeppelin before ERC-1967: USDC's proxies."""
KNOWN_SLOTS = {
    IMPLEMENTATION_SLOT: "eip1967.proxy.implementation",
    BEACON_SLOT: "eip1967.proxy.beacon",
    ADMIN_SLOT: "eip1967.proxy.admin",
    PROXIABLE_SLOT: "PROXIABLE",
    ZEPPELIN_SLOT: "org.zeppelinos.proxy.implementation",
}
