"""The official x402 Python client buys from the running service, and its facilitator client uses our facilitator."""

import asyncio
import base64
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account
from x402 import x402Client
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner
from x402.schemas import PaymentRequired

from shared.x402.evm import keccak256
from tests.contract.endpoints import ENDPOINTS

pytestmark = pytest.mark.anyio

PATHS = {row.name: row.path for row in ENDPOINTS}
TRANSFER = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()


@pytest.fixture
def sdk(service: Any) -> x402Client:
    """The official client with the sandbox wallet."""
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(service.sandbox["evm"]["payerKey"])))
    return client


@pytest.fixture
async def buyer(service: Any, sdk: x402Client) -> AsyncIterator[httpx.AsyncClient]:
    """An httpx client that pays by itself."""
    async with x402HttpxClient(sdk, base_url=service.base_url, timeout=30) as client:
        yield client


@pytest.fixture
async def plain(service: Any) -> AsyncIterator[httpx.AsyncClient]:
    """An httpx client that does not pay."""
    async with httpx.AsyncClient(
        base_url=service.base_url, timeout=40, limits=httpx.Limits(max_connections=100)
    ) as client:
        yield client


async def signed(plain: httpx.AsyncClient, sdk: x402Client, path: str) -> dict[str, Any]:
    """A payment that the official client made from a live challenge."""
    challenge = PaymentRequired.model_validate((await plain.post(path)).json())
    payload = await sdk.create_payment_payload(challenge)
    content: dict[str, Any] = payload.model_dump(by_alias=True, exclude_none=True, mode="json")
    return content


def header(payment: dict[str, Any]) -> dict[str, str]:
    return {"PAYMENT-SIGNATURE": base64.b64encode(json.dumps(payment).encode()).decode()}


def transfers(service: Any) -> list[Any]:
    """Every transfer to us on the chain."""
    evm = service.sandbox["evm"]
    topics = [TRANSFER, None, "0x" + "00" * 12 + evm["payTo"][2:].lower()]
    search = {"address": evm["usdc"], "topics": topics, "fromBlock": "0x0", "toBlock": "latest"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [search]}
    return list(httpx.post(evm["rpcUrl"], json=call).json()["result"])


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("echo", {"message": "hi"}, {"ok": True, "service": "coinslot", "youSent": "hi"}),
        ("json-repair", {"malformed": "{a: 1,}"}, {"ok": True, "repaired": {"a": 1}, "wasModified": True}),
        ("faker", {"template": {"name": "person.firstName"}, "count": 3, "seed": 1}, {"ok": True}),
    ],
)
async def test_the_official_client_pays_and_is_served(
    service: Any, buyer: httpx.AsyncClient, name: str, body: Any, expected: dict[str, Any]
) -> None:
    """200 with the answer, and the receipt names a transfer of the exact price on the chain."""
    answer = await buyer.post(PATHS[name], json=body)
    assert answer.status_code == 200, answer.text
    assert expected.items() <= answer.json().items()
    receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
    row = next(row for row in ENDPOINTS if row.name == name)
    moved = {entry["transactionHash"]: int(entry["data"], 16) for entry in transfers(service)}
    assert str(moved[receipt["transaction"]]) == row.usdc_atomic == receipt["amount"]


async def test_twenty_copies_are_one_settlement_on_the_chain(
    service: Any, plain: httpx.AsyncClient, sdk: x402Client
) -> None:
    """Twenty identical 200s, one transfer."""
    payment = await signed(plain, sdk, PATHS["echo"])
    before = len(transfers(service))
    answers = await asyncio.gather(
        *(plain.post(PATHS["echo"], json={"message": "one"}, headers=header(payment)) for _ in range(20))
    )
    assert {answer.status_code for answer in answers} == {200}
    receipts = [json.loads(base64.b64decode(answer.headers["payment-response"])) for answer in answers]
    # What is signed of the delivery has the second in which each was answered.
    assert (
        len({(answer.content, receipt["transaction"]) for answer, receipt in zip(answers, receipts, strict=True)}) == 1
    )
    assert len(transfers(service)) == before + 1


