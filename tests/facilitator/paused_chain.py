"""A chain that makes a block on demand only: what is sent waits in the node's pool, as it does on a real chain."""

from pathlib import Path
from typing import Any

from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, provision, start_chain
from shared.nodes.json_rpc import JsonRpc
from tests.facilitator.bench import Bench

GWEI = 10**9


class PausedChain(Bench):
    """anvil, stopped between blocks by `hold` and let go by `flow`."""

    def __init__(self, chain: Chain, var: Path) -> None:
        super().__init__(provision(chain, var), JsonRpc(chain.rpc_url))
        self.fund_stranger()
        self.rpc("evm_setIntervalMining", 0)
        self.flow()

    @classmethod
    def start(cls, var: Path) -> "tuple[Chain, PausedChain]":
        """A fresh one."""
        process = start_chain(var, node_folders=[ROOT / "var" / "node"])
        return process, cls(process, var)

    def hold(self) -> None:
        """No block any more."""
        self.rpc("evm_setAutomine", False)

    def flow(self) -> None:
        """Whatever waits, and from now on every transaction at once."""
        self.rpc("evm_setAutomine", True)
        self.mine()

    def mine(self) -> None:
        """One block of what waits."""
        self.rpc("evm_mine")

    def lose_the_pool(self) -> None:
        """A node that was restarted knows nothing of what waited."""
        self.rpc("anvil_dropAllTransactions")

    @property
    def confirmed(self) -> int:
        """How many transactions of the settler are in blocks."""
        return int(self.rpc("eth_getTransactionCount", self.sandbox.settler, "latest"), 16)

    @property
    def waiting(self) -> dict[int, Any]:
        """The settler's transactions that wait, by number."""
        pool = self.rpc("txpool_content")["pending"]
        ours = [waiting for sender, waiting in pool.items() if sender.lower() == self.sandbox.settler.lower()]
        return {int(number): transaction for waiting in ours for number, transaction in waiting.items()}

    def number_of(self, transaction: str) -> int:
        """The account number that a transaction has."""
        return int(self.rpc("eth_getTransactionByHash", transaction)["nonce"], 16)
