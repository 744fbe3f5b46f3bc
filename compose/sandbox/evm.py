"""The sandbox's EVM chains: Base and Ethereum, and Base Sepolia where payments are to be made on it.

Wallets are funded on the one that payments are made on; the others are only read. All have the fixtures (fixtures.py).

anvil comes from npm, pinned in package.json and package-lock.json beside this file, and is a plain binary that needs no Node:

    mkdir -p var/node
    cp compose/sandbox/package.json compose/sandbox/package-lock.json var/node/
    npm ci --ignore-scripts --prefix var/node

The lock pins the binary for 64-bit Linux on x86. On another machine, ARM for instance, install Foundry: an anvil on PATH is
found, and COINSLOT_ANVIL names one elsewhere.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from coincurve import PrivateKey

from compose.sandbox import fixtures
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

_OPTIONS = (
    *("--host", "127.0.0.1", "--no-cors", "--silent", "--accounts", "0"),
    # What Base speaks: EIP-7702 is in it, so an account with a key may have code.
    *("--hardfork", "prague"),
    # A block for every transaction at once, and one every so often, as on the real chain. Without the latter the newest
    # block, and with it the time that eth_call sees, stays behind the clock: a fresh authorization would be "not yet valid".
    "--mixed-mining",
    # The states of old blocks go to the disk, up to 3,600 of them, without this option. The newest few must stay
    # (--prune-history would drop them too): "latest" is looked up first and read afterwards, and may be old by then.
    *("--max-persisted-states", "1"),
    # No --state: with a block every 2 s the file would grow by some 75 MB a day. Every start is a fresh chain.
)
_BLOCK_TIME_S = {fixtures.BASE: "2", fixtures.ETHEREUM: "12", fixtures.TESTNET: "2"}
# The contract that remembers the last 8,191 block hashes (EIP-2935).
_BLOCK_HASHES = "0x0000F90827F1C53a10cb7A02335B175320002935"
_STOP = "0x00"


def find_anvil(folders: Iterable[Path]) -> Path | None:
    """The anvil binary: COINSLOT_ANVIL, else npm's in one of `folders` (npm prefixes, such as ``var/node``), else PATH.

    Raises:
        FileNotFoundError: COINSLOT_ANVIL names a file that is not there.
    """
    named = os.environ.get("COINSLOT_ANVIL")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"COINSLOT_ANVIL names {named}, which does not exist")
        return Path(named)
    for folder in folders:
        # npm installs the package of this platform only, whatever it is called.
        for binary in sorted(folder.glob("node_modules/@foundry-rs/anvil-*/bin/anvil*")):
            return binary
    on_path = shutil.which("anvil")
    return Path(on_path) if on_path else None


def anvil_command(binary: Path, port: int, chain_id: int, var: Path, first_block: Mapping[str, Any]) -> list[str]:
    """The command line of the sandbox's node.

    Args:
        first_block: geth's genesis.json.
    """
    folder = var.resolve() / "sandbox" / f"anvil-{chain_id}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "genesis.json").write_bytes(msgspec.json.encode(first_block))
    place = ("--port", str(port), "--chain-id", str(chain_id), "--cache-path", str(folder))
    pace = ("--init", str(folder / "genesis.json"), "--block-time", _BLOCK_TIME_S[chain_id])
    return [str(binary.resolve()), *place, *pace, *_OPTIONS]


def forget_block_hashes(rpc: JsonRpc) -> None:
    """Stop the one part of the state that grows with every block: a copy of it is kept per block, and after some hours each
    copy is 4 MB. Nothing in the sandbox asks for old block hashes."""
    rpc("anvil_setCode", _BLOCK_HASHES, _STOP)


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
    binary = find_anvil([var / "node", *node_folders])
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
            forget_block_hashes(rpc)
            replay(rpc, chain.chain_id, now)
        on_failure.pop_all()
    return chains


def _spawned(binary: Path, ports: Mapping[int, int], var: Path, now: int) -> Sequence[Chain]:
    chains = []
    for chain_id, port in ports.items():
        first_block = genesis(chain_id, now - fixtures.GENESIS_DAYS_AGO * fixtures.DAY_S)
        command = anvil_command(binary, port, chain_id, var, first_block)
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
