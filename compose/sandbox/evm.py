"""The sandbox's EVM chains: Base and Ethereum, and Base Sepolia where payments are to be made on it.

Wallets are funded on the one that payments are made on; the others are only read. All have the fixtures (fixtures.py).
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from coincurve import PrivateKey

from compose.sandbox import anvil, fixtures
from compose.sandbox.child import Child, StartFailed, claim_port, spawn
from compose.sandbox.fixture_state import ETHER, genesis
from compose.sandbox.fixture_transactions import replay
from compose.sandbox.keys import load_keys
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import address_of, checksummed, selector

PAYER_FUNDS = 1_000 * 10**6
"""What the payer has after `provision`, in atomic units of USDC."""
SETTLER_FUNDS_WEI = 10_000 * ETHER

MAX_FEE_GWEI, ETHER_PRICE = 5.0, 4.0
"""Settings of a facilitator here. anvil suggests a tip of 1 gwei, some 500 times what gas costs on Base. So an ether is cheap
here, and a settlement costs about what it costs on Base."""

_MINED_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Wallets:
    """Three accounts that exist on the sandbox's chains only. The keys do not appear in repr().

    Attributes:
        payer_key, payer: the buyer, who holds USDC and needs no ETH.
        settler_key, settler: the facilitator's account, which pays the gas.
        pay_to_key, pay_to: the recipient of payments.
    """

    payer_key: str = field(repr=False)
    settler_key: str = field(repr=False)
    pay_to_key: str = field(repr=False)
    payer: str
    settler: str
    pay_to: str


_ROLES = ("payer", "settler", "pay_to")


def load_wallets(var: Path) -> Wallets:
    """Read this machine's keys, making them the first time."""
    keys = load_keys(var, "wallets", lambda: {f"{role}_key": "0x" + secrets.token_hex(32) for role in _ROLES})
    accounts = {role: _address_of(keys[f"{role}_key"]) for role in _ROLES}
    return Wallets(keys["payer_key"], keys["settler_key"], keys["pay_to_key"], **accounts)


def _address_of(key: str) -> str:
    return checksummed(address_of(PrivateKey(bytes.fromhex(key.removeprefix("0x"))).public_key))


@dataclass(frozen=True, slots=True)
class Chain:
    """A running chain: one anvil."""

    rpc_url: str
    chain_id: int
    child: Child

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The node's process."""
        return self.child.process

    def stop(self) -> None:
        """End the node and wait for it. The chain is gone: the next start is a fresh one."""
        self.child.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvmSandbox(Wallets):
    """A chain that is ready for payments: the payer has 1,000 USDC, and the settler ETH for gas.

    Attributes:
        usdc: the token's address, that of the network's USDC.
    """

    rpc_url: str
    chain_id: int
    usdc: str


def start_chain(var: Path, *, port: int = 0, node_folders: Sequence[Path] = ()) -> Chain:
    """Start a fresh Base with the fixtures and return when it answers.

    Args:
        var: the project's state folder; anvil is looked for in ``node`` in it.
        port: 0 picks a free one.
        node_folders: further npm prefixes in which anvil may be.

    Raises:
        StartFailed: anvil is not installed, or it did not come up.
    """
    return _start(var, {fixtures.BASE: port}, node_folders)[0]


def start_chains(var: Path, *, node_folders: Sequence[Path] = ()) -> tuple[Chain, Chain]:
    """Base and Ethereum, as `start_chain` starts one. Each is to be stopped."""
    base, ethereum = _start(var, {fixtures.BASE: 0, fixtures.ETHEREUM: 0}, node_folders)
    return base, ethereum


def start_chains_to_pay_on(chain_id: int, var: Path, *, node_folders: Sequence[Path] = ()) -> dict[int, Chain]:
    """By chain id: the one that payments are made on, Base and Ethereum. Each is to be stopped."""
    chains = _start(var, {chain_id: 0, fixtures.BASE: 0, fixtures.ETHEREUM: 0}, node_folders)
    return {chain.chain_id: chain for chain in chains}


