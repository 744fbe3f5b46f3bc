"""What compose.yaml needs and does not bring: local chains, sites, settings and secrets, as an operator writes them."""

import os
import re
import resource
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from compose.sandbox.child import ROOT, spawn
from compose.sandbox.ledgers import OTHERS, ledgers
from compose.sandbox.upstream_server import start_upstreams
from shared.settings.service import PREFIX

ADDRESS = "11.0.0.1"
"""Of this machine while the run lasts. It is a public address, because in production no other one is called."""
BASE_URL = "https://shop.example.com"
API_USER, FACILITATOR_USER = 65532, 65533
_COPIED = ("compose.yaml", "seccomp.json")
_OPEN_FILES = 32768
"""What compose.yaml gives the API."""
_PROCESSES = 4000
"""More than it needs, and less than any machine's limit."""


@contextmanager
def outside(folder: Path, var: Path) -> Iterator[dict[str, Any]]:
    """Start chains and sites, and write a folder in which `docker compose up` finds all it needs. Yields the sandbox's wallets.

    Args:
        folder: for compose.yaml, its settings and its secrets.
        var: for the chains and sites.
    """
    with ledgers(var, "eip155:8453", OTHERS) as local:
        upstreams = start_upstreams(var, ADDRESS)
        made = local.settings(var, "http://facilitator:4021")
        ports = sorted({int(port) for value in made.values() for port in re.findall(r"127\.0\.0\.1:(\d+)", value)})
        forward = spawn(
            "forward", [sys.executable, "-m", "tests.engine.forward", ADDRESS, *(str(port) for port in ports)], var
        )
        try:
            forward.wait_ready(lambda: "ready" in forward.log.read_text())
            _write(folder, made, upstreams.settings)
            yield {"baseUrl": BASE_URL, **local.described()}
        finally:
            forward.stop()
            upstreams.child.stop()


def _write(folder: Path, made: Mapping[str, str], sites: Mapping[str, str]) -> None:
    """compose.yaml as it is, the files that its comment asks for, and `here.yaml` with what only this machine needs."""
    for name in _COPIED:
        shutil.copy(ROOT / "compose" / name, folder)
    (folder / "secrets").mkdir()
    (folder / "sites").mkdir()
    own_secrets = {"coinslot.key": secrets.token_hex(32), "dashboard.password": secrets.token_urlsafe(18)}
    for name, content in own_secrets.items():
        _secret(folder, name, content, API_USER)

    reached = {name: value.replace("127.0.0.1", ADDRESS) for name, value in made.items()}
    facilitators = {
        name: value
        for name, value in reached.items()
        if not name.endswith(("_FACILITATOR_URL", "_JOURNAL_FILE", "_KEY_FILE")) and not name.startswith("RPC_")
    }
    keys = {}
    for name, value in made.items():
        if name.endswith("_SETTLER_KEY_FILE"):
            network = name.partition("_")[0].lower()
            secret = "settler" if network == "evm" else f"{network}-settler"
            _secret(folder, f"{secret}.key", Path(value).read_text(), FACILITATOR_USER)
            if network != "evm":  # compose.yaml has that of Base
                keys[f"{network}_settler_key"] = f"./secrets/{secret}.key"
                facilitators[name] = f"/run/secrets/{network}_settler_key"
    _settings(folder / "facilitator.env", facilitators)

    shops = {name: value for name, value in reached.items() if not name.endswith(("_FILE", "_FACILITATOR_URL"))}
    for name, value in sites.items():
        shops[name] = value
        if name in ("CA_FILE", "RDAP_BOOTSTRAP"):
            shutil.copy(value, folder / "sites")
            shops[name] = f"/sites/{Path(value).name}"
    del shops["EGRESS_ALLOW"]  # not in production
    _settings(folder / "coinslot.env", shops | {"BASE_URL": BASE_URL, "RATE_LIMITS": "off"})

    services: dict[str, Any] = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    readers = [name for name, service in services.items() if "coinslot.env" in service.get("env_file", ())]
    here: dict[str, Any] = {name: {"volumes": ["./sites:/sites:ro"]} for name in readers}
    here["facilitator"] = {"secrets": list(keys)}
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if (
        most < _OPEN_FILES
    ):  # this machine raises no limits; where one is named, podman would raise that of processes, too
        here["api"]["ulimits"] = {"nofile": most, "nproc": _PROCESSES}
    (folder / "here.yaml").write_text(
        yaml.safe_dump({"services": here, "secrets": {name: {"file": path} for name, path in keys.items()}})
    )
    for path in (folder, folder / "sites", *(folder / "sites").iterdir()):
        path.chmod(path.stat().st_mode | 0o555)


def _settings(path: Path, settings: Mapping[str, str]) -> None:
    path.write_text("".join(f"{PREFIX}{name}={value}\n" for name, value in settings.items()))


def _secret(folder: Path, name: str, content: str, user: int) -> None:
    path = folder / "secrets" / name
    path.write_text(content)
    path.chmod(0o400)
    os.chown(path, user, user)
