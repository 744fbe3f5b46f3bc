"""A facilitator that says yes at once, for both shops: what is measured is the shop, not a chain."""

import json
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.server import Server

from tests.bench.roles import PATH, play, port

NETWORK = "eip155:8453"
_JSON = [("content-type", "application/json")]
_SUPPORTED = {"kinds": [{"x402Version": 2, "scheme": "exact", "network": NETWORK}], "extensions": [], "signers": {}}


async def app(scope: Any, protocol: Any) -> None:
    """granian's RSGI, the lightest there is here."""
    protocol.response_bytes(200, _JSON, json.dumps(answer(scope.path, await protocol())).encode())


def answer(path: str, body: bytes) -> dict[str, Any]:
    """The standard API: /supported, /verify, /settle."""
    if path == "/supported":
        return _SUPPORTED
    if path == PATH:
        return {}  # is asked when it starts, like every system
    authorization = json.loads(body)["paymentPayload"]["payload"]["authorization"]
    if path == "/verify":
        return {"isValid": True, "payer": authorization["from"]}
    transaction = "0x" + authorization["nonce"][2:]
    return {"success": True, "transaction": transaction, "network": NETWORK, "payer": authorization["from"]}


def serve() -> None:
    """One process."""
    Server(
        "tests.bench.systems.facilitator:app",
        port=port(),
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
    ).serve()


if __name__ == "__main__":
    play({"api": serve})
