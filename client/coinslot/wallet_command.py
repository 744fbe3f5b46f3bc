"""`coinslot wallet`: which account pays. Its key is never shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coinslot import wallet_source
from coinslot.output import Output
from shared.x402.networks import Rail


def run(
    output: Output, *, key_file: str | None, rail: Rail, rpc_url: str | None, env: Mapping[str, str], folder: Path
) -> int:
    """Print the wallet. Returns 0. Raises WalletUnusable, OSError."""
    source = wallet_source.find(key_file=key_file, rail=rail, env=env, folder=folder, rpc_url=rpc_url)
    if source.warning:
        output.note(source.warning)
    signer = source.signer
    shown = {
        "address": signer.address,
        "network": signer.network,
        "asset": signer.asset,
        "rail": str(signer.rail),
        "source": "sandbox" if source.sandbox else "key file",
        "path": str(source.path),
    }
    output.result(shown, "\n".join(f"{name:<8} {value}" for name, value in shown.items()))
    return 0
