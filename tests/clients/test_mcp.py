"""The official Python client of x402 buys from the MCP server of the service."""

import json
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


def test_every_call_is_bought_once(shop: Shop) -> None:
    """As its documented example: answered, with a receipt for the price, and nothing moved beside these transfers."""
    try:
        python = environments.python("mcp")
    except environments.Unavailable as error:
        pytest.skip(str(error))
    before = received(shop)
    done = run(
        [python, "-"],
        HERE,
        (HERE / "pay_mcp.py").read_text(),
        URL=f"{shop.base_url}/mcp?tools=all",
        KEY=shop.sandbox["evm"]["payerKey"],
        CALLS=json.dumps([(tool_name(endpoint.name), endpoint.example.request) for endpoint in SOLD]),
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    assert (printed["session"], printed["elsewhere"]) == (None, [])
    assert set(printed["listed"]) == {tool_name(endpoint.name) for endpoint in CATALOGUE if endpoint.listed}
    for endpoint, result in zip(SOLD, printed["bought"], strict=True):
        assert result["isError"] is False, (endpoint.name, result["text"])
        assert json.loads(result["text"]) == result["structured"]
        assert result["structured"].keys() == endpoint.example.response.keys()
        assert (result["receipt"]["success"], result["receipt"]["amount"]) == (True, str(endpoint.price.atomic(6)))
    assert len({result["receipt"]["transaction"] for result in printed["bought"]}) == len(SOLD)
    assert received(shop) - before == sum(endpoint.price.atomic(6) for endpoint in SOLD)
