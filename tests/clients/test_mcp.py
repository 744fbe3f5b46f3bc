"""Official clients of x402 over MCP buy from the MCP server of the service."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs.catalogue import CATALOGUE
from shared.call_path import tool_name
from shared.x402.networks import Rail
from tests.clients import environments
from tests.clients.programs import received, run
from tests.clients.shop import Shop

pytestmark = pytest.mark.timeout(300)  # the first run fetches the client

HERE = Path(__file__).parent
SOLD = [endpoint for endpoint in CATALOGUE if Rail.BASE in endpoint.rails]
UNLISTED = [endpoint for endpoint in SOLD if not endpoint.listed]
BY_NAME = [(endpoint, tool_name(endpoint.name), endpoint.example.request) for endpoint in SOLD]
BY_CALL_TOOL = [
    (endpoint, "call_tool", {"name": name, "arguments": endpoint.example.request})
    for endpoint in UNLISTED
    for name in (endpoint.name, tool_name(endpoint.name))
]
CALLS = [*BY_NAME, *BY_CALL_TOOL]
Command = Callable[[Path], list[str | Path]]


def _python(folder: Path) -> list[str | Path]:
    """PyPI's x402[mcp]."""
    shutil.copy(HERE / "loopback.py", folder)
    shutil.copy(HERE / "pay_mcp.py", folder)
    return [environments.python("mcp"), "pay_mcp.py"]


def _cloudflare(folder: Path) -> list[str | Path]:
    """npm's agents."""
    (folder / "node_modules").symlink_to(environments.node() / "node_modules")
    shutil.copy(HERE / "pay_mcp.mjs", folder)
    return [shutil.which("node") or "", "--import", (HERE / "loopback.mjs").as_uri(), "pay_mcp.mjs"]


@pytest.mark.parametrize("client", [_python, _cloudflare])
def test_every_call_is_bought_once(shop: Shop, tmp_path: Path, client: Command) -> None:
    """As its documented example: answered, with a receipt for the price, and nothing moved beside these transfers. The call in
    no list is bought by its name, as a tool and through call_tool."""
    try:
        command = client(tmp_path)
    except environments.Unavailable as error:
        pytest.skip(str(error))
    before = received(shop)
    done = run(
        command,
        tmp_path,
        URL=f"{shop.base_url}/mcp?tools=all",
        KEY=shop.sandbox["evm"]["payerKey"],
        CALLS=json.dumps([(name, arguments) for _, name, arguments in CALLS]),
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    assert (printed["session"], printed["elsewhere"]) == (None, [])
    assert set(printed["listed"]) == {tool_name(endpoint.name) for endpoint in CATALOGUE if endpoint.listed}
    for (endpoint, _, _), result in zip(CALLS, printed["bought"], strict=True):
        assert not result["isError"], (endpoint.name, result["text"])
        assert json.loads(result["text"]) == result["structured"]
        assert result["structured"].keys() == endpoint.example.response.keys()
        assert (result["receipt"]["success"], result["receipt"]["amount"]) == (True, str(endpoint.price.atomic(6)))
    assert len({result["receipt"]["transaction"] for result in printed["bought"]}) == len(CALLS)
    assert received(shop) - before == sum(endpoint.price.atomic(6) for endpoint, _, _ in CALLS)
    assert UNLISTED
