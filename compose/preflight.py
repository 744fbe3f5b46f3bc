"""Finds wrong settings, taken ports and full disks before anything is started, and says in a sentence what is wrong."""

import errno
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from api.payment.limits import Limits
from compose.sandbox import fixtures
from compose.users import Accounts
from jobs.packages import installed_packages
from shared.networks import NETWORKS
from shared.observability import tracing
from shared.process.machine import free_memory_bytes
from shared.sealing.keys import previous_key_file, read_sealing_keys
from shared.settings.cdp_key import read_cdp_key
from shared.settings.egress import egress
from shared.settings.egress_proxies import read_egress_proxies
from shared.settings.secret_files import is_exposed, read_headers, read_key, read_secret
from shared.settings.service import PREFIX, InvalidSetting, Settings
from workers.browser.program import find_program

MEMORY_MB = 400
"""Of scripts/run, its servers and its local ledgers (measured: 1.5 GB with the Procfile, 1.0 GB with Procfile.small)."""
PROCESS_MB = 95
"""Of a process of the Procfile, on average, with its children."""


def check_settings(settings: Settings, is_missing: Callable[[str], bool], users: Accounts) -> None:
    """Raises InvalidSetting, or RefusedPackage, for what the processes would refuse.

    Args:
        is_missing: whether a setting is not given, by its name without COINSLOT_. The sandbox makes it then.
        users: who will read the files that are given.
    """
    if installed_packages():
        from jobs.catalogue import installed  # every endpoint, which takes half a second to import

        installed()
    egress(settings)
    read_egress_proxies(settings.egress_proxy_file)
    Limits(settings.rate_limits)
    tracing.check(settings)
    find_program(settings.chromium)
    if settings.sell or settings.prices_file:
        from jobs import price_list  # every endpoint, which takes 0.5 s to import

        price_list.read(settings)
    if not is_missing("KEY_FILE"):
        read_sealing_keys(settings)
    if settings.receipt_key_file:
        read_key(Path(settings.receipt_key_file))
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
        if settings.evm.listing_facilitator_url:
            read_headers(settings.evm.listing_facilitator_headers_file)
            read_cdp_key(settings.evm.listing_facilitator_cdp_key_file)
    else:
        from api.payment.rails import configured_rails  # aiohttp, which takes 0.2 s to import

        configured_rails(settings)
    values = {name.removeprefix(PREFIX): value for name, value in settings.variables().items()}
    files = {setting: Path(str(value)) for setting, value in values.items() if setting.endswith("_FILE")}
    for setting, path in files.items():
        if not is_missing(setting):
            _check_file(setting, path, users)
    if not is_missing("KEY_FILE"):
        _check_file("PREVIOUS_KEY_FILE", previous_key_file(settings), users)


def _check_file(setting: str, path: Path, users: Accounts) -> None:
    """Whether the process that uses a file may do so and, where it is secret, others cannot. Whoever needs one that is missing
    reports it."""
    is_journal = setting.endswith("_JOURNAL_FILE")
    asked = path.parent if is_journal and not path.exists() else path
    if not asked.exists():
        return
    if not is_journal and not setting.endswith(("CA_FILE", "PRICES_FILE")) and is_exposed(path):
        raise InvalidSetting(f"{PREFIX}{setting}: others can read {path}: chmod 600 {path}, or 440 if it is root's")
    is_facilitators = is_journal or setting.endswith("_SETTLER_KEY_FILE")
    account = users.of("facilitator" if is_facilitators else "api")
    flag, verb = ("-w", "write") if is_journal else ("-r", "read")
    # A process of that user is asked, because the folders above count, too.
    if account and subprocess.run(["test", flag, asked], check=False, **account.options).returncode:  # noqa: S607
        raise InvalidSetting(
            f"{PREFIX}{setting}: the user {account.name} cannot {verb} {path}: give it to that user, and let it enter the "
            "folders above"
        )


def check_ports(settings: Settings, given: Mapping[str, str], scale: Mapping[str, int]) -> None:
    """Raises InvalidSetting when the port of a process is taken, or its address is not this machine's. A port that scripts/run
    chooses is free."""
    is_our_facilitator = scale.get("facilitator", 1) and f"{PREFIX}EVM_FACILITATOR_URL" not in given
    used = {
        "": scale.get("api", 1),
        "FACILITATOR_": is_our_facilitator and {f"{PREFIX}FACILITATOR_PORT", f"{PREFIX}EVM_PAY_TO"} & given.keys(),
        "DASHBOARD_": scale.get("dashboard", 1) and f"{PREFIX}DASHBOARD_PORT" in given,
    }
    for setting in (setting for setting, is_used in used.items() if is_used):
        host, port = (getattr(settings, f"{setting}{part}".lower()) for part in ("HOST", "PORT"))
        if (error := bind_error(host, port)) is not None:
            is_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
            what, named = (f"port {port}", "PORT") if is_port else (f"address {host}", "HOST")
            why = f"{what} cannot be used ({error.strerror})"
            raise InvalidSetting(f"{why}: set {PREFIX}{setting}{named} to another one")


def bind_error(host: str, port: int) -> OSError | None:
    """Why nobody can listen there; None when one can."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def memory_warning(processes: int, free_bytes: int | None = None) -> str:
    """What to expect where so many processes of a Procfile have too little memory; "" where they have enough.

    Args:
        free_bytes: None: the memory that this process may use in addition.
    """
    free_mb = (free_memory_bytes() if free_bytes is None else free_bytes) // 1_000_000
    needed_mb = MEMORY_MB + PROCESS_MB * processes
    if free_mb >= needed_mb:
        return ""
    fewer = ", or start fewer: --procfile compose/Procfile.small needs 1.0 GB" if needed_mb > 1000 else ""
    return (
        f"{free_mb / 1000:.1f} GB of memory are free, and {processes} processes need about {needed_mb / 1000:.1f} GB: the "
        f"kernel will kill some of them. Add memory{fewer}"
    )


def _require_local_chain(network: str) -> None:
    known = [f"eip155:{chain_id}" for chain_id in fixtures.USDC]
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
