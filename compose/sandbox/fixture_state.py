"""The first block of the sandbox's EVM chains: code, storage and ether of every account of the fixtures."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compose.sandbox import fixtures
from compose.sandbox.artefact import ContractName, load
from facilitator.rails.evm.calldata import MULTICALL3, MULTICALL3_HASH
from shared.x402 import evm_channel_ids
from shared.x402.evm import keccak256

ETHER = 10**18
GAS_LIMIT = 30_000_000

_IMPLEMENTATION_SLOT = int.from_bytes(keccak256(b"eip1967.proxy.implementation")) - 1
_ZEPPELIN_SLOT = int.from_bytes(keccak256(b"org.zeppelinos.proxy.implementation"))
"""Where the real USDC, a proxy, keeps what its code is. Here it is only to be read."""
_USDC_IMPLEMENTATIONS = {
    fixtures.BASE: 0x2CE6311DDAE708829BC0784C967B7D77D19FD779,
    fixtures.ETHEREUM: 0x43506849D7C04F9138D1A2050BBF3A0C054402DD,
}
_UNLIMITED = 2**256 - 1
_USDC_BALANCES = {
    fixtures.HOLDER: 1_269_567_890,  # 1234.56789 after the transfer and the swap
    fixtures.DUSTY: 5_000,
    fixtures.GASLESS: 100_000_000,
    fixtures.BLACKLISTED: 50_000_000,
    fixtures.DELEGATED: 75_000_000,
}
_ETHER = {
    fixtures.HOLDER: 2 * ETHER,
    fixtures.DUSTY: ETHER // 100,
    fixtures.BLACKLISTED: ETHER,
    fixtures.DELEGATED: ETHER,
}
# The order of the contracts' state variables.
_SUPPLY, _BALANCES, _ALLOWANCES = 0, 1, 2
_USDC_BLACKLIST = 4
_NAME, _SYMBOL, _DECIMALS = 3, 4, 5
_NFT_OWNERS, _NFT_COUNTS = 0, 1


@dataclass(slots=True)
class Account:
    """What an account has in the first block."""

    code: bytes = b""
    storage: dict[int, int] = field(default_factory=dict)
    balance: int = 0


def accounts(chain_id: int) -> dict[str, Account]:
    """By address, for the chain with that id."""
    made = {address: Account(balance=balance) for address, balance in _ETHER.items()}
    for address, code, storage in _contracts(chain_id):
        account = made.setdefault(address, Account())
        account.code, account.storage = code, storage
    return made


def genesis(chain_id: int, timestamp: int) -> dict[str, Any]:
    """The first block as geth's genesis.json, which anvil reads."""
    return {
        "config": {"chainId": chain_id},
        "timestamp": hex(timestamp),
        "gasLimit": hex(GAS_LIMIT),
        "difficulty": "0x0",
        "alloc": {
            address: {
                "balance": hex(account.balance),
                "code": "0x" + account.code.hex(),
                "storage": {f"0x{slot:064x}": f"0x{value:064x}" for slot, value in account.storage.items()},
            }
            for address, account in accounts(chain_id).items()
        },
    }


def _contracts(chain_id: int) -> list[tuple[str, bytes, dict[int, int]]]:
    spender = _code("Spender")
    return [
        (
            fixtures.USDC[chain_id],
            _code("UsdcTestnet" if chain_id == fixtures.TESTNET else "UsdcSandbox"),
            _usdc(chain_id),
        ),
        (MULTICALL3, _multicall3(), {}),
        (evm_channel_ids.CONTRACT.lower(), _code("BatchSettlement"), {}),
        (evm_channel_ids.COLLECTOR.lower(), _code("Erc3009Collector"), {}),
        (fixtures.ERC20, _code("NamedToken"), _named("Scene Token", "SCN", 18, ETHER)),
        (fixtures.COPYCAT, _code("NamedToken"), _named("USD Coin", "USD\N{CYRILLIC CAPITAL LETTER ES}", 6, 10**6)),
        (fixtures.BYTES32_ERC20, _code("OldToken"), _balances(ETHER)),
        (fixtures.BARE_ERC20, _code("BareToken"), _balances(1)),
        (fixtures.GREEDY_ERC20, b"\xfe", {}),  # INVALID
        (fixtures.ERC721, _code("Collectible"), _erc721()),
        (fixtures.ERC1155, _code("MultiToken"), {_slot(7, _slot_of(fixtures.HOLDER, 0)): 3}),
        (fixtures.OLD_SPENDER, spender, {}),
        (fixtures.MALICIOUS, spender, {}),
        (fixtures.PROXY, _code("Proxy1967"), {_IMPLEMENTATION_SLOT: int(fixtures.OLD_SPENDER, 16)}),
        (fixtures.UPGRADED_PROXY, _code("Proxy1967"), {_IMPLEMENTATION_SLOT: int(fixtures.FRESH_SPENDER, 16)}),
        (fixtures.MINIMAL_PROXY, _minimal_proxy(fixtures.OLD_SPENDER), {}),
        (fixtures.REVERTS, _code("Reverts"), {}),
        (fixtures.SILENT, b"\0", {}),  # STOP
        (fixtures.DELEGATED, b"\xef\x01\x00" + _bytes(fixtures.OLD_SPENDER), {}),
    ]


