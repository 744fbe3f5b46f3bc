"""How an answer is written to ASGI, and what a browser on another page may do."""

import httpx
import pytest

pytestmark = pytest.mark.anyio

BROWSER = {"Origin": "https://agent.example"}


@pytest.mark.parametrize(
    "path", ["/v1/cdp/echo", "/openapi.json", "/discovery/resources", "/.well-known/x402", "/healthz", "/readyz"]
)
async def test_a_browser_may_call_every_path(shop: httpx.AsyncClient, path: str) -> None:
    """The preflight allows what clients send; every answer may be read, and so may its payment headers."""
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "payment-signature"}
    preflight = await shop.options(path, headers=BROWSER | asks)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert "OPTIONS" in preflight.headers["allow"]
    assert "POST" in preflight.headers["access-control-allow-methods"]
    allowed = set(preflight.headers["access-control-allow-headers"].lower().split(", "))
    assert {"payment-signature", "x-payment", "access-control-expose-headers"} <= allowed
    assert {"traceparent", "tracestate", "baggage", "sentry-trace", "idempotency-key", "authorization"} <= allowed
    for answer in (preflight, await shop.get(path, headers=BROWSER)):
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = answer.headers["access-control-expose-headers"]
        for name in ("PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "WWW-Authenticate", "Warnings"):
            assert name in exposed


@pytest.mark.parametrize("path", ["/nothing", "/v1/cdp/nothing"])
async def test_a_browser_may_read_what_is_refused(shop: httpx.AsyncClient, path: str) -> None:
    """Otherwise it would see a network error."""
    answer = await shop.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (404, "*")


async def test_a_host_that_is_no_host_is_refused(shop: httpx.AsyncClient) -> None:
    """Litestar refuses it before any route, with a problem document that does not speak of the body."""
    answer = await shop.post("/v1/cdp/echo", headers={"Host": "a b"})
    assert (answer.status_code, answer.json()["code"], answer.json()["charged"]) == (400, "invalid_url", False)
