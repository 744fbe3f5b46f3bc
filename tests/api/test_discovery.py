"""GET /discovery/resources over HTTP."""

import httpx
import pytest

pytestmark = pytest.mark.anyio


async def test_the_list_is_served_in_parts(shop: httpx.AsyncClient) -> None:
    """By default the first twenty, calls before tools; `limit`, `offset` and `type` choose others; another type has none."""
    whole = (await shop.get("/bazaar.json")).json()
    total = len(whole["items"])
    first = await shop.get("/discovery/resources")
    assert first.headers["content-type"].startswith("application/json")
    assert first.json()["pagination"] == {"limit": 20, "offset": 0, "total": total}
    assert first.json()["items"] == whole["items"][:20]
    rest = (await shop.get("/discovery/resources?limit=100&offset=20&unknown=1")).json()
    assert (rest["items"], rest["x402Version"]) == (whole["items"][20:], whole["x402Version"])
    beyond = (await shop.get("/discovery/resources", params={"offset": "999999999"})).json()
    assert (beyond["items"], beyond["pagination"]["total"]) == ([], total)
    for kind in ("http", "mcp", "other"):
        found = (await shop.get("/discovery/resources", params={"type": kind, "limit": "100"})).json()["items"]
        assert found == [item for item in whole["items"] if item["type"] == kind]
    assert {item["resource"] for item in whole["items"] if item["type"] == "mcp"} == {"http://shop.test/mcp"}


async def test_the_list_is_filtered(shop: httpx.AsyncClient) -> None:
    """By what one offer of a call says, and by the key of an extension; with a total of its own. Of what nobody knows, there is
    nothing."""

    async def total(**asked: str) -> int:
        found = (await shop.get("/discovery/resources", params={"limit": "1", **asked})).json()
        assert len(found["items"]) == min(1, found["pagination"]["total"])
        return int(found["pagination"]["total"])

    everything = await total()
    offer = (await shop.get("/bazaar.json")).json()["items"][0]["accepts"][0]
    ours = {"payTo": offer["payTo"], "network": offer["network"], "scheme": offer["scheme"], "extensions": "bazaar"}
    assert [await total(**{name: value}) for name, value in ours.items()] == [everything] * 4
    assert await total(**ours) == everything > 0
    assert await total(payTo=offer["payTo"].upper().replace("0X", "0x")) == everything
    other = {"payTo": "0x" + "12" * 20, "network": "eip155:1", "scheme": "upto", "extensions": "mine", "type": "sse"}
    assert [await total(**{**ours, name: value}) for name, value in other.items()] == [0] * 5
    assert await total(network="") == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limit", ""),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "-1"),
        ("limit", "1e1"),
        ("limit", "１"),
        ("offset", "-1"),
        ("offset", "1.0"),
        ("offset", "9" * 5000),
    ],
)
async def test_a_part_that_is_none_is_refused(shop: httpx.AsyncClient, name: str, text: str) -> None:
    """With the parameter's name, as a problem document."""
    answer = await shop.get("/discovery/resources", params={name: text})
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert (problem["code"], problem["field"], problem["charged"]) == ("invalid_url", name, False)
