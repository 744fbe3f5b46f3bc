"""Two sites that sell calls over x402: a small one, and one that publishes its offers in every known form."""

import base64
import json
from typing import Any

from aiohttp import web

from compose.sandbox.upstreams.place import Place, document
from compose.sandbox.upstreams.ports import HTTPS_PORT

SHOP = "shop.example.com"
CATALOG = "catalog.shop.example.com"
KIOSK = "kiosk.example.com"

_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
_PAY_TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # EIP-55's first example


# One link leads to another site and one into a private network: both are reported, and neither is called.
_PAGE = document("weather.html")
_OPENAPI = document("weather.openapi.json")


async def start(place: Place) -> None:
    """Add the sites."""
    place.add_site(SHOP, _shop)
    place.add_site(CATALOG, _catalog)
    place.add_site(KIOSK, _kiosk)


def _url(host: str, path: str) -> str:
    return f"https://{host}:{HTTPS_PORT}{path}"


def _offer(amount: str) -> dict[str, Any]:
    return {
        "scheme": "exact",
        "network": "eip155:8453",
        "amount": amount,
        "asset": _USDC,
        "payTo": _PAY_TO,
        "maxTimeoutSeconds": 60,
        "extra": {"name": "USD Coin", "version": "2"},
    }


def _v1_offer(url: str, amount: str, description: str) -> dict[str, Any]:
    return {
        "scheme": "exact",
        "network": "base",
        "maxAmountRequired": amount,
        "resource": url,
        "description": description,
        "mimeType": "application/json",
        "payTo": _PAY_TO,
        "maxTimeoutSeconds": 60,
        "asset": _USDC,
        "extra": {"name": "USD Coin", "version": "2"},
    }


def _challenge(url: str, amount: str, description: str) -> dict[str, Any]:
    return {
        "x402Version": 2,
        "error": "Payment required",
        "resource": {"url": url, "description": description, "mimeType": "application/json"},
        "accepts": [_offer(amount)],
    }


def _encoded(content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


async def _kiosk(request: web.Request) -> web.Response:
    tide = _challenge(_url(KIOSK, "/tide"), "2000", "High water today")
    match request.path:
        case "/tide":
            return web.json_response(tide, status=402, headers={"PAYMENT-REQUIRED": _encoded(tide)})
        case "/.well-known/x402":
            moon = {"resource": "POST /moon", "description": "The moon's phase", "price": "$0.001"}
            defaults = {"network": "base", "asset": "USDC", "payTo": _PAY_TO}
            return web.json_response({"x402Version": 2, **defaults, "resources": [moon]})
        case _:
            return web.json_response({"error": "not found"}, status=404)


async def _catalog(request: web.Request) -> web.Response:
    if request.path != "/x402":
        return web.json_response({"error": "not found"}, status=404)
    return web.json_response({"version": 1, "resources": [_url(CATALOG, "/archive"), "GET /atlas"]})


async def _shop(request: web.Request) -> web.Response:
    forecast = _challenge(_url(SHOP, "/api/forecast"), "5000", "Tomorrow's weather")
    radar = _v1_offer(_url(SHOP, "/api/radar"), "10000", "Rain radar")
    report = _challenge(_url(SHOP, "/api/report"), "250000", "A climate report")
    match request.method, request.path:
        case "GET", "/":
            return web.Response(text=_PAGE, content_type="text/html")
        case _, "/api/forecast":
            return web.json_response(forecast, status=402, headers={"PAYMENT-REQUIRED": _encoded(forecast)})
        case _, "/api/radar":
            return web.json_response({"x402Version": 1, "error": "X-PAYMENT required", "accepts": [radar]}, status=402)
        case "POST", "/api/report":
            return web.Response(status=402, headers={"WWW-Authenticate": f"X402 {_encoded(report)}"})
        case _, "/api/report":
            return web.Response(status=405, headers={"Allow": "POST"})
        case "GET", "/.well-known/x402":
            return web.json_response(
                {"version": 1, "resources": [_url(SHOP, "/api/forecast"), "POST /api/report", "/api/radar"]}
            )
        case "GET", "/bazaar.json":
            item = {"resource": radar["resource"], "type": "http", "x402Version": 1, "accepts": [radar]}
            return web.json_response({"x402Version": 2, "items": [{**item, "method": "GET"}]})
        case "GET", "/openapi.json":
            return web.Response(text=_OPENAPI, content_type="application/json")
        case _:
            return web.json_response({"error": "not found"}, status=404)
