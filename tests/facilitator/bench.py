"""What the facilitator's tests share: payers who sign, a stranger with gas of his own, and a node that fails on demand."""

import asyncio
import contextlib
import copy
import dataclasses
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import httpx
from aiohttp import web
from coincurve import PrivateKey
from eth_abi import encode
from eth_account import Account
from eth_utils.address import to_checksum_address

from compose.sandbox.evm import ETHER_PRICE, MAX_FEE_GWEI, EvmSandbox
from facilitator.rail import Rail
from facilitator.rails.evm.calldata import authorization_state, balance_of, transfer_with_authorization
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402 import evm
from shared.x402.evm import keccak256
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Evidence
from tests import signing
from tests.time_limits import patience

TOKEN = EVM_USDC["eip155:8453"]
ABSENT = object()
"""In `changed`: take the member out."""

TRANSFER_TOPIC = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()
_ETHER = 10**18


OPEN = {"settlement_pending", "unexpected_settle_error"}
"""Reasons after which the same payment may still settle."""


def an_address() -> str:
    """An account that nobody has the key of."""
    return "0x" + secrets.token_hex(20)


def changed(body: Any, path: str, value: Any) -> Any:
    """A copy of a JSON document with one member set, or taken out by ABSENT: ``paymentRequirements.extra.name``."""
    made = copy.deepcopy(body)
    *parents, last = path.split(".")
    inner = made
    for name in parents:
        inner = inner[name]
    if value is ABSENT:
        del inner[last]
    else:
        inner[last] = value
    return made


def payment_id(call: Any) -> str:
    """The replay key of a payment."""
    authorization = call["paymentPayload"]["payload"]["authorization"]
    return f"eip155:8453:{TOKEN.address}:{authorization['from']}:{authorization['nonce']}".lower()


def on_sandbox(sandbox: EvmSandbox, **settings: Any) -> EvmRailSettings:
    """Settings of a rail on that chain, where every transaction is a block."""
    own = {"rpc_url": sandbox.rpc_url, "spacing_ms": 0, "max_fee_gwei": MAX_FEE_GWEI, "ether_price": ETHER_PRICE}
    return EvmRailSettings(**own | settings)


def with_evm(settings: Settings, **changes: Any) -> Settings:
    """Other settings of the network behind COINSLOT_EVM_*."""
    return dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, **changes))


async def settle(facilitator: httpx.AsyncClient, call: Any) -> Any:
    """The answer of /settle."""
    answer = await facilitator.post("/settle", json=call)
    assert answer.status_code == 200
    return answer.json()


async def until(true: Callable[[], object], within_s: float = patience(20)) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, "it does not become true"
        await asyncio.sleep(0.02)


async def evidence_of(rail: Rail[Any], payment_id: str) -> Evidence:
    """What the rail finds; its id must be one of the rail's."""
    evidence = await rail.evidence(payment_id)
    assert evidence is not None
    return evidence


class Payer:
    """An account with a key. It signs what it is asked to, right or wrong."""

    def __init__(self, address: str = "") -> None:
        self.key = PrivateKey()
        self.address = address or evm.address_of(self.key.public_key)

    def call(self, pay_to: str, *, price: str = "0.001", wrap: Callable[[bytes], bytes] = bytes, **fields: str) -> Any:
        """The body of /verify and /settle.

        Args:
            wrap: what the payer's contract makes of its owner's signature.
            fields: of the authorization, signed, where they differ from the offer.
        """
        offer = evm.offers(TOKEN, Price.of(price), pay_to)[0]
        requirements = signing.wire(offer)
        return {
            "x402Version": 2,
            "paymentPayload": {
                "x402Version": 2,
                "accepted": copy.deepcopy(requirements),
                "payload": signing.payload(self.key, offer, address=self.address, wrap=wrap, **fields),
            },
            "paymentRequirements": requirements,
        }

    def sign(self, digest: bytes) -> bytes:
        """r, s, v."""
        return signing.rsv(self.key, digest)

    def cancellation(self, nonce: str) -> bytes:
        """Calldata of cancelAuthorization."""
        domain = evm.domain_separator(TOKEN.name, TOKEN.version, TOKEN.chain_id, TOKEN.address)
        kind = keccak256(b"CancelAuthorization(address authorizer,bytes32 nonce)")
        words = encode(["address", "bytes32"], [self.address, bytes.fromhex(nonce[2:])])
        signature = self.sign(keccak256(b"\x19\x01" + domain + keccak256(kind + words)))
        parts = encode(["uint8", "bytes32", "bytes32"], [signature[64], signature[:32], signature[32:64]])
        return bytes.fromhex("5a049a70") + words + parts


