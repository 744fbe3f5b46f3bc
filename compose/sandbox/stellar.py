"""The sandbox's Stellar network: pubnet's name, USDC at its own address, and funded accounts."""

import base64
import binascii
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compose.sandbox.child import LocalLedger, claim_port, spawn
from compose.sandbox.keys import load_keys
from shared.nodes.json_rpc import JsonRpc
from shared.x402.networks import STELLAR_USDC
from shared.x402.stellar_address import ACCOUNT, Address

NETWORK = "stellar:pubnet"
PAYER_FUNDS = 1_000 * 10 ** STELLAR_USDC[NETWORK].decimals
"""What the payer has at the start, in atomic units of USDC."""
_ROLES = ("payer", "settler", "pay_to")
_SEED_VERSION = 18 << 3


def start_stellar(var: Path, *, port: int = 0, close_every_s: float = 1.0) -> LocalLedger:
    """Start a fresh network and return when it answers.

    Args:
        var: the project's state folder; the keys are this machine's: ``sandbox/stellar.json`` in it.
        port: 0 picks a free one.
        close_every_s: how long a ledger takes.

    Raises:
        StartFailed: it did not come up.
    """
    keys = load_keys(var, "stellar", _new_keys)
    accounts = {role: _account_of(keys[f"{role}_secret"]) for role in _ROLES}
    port = claim_port(port)
    command = [
        *(sys.executable, "-m", "compose.sandbox.stellar_node", "--port", str(port)),
        *("--close-every", str(close_every_s), "--lumens", accounts["settler"]),
        *("--usdc", f"{accounts['payer']}={PAYER_FUNDS}", "--usdc", f"{accounts['pay_to']}=0"),
    ]
    child = spawn("stellar", command, var)
    rpc = JsonRpc(f"http://127.0.0.1:{port}")
    child.wait_ready(lambda: bool(rpc.named("getHealth")["status"] == "healthy"))
    return LocalLedger(
        child=child,
        rpc_url=f"http://127.0.0.1:{port}",
        network=NETWORK,
        payer_secret=keys["payer_secret"],
        payer=accounts["payer"],
        pay_to=accounts["pay_to"],
        settler_key=keys["settler_secret"],
        settler=accounts["settler"],
    )


def _new_keys() -> Mapping[str, str]:
    return {f"{role}_secret": _secret_of(secrets.token_bytes(32)) for role in _ROLES}


def _secret_of(seed: bytes) -> str:
    """A seed as people have it: ``S…`` (SEP-23)."""
    body = bytes([_SEED_VERSION]) + seed
    return base64.b32encode(body + binascii.crc_hqx(body, 0).to_bytes(2, "little")).decode()


def _account_of(secret: str) -> str:
    seed = base64.b32decode(secret)[1:33]
    return Address(ACCOUNT, Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()).text
