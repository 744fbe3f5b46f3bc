"""The py-evm chain as a process: JSON-RPC over HTTP on 127.0.0.1.

    python -m compose.sandbox.pyevm_chain --port 8545 --fund 0x...

The chain for machines without anvil: about ten times slower and without its anvil_ and evm_ methods, otherwise answering the
same questions in the same words. USDC stands at its address from the first block; the funded accounts have 10,000 ETH.
"""

from __future__ import annotations

import argparse
from typing import Any

from eth_typing import Address

from compose.sandbox import artefact
from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.pyevm_methods import answer
from compose.sandbox.pyevm_node import CHAIN_ID, Node
from shared.x402.networks import EVM_USDC

FUNDS_WEI = 10_000 * 10**18


class _Server(JsonRpcServer):
    def __init__(self, port: int, node: Node) -> None:
        super().__init__(port)
        self._node = node

    def call(self, method: str, params: Any) -> Any:
        return answer(self._node, method, params or [])


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fund", action="append", default=[], metavar="ADDRESS")
    options = parser.parse_args()
    usdc = EVM_USDC[f"eip155:{CHAIN_ID}"].address
    node = Node(
        code={_address(usdc): artefact.load("UsdcSandbox").deployed_bytecode},
        balances={_address(account): FUNDS_WEI for account in options.fund},
    )
    with _Server(options.port, node) as server:
        server.serve_forever()


def _address(value: str) -> Address:
    return Address(bytes.fromhex(value.removeprefix("0x")))


if __name__ == "__main__":
    main()
