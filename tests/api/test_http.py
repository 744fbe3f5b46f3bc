"""How an answer is written to ASGI, and what a browser on another page may do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.http import PIECE_BYTES, Answer, respond
from compose.sandbox.child import claim_port
from tests.each import each

pytestmark = pytest.mark.anyio

BROWSER = {"Origin": "https://agent.example"}
FAILING = """
from contextlib import asynccontextmanager
from granian.constants import Interfaces
from granian.server import Server
from litestar import Litestar
from api.rsgi import Rsgi

@asynccontextmanager
async def fail(_):
    raise ValueError("no rail")
    yield

app = Litestar([], lifespan=[fail], openapi_config=None, logging_config=None)
rsgi = Rsgi(app, app.lifespan)

if __name__ == "__main__":
    Server("failing:rsgi", interface=Interfaces.RSGI, port={port}).serve()
"""


@each(
    ("body", "lengths"),
    [
        (b"", [0]),
        (b"x" * PIECE_BYTES, [PIECE_BYTES]),
        (bytes(range(256)) * 512, [PIECE_BYTES, PIECE_BYTES]),
        (bytes(range(256)) * 700, [PIECE_BYTES, PIECE_BYTES, 179_200 - 2 * PIECE_BYTES]),
    ],
    ids=["empty", "one piece", "two whole pieces", "a shorter last piece"],
)
async def test_a_long_response_is_sent_in_pieces(body: bytes, lengths: list[int]) -> None:
    """Its length is in the headers, so it is not chunked, and only the last piece ends it."""
    sent: list[Any] = []

    async def send(event: Any) -> None:
        sent.append(event)

    await respond(send, Answer(200, (), body), request_id="r")
    start, *pieces = sent
    assert (b"content-length", b"%d" % len(body)) in start["headers"]
    assert [len(piece["body"]) for piece in pieces] == lengths
    assert b"".join(piece["body"] for piece in pieces) == body
    assert [piece["more_body"] for piece in pieces] == [True] * (len(pieces) - 1) + [False]


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
    assert "payment-signature" in preflight.headers["access-control-allow-headers"].lower()
    for answer in (preflight, await shop.get(path, headers=BROWSER)):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "PAYMENT-RESPONSE" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("path", ["/nothing", "/v1/cdp/nothing"])
async def test_a_browser_may_read_what_is_refused(shop: httpx.AsyncClient, path: str) -> None:
    """Otherwise it would see a network error."""
    answer = await shop.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (404, "*")


async def test_a_host_that_is_no_host_is_refused(shop: httpx.AsyncClient) -> None:
    """Litestar refuses it before any route, with a problem document that does not speak of the body."""
    answer = await shop.post("/v1/cdp/echo", headers={"Host": "a b"})
    assert (answer.status_code, answer.json()["code"], answer.json()["charged"]) == (400, "invalid_url", False)


def test_what_fails_at_the_start_ends_the_process(tmp_path: Path) -> None:
    """A supervisor starts it again; it does not stay there without a connection."""
    (tmp_path / "failing.py").write_text(FAILING.replace("{port}", str(claim_port(0))))
    done = subprocess.run(
        [sys.executable, "failing.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert "no rail" in done.stdout + done.stderr
