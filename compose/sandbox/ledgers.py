"""The sandbox's ledgers, all started at once: local EVM chains, and a local ledger for each further network."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from compose.sandbox import fixtures
from compose.sandbox.child import ROOT, Child, LocalLedger
from compose.sandbox.evm import (
    ETHER_PRICE,
    MAX_FEE_GWEI,
    Chain,
    EvmSandbox,
    provision,
    start_chains_to_pay_on,
)
from shared.networks import NETWORKS

OTHERS = tuple(name for name, network in NETWORKS.items() if network.package != "evm")
"""Beside the EVM chain. The names that the settings begin with, and the members of the sandbox file."""


@dataclass(frozen=True, slots=True)
class Ledgers:
    """Running ledgers, each with a funded payer.

    Attributes:
        chain: the EVM chain that payments are made on. It is Base itself, unless a test network is configured.
        base, ethereum: the EVM chains that endpoints read.
        others: by name, those of OTHERS that were asked for.
    """

    chain: Chain
    base: Chain
    ethereum: Chain
    evm: EvmSandbox
    others: dict[str, LocalLedger]

    @property
    def children(self) -> tuple[Child, ...]:
        """Their processes. Their state is in their memory."""
        chains = {chain.chain_id: chain.child for chain in (self.chain, self.base, self.ethereum)}
        return (*chains.values(), *(ledger.child for ledger in self.others.values()))

    @property
    def words(self) -> str:
        """Which they are, for people."""
        paid = "" if self.chain is self.base else f"chain {self.chain.chain_id}, "
        return ", ".join((f"anvil for {paid}Base and Ethereum", *(f"a local {name}" for name in self.others)))

    def settings(self, var: Path, facilitator_url: str) -> dict[str, str]:
        """What makes a service of them, by the name of the setting; settlers' keys are put into `var`."""
        made = {
            "EVM_RPC_URL": self.evm.rpc_url,
            "EVM_PAY_TO": self.evm.pay_to,
            "EVM_SETTLER_KEY_FILE": str(private_file(var / "settler.key", self.evm.settler_key)),
            "EVM_JOURNAL_FILE": str(private_file(var / "settler.journal", "")),
            "EVM_SPACING_MS": "0",  # every transaction is a block
            "EVM_MAX_FEE_GWEI": str(MAX_FEE_GWEI),
            "EVM_ETHER_PRICE": str(ETHER_PRICE),
            "EVM_FACILITATOR_URL": facilitator_url,
            "RPC_BASE_URLS": self.base.rpc_url,
            "RPC_ETHEREUM_URLS": self.ethereum.rpc_url,
        }
        for name, ledger in self.others.items():
            prefix = name.upper()
            made |= {
                f"{prefix}_RPC_URL": ledger.rpc_url,
                f"{prefix}_PAY_TO": ledger.pay_to,
                f"{prefix}_FACILITATOR_URL": facilitator_url,
            }
            if ledger.settler_key:
                key_file = private_file(var / f"{name}-settler.key", ledger.settler_key)
                made[f"{prefix}_SETTLER_KEY_FILE"] = str(key_file)
        return made

    def described(self) -> dict[str, dict[str, Any]]:
        """Their part of the sandbox file, by network."""
        evm = {
            "rpcUrl": self.evm.rpc_url,
            "chainId": self.evm.chain_id,
            "usdc": self.evm.usdc,
            "payerKey": self.evm.payer_key,
            "payTo": self.evm.pay_to,
        }
        others = {
            name: {
                "rpcUrl": ledger.rpc_url,
                "network": ledger.network,
                "payerSecret": ledger.payer_secret,
                "payTo": ledger.pay_to,
            }
            for name, ledger in self.others.items()
        }
        return {"evm": evm, **others}


@contextlib.contextmanager
def ledgers(var: Path, evm_network: str, names: Collection[str]) -> Iterator[Ledgers]:
    """Start the EVM chains and the others that are named, and stop them at the end.

    Args:
        evm_network: CAIP-2 name of the chain that payments are made on, one of fixtures.USDC.

    Raises:
        StartFailed: one did not come up.
    """
    paid_on = int(evm_network.partition(":")[2])
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1 + len(names), "ledger") as starting:
        # Where scripts/setup puts anvil.
        chains = starting.submit(start_chains_to_pay_on, paid_on, var, node_folders=[ROOT / "var" / "node"])
        others: dict[str, Future[LocalLedger]] = {name: starting.submit(_start, name, var) for name in names}
        # Whatever has come up is stopped, also when another one did not.
        stack.callback(_stop, chains)
        for started in others.values():
            stack.callback(_stop, started)
        started_chains = chains.result()
        yield Ledgers(
            chain=started_chains[paid_on],
            base=started_chains[fixtures.BASE],
            ethereum=started_chains[fixtures.ETHEREUM],
            evm=provision(started_chains[paid_on], var),
            others={name: started.result() for name, started in others.items()},
        )


def _start(name: str, var: Path) -> LocalLedger:
    start: Callable[[Path], LocalLedger] = getattr(import_module(f"compose.sandbox.{name}"), f"start_{name}")
    return start(var)


def _stop(started: Future[Any]) -> None:
    if started.exception() is None:
        result = started.result()
        for one in result.values() if isinstance(result, dict) else (result,):
            one.child.stop()


def private_file(path: Path, content: str) -> Path:
    """Write a file anew. From its first moment only its owner can read it."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(content + "\n")
    return path
