"""A double of Coinbase's validator of what its Bazaar lists: POST /validate, as https://docs.cdp.coinbase.com/x402/validate-endpoint
describes it.

It calls the shop as an indexer would. Names of checks are those of the documentation, and some that sellers have reported.
"""

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import jsonschema
from aiohttp import web

Probe = Callable[[str, str], Awaitable[httpx.Response]]
"""Calls the shop: method and address."""


class Validator:
    """Says whether a call would be listed.

    Attributes:
        index: by address: what the answer has under `index`.
        asked: the bodies of its requests.
    """

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self.index: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []

    async def validate(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        assert "Authorization" not in request.headers, "the endpoint is public"
        if set(body) - {"resource", "method"} or not str(body.get("resource")).startswith("https://"):
            return web.json_response({"errorType": "invalid_request"}, status=400)
        answer = await self._probe(body.get("method", "GET"), body["resource"])
        checks = [_check("reachable", True), _check("returns_402", answer.status_code == 402)]
        try:
            challenge = json.loads(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]))
        except (KeyError, ValueError):
            challenge = {}
        bazaar = challenge.get("extensions", {}).get("bazaar")
        checks += [_check("parse", bool(challenge)), _check("has_bazaar_extension", bazaar is not None)]
        if bazaar is not None:
            is_valid = jsonschema.Draft202012Validator(bazaar["schema"]).is_valid(bazaar["info"])
            checks += [
                _check("bazaar.info.input.type", bazaar["info"]["input"].get("type") == "http"),
                _check("bazaar.info", is_valid),
                _check("resource.description", len(challenge["resource"]["description"]) <= 500),
                _check("resource.icon_url", "iconUrl" in challenge["resource"], severity="advisory"),
            ]
        failed = [check["check"] for check in checks if not check["passed"] and check["severity"] == "required"]
        simulation = {"outcome": "rejected", "rejectionReason": "invalid discovery configuration"}
        said = {
            "valid": not failed,
            "statusCode": answer.status_code,
            "x402Version": challenge.get("x402Version"),
            "preflight": checks,
            "simulation": simulation if failed else {"outcome": "accepted"},
            "bazaarExtension": bazaar,
        }
        if indexed := self.index.get(body["resource"]):
            said["index"] = indexed
        return web.json_response(said)


def _check(name: str, passed: bool, severity: str = "required") -> dict[str, Any]:
    return {"check": name, "passed": passed, "severity": severity, "detail": f"{name} was examined."}
