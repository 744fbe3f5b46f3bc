"""The py-evm chains as a process: JSON-RPC over HTTP on 127.0.0.1, a port for each.

    python -m compose.sandbox.pyevm_chain --chain 8453=8545 --chain 1=8546 --fund 0x...

The chains for machines without anvil: about ten times slower and without its anvil_ and evm_ methods, otherwise answering the
same questions in the same words. USDC stands at its address from the first block; the funded accounts have 10,000 ETH.
One process for both: the second chain costs a few megabytes, and another process would cost 70.
"""

from __future__ import annotations

import argparse
import threading
import time
from typing import Any

from eth_typing import Address

from compose.sandbox import scenes
from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.pyevm_methods import answer
from compose.sandbox.pyevm_node import Node
from compose.sandbox.scene_state import ETHER, Account, accounts
from compose.sandbox.scene_transactions import empty_blocks, transactions

FUNDS_WEI = 10_000 * ETHER


class _Server(JsonRpcServer):
    def __init__(self, port: int, node: Node) -> None:
        super().__init__(port)
        self._node = node

    def call(self, method: str, params: Any) -> Any:
        return answer(self._node, method, params or [])


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chain", action="append", default=[], metavar="ID=PORT")
    parser.add_argument("--fund", action="append", default=[], metavar="ADDRESS")
    options = parser.parse_args()
    serving = []
    for chain_id, port in (map(int, chain.split("=")) for chain in options.chain):
        server = _Server(port, _node(chain_id, options.fund))
        serving.append(threading.Thread(target=server.serve_forever))
        serving[-1].start()
    for thread in serving:
        thread.join()


def _node(chain_id: int, funded: list[str]) -> Node:
    """A chain with its scenes."""
    now = int(time.time())
    first = accounts(chain_id) | {account: Account(balance=FUNDS_WEI) for account in funded}
    began = now - scenes.GENESIS_DAYS_AGO * scenes.DAY_S
    node = Node(chain_id, {_address(address): account for address, account in first.items()}, began)
    for transaction in transactions(chain_id):
        for timestamp in empty_blocks(transaction, now):
            node.mine_empty(timestamp)
        node.send(transaction.raw, transaction.time(now))
    return node


def _address(value: str) -> Address:
    return Address(bytes.fromhex(value.removeprefix("0x")))


if __name__ == "__main__":
    main()
