"""The sandbox's XRP Ledger as a process: rippled's JSON-RPC over HTTP on 127.0.0.1. It closes ledgers by itself.

    python -m compose.sandbox.xrpl_node --port 5005 --payer r... --pay-to r...

The payer starts with XRP and with each of the known tokens; the recipient has a trust line to each. The wallet of
xrpl-wallet-watch's example is there, too.
"""

import argparse
import threading
import traceback
from typing import Any

import msgspec

from compose.sandbox.node_server import NodeServer
from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_lookup import MethodError
from compose.sandbox.xrpl_methods import answer
from compose.sandbox.xrpl_state import ALLOW_CLAWBACK
from jobs.xrpl_wallet_watch.endpoint import EXAMPLE_ADDRESS
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC, XrplToken

CLOSE_EVERY_S = 1.0
FUNDS_DROPS = 1_000 * 10**6
FUNDS = "1000"
"""Of each token."""
LIMIT = "1000000000"


class XrplServer(NodeServer):
    """One ledger on one port.

    Args:
        close_every_s: 0 closes ledgers only by `close_ledgers`.
    """

    def __init__(self, ledger: Ledger, *, port: int = 0, close_every_s: float = CLOSE_EVERY_S) -> None:
        super().__init__(port)
        self.ledger = ledger
        self.is_held = False
        """While it is true, no ledger closes by itself."""
        self._close_every_s = close_every_s
        self._stopping = threading.Event()
        self._ticking = threading.Thread(target=self._tick, name="xrpl-ledgers", daemon=True)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def serve(self) -> None:
        """Answer calls and close ledgers until `stop`."""
        self._ticking.start()
        self.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        """Stop the server and close its port."""
        self._stopping.set()
        self.shutdown()
        self.server_close()
        self._ticking.join()

    def close_ledgers(self, count: int = 1) -> int:
        """Close ledgers now. Returns the number of the last one."""
        with self.lock:
            for _ in range(count):
                self.ledger.close()
            return self.ledger.validated.index

    def answer(self, body: bytes) -> bytes | None:
        """The answer to a request; None closes the connection instead."""
        try:
            request = msgspec.json.decode(body)
            method = request["method"]
            (parameters,) = request.get("params") or [{}]
            if not isinstance(method, str) or not isinstance(parameters, dict):
                raise TypeError
        except (msgspec.DecodeError, KeyError, TypeError, ValueError):
            return b'{"result":{"error":"jsonInvalid","status":"error"}}'
        return msgspec.json.encode({"result": self._result(method, parameters)})

    def _result(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        try:
            with self.lock:
                return answer(self.ledger, method, parameters)
        except MethodError as error:
            return error.result | {"request": {"command": method, **parameters}}
        except Exception:
            traceback.print_exc()
            return {"error": "internal", "error_code": 73, "error_message": "Internal error.", "status": "error"}

    def _tick(self) -> None:
        while self._close_every_s and not self._stopping.wait(self._close_every_s):
            if not self.is_held:
                self.close_ledgers()


def tokens_of(network: str) -> list[XrplToken]:
    """The known tokens of a network."""
    return [tokens[network] for tokens in (XRPL_USDC, XRPL_RLUSD) if network in tokens]


def provision(ledger: Ledger, *, payer: str, pay_to: str) -> None:
    """Fund the payer with XRP and tokens, and create the recipient's trust lines and the issuers."""
    for account in (payer, pay_to):
        ledger.fund(account, FUNDS_DROPS)
    for token in tokens_of(f"xrpl:{ledger.network_id}"):
        # As that of RLUSD on the main network.
        ledger.fund(token.issuer, FUNDS_DROPS, flags=ALLOW_CLAWBACK if token.symbol == "RLUSD" else 0)
        ledger.trust(payer, token.issuer, token.currency, FUNDS, LIMIT)
        ledger.trust(pay_to, token.issuer, token.currency, "0", LIMIT)


def provision_watched(ledger: Ledger) -> None:
    """The wallet that the example of xrpl-wallet-watch asks about. Nobody has its key."""
    token = XRPL_RLUSD[f"xrpl:{ledger.network_id}"]
    ledger.fund(EXAMPLE_ADDRESS, 25 * 10**6)
    ledger.trust(EXAMPLE_ADDRESS, token.issuer, token.currency, "1.25", LIMIT, no_ripple=True)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--payer", required=True, metavar="ADDRESS")
    parser.add_argument("--pay-to", required=True, metavar="ADDRESS")
    parser.add_argument("--close-every", type=float, default=CLOSE_EVERY_S, metavar="SECONDS")
    options = parser.parse_args()
    ledger = Ledger()
    provision(ledger, payer=options.payer, pay_to=options.pay_to)
    provision_watched(ledger)
    with XrplServer(ledger, port=options.port, close_every_s=options.close_every) as server:
        server.serve()


if __name__ == "__main__":
    main()