@dataclass
class Bench:
    """One chain, and a stranger who has gas and nothing to do with the facilitator."""

    sandbox: EvmSandbox
    rpc: JsonRpc
    stranger_key: str = field(default_factory=lambda: "0x" + secrets.token_hex(32), repr=False)
    _numbering: threading.Lock = field(default_factory=threading.Lock)

    def fund_stranger(self) -> None:
        """Before any facilitator runs: it numbers the settler's transactions alone."""
        account = Account.from_key(self.stranger_key)
        self.send(b"", key=self.sandbox.settler_key, to=account.address, value=100 * _ETHER, gas=21_000)

    def payer(self, funds: int = 1_000_000) -> Payer:
        """A fresh account with `funds` atomic units of USDC."""
        payer = Payer()
        self.mint(payer.address, funds)
        return payer

    def mint(self, account: str, amount: int) -> None:
        """Anybody may mint on the sandbox."""
        self.send(keccak256(b"mint(address,uint256)")[:4] + encode(["address", "uint256"], [account, amount]))

    def balance(self, account: str) -> int:
        """USDC of an account, in atomic units."""
        return int(self._read(balance_of(account)), 16)

    def is_used(self, call: Any) -> bool:
        """Whether a payment's nonce is used up."""
        authorization = call["paymentPayload"]["payload"]["authorization"]
        return bool(int(self._read(authorization_state(authorization["from"], _nonce(authorization))), 16))

    def transfers(self, pay_to: str) -> list[str]:
        """The transactions that moved USDC to an account, one entry a transfer."""
        topics = [TRANSFER_TOPIC, None, "0x" + pay_to[2:].lower().rjust(64, "0")]
        logs = self.rpc(
            "eth_getLogs", {"address": TOKEN.address, "fromBlock": "0x0", "toBlock": "latest", "topics": topics}
        )
        return [entry["transactionHash"] for entry in logs]

    def broadcast(self, call: Any) -> str:
        """The stranger sends somebody's authorization himself. Returns the transaction."""
        offer = evm.offers(TOKEN, Price.of("0.001"), call["paymentRequirements"]["payTo"])[0]
        return self.send(transfer_with_authorization(evm.check(offer, call["paymentPayload"]["payload"])))

    def cancel(self, payer: Payer, call: Any) -> None:
        """The payer uses its nonce up without paying; the stranger pays the gas."""
        self.send(payer.cancellation(call["paymentPayload"]["payload"]["authorization"]["nonce"]))

    def deploy(self, creation: bytes) -> str:
        """A contract's address."""
        address: str = self.receipt(self.send(creation, to=None))["contractAddress"]
        return address

    def send(
        self, data: bytes, *, to: str | None = TOKEN.address, key: str = "", value: int = 0, gas: int = 1_500_000
    ) -> str:
        """A transaction of the stranger, or of the account of `key`, that must succeed. Returns when it is mined."""
        account = Account.from_key(key or self.stranger_key)
        with self._numbering:
            transaction: dict[str, Any] = {
                "type": 2,
                "chainId": 8453,
                "nonce": int(self.rpc("eth_getTransactionCount", account.address, "pending"), 16),
                "value": value,
                "data": data,
                "gas": gas,
                "maxFeePerGas": int(self.rpc("eth_gasPrice"), 16) * 2,
                "maxPriorityFeePerGas": int(self.rpc("eth_maxPriorityFeePerGas"), 16),
                **({"to": to_checksum_address(to)} if to else {}),
            }
            raw = bytes(account.sign_transaction(transaction).raw_transaction)
            transaction_hash: str = self.rpc("eth_sendRawTransaction", "0x" + raw.hex())
        assert self.receipt(transaction_hash)["status"] == "0x1"
        return transaction_hash

    def receipt(self, transaction: str) -> Any:
        """The receipt, as soon as there is one."""
        deadline = time.monotonic() + patience(20)
        while time.monotonic() < deadline:
            if receipt := self.rpc("eth_getTransactionReceipt", transaction):
                return receipt
            time.sleep(0.005)
        raise TimeoutError(transaction)

    def _read(self, data: bytes) -> str:
        answer: str = self.rpc("eth_call", {"to": TOKEN.address, "data": "0x" + data.hex()}, "latest")
        return answer


