"""What can be found wrong before anything is started, so that it is told in a sentence."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from api.payment.limits import Limits
from compose.sandbox import scenes
from shared import tracing
from shared.cdp_key import read_cdp_key
from shared.egress import egress
from shared.networks import NETWORKS
from shared.sealing_keys import read_sealing_keys
from shared.secret_files import read_headers, read_secret
from shared.settings import PREFIX, InvalidSetting, Settings
from workers.browser.program import find_program


def check_settings(settings: Settings, is_missing: Callable[[str], bool]) -> None:
    """Raises InvalidSetting for what the processes would refuse.

    Args:
        is_missing: whether a setting is not given, by its name without COINSLOT_. The sandbox makes it then.
    """
    egress(settings)
    Limits(settings.rate_limits)
    tracing.check(settings)
    find_program(settings.chromium)
    if not is_missing("KEY_FILE"):
        read_sealing_keys(settings)
    if not is_missing("DASHBOARD_PASSWORD_FILE"):
        read_secret(settings.dashboard_password_file)
    for network in NETWORKS.values():
        key_file = network.settler_key_file(settings.rails[network.name])
        if key_file is not None and is_missing(f"{network.name.upper()}_FACILITATOR_URL"):
            network.read_settler_key(key_file)
    if is_missing("EVM_PAY_TO") and is_missing("EVM_FACILITATOR_URL"):
        _require_local_chain(settings.evm.network)
        for rail in settings.rails.values():
            read_headers(rail.facilitator_headers_file)
            read_cdp_key(rail.facilitator_cdp_key_file)
    else:
        from api.payment.rails import configured_rails  # aiohttp, which takes 0.2 s to import

        configured_rails(settings)


def _require_local_chain(network: str) -> None:
    known = [f"eip155:{chain_id}" for chain_id in scenes.USDC]
    if network not in known:
        raise InvalidSetting(
            f"{PREFIX}EVM_NETWORK: the sandbox has {', '.join(known)}, not {network}: for another one set {PREFIX}EVM_PAY_TO"
        )


def make_folder(var: Path) -> None:
    """Make the folder of all files, if there is none. Raises InvalidSetting when nothing can be written to it."""
    try:
        var.mkdir(parents=True, exist_ok=True)
        (var / "lock").touch()
    except OSError as error:
        raise InvalidSetting(
            f"nothing can be written to the folder {var} ({error.strerror}): set {PREFIX}VAR to another one"
        ) from None


def check_disk(var: Path, free_mb: int) -> None:
    """Raises InvalidSetting when the disk of the folder has less than `free_mb` MB free: no payment would be taken."""
    found_mb = shutil.disk_usage(var).free // 1_000_000
    if found_mb < free_mb:
        mount = next(path for path in (var.resolve(), *var.resolve().parents) if os.path.ismount(path))
        raise InvalidSetting(
            f"the disk at {mount} has {found_mb} MB free, and the ledger in {var} needs {free_mb} MB: free some, set "
            f"{PREFIX}VAR to a folder on another disk, or set {PREFIX}LEDGER_FREE_MB to less"
        )
