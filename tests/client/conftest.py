"""A scripted shop: a real HTTP server on 127.0.0.1 that demands, verifies and answers payments as a test says."""

import base64
import io
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coinslot.buyer import Buyer
from coinslot.configuration import Configuration
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.evm_signer import EvmSigner
from coinslot.main import main
from coinslot.payment_folder import PaymentFolder
from coinslot.wallet import Wallet
from shared.money import Price
from shared.x402.evm import EvmAuthorization, check, offers
from shared.x402.networks import EVM_USDC
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Payment

ROOT = Path(__file__).parents[2]
# A canary: no output may ever contain it.
KEY = bytes.fromhex("c0ffee01c0ffee02c0ffee03c0ffee04c0ffee05c0ffee06c0ffee07c0ffee08")
PAY_TO = "0x00000000000000000000000000000000DeaDBeef"
TRANSACTION = "0x" + "ab" * 32


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def payment(self) -> str | None:
        return self.headers.get("payment-signature")


@dataclass(frozen=True)
class Canned:
    """A response."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    """Between the bytes of the body."""


DROP = Canned(0)
"""Instead of a response: the connection is reset."""


def listed(price: str) -> Canned:
    """An OpenAPI document that has nothing but the price of two calls."""
    post = {"x-payment-info": {"price": {"mode": "fixed", "currency": "USD", "amount": price}}, "responses": {}}
    paths = {f"/v1/cdp/{name}": {"post": post} for name in ("echo", "chain/chain-id")}
    return Canned(200, json.dumps({"paths": paths}).encode())


Step = Canned | Callable[[Seen], Canned]


def packed(document: Any) -> str:
    """Base64 of JSON, as headers carry it."""
    return base64.b64encode(json.dumps(document).encode()).decode()


class Shop:
    """The shop. `unpaid` and `paid` are scripts: each request takes one step, the last one stays for good.

    Attributes:
        seen: every request, in order, but those of the OpenAPI document.
        authorizations: of the payments that passed the project's own verifier.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.authorizations: list[EvmAuthorization] = []
        self.unpaid: list[Step] = [lambda seen: self.demand(self.challenge(seen.path))]
        self.paid: list[Step] = [self.sell]
        self.documents: dict[str, Canned] = {"/openapi.json": listed("0.001")}
        self.base_url = ""
        self._script = threading.Lock()

    @property
    def payments(self) -> list[str]:
        """The payment header of every paid request."""
        return [seen.payment for seen in self.seen if seen.payment is not None]

    def challenge(self, path: str = "/v1/cdp/echo", *, price: str = "0.001", **changes: Any) -> dict[str, Any]:
        """A good challenge; `changes` replace members of its only offer."""
        offer = msgspec.to_builtins(offers(EVM_USDC["eip155:8453"], Price.of(price), PAY_TO)[0])
        return {
            "x402Version": 2,
            "error": "payment required",
            "resource": {"url": self.base_url + path, "description": "Says it back."},
            "accepts": [{**offer, **changes}],
            "extensions": {"bazaar": {"info": {"input": {"type": "http"}}, "schema": {}}},
        }

    def demand(self, document: Any, *, header: str | None = None, body: bytes | None = None) -> Canned:
        """A 402 with the same challenge in the header and the body, unless a test says otherwise."""
        headers = {"payment-required": packed(document) if header is None else header}
        return Canned(402, json.dumps(document).encode() if body is None else body, headers)

    def sell(self, seen: Seen, answer: bytes = b'{"ok":true,"youSent":"hi"}') -> Canned:
        """Verify the payment against our own offer and answer it, with a receipt."""
        assert seen.payment is not None
        payment = msgspec.json.decode(base64.b64decode(seen.payment, validate=True), type=Payment)
        offer = msgspec.convert(self.challenge(seen.path)["accepts"][0], type(payment.accepted))
        if payment.accepted != offer:
            return self.demand({**self.challenge(seen.path), "error": "no matching offer"})
        try:
            authorization = check(offer, payment.payload)
        except PaymentRefused as refused:
            return self.demand({**self.challenge(seen.path), "error": refused.reason})
        self.authorizations.append(authorization)
        return Canned(200, answer, {"payment-response": packed(self.receipt(payer=authorization.payer))})

    def receipt(self, **changes: Any) -> dict[str, Any]:
        """A settlement that went well."""
        return {"success": True, "transaction": TRANSACTION, "network": "eip155:8453", **changes}

    def problem(self, status: int, *, retry_after: int | None = None, **members: Any) -> Canned:
        """A problem document, not charged unless a test says otherwise."""
        document = {"title": "Failed", "status": status, "detail": "it failed", "code": "some_code", "charged": False}
        headers = {"content-type": "application/problem+json"}
        if retry_after is not None:
            headers["retry-after"] = str(retry_after)
        return Canned(status, json.dumps({**document, "retryWithSamePayment": False, **members}).encode(), headers)

    def respond(self, seen: Seen) -> Canned:
        """The next step of the script that the request belongs to."""
        with self._script:
            if seen.path != "/openapi.json":
                self.seen.append(seen)
            if seen.method == "GET":
                return self.documents.get(seen.path, Canned(404))
            script = self.unpaid if seen.payment is None else self.paid
            step = script.pop(0) if len(script) > 1 else script[0]
            return step if isinstance(step, Canned) else step(seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    shop: Shop

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        canned = self.shop.respond(Seen(self.command, self.path, headers, body))
        if canned is DROP:
            # Linger 0: a reset, as when the server's process dies.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self.send_response(canned.status)
        for name, value in {"x-request-id": "req-1", **canned.headers}.items():
            self.send_header(name, value)
        if "content-length" not in canned.headers:
            self.send_header("content-length", str(len(canned.body)))
        self.end_headers()
        if not canned.pause_s:
            self.wfile.write(canned.body)
            return
        for byte in canned.body:
            self.wfile.write(bytes([byte]))
            time.sleep(canned.pause_s)

    do_GET = do_POST  # noqa: N815  # the name is http.server's

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A buyer that goes away is no news."""


@contextmanager
def open_shop() -> Iterator[Shop]:
    """A shop that sells echo for 0.001 USDC."""
    shop = Shop()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"shop": shop}))
    shop.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield shop
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def shop() -> Iterator[Shop]:
    """A shop that sells echo for 0.001 USDC."""
    with open_shop() as shop:
        yield shop


@pytest.fixture
def buyer(shop: Shop) -> Iterator[Buyer]:
    """A buyer of the shop who may spend one cent and does not wait long."""
    retry_policy = RetryPolicy(budget_s=5, first_pause_s=0.01, longest_pause_s=0.02)
    with Buyer(
        shop.base_url, Wallet.evm(KEY), max_price=Decimal("0.01"), timeout_s=3, retry_policy=retry_policy
    ) as buyer:
        yield buyer


def configured(base_url: str, folder: Path) -> Configuration:
    """The configuration of a buyer within caps."""
    signer = EvmSigner(KEY, network="eip155:8453")
    return Configuration(signer, base_url, Decimal(0), PaymentFolder(folder), False, ())


def failed(buyer: Buyer, *kinds: type[CoinslotError], body: object = None) -> Any:
    """The error of a call that must fail with one of these kinds."""
    with pytest.raises(kinds) as caught:
        buyer.call("echo", body)
    return caught.value


@dataclass(frozen=True)
class Run:
    """What a run of the command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Run]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in an empty folder and environment. The key must show up in nothing that it prints."""
    monkeypatch.chdir(tmp_path)
    for name in ("COINSLOT_URL", "COINSLOT_WALLET_KEY_FILE", "COINSLOT_SANDBOX_FILE", "COINSLOT_MAX_PRICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COINSLOT_STATE_DIR", str(tmp_path / "state"))

    def run(*arguments: str, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        out, err = capsys.readouterr()
        for form in (KEY.hex(), KEY.hex().upper(), base64.b64encode(KEY).decode(), str(int.from_bytes(KEY, "big"))):
            assert form not in out + err
        return Run(code, out, err)

    return run


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A file with the key that only its owner can read."""
    path = tmp_path / "wallet.key"
    path.write_text(f"0x{KEY.hex()}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def sandbox(shop: Shop, tmp_path: Path) -> Path:
    """The sandbox file of a sandbox whose API is the shop."""
    path = tmp_path / "var" / "sandbox.json"
    path.parent.mkdir()
    evm = {
        "rpcUrl": "http://127.0.0.1:1",
        "chainId": 8453,
        "usdc": EVM_USDC["eip155:8453"].address,
        "payerKey": "0x" + KEY.hex(),
        "payTo": PAY_TO,
    }
    path.write_text(json.dumps({"baseUrl": shop.base_url, "evm": evm, "another": {"later": True}}))
    return path


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A payment without an answer is not sent again in the same run."""
    monkeypatch.setattr("coinslot.buyer.RetryPolicy", lambda: RetryPolicy(budget_s=0))


def process(folder: Path, *arguments: str, env: Mapping[str, str] = {}, **options: Any) -> subprocess.Popen[bytes]:
    """Starts the command in this folder, with this environment and the way to the modules."""
    return subprocess.Popen(
        [sys.executable, "-m", "coinslot.main", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", **env},
        **options,
    )
