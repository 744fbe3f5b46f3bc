"""PyPI's hostile-facilitator, a battery for clients that pay: a facilitator that settles and then fails as real ones do. It
counts how many payments it was sent for one purchase.

The battery's client is whoever calls the facilitator, which is the shop. All ten of its modes are run against two: the shop,
with our buyer in front, and our buyer, with a shop that hands every failure on as it is.

- `accept_then_timeout`, `5xx_after_settle`, `double_402`, `slow_answer` and `clean` apply to both as they are.
- `declared_safe` asks whether a client gives up although it may repeat. Over HTTP the battery declares nothing, so it is
  `clean` again. What it asks is checked in every mode: each purchase is answered. Our buyer alone sends nothing after the
  second 402 of `double_402`, and keeps the payment.
- `reconcile_unavailable`, `reconcile_soft_404`, `reconcile_oversized` and `reconcile_truncated` break the question whether a
  payment has landed. Its address, /reconcile, is the battery's own. The shop's question is /settlements/{id}, which `Between`
  turns into it. Our buyer has no such question: it sends the same payment again. So these modes prove nothing of it, which
  the battery says itself.

The battery's `proof` is about its own clients, on a chain of foundry's; test_lost_answers.py counts our transfers on one. Its
other half, a hostile client, presents payments to our facilitator twice.
"""

import base64
import http.client
import json
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from coincurve import PrivateKey

from coinslot.buyer import Buyer
from coinslot.errors import CoinslotError, PaymentRejected
from coinslot.wallet import Wallet
from compose.sandbox.child import ROOT, claim_port, tethered
from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests import signing
from tests.clients import environments
from tests.clients.ledgers import LEDGERS
from tests.contract.endpoints import ENDPOINTS
from tests.e2e.running import environment, until_it_listens
from tests.whole_service import Service

pytestmark = pytest.mark.timeout(300)  # the first run fetches the package

BASE = "eip155:8453"
USDC = EVM_USDC[BASE]
PAY_TO = "0x" + "11" * 20
ECHO = next(row for row in ENDPOINTS if row.name == "echo")
GIVES_UP_S = 1
"""How long the battery's client waits for it."""
PURCHASE = """
import http.client, os
there = http.client.HTTPConnection("127.0.0.1", int(os.environ["BETWEEN"]), timeout=60)
there.request("POST", "/purchase", os.environ["FACILITATOR_URL"].rpartition(":")[2])
there.getresponse().read()
"""
PROBE = """
import json, sys
from hostile_facilitator.hostile_client import probe
call = json.load(sys.stdin)
found = probe(*call, settle_gap=0.2, i_understand_this_spends_real_money=True)
print(json.dumps([[one.probe, one.verdict, sorted(one.settlements)] for one in found]))
"""


@pytest.fixture(scope="module")
def battery() -> Path:
    """The interpreter that has it."""
    try:
        return environments.python("hostile")
    except environments.Unavailable as error:
        pytest.skip(str(error))


class Between(ThreadingHTTPServer):
    """Is where the client's facilitator should be, and passes its calls to the battery's facilitator of the moment. The
    battery's command names that one with POST /purchase, which buys once.

    Attributes:
        ends: how each purchase ended, in the order of the modes: None where it was answered.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.hostile = 0
        self.shop_url = ""
        self.ends: list[CoinslotError | None] = []
        self._key = secrets.token_bytes(32)

    def buy(self) -> None:
        with Buyer(self.shop_url, Wallet.evm(self._key), max_price=None, payments=None) as buyer:
            try:
                buyer.call("echo", {"message": "hello"})
                self.ends.append(None)
            except CoinslotError as error:
                self.ends.append(error)


class _Passing(BaseHTTPRequestHandler):
    server: Between

    def do_GET(self) -> None:
        path = self.path
        if path.startswith("/settlements/"):
            path = "/reconcile?nonce=" + path.rpartition("%3A")[2]
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with socket.create_connection(("127.0.0.1", self.server.hostile)) as hostile:
            hostile.sendall(f"{self.command} {path} HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            while part := hostile.recv(65536):
                self.wfile.write(part)

    def do_POST(self) -> None:
        if self.path != "/purchase":
            return self.do_GET()
        self.server.hostile = int(self.rfile.read(int(self.headers["content-length"])))
        self.server.buy()
        self.send_response(204)
        self.end_headers()
        return None

    def log_message(self, *_: object) -> None:
        """Nowhere."""


class _Credulous(BaseHTTPRequestHandler):
    """A shop that hands on what its facilitator does, as it is: it waits as long as the battery says, and then says nothing."""

    server: "CredulousShop"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        offer = evm.offers(USDC, Price.of("0.001"), PAY_TO)[0]
        payment = self.headers.get("payment-signature")
        if payment is None:
            challenge = {"x402Version": 2, "error": "payment_required", "accepts": [signing.wire(offer)]}
            return self._say(402, {**challenge, "resource": {"url": self.server.url + self.path}})
        call = {"paymentPayload": json.loads(base64.b64decode(payment)), "paymentRequirements": signing.wire(offer)}
        facilitator = http.client.HTTPConnection("127.0.0.1", self.server.between.hostile, timeout=GIVES_UP_S)
        try:
            facilitator.request("POST", "/settle", json.dumps(call))
            settled = facilitator.getresponse()
            said = json.loads(settled.read())
        except TimeoutError:
            return None
        finally:
            facilitator.close()
        if settled.status != 200:
            return self._say(settled.status, said)
        return self._say(200, {"youSent": "hello"}, base64.b64encode(json.dumps(said).encode()).decode())

    def _say(self, status: int, document: Any, receipt: str = "") -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if receipt:
            self.send_header("payment-response", receipt)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nowhere."""


