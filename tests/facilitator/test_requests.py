"""What is not a facilitator call is 4xx, before any of it is believed."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.each import each
from tests.facilitator.bench import ABSENT, TOKEN, Bench, Payer, as_json, changed, payment_id

pytestmark = pytest.mark.anyio

PAYER = Payer()
CALL = PAYER.call("0x" + "11" * 20)
JSON = {"content-type": "application/json"}
PATHS = ["/verify", "/settle"]

MALFORMED = {
    "empty": b"",
    "null": b"null",
    "list": b"[]",
    "object": b"{}",
    "text": b'"x402"',
    "not JSON": b"{",
    "not UTF-8": b"\xff{",
    "NaN": b'{"x402Version": NaN}',
    "lone surrogate": rb'{"x402Version": "\ud800"}',
}


@each("path", PATHS)
@each("body", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_body_is_400(facilitator: httpx.AsyncClient, path: str, body: bytes) -> None:
    """Whatever is wrong with the bytes."""
    assert (await facilitator.post(path, content=body, headers=JSON)).status_code == 400


@each("path", PATHS)
@each(
    ("member", "value"),
    [
        ("paymentPayload", ABSENT),
        ("paymentRequirements", ABSENT),
        ("paymentPayload.accepted.network", ABSENT),
        ("x402Version", None),
        ("paymentPayload.payload", []),
        ("paymentRequirements.amount", 1000),
        ("paymentRequirements.extra", "x"),
    ],
)
async def test_a_member_that_is_missing_or_of_another_type_is_400(
    facilitator: httpx.AsyncClient, path: str, member: str, value: Any
) -> None:
    """It is not guessed at. Only the outer version has a default."""
    assert (await facilitator.post(path, json=changed(CALL, member, value))).status_code == 400


async def test_what_is_not_known_is_ignored(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """Extensions, an echoed resource and members of the future do not stop a good payment."""
    call = bench.payer().call(pay_to)
    for member, value in (
        ("extensions", {"bazaar": {"info": {}}}),
        ("paymentPayload.extensions", {}),
        ("paymentPayload.resource", {"url": "https://shop.test/v1/cdp/echo"}),
        ("paymentRequirements.extra.paymentFlow", "escrow"),
        ("paymentRequirements.future", [1]),
    ):
        call = changed(call, member, value)

    assert (await facilitator.post("/settle", json=call)).json()["success"]


async def test_t54s_client_leaves_out_the_version(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """The outer x402Version defaults to 2."""
    call = changed(bench.payer().call(pay_to), "x402Version", ABSENT)

    assert (await facilitator.post("/settle", json=call)).json()["success"]


NESTED = {
    "nothing but depth": b"[" * 60_000,
    "closed": b"[" * 30_000 + b"]" * 30_000,
    "objects": b'{"a":' * 12_000,
    **{
        f"{member}, {levels}": as_json(changed(CALL, member, "@")).replace(
            b'"@"', b'{"a":' * levels + b"1" + b"}" * levels
        )
        for levels in (200, 9_000)
        for member in (
            "paymentPayload.payload.authorization",
            "paymentPayload.resource",
            "paymentRequirements.extra.name",
        )
    },
}


@each("path", PATHS)
@each("body", NESTED.values(), ids=NESTED)
async def test_deep_nesting_is_400(facilitator: httpx.AsyncClient, path: str, body: bytes) -> None:
    """Wherever it is, also where the specification allows any value, and whether this Python's decoder takes so many levels."""
    assert len(body) < 64 * 1024
    assert (await facilitator.post(path, content=body, headers=JSON)).status_code == 400


@pytest.mark.parametrize("path", PATHS)
async def test_a_large_body_is_413(facilitator: httpx.AsyncClient, path: str) -> None:
    """More than 64 KB, with its length announced or in chunks."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(70):
            yield b" " * 1_000

    assert (await facilitator.post(path, content=b" " * 70_000, headers=JSON)).status_code == 413
    assert (await facilitator.post(path, content=chunks(), headers=JSON)).status_code == 413


async def test_other_methods_are_refused(facilitator: httpx.AsyncClient) -> None:
    """A GET settles nothing."""
    assert (await facilitator.get("/settle")).status_code == 405
    assert (await facilitator.get("/verify")).status_code == 405
    assert (await facilitator.get("/nothing")).status_code == 404


GOOD = payment_id(CALL)


@each(
    "named",
    [
        "x",
        GOOD[:-1],
        GOOD + "0",
        GOOD + "%0a",
        GOOD.upper(),
        GOOD.replace("8453", "1"),
        GOOD.replace("8453", "08453"),
        GOOD.replace("8453", "8453000000000000000000"),
        GOOD.replace(TOKEN.address.lower(), "0x" + "11" * 20),
        GOOD.replace("eip155", "solana"),
        GOOD.replace("0x", ""),
        GOOD.replace("8", "８", 1),
        "%00",
        "a" * 5_000,
    ],
)
async def test_a_malformed_payment_id_is_404(facilitator: httpx.AsyncClient, named: str) -> None:
    """Another form, network, token or rail is nobody's payment; the chain is not asked."""
    assert (await facilitator.get(f"/settlements/{named}")).status_code == 404


async def test_an_unseen_payment_is_unused(facilitator: httpx.AsyncClient) -> None:
    """A well-formed id that the chain has never seen can still be used."""
    answer = await facilitator.get(f"/settlements/{GOOD}")

    assert (answer.status_code, answer.json()["status"]) == (200, "unused")
