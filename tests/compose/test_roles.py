"""Each role's lock has all that its processes import, and nothing that is another role's alone."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from compose.sandbox.child import ROOT
from tests.each import each

_PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", re.MULTILINE)

ONLY = """
import importlib, importlib.metadata, pkgutil, re, sys

allowed = {"coinslot", *sys.argv[1].split(",")}
distributions = {
    module: {re.sub("[-_.]+", "-", name).lower() for name in names}
    for module, names in importlib.metadata.packages_distributions().items()
}

finders = list(sys.meta_path)

class OnlyOfTheRole:
    def find_spec(name, path=None, target=None):
        if distributions.get(name.partition(".")[0], {"coinslot"}).isdisjoint(allowed):
            return None
        return next((spec for finder in finders if (spec := finder.find_spec(name, path, target))), None)

    def find_distributions(context):  # dnspython asks for the version of what it may import
        if context.name and re.sub("[-_.]+", "-", context.name).lower() not in allowed:
            return []
        return importlib.machinery.PathFinder.find_distributions(context)

sys.meta_path[:] = [OnlyOfTheRole]
def all_of(package, without=()):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not found.name.startswith(tuple(without)) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
"""
"""What a fresh interpreter runs first. Its argument is the names of the distributions that it may import."""

BUYER, OPERATOR = (
    script.partition(":")[0].partition(".")[0]
    for script in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"].values()
)

OF_MCP = ("mcp_server", "mcp_messages", "openapi_tools", "page_delta")
"""The buyer's modules that need the packages of the role mcp."""

PROCESSES = {
    "api": """
import tempfile
from pathlib import Path
import msgspec
import api.__main__
all_of("api")
from jobs.catalogue import CATALOGUE
from jobs.ports.chains import CHAIN_IDS
from jobs.site import Site, SiteRequest
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
with tempfile.NamedTemporaryFile("w") as key:
    key.write("1" * 64)
    key.flush()
    api.app.create_app(Settings(key_file=Path(key.name), evm=EvmRailSettings(pay_to="0x" + "11" * 20)))
site = Site(own=(), chains=CHAIN_IDS)
for endpoint in CATALOGUE:
    request = msgspec.json.decode(msgspec.json.encode(endpoint.example.request), type=endpoint.request)
    if isinstance(request, SiteRequest):
        request.check(site)
""",
    "worker": """
from shared.pools import Pool
all_of("workers", ("workers.browser", "workers.adapters.browser"))
from workers.warming import warm
warm([pool for pool in Pool if pool is not Pool.RENDER])
""",
    "worker-render": """
from shared.pools import Pool
all_of("workers")
from workers.warming import warm
warm([Pool.RENDER])
""",
    "facilitator": 'import facilitator.__main__, facilitator.claimer.__main__; all_of("facilitator")',
    "client": f'all_of("{BUYER}", {[f"{BUYER}.{name}" for name in OF_MCP]})',
    "mcp": f'all_of("{BUYER}")',
    "ops": f'all_of("{OPERATOR}")',
    "sandbox": 'all_of("compose", ("compose.injection", "compose.data"))',
}
"""What each role's processes import: at their start, and what they load later."""

SETTLES = {"solana", "solders", "stellar-sdk", "web3"}
SELLS = {"faker", "jinja2", "jsonschema-rs", "lxml", "mini-racer", "phonenumberslite", "trafilatura"}
FOREIGN = {
    "api": SETTLES | {"dramatiq", "faker", "mini-racer", "phonenumberslite", "trafilatura", "xrpl-py"},
    "worker": SETTLES | {"granian", "litestar", "trafilatura"},
    "worker-render": SETTLES | {"granian", "litestar"},
    "facilitator": SELLS | {"dramatiq", "web3", "xrpl-py"},
    "client": SETTLES | SELLS | {"granian", "litestar", "redis", "xrpl-py"},
    "mcp": SETTLES | SELLS - {"jsonschema-rs"} | {"granian", "litestar", "redis", "xrpl-py"},
    "ops": SELLS - {"jinja2"} | {"dramatiq", "litestar"},  # rq-dashboard's Flask brings jinja2
    "sandbox": {"hypothesis", "mypy", "playwright", "pytest", "ruff", "x402"},
}
"""Heavy packages that are other roles'."""


def pins(lock: Path) -> dict[str, str]:
    """The version of each package."""
    return dict(_PIN.findall(lock.read_text()))


@pytest.mark.parametrize("role", PROCESSES)
def test_a_role_needs_nothing_but_its_own_lock(role: str) -> None:
    """A fresh interpreter that finds no other distribution imports all modules of the role's processes."""
    names = ",".join(pins(ROOT / "locks" / f"{role}.lock"))
    command = [sys.executable, "-W", "ignore", "-c", ONLY + PROCESSES[role], names]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


@each("role", FOREIGN)
def test_a_role_has_nothing_that_is_heavy_and_anothers(role: str) -> None:
    """Whoever can settle has no reader of hostile pages, and the API has no chain's library."""
    assert not FOREIGN[role] & pins(ROOT / "locks" / f"{role}.lock").keys()


def test_all_locks_have_the_same_versions() -> None:
    """What is tested in the checkout is what is installed in production."""
    everything = pins(ROOT / "requirements.lock")
    assert {lock.stem for lock in (ROOT / "locks").iterdir()} == PROCESSES.keys()
    for role in PROCESSES:
        assert pins(ROOT / "locks" / f"{role}.lock").items() <= everything.items()
