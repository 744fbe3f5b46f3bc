"""The protocol's own client for JavaScript uses the tools of `coinslot mcp`, on both transports, and of the service."""

import contextlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox.child import claim_port
from tests.clients import environments
from tests.clients.programs import run
from tests.e2e.agent import RECEIPT, Agent
from tests.e2e.running import until_it_listens
from tests.whole_service import Service

pytestmark = pytest.mark.timeout(300)  # the first run fetches the client


@contextlib.contextmanager
def served(transport: str, agent: Agent) -> Iterator[dict[str, str]]:
    """What names the server to the client, which starts it itself over stdio."""
    if transport == "stdio":
        yield {**agent.environment, "COMMAND": json.dumps([sys.executable, "-m", "coinslot.main", "mcp"])}
        return
    port = claim_port(0)
    with agent.listening(port) as server:
        try:
            until_it_listens(server, port)
            yield {"URL": f"http://127.0.0.1:{port}/mcp"}
        finally:
            server.terminate()


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_javascript_client_lists_and_calls(service: Service, tmp_path: Path, transport: str) -> None:
    """A paid call brings the answer, which the client holds against the tool's schema, and its receipt."""
    with served(transport, Agent(service, tmp_path, per_day="0.001")) as variables:
        said = used(tmp_path, variables)
    assert "spend_status" in {tool["name"] for tool in said["tools"]}
    assert said["bought"]["structuredContent"]["youSent"] == "hello"
    assert said["bought"]["_meta"][RECEIPT]["success"] is True


def test_the_javascript_client_reads_the_tools_of_the_service(service: Service, tmp_path: Path) -> None:
    """And the challenge of one."""
    asked = used(tmp_path, {"URL": f"{service.base_url}/mcp?tools=all"})["bought"]
    assert (asked["isError"], asked["structuredContent"]["error"]) == (True, "payment_required")


def used(folder: Path, variables: dict[str, str]) -> Any:
    """What the client has seen of the tools, and of a call of echo."""
    try:
        packages = environments.node()
    except environments.Unavailable as error:
        pytest.skip(str(error))
    (folder / "node_modules").symlink_to(packages / "node_modules")
    shutil.copy(environments.LOCKS / "use_mcp.mjs", folder)
    loopback = (environments.LOCKS / "loopback.mjs").as_uri()
    done = run([shutil.which("node") or "", "--import", loopback, "use_mcp.mjs"], folder, **variables)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["elsewhere"] == []
    assert {"echo", "chain_chain-id"} < {tool["name"] for tool in said["tools"]}
    assert list(_bare(said["tools"])) == []
    return said


def _bare(schema: Any) -> Iterator[str]:
    """Names of properties whose schema is `true` or `false`: some hosts refuse a tool that has one."""
    if isinstance(schema, list):
        for one in schema:
            yield from _bare(one)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        yield from (name for name, one in (properties or {}).items() if isinstance(one, bool))
        for one in schema.values():
            yield from _bare(one)
