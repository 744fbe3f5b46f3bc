"""Inputs that hang or crash other repairers: an answer in time, and echo keeps answering meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from coinslot.buyer import Buyer
from coinslot.wallet import Wallet

pytestmark = pytest.mark.anyio

ALL_OF_DOUBLING: dict[str, Any] = {"$defs": {"d0": {"type": "object"}}, "$ref": "#/$defs/d30"}
for depth in range(1, 31):
    ALL_OF_DOUBLING["$defs"][f"d{depth}"] = {"allOf": [{"$ref": f"#/$defs/d{depth - 1}"}] * 2}

HOSTILE: dict[str, dict[str, Any]] = {
    "brackets": {"malformed": "[" * 100_000},
    "braces": {"malformed": "{" * 100_000},
    "t{]": {"malformed": "t{]" * 4_000},
    "unclosed strings": {"malformed": '["a' * 25_000},
    "escaped lone surrogates": {"malformed": '{"a": "\\ud800", "\\udfff": 1}'},
    "1e400": {"malformed": "[1e400, -1e400, 1e-400]"},
    "digits": {"malformed": "1" * 100_000},
    "backslashes": {"malformed": '"' + "\\" * 99_999},
    "schema that doubles thirty times": {"malformed": "{}", "schema": ALL_OF_DOUBLING},
}


def buy(service: Any, name: str, body: Any) -> tuple[float, Any]:
    wallet = Wallet.evm(bytes.fromhex(service.sandbox["evm"]["payerKey"].removeprefix("0x")))
    with Buyer(service.base_url, wallet, max_price=None) as buyer:
        started = time.monotonic()
        answer = buyer.call(name, body)
        return time.monotonic() - started, json.loads(answer.raw)


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_input_is_answered_while_echo_keeps_answering(service: Any, name: str) -> None:
    """A clear 200 for each, never 5xx, and every echo beside it is served."""
    hostile = asyncio.to_thread(buy, service, "json-repair", HOSTILE[name])
    echoes = [asyncio.to_thread(buy, service, "echo", {"message": "still here"}) for _ in range(3)]
    (took_s, answer), *others = await asyncio.gather(hostile, *echoes)
    assert set(answer) >= {"ok", "repaired", "wasModified", "error"}
    assert [echo["youSent"] for _, echo in others] == ["still here"] * 3
    print(f"{name}: {took_s * 1000:.0f} ms; echo beside it: {max(s for s, _ in others) * 1000:.0f} ms")
