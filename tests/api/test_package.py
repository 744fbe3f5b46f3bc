"""The package of docs/adding-an-endpoint.md is installed, sold and bought, without an edit in the checkout."""

import re
from collections.abc import Sequence
from pathlib import Path

import dramatiq
import httpx
import pytest

from coinslot.openapi_tools import tools_of
from jobs.catalogue import installed
from shared.endpoint import Endpoint
from shared.pools import POOLS
from tests.api.paying import Payer
from tests.packages import ROOT, Environment, environment

__all__ = ["environment"]

pytestmark = pytest.mark.anyio


def _sources(page: str) -> dict[str, str]:
    """The package's files, as the page shows them."""
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (project,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    slug, mail_hosts = blocks[0], next(block for block in blocks if '"acme/mail-hosts"' in block)
    return {
        "pyproject.toml": project,
        "coinslot_acme/__init__.py": next(block for block in blocks if block.startswith("from coinslot_acme")),
        "coinslot_acme/slug.py": slug.replace('name="slug"', 'name="acme/slug"'),
        "coinslot_acme/mail_hosts.py": mail_hosts,
    }


@pytest.fixture
def catalogue(environment: Environment, tmp_path: Path) -> Sequence[Endpoint]:
    """What is sold once the package is installed."""
    for name, text in _sources((ROOT / "docs" / "adding-an-endpoint.md").read_text()).items():
        path = tmp_path / "coinslot-acme" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment.install_with_pip(tmp_path / "coinslot-acme")
    return installed()


async def test_it_is_listed_and_bought(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, catalogue: Sequence[Endpoint]
) -> None:
    """Each example has the answer that is documented, in a pool of ours and in the package's own. Every document has both."""
    slug, mail_hosts = catalogue[-2:]
    assert (slug.path, mail_hosts.path) == ("/v1/acme/slug", "/v1/acme/mail-hosts")
    assert (slug.pool, mail_hosts.pool, POOLS["acme-names"].threads) == ("fast", "acme-names", 8)
    for endpoint in (slug, mail_hosts):
        headers = payer.headers(price=endpoint.price.text())
        answer = await shop.post(endpoint.path, json=endpoint.example.request, headers=headers)
        assert (answer.status_code, answer.json()) == (200, endpoint.example.response)
        for path in (
            "/bazaar.json",
            "/openapi.json",
            "/.well-known/x402",
            "/discovery/resources?limit=100",
            "/llms.txt",
        ):
            assert (await shop.get(path)).text.count(endpoint.name) >= 1, path
        page = (await shop.get(f"/bazaar/{endpoint.name}", headers={"Accept": "text/html"})).text
        assert POOLS[endpoint.pool].latency in page
        assert endpoint.name in (await shop.get("/bazaar", headers={"Accept": "text/html"})).text
    tools = {tool.name: tool.endpoint for tool in tools_of((await shop.get("/openapi.json")).json())}
    listed = await shop.post("/mcp?tools=all", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert {"acme_slug", "acme_mail-hosts"} < {tool["name"] for tool in listed.json()["result"]["tools"]}
    assert (tools["acme_slug"], tools["acme_mail-hosts"], tools["echo"]) == ("acme/slug", "acme/mail-hosts", "echo")
    checks = (await shop.get("/readyz")).json()["checks"]
    assert checks["workers:acme-names"] is True
