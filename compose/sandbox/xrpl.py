"""The sandbox's XRP Ledger: the main network's id and token issuers, and funded accounts."""

import sys
from collections.abc import Mapping
from pathlib import Path

from compose.sandbox.child import LocalLedger, claim_port, spawn
from compose.sandbox.keys import load_keys
from shared.nodes.xrpl_rpc import XrplRpc

NETWORK = "xrpl:0"


def start_xrpl(var: Path, *, port: int = 0) -> LocalLedger:
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
    return LocalLedger(
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
