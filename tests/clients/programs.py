"""The programs of docs/frameworks.md, run unchanged, in a folder beside the sandbox's file."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from shared.x402.networks import EVM_USDC
from tests.clients.ledgers import LEDGERS
from tests.clients.shop import Shop

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
USDC = EVM_USDC["eip155:8453"].address


def shown(heading: str) -> str:
    """The one program under a heading of the page."""
    section = PAGE.read_text().partition(f"\n### {heading}\n")[2]
    [program] = re.findall(
        r"^```\w+\n(.*?)^```$", re.split(r"^##", section, flags=re.MULTILINE)[0], re.DOTALL | re.MULTILINE
    )
    return str(program)


def beside_a_sandbox(folder: Path, shop: Shop) -> Path:
    """A folder as scripts/run leaves it. It has its own payments and journal of caps."""
    (folder / "var").mkdir()
    (folder / "var" / "sandbox.json").write_text(json.dumps(shop.sandbox))
    return folder


def run(
    command: Sequence[str | Path], folder: Path, program: str | None = None, *, timeout_s: float = 120, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, with an environment of these variables and the way to `coinslot`."""
    return subprocess.run(
        [str(part) for part in command],
        input=program,
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """What a program in the folder is run with."""
    return {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder), **variables}


def received(shop: Shop) -> Decimal:
    """What payTo holds on Base, in millionths of a dollar."""
    return LEDGERS["evm"].held(shop.sandbox["evm"], USDC)
