"""The wallet of the tool page_delta, on the XRP Ledger. Its owner opts in with the environment.

`coinslot mcp --help` lists the variables. The key and the node of the other tools are not used.
"""

from dataclasses import replace
from pathlib import Path

from coinslot import configuration
from coinslot.configuration import Configuration
from coinslot.errors import InvalidCall, WalletUnusable
from coinslot.options import Options
from shared.x402.networks import Rail

RAIL = Rail.XRPL_RLUSD
RAIL_ENVIRONMENT = "COINSLOT_PAGE_DELTA_RAIL"
KEY_FILE_ENVIRONMENT = "COINSLOT_PAGE_DELTA_KEY_FILE"
RPC_URL_ENVIRONMENT = "COINSLOT_PAGE_DELTA_RPC_URL"


def find(options: Options, *, base_url: str, other: Configuration | None) -> Configuration:
    """The wallet, its server and its folder.

    Args:
        base_url: of the server that sells.
        other: of the other tools.

    Raises:
        InvalidCall: the owner has not opted in, or to another rail.
        WalletUnusable: the key file cannot be used, or other people or tools can use the wallet, too.
    """
    names = (RAIL_ENVIRONMENT, KEY_FILE_ENVIRONMENT, RPC_URL_ENVIRONMENT)
    values = {name: options.named(None, name) for name in names}
    if missing := [name for name, value in values.items() if not value]:
        raise InvalidCall(
            f"page_delta is not offered: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set",
            hint=f"It pays with RLUSD on the XRP Ledger from another wallet. To opt in, set {RAIL_ENVIRONMENT}={RAIL}, "
            f"{KEY_FILE_ENVIRONMENT} and {RPC_URL_ENVIRONMENT}.",
        )
    if values[RAIL_ENVIRONMENT] != RAIL:
        raise InvalidCall(
            f"page_delta is not offered: {RAIL_ENVIRONMENT} is not {RAIL}, which is all that it pays with"
        )
    key_file = values[KEY_FILE_ENVIRONMENT]
    _check_private(Path(key_file))
    found = configuration.find(
        replace(
            options, url=base_url, key_file=key_file, rail=RAIL, rpc_url=values[RPC_URL_ENVIRONMENT], scheme="exact"
        )
    )
    if other is not None and found.signer.address in _addresses(other):
        raise WalletUnusable("page_delta is not offered: its wallet is that of the other tools, and must be its own")
    return found


def _addresses(found: Configuration) -> set[str]:
    """Of the accounts that pay for the other tools. Raises WalletUnusable."""
    return {found.signer.address} if found.is_sandbox else {signer.address for signer in found.wallet.signers}


def _check_private(path: Path) -> None:
    """A file that is not there is reported by who reads it. Raises WalletUnusable."""
    try:
        mode = path.stat().st_mode & 0o777
    except (OSError, ValueError):
        return
    if mode & 0o077:
        raise WalletUnusable(
            f"page_delta is not offered: its key file {path} has the mode {mode:04o}, so others can use it, too",
            hint=f"Run: chmod 600 {path}",
        )
