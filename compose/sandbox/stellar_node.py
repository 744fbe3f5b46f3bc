"""The sandbox's Stellar network as a process: Stellar RPC over HTTP on 127.0.0.1, with a new ledger every second.

    python -m compose.sandbox.stellar_node --port 8000 --lumens G... --usdc G...=10000000 --usdc G...=0

No package manager has a Stellar node. This is a test double, written against the public documentation. It checks everything
that concerns money: signatures, sequence numbers, fees, time, nonces, balances and trust lines.
"""

from __future__ import annotations

import argparse
import threading
import time
from typing import Any

from stellar_sdk import Asset

from compose.sandbox.node_server import JsonRpcServer
from compose.sandbox.stellar_ledger import Ledger
from compose.sandbox.stellar_methods import answer
from shared.x402.networks import STELLAR_USDC

NETWORK = "stellar:pubnet"
TOKEN = STELLAR_USDC[NETWORK]
"""Circle's account. The contract's address is derived from it, the asset's code and the network."""
LUMENS = 10_000


class StellarServer(JsonRpcServer):
    """Answers for one network. `close_every_s` is how long its ledgers take."""

    def __init__(self, port: int, ledger: Ledger, close_every_s: float) -> None:
        super().__init__(port)
        self.ledger = ledger
        self._close_every_s = close_every_s
        self._over = threading.Event()

    def call(self, method: str, params: Any) -> Any:
        """A method of Stellar RPC, or of the tests."""
        return answer(self.ledger, method, {} if params is None else params)

    def close_ledgers(self) -> None:
        """Close ledgers until the server is closed."""
        due = time.monotonic() + self._close_every_s
        while not self._over.wait(max(0.0, due - time.monotonic())):
            with self.lock:
                self.ledger.tick()
            due = max(due + self._close_every_s, time.monotonic())

    def server_close(self) -> None:
        """Also ends the ledgers."""
        self._over.set()
        super().server_close()


def new_ledger() -> Ledger:
    """A network with the real name and USDC, and no account but the issuer."""
    ledger = Ledger(TOKEN.passphrase, Asset("USDC", TOKEN.issuer))
    assert ledger.contract.address == TOKEN.contract
    ledger.fund(TOKEN.issuer, lumens=LUMENS)
    return ledger


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--close-every", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--lumens", action="append", default=[], metavar="ACCOUNT")
    parser.add_argument("--usdc", action="append", default=[], metavar="ACCOUNT=UNITS")
    options = parser.parse_args()
    ledger = new_ledger()
    for account in options.lumens:
        ledger.fund(account, lumens=LUMENS)
    for given in options.usdc:
        account, _, units = given.partition("=")
        ledger.fund(account, units=int(units))
    with StellarServer(options.port, ledger, options.close_every) as server:
        threading.Thread(target=server.close_ledgers, daemon=True).start()
        server.serve_forever()


if __name__ == "__main__":
    main()
