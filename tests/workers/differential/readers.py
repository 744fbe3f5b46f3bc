"""One anvil that mines no block by itself, with the contracts of all cases, and the two that read it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from compose.sandbox.child import ROOT
from compose.sandbox.evm import start_chain
from jobs.catalogue import CATALOGUE
from jobs.ports import Context
from shared.nodes.json_rpc import Call, JsonRpc
from shared.outcome import Failed, Ok
from tests.sites import PUBLIC
from tests.workers.differential import bytecode
from tests.workers.differential.bytecode import word
from tests.workers.differential.cases import Case
from tests.workers.differential.checks import L1_FEE, Answer
from tests.workers.differential.second_opinion import Web3Reader
from workers.adapters.chains import NodeChains
from workers.execute import execute

ORACLE = "0x420000000000000000000000000000000000000f"
ENDPOINTS = {endpoint.name: endpoint for endpoint in CATALOGUE}
_IN_A_BATCH = 50


class DeployedChain(NamedTuple):
    """One anvil with all contracts on it, and both that read it."""

    reader: Web3Reader
    context: Context
    rpc: JsonRpc
    timestamp: int

    def ask(self, name: str, body: dict[str, Any]) -> Answer:
        """Ours, as a worker runs it."""
        outcome = execute(ENDPOINTS[name], json.dumps(body).encode(), self.context)
        if isinstance(outcome, Failed):
            return outcome.code
        assert isinstance(outcome, Ok)
        answer: dict[str, Any] = json.loads(outcome.body)
        return answer

    def succeeded(self, tx_hash: str) -> bool:
        """By its receipt."""
        return bool(self.rpc("eth_getTransactionReceipt", tx_hash)["status"] == "0x1")


@contextmanager
def deployed(var: Path, cases: Sequence[Case]) -> Iterator[DeployedChain]:
    """Until the end."""
    chain = start_chain(var, node_folders=[ROOT / "var" / "node"])
    try:
        rpc = JsonRpc(chain.rpc_url)
        rpc("evm_setAutomine", True)  # a block for each transaction, and no others
        for first in range(0, len(cases), _IN_A_BATCH):
            rpc.batch([each for case in cases[first : first + _IN_A_BATCH] for each in _placed(case)])
        rpc("anvil_setCode", ORACLE, "0x" + bytecode.ending(word(L1_FEE)).code.hex())
        rpc("evm_mine")
        block = rpc("eth_getBlockByNumber", "latest", False)
        clock = SimpleNamespace(now=lambda: datetime.now(UTC))
        ports = SimpleNamespace(chains=NodeChains({"base": [chain.rpc_url]}), clock=clock, site=PUBLIC)
        context = Context(payer="0xpayer", ports=ports)  # type: ignore[arg-type]
        yield DeployedChain(
            Web3Reader(chain.rpc_url, int(block["number"], 16)), context, rpc, int(block["timestamp"], 16)
        )
    finally:
        chain.stop()


def _placed(case: Case) -> list[Call]:
    calls = [Call("anvil_setCode", (case.address, "0x" + case.code.hex()))] if case.code else []
    slots = case.slots.items()
    return calls + [Call("anvil_setStorageAt", (case.address, hex(slot), "0x" + word(n).hex())) for slot, n in slots]
