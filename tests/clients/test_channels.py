"""The official clients open a channel, pay a thousand calls by vouchers, two at a time, and have the rest back. One service for
both; each is another payer."""

import asyncio
import base64
import json
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_socket
from eth_account import Account
from x402 import x402Client
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.evm.batch_settlement.client.config import BatchSettlementEvmSchemeOptions
from x402.mechanisms.evm.batch_settlement.client.scheme import BatchSettlementEvmScheme
from x402.mechanisms.evm.signers import EthAccountSignerWithRPC

from jobs.catalogue import BY_NAME
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import keccak256
from shared.x402.evm_channel_ids import CONTRACT
from tests.bench.measure.gas import ImpersonatedChain
from tests.channel_signing import on_chain
from tests.clients import environments
from tests.e2e.running import Running

HERE = Path(__file__).parent
NETWORK = "eip155:8453"
SOLD = (
    *("echo", "json-repair", "chain/chain-id", "chain/erc20-balance", "chain/allowance", "chain/nft-owner"),
    *("chain/erc1155-balance", "chain/estimate-gas", "chain/call", "chain/storage"),
)
"""Ten endpoints: 3.3 cents together."""
COUNT, PAIRS = 1_000, 20
DEPOSIT = 5_000_000
FUNDS = 20_000_000


@dataclass
class Bought:
    """What a client says of its calls.

    Attributes:
        statuses: of the calls one after the other.
        pairs: of those two at a time; a text for a call that the client gave up.
        receipts: of the answered ones.
    """

    statuses: list[int]
    pairs: list[int | str]
    receipts: list[dict[str, Any]]
    refund: dict[str, Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    pytest_socket.enable_socket()
    settings = {
        "COINSLOT_EVM_CHANNELS": "on",
        "COINSLOT_EVM_MIN_DEPOSIT": str(DEPOSIT),
        "COINSLOT_EVM_ETHER_PRICE": "0.001",
    }
    running = Running(tmp_path_factory.mktemp("channels"), **settings)
    try:
        running.wait_until_serving()
        yield running
    finally:
        running.end(signal.SIGINT)


class Payer:
    """A wallet with money and nothing else."""

    def __init__(self, running: Running) -> None:
        self.evm = json.loads((running.var / "sandbox.json").read_text())["evm"]
        self.rpc = JsonRpc(self.evm["rpcUrl"])
        self.account = Account.create()
        ImpersonatedChain(self.rpc).call(self.evm["usdc"], "mint(address,uint256)", self.account.address, FUNDS)
        self.block = int(self.rpc("eth_blockNumber"), 16)

    def balance(self) -> int:
        data = "0x70a08231" + self.account.address[2:].lower().rjust(64, "0")
        return int(self.rpc("eth_call", {"to": self.evm["usdc"], "data": data}, "latest"), 16)

    def deposits(self, channel: str) -> int:
        """How often the channel got money."""
        search = {"address": CONTRACT, "fromBlock": hex(self.block), "toBlock": "latest", "topics": [None, channel]}
        deposited = "0x" + keccak256(b"Deposited(bytes32,address,uint128,uint128)").hex()
        return sum(event["topics"][0] == deposited for event in self.rpc("eth_getLogs", search))


def by_python(payer: Payer, calls: list[dict[str, Any]]) -> Bought:
    """PyPI x402 with httpx."""
    scheme = BatchSettlementEvmScheme(
        EthAccountSignerWithRPC(payer.account, payer.evm["rpcUrl"]), BatchSettlementEvmSchemeOptions()
    )
    receipts: list[dict[str, Any]] = []

    async def buy(client: httpx.AsyncClient, call: dict[str, Any]) -> int | str:
        try:
            answer = await client.post(call["url"], json=call["body"])
        except Exception as error:
            return type(error).__name__
        if answer.status_code == 200:
            receipts.append(json.loads(base64.b64decode(answer.headers["payment-response"])))
        return answer.status_code

    async def buy_all() -> tuple[list[int | str], list[int | str]]:
        client = x402Client()
        client.register("eip155:*", scheme)
        async with x402HttpxClient(client, timeout=30) as http:
            statuses = [await buy(http, calls[number % len(calls)]) for number in range(COUNT)]
            pairs: list[int | str] = []
            for number in range(PAIRS):
                two = [{**calls[0], "body": {"message": f"pair {number} {one}"}} for one in range(2)]
                pairs += await asyncio.gather(*(buy(http, one) for one in two))
        return statuses, pairs

    statuses, pairs = asyncio.run(buy_all())
    refund = scheme.refund(calls[0]["url"])
    return Bought(statuses, pairs, receipts, refund.model_dump(by_alias=True, mode="json"))  # type: ignore[arg-type]


def by_npm(payer: Payer, calls: list[dict[str, Any]]) -> Bought:
    """npm @x402/fetch."""
    try:
        folder = environments.node()
    except environments.Unavailable as why:
        pytest.skip(str(why))
    variables = {
        "CALLS": json.dumps(calls),
        "COUNT": str(COUNT),
        "PAIRS": str(PAIRS),
        "KEY": "0x" + payer.account.key.hex().removeprefix("0x"),
        "NETWORK": NETWORK,
        "RPC_URL": payer.evm["rpcUrl"],
    }
    done = subprocess.run(
        [shutil.which("node") or "", "--import", (HERE / "loopback.mjs").as_uri(), "--input-type=module", "-"],
        input=(HERE / "pay_channel.mjs").read_text(),
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["elsewhere"] == []
    return Bought(told["statuses"], told["pairs"], told["receipts"], told["refund"])


@pytest.mark.parametrize("client", [by_python, by_npm])
def test_a_thousand_calls_take_one_deposit(running: Running, client: Any) -> None:
    """One deposit, no transaction for a call. What is claimed are the prices of answered calls; the rest comes back.
    Of calls two at a time nine of ten are answered at once, and none is charged twice."""
    payer = Payer(running)
    calls = [{"url": running.base_url + BY_NAME[one].path, "body": BY_NAME[one].example.request} for one in SOLD]
    bought = client(payer, calls)
    assert Counter(bought.statuses) == {200: COUNT}
    answered = sum(one == 200 for one in bought.pairs)
    assert answered >= 0.9 * 2 * PAIRS, Counter(bought.pairs)
    prices = [int(BY_NAME[one].price.atomic(6)) for one in SOLD]
    spent = sum(prices) * COUNT // len(SOLD) + prices[0] * answered
    assert sum(int(one["extra"]["chargedAmount"]) for one in bought.receipts) == spent
    with_transaction = [one for one in bought.receipts if one["transaction"]]
    assert [one["amount"] for one in with_transaction] == [str(DEPOSIT)]
    channel = bought.receipts[0]["extra"]["channelState"]["channelId"]
    assert payer.deposits(channel) == 1
    assert bought.refund["success"]
    assert on_chain(payer.rpc, bytes.fromhex(channel[2:])) == (spent, spent)
    assert payer.balance() == FUNDS - spent