async def test_forty_payments_at_once_all_settle(service: Any, buyer: httpx.AsyncClient) -> None:
    """Many settlements in flight from one settler account: every number used once."""
    before = len(transfers(service))
    answers = await asyncio.gather(*(buyer.post(PATHS["echo"], json={"message": str(n)}) for n in range(40)))
    assert [(answer.status_code, answer.json()["youSent"]) for answer in answers] == [(200, str(n)) for n in range(40)]
    assert len(transfers(service)) == before + 40


async def test_a_broke_payer_gets_402_and_nothing_moves(service: Any, plain: httpx.AsyncClient) -> None:
    """Well signed, without a balance: refused by the facilitator's simulation, with its reason."""
    broke = x402Client()
    register_exact_evm_client(broke, EthAccountSigner(Account.create()))
    before = len(transfers(service))
    answer = await plain.post(PATHS["echo"], headers=header(await signed(plain, broke, PATHS["echo"])))
    assert (answer.status_code, answer.json()["error"]) == (402, "insufficient_funds")
    assert json.loads(base64.b64decode(answer.headers["payment-response"]))["success"] is False
    assert len(transfers(service)) == before


async def test_the_official_facilitator_client_verifies_and_settles(
    service: Any, plain: httpx.AsyncClient, sdk: x402Client
) -> None:
    """Our facilitator speaks the standard API; settling twice is one transaction."""
    challenge = PaymentRequired.model_validate((await plain.post(PATHS["echo"])).json())
    payload = await sdk.create_payment_payload(challenge)
    requirements = challenge.accepts[0]
    before = len(transfers(service))
    client = HTTPFacilitatorClient(FacilitatorConfig(url=facilitator_url(service)))
    supported = client.get_supported()
    networks = ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "stellar:pubnet", "xrpl:0"]
    assert [(kind.scheme, kind.network) for kind in supported.kinds] == [("exact", network) for network in networks]
    verified = await client.verify(payload, requirements)
    assert verified.is_valid, verified.invalid_reason
    settled = await client.settle(payload, requirements)
    again = await client.settle(payload, requirements)
    assert settled.success
    assert (again.success, again.transaction) == (True, settled.transaction)
    assert len(transfers(service)) == before + 1
    used = await client.verify(payload, requirements)
    assert (used.is_valid, used.invalid_reason) == (False, "invalid_exact_evm_nonce_already_used")
    await client.aclose()


def facilitator_url(service: Any) -> str:
    line = next(line for line in service.environment if line.startswith("COINSLOT_EVM_FACILITATOR_URL="))
    url: str = line.partition("=")[2]
    return url


async def test_prices_change_while_it_buys(
    service: Any,
    plain: httpx.AsyncClient,
    buyer: httpx.AsyncClient,
    sdk: x402Client,
    sell: Callable[[str], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The operator's command changes them without a failed call: what was signed before is settled at its price, what is bought
    then at the new one. A wrong list changes nothing, and is a sentence. SIGHUP to the API alone does the same."""
    path = PATHS["echo"]
    before = await signed(plain, sdk, path)

    def paid(answer: httpx.Response) -> str:
        assert answer.status_code == 200, answer.text
        amount: str = json.loads(base64.b64decode(answer.headers["payment-response"]))["amount"]
        return amount

    assert await asyncio.to_thread(sell, 'echo = "0.0027"') == 0
    assert paid(await plain.post(path, json={}, headers=header(before))) == "1000"
    assert paid(await buyer.post(path, json={})) == "2700"
    capsys.readouterr()
    assert await asyncio.to_thread(sell, 'ecko = "0.1"') == 1
    assert "'ecko' is no call: did you mean echo?" in capsys.readouterr().err
    assert paid(await buyer.post(path, json={})) == "2700"

    (service.var / "prices.toml").write_text('echo = "0.0031"')
    os.kill(_child(_child(service.pid, b"compose.processes"), b"-m\0api\0"), signal.SIGHUP)
    while (amount := paid(await buyer.post(path, json={}))) == "2700":  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert amount == "3100"


def _child(pid: int, command: bytes) -> int:
    """The child process with this in its command line."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (found,) = (int(child) for child in children if command in Path(f"/proc/{child}/cmdline").read_bytes())
    return found