def _multicall3() -> bytes:
    """The code that Base, Ethereum and most chains have: MULTICALL3_BYTECODE of PyPI's multicall 0.12.3, with the source
    github.com/mds1/multicall3 (MIT)."""
    found = bytes.fromhex(Path(__file__).with_name("multicall3.hex").read_text())
    if keccak256(found) != MULTICALL3_HASH:
        raise ValueError("multicall3.hex is not the code of Multicall3")
    return found


def _usdc(chain_id: int) -> dict[int, int]:
    return {
        _SUPPLY: sum(_USDC_BALANCES.values()),
        **{_slot_of(account, _BALANCES): balance for account, balance in _USDC_BALANCES.items()},
        _slot(int(fixtures.PERMIT2, 16), _slot_of(fixtures.HOLDER, _ALLOWANCES)): 5_000_000,
        _slot_of(fixtures.BLACKLISTED, _USDC_BLACKLIST): 1,
        _ZEPPELIN_SLOT: _USDC_IMPLEMENTATIONS.get(chain_id, 0),
    }


def _balances(unit: int) -> dict[int, int]:
    """HOLDER has 1,000 of a million, the exchange the rest, and HOLDER allows it as much as there is."""
    return {
        _SUPPLY: 1_000_000 * unit,
        _slot_of(fixtures.HOLDER, _BALANCES): 1_000 * unit,
        _slot_of(fixtures.OLD_SPENDER, _BALANCES): 999_000 * unit,
        _slot(int(fixtures.OLD_SPENDER, 16), _slot_of(fixtures.HOLDER, _ALLOWANCES)): _UNLIMITED,
    }


def _named(name: str, symbol: str, decimals: int, unit: int) -> dict[int, int]:
    return {_NAME: _short(name), _SYMBOL: _short(symbol), _DECIMALS: decimals, **_balances(unit)}


def _erc721() -> dict[int, int]:
    owners = {1: fixtures.HOLDER, 2: fixtures.HOLDER, 2**256 - 1: fixtures.HOLDER}
    return {
        **{_slot(token_id, _NFT_OWNERS): int(owner, 16) for token_id, owner in owners.items()},
        _slot_of(fixtures.HOLDER, _NFT_COUNTS): len(owners),
    }


def _slot_of(account: str, mapping: int) -> int:
    return _slot(int(account, 16), mapping)


def _slot(key: int, mapping: int) -> int:
    """Where Solidity keeps the value of `key`, in the mapping at that slot."""
    return int.from_bytes(keccak256(key.to_bytes(32) + mapping.to_bytes(32)))


def _short(text: str) -> int:
    """A string of at most 31 bytes in its slot: the bytes, and twice their number in the last place."""
    raw = text.encode()
    return int.from_bytes(raw.ljust(31, b"\0") + bytes([2 * len(raw)]))


def _minimal_proxy(implementation: str) -> bytes:
    """EIP-1167."""
    before, after = "363d3d373d3d3d363d73", "5af43d82803e903d91602b57fd5bf3"
    return bytes.fromhex(before) + _bytes(implementation) + bytes.fromhex(after)


def _code(name: ContractName) -> bytes:
    return load(name).deployed_bytecode


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x"))