def _start(var: Path, wanted: Mapping[int, int], node_folders: Sequence[Path]) -> Sequence[Chain]:
    """A chain for each id and port."""
    binary = anvil.find_anvil([var / "node", *node_folders])
    if binary is None:
        raise StartFailed("anvil is not installed: run scripts/setup, or let COINSLOT_ANVIL name its binary")
    ports = {chain_id: claim_port(port) for chain_id, port in wanted.items()}
    now = int(time.time())
    with contextlib.ExitStack() as on_failure:
        chains = _spawned(binary, ports, var, now)
        for chain in chains:
            on_failure.callback(chain.stop)
        for chain in chains:
            rpc = JsonRpc(chain.rpc_url)
            chain.child.wait_ready(partial(_is_chain, rpc, chain.chain_id))
            anvil.forget_block_hashes(rpc)
            replay(rpc, chain.chain_id, now)
        on_failure.pop_all()
    return chains


def _spawned(binary: Path, ports: Mapping[int, int], var: Path, now: int) -> Sequence[Chain]:
    chains = []
    for chain_id, port in ports.items():
        first_block = genesis(chain_id, now - fixtures.GENESIS_DAYS_AGO * fixtures.DAY_S)
        command = anvil.command(binary, port, chain_id, var, first_block)
        chains.append(Chain(f"http://127.0.0.1:{port}", chain_id, spawn(f"chain-{chain_id}", command, var)))
    return chains


def _is_chain(rpc: JsonRpc, chain_id: int) -> bool:
    return bool(rpc("eth_chainId") == hex(chain_id))


def provision(chain: Chain, var: Path) -> EvmSandbox:
    """Give the settler gas and top the payer up to 1,000 USDC. Doing it again changes nothing.

    The wallets are this machine's: ``sandbox/wallets.json`` in `var`, made the first time.
    """
    wallets = load_wallets(var)
    rpc = JsonRpc(chain.rpc_url)
    usdc = fixtures.USDC[chain.chain_id]
    rpc("anvil_setBalance", wallets.settler, hex(SETTLER_FUNDS_WEI))
    missing = PAYER_FUNDS - _balance_of(rpc, usdc, wallets.payer)
    if missing > 0:
        _mint(rpc, chain.chain_id, wallets, missing)
    return EvmSandbox(rpc_url=chain.rpc_url, chain_id=chain.chain_id, usdc=usdc, **asdict(wallets))


def _balance_of(rpc: JsonRpc, usdc: str, account: str) -> int:
    data = selector("balanceOf(address)") + _word(account)
    return int(rpc("eth_call", {"to": usdc, "data": "0x" + data.hex()}, "latest"), 16)


def _mint(rpc: JsonRpc, chain_id: int, wallets: Wallets, amount: int) -> None:
    data = selector("mint(address,uint256)") + _word(wallets.payer) + amount.to_bytes(32, "big")
    settler = Signer(bytes.fromhex(wallets.settler_key.removeprefix("0x")), chain_id)
    signed = settler.sign(
        number=int(rpc("eth_getTransactionCount", wallets.settler, "pending"), 16),
        to=fixtures.USDC[chain_id],
        data=data,
        gas=200_000,
        bid=Bid(max_fee=int(rpc("eth_gasPrice"), 16) * 2, tip=0),
    )
    transaction_hash = rpc("eth_sendRawTransaction", "0x" + signed.hex())
    deadline = time.monotonic() + _MINED_WITHIN_S
    while (receipt := rpc("eth_getTransactionReceipt", transaction_hash)) is None:
        if time.monotonic() > deadline:
            raise StartFailed("the payer's USDC was not minted in time")
        time.sleep(0.01)
    if receipt["status"] != "0x1":
        raise StartFailed("minting the payer's USDC reverted")


def _word(account: str) -> bytes:
    return bytes.fromhex(account.removeprefix("0x")).rjust(32, b"\0")
