"""The MCP server of the whole service, with the client of the protocol's own library."""

import time
from typing import Any

import anyio
import anyio.to_thread
import httpx
import msgspec
import pytest
from eth_account import Account
from mcp import Client
from x402 import x402Client
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner
from x402.schemas import PaymentRequired

from coinslot import sandbox_file, wallet_source
from shared.x402.networks import Rail
from shared.x402.wire import Challenge
from tests.e2e.agent import RECEIPT
from tests.e2e.running import another_api
from tests.e2e.test_official_client import transfers
from tests.time_limits import patience
from tests.whole_service import Service

pytestmark = pytest.mark.anyio

PAYMENT = "x402/payment"


@pytest.fixture
def anyio_backend() -> str:
    """The client runs on it."""
    return "asyncio"


def _post(url: str, params: dict[str, Any]) -> None:
    httpx.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, timeout=30)


async def test_the_payment_of_a_killed_process_fetches_the_answer(service: Service) -> None:
    """Killed between the settlement and the answer: another process answers the same payment, which is not settled again."""
    sdk = x402Client()
    register_exact_evm_client(sdk, EthAccountSigner(Account.from_key(service.sandbox["evm"]["payerKey"])))
    arguments = {"message": "after a kill"}
    async with Client(f"{service.base_url}/mcp") as client:
        challenge = PaymentRequired.model_validate((await client.call_tool("echo", arguments)).structured_content)
        payload = await sdk.create_payment_payload(challenge)
        paid = {PAYMENT: payload.model_dump(by_alias=True, exclude_none=True, mode="json")}
        before = len(transfers(service))
        with another_api(service, COINSLOT_FAILPOINT="settled") as origin:
            params = {"name": "echo", "arguments": arguments, "_meta": paid}
            with pytest.raises(httpx.TransportError):
                _post(f"{origin}/mcp", params)
        assert len(transfers(service)) == before + 1
        with anyio.fail_after(patience(60)):
            while (answer := await client.call_tool("echo", arguments, meta=paid)).is_error:
                assert answer.structured_content["retryWithSamePayment"] is True
                await anyio.sleep(answer.structured_content["retryAfterSeconds"] or 1)
    assert answer.structured_content["youSent"] == "after a kill"
    assert answer.meta is not None
    assert answer.meta[RECEIPT]["success"] is True
    assert len(transfers(service)) == before + 1


async def test_a_call_on_another_network_is_bought_through_call_tool(service: Service) -> None:
    """The one call that Base does not pay for: its payment is bound to the arguments of the challenged call."""
    rail = wallet_source.sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.XRPL_RLUSD)
    arguments = {"name": "xrpl-wallet-watch", "arguments": {"address": rail.address}}
    async with Client(f"{service.base_url}/mcp") as client:
        assert client.protocol_version == "2026-07-28"
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search_tools",
            "describe_tool",
            "call_tool",
        ]
        unpaid = (await client.call_tool("call_tool", arguments)).structured_content
        challenge = msgspec.convert(unpaid, Challenge)
        [offer] = challenge.accepts
        signed = await anyio.to_thread.run_sync(lambda: rail.sign(offer, now=int(time.time())))
        payment = {
            "x402Version": 2,
            "accepted": msgspec.to_builtins(offer),
            "payload": signed,
            "resource": unpaid["resource"],
        }
        other = {**arguments, "arguments": {**arguments["arguments"], "minCallsRemaining": 1}}
        refused = await client.call_tool("call_tool", other, meta={PAYMENT: payment})
        assert refused.structured_content["error"].startswith("invalid_")
        answer = await client.call_tool("call_tool", arguments, meta={PAYMENT: payment})
    assert answer.is_error is False, answer.content[0].text
    assert answer.meta is not None
    assert answer.meta[RECEIPT]["network"] == "xrpl:0"
