"""Tools' schemas in the strict modes of the SDKs of OpenAI and Anthropic, as docs/mcp.md says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from api.discovery import tools
from jobs import schemas
from jobs.catalogue import CATALOGUE
from shared.call_path import tool_name
from tests.clients import environments
from tests.clients.programs import run

pytestmark = pytest.mark.timeout(300)  # the first run fetches the SDKs

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "mcp.md"


def test_strict_modes_take_what_is_documented() -> None:
    """Every schema goes through both SDKs. What a strict mode cannot hold of it is in the page's table, and nothing else is."""
    try:
        python = environments.python("openai-agents")
    except environments.Unavailable as error:
        pytest.skip(str(error))
    sent: dict[str, Any] = {
        tool_name(endpoint.name): schemas.of(endpoint.request) for endpoint in CATALOGUE if endpoint.listed
    }
    sent |= {name: schemas.of(arguments) for name, (arguments, _) in tools._FEW.items()}
    done = run([str(python), str(HERE / "strict_tools.py")], HERE, json.dumps(sent), OPENAI_API_KEY="none")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["elsewhere"] == []
    section = PAGE.read_text().partition("\n### Strict schemas\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \| (.*) \|$", section, re.MULTILINE)
    documented = {name: {"openai": _named(openai), "anthropic": _named(anthropic)} for name, openai, anthropic in rows}
    measured = {name: found for name, found in printed["found"].items() if found["openai"] or found["anthropic"]}
    assert documented == measured


def _named(cell: str) -> list[str]:
    """What a cell says that a strict mode does not take."""
    kind, has_colon, _ = cell.partition(":")
    return [kind] if has_colon else re.findall(r"`(\w+)`", cell)
