"""The sandbox's Solana: mainnet's identifiers, USDC at its own mint, and funded accounts. LiteSVM executes the transactions."""

import sys
from collections.abc import Mapping
from pathlib import Path

from compose.sandbox.child import LocalLedger, claim_port, spawn
from compose.sandbox.keys import load_keys
from shared.nodes.json_rpc import JsonRpc
from shared.x402.networks import SOLANA_USDC

NETWORK = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
USDC = SOLANA_USDC[NETWORK]
_ROLES = ("payer", "settler", "pay_to")


def start_solana(var: Path, *, port: int = 0) -> LocalLedger:
    """Start a fresh ledger and return when it answers.

    Args:
        var: the project's state folder, which keeps this machine's keys.
        port: 0 picks a free one.

    Raises:
        StartFailed: the port is taken, or the node did not come up.
    """
    from solders.keypair import Keypair

    keys = {role: Keypair.from_base58_string(secret) for role, secret in load_keys(var, "solana", _new_keys).items()}
    payer, settler, pay_to = (str(keys[role].pubkey()) for role in _ROLES)
    port = claim_port(port)
    command = [sys.executable, "-m", "compose.sandbox.solana_node", "--port", str(port)]
    child = spawn("solana", [*command, "--fee-payer", settler, "--payer", payer, "--pay-to", pay_to], var)
    rpc_url = f"http://127.0.0.1:{port}"
    rpc = JsonRpc(rpc_url)
    child.wait_ready(lambda: bool(rpc("getHealth") == "ok"))
    return LocalLedger(
        child=child,
        rpc_url=rpc_url,
        network=NETWORK,
        payer_secret=str(keys["payer"]),
        payer=payer,
        pay_to=pay_to,
        settler_key=keys["settler"].secret().hex(),  # the seed
        settler=settler,
    )


def _new_keys() -> Mapping[str, str]:
    from solders.keypair import Keypair

    return {role: str(Keypair()) for role in _ROLES}
