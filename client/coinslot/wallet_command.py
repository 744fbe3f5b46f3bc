"""`coinslot wallet`: which account pays. Its key is never shown."""

from coinslot import wallet_source
from coinslot.options import Options
from coinslot.output import Output


def run(options: Options, output: Output) -> int:
    """Print the wallet. Returns 0. Raises WalletUnusable, OSError."""
    source = wallet_source.find(options)
    for warning in source.warnings:
        output.note(warning)
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
