"""The sandbox's XRP Ledger: the main network's id and token issuers, and funded accounts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compose.sandbox.child import Child, claim_port, spawn
from compose.sandbox.keys import load_keys
from shared.nodes.xrpl_rpc import XrplRpc

NETWORK = "xrpl:0"


@dataclass(frozen=True, slots=True)
class XrplSandbox:
    """A running ledger that is ready for payments. The payer pays the network's fees by itself, so nobody else has a key.

    Attributes:
        network: CAIP-2, that of the main network.
        payer_secret, payer: the buyer's family seed and address: 1,000 each of XRP, USDC and RLUSD.
        pay_to: where payments go: an account with trust lines to both tokens.
    """

    child: Child
    rpc_url: str
    network: str
    payer_secret: str = field(repr=False)
    payer: str
    pay_to: str

    def stop(self) -> None:
        """End the node and wait for it. The ledger is gone: the next start is a fresh one."""
        self.child.stop()


def start_xrpl(var: Path, *, port: int = 0) -> XrplSandbox:
    """Start a fresh ledger and return when it answers.

    Args:
        var: the project's state folder; the accounts are this machine's, ``sandbox/xrpl.json`` in it, made the first time.
        port: 0 picks a free one.

    Raises:
        StartFailed: the port is taken, or the node did not come up.
    """
    keys = load_keys(var, "xrpl", _new_keys)
    port = claim_port(port)
    command = [sys.executable, "-m", "compose.sandbox.xrpl_node", "--port", str(port)]
    child = spawn("xrpl", [*command, "--payer", keys["payer"], "--pay-to", keys["pay_to"]], var)
    rpc_url = f"http://127.0.0.1:{port}"
    rpc = XrplRpc(rpc_url, timeout_s=2.0)
    child.wait_ready(lambda: _serves(rpc))
    return XrplSandbox(
        child=child,
        rpc_url=rpc_url,
        network=NETWORK,
        payer_secret=keys["payer_secret"],
        payer=keys["payer"],
        pay_to=keys["pay_to"],
    )


def _new_keys() -> Mapping[str, str]:
    from xrpl.wallet import Wallet  # takes most of a second to import

    payer, pay_to = Wallet.create(), Wallet.create()
    return {
        "payer_secret": str(payer.seed),
        "payer": payer.address,
        "pay_to_secret": str(pay_to.seed),
        "pay_to": pay_to.address,
    }


def _serves(rpc: XrplRpc) -> bool:
    return bool(rpc("server_info")["info"]["network_id"] == int(NETWORK.partition(":")[2]))