class CredulousShop(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, between: Between) -> None:
        super().__init__(("127.0.0.1", 0), _Credulous)
        self.between = between

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve in a thread."""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def between() -> Iterator[Between]:
    with Between() as server, serving(server):
        yield server


@contextmanager
def credulous(between: Between, _: str, __: Path) -> Iterator[str]:
    """Our buyer's shop, which protects it from nothing."""
    with CredulousShop(between) as shop, serving(shop):
        yield shop.url


@contextmanager
def ours(between: Between, redis_url: str, folder: Path) -> Iterator[str]:
    """An API with a worker."""
    port = claim_port(0)
    (folder / "key").write_text(secrets.token_hex(32))
    settings = {
        "COINSLOT_PORT": str(port),
        "COINSLOT_LEDGER_URL": redis_url,
        "COINSLOT_QUEUE_URL": redis_url,
        "COINSLOT_KEY_FILE": str(folder / "key"),
        "COINSLOT_SELL": "echo",
        "COINSLOT_EVM_PAY_TO": PAY_TO,
        "COINSLOT_EVM_FACILITATOR_URL": f"http://127.0.0.1:{between.server_address[1]}",
        "COINSLOT_SETTLE_TIMEOUT_S": str(GIVES_UP_S),
    }
    worker = ["-m", "dramatiq", "workers.main:create_broker", "--queues", "micro", "--processes", "1", "--threads", "1"]
    with ExitStack() as stack:
        api, _ = (
            stack.enter_context(_process(arguments, folder / f"{number}.log", settings))
            for number, arguments in enumerate((["-m", "api"], worker))
        )
        until_it_listens(api, port)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _process(arguments: list[str], log: Path, settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*tethered(), sys.executable, *arguments],
            cwd=ROOT,
            env=environment(PYTHONPATH=str(ROOT), **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


RECONCILE = ["reconcile_unavailable", "reconcile_soft_404", "reconcile_oversized", "reconcile_truncated"]


@pytest.mark.parametrize(("shop", "unproven"), [(ours, []), (credulous, RECONCILE)])
def test_a_purchase_is_paid_once(
    battery: Path,
    between: Between,
    clean_redis: str,
    tmp_path: Path,
    shop: Callable[[Between, str, Path], Any],
    unproven: list[str],
) -> None:
    """Whatever the facilitator does after it has settled; and it is answered."""
    options = ["--client-timeout", str(GIVES_UP_S), "--json", str(tmp_path / "result.json")]
    with shop(between, clean_redis, tmp_path) as between.shop_url:
        done = subprocess.run(
            [battery, "-m", "hostile_facilitator.cli", "test", *options, "--", sys.executable, "-S", "-c", PURCHASE],
            env=environment(BETWEEN=str(between.server_address[1])),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["summary"]["not_exercised_modes"] == unproven, done.stdout
    assert result["summary"]["safe"] + len(unproven) == len(result["results"]) == 10
    assert {row["distinct"] for row in result["results"]} == {1}
    repeated = {row["mode"] for row in result["results"] if row["settle_calls"] > 1}
    assert repeated >= {"accept_then_timeout", "5xx_after_settle", *RECONCILE}
    ends = [end for end in between.ends if end is not None]
    if shop is ours:
        assert ends == []
    else:
        [rechallenged] = ends
        assert isinstance(rechallenged, PaymentRejected)
        assert rechallenged.charged == "unknown"


def test_our_facilitator_settles_a_payment_once(battery: Path, service: Service) -> None:
    """However often it is presented, and although the first caller hangs up. The battery calls that undetermined, because it
    has not seen how often the payment was settled. So the chain is asked."""
    # Another recipient: what is paid past the shop would be missing in its books.
    sandbox = {**service.sandbox["evm"], "payTo": "0x" + "5e" * 20}
    [port] = (line.partition("=")[2] for line in service.environment if line.startswith("COINSLOT_FACILITATOR_PORT="))
    offer = evm.offers(USDC, Price.of("0.001"), sandbox["payTo"])[0]
    key = PrivateKey(bytes.fromhex(sandbox["payerKey"].removeprefix("0x")))
    payments = [
        {"x402Version": 2, "accepted": signing.wire(offer), "payload": signing.payload(key, offer)} for _ in range(3)
    ]
    before = LEDGERS["evm"].held(sandbox, USDC.address)
    done = subprocess.run(
        [battery, "-c", PROBE],
        input=json.dumps([f"http://127.0.0.1:{port}/settle", payments, signing.wire(offer)]),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = {name: (verdict, len(settlements)) for name, verdict, settlements in json.loads(done.stdout)}
    assert found == {
        "re_present_same_auth": ("SAFE", 1),
        "abandoned_reply": ("UNDETERMINED", 1),
        "immediate_double_present": ("SAFE", 1),
    }
    assert LEDGERS["evm"].held(sandbox, USDC.address) - before == 3 * 1000