class FaultyNode:
    """A JSON-RPC node between the facilitator and the chain. `faults` says how it answers a method. Other calls pass through.

    Faults: ``null``, ``empty`` (a result of []), ``error`` (a JSON-RPC error), ``garbage``, ``http429``, ``reset``, ``hang``,
    ``lost`` (done, and the answer lost), ``forget`` (a transaction is taken and forgotten), or a function, called with the
    parameters before the call goes through, which may return one of these, or an answer ``{"result": ...}``. `edits` changes
    a method's results. `seen` has the methods of all calls, and `requests` those of each request.
    """

    def __init__(self, upstream: str) -> None:
        self.faults: dict[str, str | Callable[[Any], object]] = {}
        self.edits: dict[str, Callable[[Any], Any]] = {}
        self.seen: list[str] = []
        self.requests: list[list[str]] = []
        self.takes_batches = True
        self.url = ""
        self._upstream = upstream
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._started = threading.Event()

    def start(self) -> None:
        """In a thread of its own."""
        self._thread.start()
        assert self._started.wait(patience(5))

    def stop(self) -> None:
        """Its port is closed afterwards."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)

    def _run(self) -> None:
        runner = self._loop.run_until_complete(self._serve())
        self._loop.call_soon(self._started.set)  # not before: to stop what does not run yet would be in vain
        self._loop.run_forever()
        self._loop.run_until_complete(self._end(runner))
        self._loop.close()

    async def _end(self, runner: web.AppRunner) -> None:
        await runner.cleanup()
        await self._session.close()
        for hanging in asyncio.all_tasks() - {asyncio.current_task()}:
            hanging.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await hanging

    async def _serve(self) -> web.AppRunner:
        self._session = aiohttp.ClientSession()
        app = web.Application()
        app.router.add_post("/", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if isinstance(asked, list) and not self.takes_batches:
            refusal = {"code": -32600, "message": "batches are for paying customers"}
            return web.json_response({"jsonrpc": "2.0", "id": None, "error": refusal})
        calls = asked if isinstance(asked, list) else [asked]
        self.requests.append([one["method"] for one in calls])
        answers: list[Any] = []
        is_lost = False
        for one in calls:
            self.seen.append(one["method"])
            fault = self.faults.get(one["method"])
            if callable(fault):
                fault = await asyncio.to_thread(fault, one["params"])
            match fault:
                case "garbage":
                    return web.Response(text="<html>", content_type="text/html")
                case "http429":
                    return web.Response(status=429, text="slow down")
                case "hang":
                    await asyncio.sleep(30)
                case "reset":
                    return self._reset(request)
            is_lost |= fault == "lost"
            answers.append({"jsonrpc": "2.0", "id": one["id"], **await self._one(one, fault)})
        if is_lost:
            return self._reset(request)
        return web.json_response(answers if isinstance(asked, list) else answers[0])

    async def _one(self, asked: Any, fault: object) -> dict[str, Any]:
        match fault:
            case dict():
                return fault
            case "null":
                return {"result": None}
            case "empty":
                return {"result": []}
            case "forget":
                return {"result": "0x" + keccak256(bytes.fromhex(asked["params"][0][2:])).hex()}
            case "error":
                return {"error": {"code": -32000, "message": "not today"}}
        async with self._session.post(self._upstream, json=asked) as answer:
            answered: dict[str, Any] = json.loads(await answer.read())
        if edit := self.edits.get(asked["method"]):
            answered["result"] = edit(answered["result"])
        return {name: answered[name] for name in ("result", "error") if name in answered}

    def _reset(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def as_json(body: Any) -> bytes:
    """JSON text."""
    return json.dumps(body).encode()


def _nonce(authorization: Any) -> bytes:
    return bytes.fromhex(authorization["nonce"][2:])
