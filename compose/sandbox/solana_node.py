"""The sandbox's Solana node as a process: JSON-RPC over HTTP on 127.0.0.1.

    python -m compose.sandbox.solana_node --port 8899 --fee-payer <address> --payer <address> --pay-to <address>

USDC is at its address from the first block. The fee payer has 10 SOL, the payer has 1,000 USDC, and the recipient has a token
account for USDC.
"""

from __future__ import annotations

import argparse
from typing import Any

from solders.pubkey import Pubkey

from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.solana_ledger import Ledger
from compose.sandbox.solana_methods import answer
from compose.sandbox.solana_tokens import USDC

FEE_PAYER_LAMPORTS = 10 * 10**9
PAYER_FUNDS = 1_000 * 10**USDC.decimals


class Server(JsonRpcServer):
    """One ledger on one port."""

    def __init__(self, port: int, ledger: Ledger) -> None:
        super().__init__(port)
        self.ledger = ledger

    def call(self, method: str, params: Any) -> Any:
        """A method of Solana's RPC, or of the tests."""
        return answer(self.ledger, method, params if isinstance(params, list) else [params] if params else [])


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    for account in ("--fee-payer", "--payer", "--pay-to"):
        parser.add_argument(account, type=Pubkey.from_string, required=True, metavar="ADDRESS")
    options = parser.parse_args()
    ledger = Ledger()
    ledger.fund(options.fee_payer, lamports=FEE_PAYER_LAMPORTS)
    ledger.fund(options.payer, usdc=PAYER_FUNDS)
    ledger.fund(options.pay_to, usdc=0)
    with Server(options.port, ledger) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
