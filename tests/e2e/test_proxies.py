"""The proxies of compose/proxy in front of the running service, and in front of one that does not run."""

import base64
import ipaddress
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import msgspec
import pytest
from cryptography import x509

from api.errors import Problem
from coinslot import payment as payments
from coinslot.wallet import Wallet
from compose.sandbox.child import ROOT, claim_port, tethered
from compose.sandbox.upstreams.authority import Authority
from jobs.catalogue import CATALOGUE
from shared.x402.wire import Challenge
from tests.e2e.running import until_it_listens
from tests.whole_service import Service

PLACES = f"{os.environ['PATH']}:/usr/sbin:{ROOT}/var/nginx/usr/sbin"
"""Where the proxies are; scripts/test has nginx in the last one."""
CONFIGURATIONS = ROOT / "compose" / "proxy"
ECHO = "/v1/cdp/echo"
PROTOCOLS = {"HTTP/1.1": False, "HTTP/2": True}
"""How httpx calls them, and whether it has to be told."""
PAID_HEADER = {"PAYMENT-SIGNATURE": "e30="}
BODY_PAUSE_S = 1


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy.

    Attributes:
        trust: verifies its certificate.
        logs: its folder.
    """

    port: int
    trust: ssl.SSLContext
    logs: Path

    def client(self, protocol: str = "HTTP/1.1") -> httpx.Client:
        """Speaks this protocol with it."""
        is_http2 = PROTOCOLS[protocol]
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}", verify=self.trust, http1=not is_http2, http2=is_http2, timeout=20
        )


@contextmanager
def in_front_of(api_port: int, program: str, folder: Path) -> Iterator[Proxy]:
    """Its configuration with other addresses, running."""
    if (found := shutil.which(program, path=PLACES)) is None:
        pytest.skip(f"{program} is not installed")
    authority = Authority()
    identity = authority.identity(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    (folder / "fullchain.pem").write_bytes(identity.chain_pem())
    (folder / "privkey.pem").write_bytes(identity.key_pem())
    port = claim_port(0)
    command = {"nginx": nginx, "caddy": caddy}[program](folder, port, api_port)
    process = subprocess.Popen(
        [*tethered(), found, *command],
        env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
        stderr=subprocess.DEVNULL,
    )
    try:
        until_it_listens(process, port)
        yield Proxy(port, ssl.create_default_context(cafile=authority.write_root(folder / "root.pem")), folder)
    finally:
        process.terminate()
        process.wait(10)


def nginx(folder: Path, port: int, api_port: int) -> list[str]:
    """Write its files. Returns its arguments."""
    changes = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "    listen [::]:443 ssl http2;\n": "",
        "127.0.0.1:4020": f"127.0.0.1:{api_port}",
        "/etc/ssl/coinslot": str(folder),
        "/var/log/nginx": str(folder),
        "rate=50r/s": "rate=1r/s",
        "client_body_timeout   5s": f"client_body_timeout {BODY_PAUSE_S}s",
    }
    (folder / "coinslot.conf").write_text(changed("nginx.conf", changes))
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid; daemon off; error_log {folder}/error.log; events {{ worker_connections 512; }}\n"
        f"http {{ {paths} include {folder}/coinslot.conf; }}\n"
    )
    return ["-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]


def caddy(folder: Path, port: int, api_port: int) -> list[str]:
    """Write its file. Returns its arguments."""
    changes = {
        "\n{\n": "\n{\n\tadmin off\n\tauto_https off\n",
        "\napi.example.com {\n": f"\nhttps://127.0.0.1:{port} {{\n\ttls {folder}/fullchain.pem {folder}/privkey.pem\n",
        "127.0.0.1:4020": f"127.0.0.1:{api_port}",
        "/var/log/caddy": str(folder),
    }
    (folder / "Caddyfile").write_text(changed("Caddyfile", changes))
    return ["run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]


def changed(name: str, changes: dict[str, str]) -> str:
    """A configuration with what an operator changes. Each of it must be there."""
    text = (CONFIGURATIONS / name).read_text()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    api_port = httpx.URL(service.base_url).port
    assert api_port is not None
    with in_front_of(api_port, request.param, tmp_path_factory.mktemp(request.param)) as proxy:
        yield proxy


def test_every_call_has_its_price(service: Service, proxy: Proxy) -> None:
    """The 402's head is long, and names the public address whatever the proxy is called by. The longest body passes."""
    for protocol in PROTOCOLS:
        with proxy.client(protocol) as client:
            for endpoint in CATALOGUE:
                answer = client.post(endpoint.path, headers={"X-Request-Id": f"for-{protocol[-1]}"})
                assert (answer.status_code, answer.http_version) == (402, protocol)
                assert answer.headers["X-Request-Id"] == f"for-{protocol[-1]}"
                challenge = json.loads(base64.b64decode(answer.headers["PAYMENT-REQUIRED"]))
                assert challenge["resource"]["url"] == service.base_url + endpoint.path
            longest = max(CATALOGUE, key=lambda one: one.max_body_bytes)
            assert client.post(longest.path, content=b" " * longest.max_body_bytes).status_code == 402


def test_a_call_is_paid_and_no_log_has_the_payment(service: Service, proxy: Proxy) -> None:
    """Over both protocols; the same payment again has the same answer."""
    wallet = Wallet.evm(bytes.fromhex(service.sandbox["evm"]["payerKey"].removeprefix("0x")))
    for protocol in PROTOCOLS:
        with proxy.client(protocol) as client:
            body = json.dumps({"message": protocol}).encode()
            document = client.post(ECHO, content=body).json()
            choice = wallet.choose(msgspec.convert(document, Challenge).accepts, max_price=None)
            header = payments.encode(
                choice.offer,
                choice.signer.sign(choice.offer, now=int(time.time())),
                resource=document["resource"],
                extensions=document.get("extensions", {}),
            )
            headers = {"PAYMENT-SIGNATURE": header, "Content-Type": "application/json"}
            first, again = (client.post(ECHO, content=body, headers=headers) for _ in range(2))
            assert (first.status_code, first.http_version) == (200, protocol), first.text
            assert protocol in first.text
            assert again.content == first.content
            assert "PAYMENT-RESPONSE" in first.headers
            logs = "".join(log.read_text() for log in proxy.logs.glob("*.log"))
            assert ECHO in logs
            assert header[:40] not in logs


def test_caddy_says_that_the_api_does_not_answer(tmp_path: Path) -> None:
    """It knows no payments: what it says is right with one and without."""
    with in_front_of(claim_port(0), "caddy", tmp_path) as proxy, proxy.client() as client:
        answer = client.post(ECHO, headers=PAID_HEADER)
        document = answer.json()
        assert (answer.status_code, document["status"], document["code"]) == (503, 503, "unavailable")
        assert (document["charged"], document["retryWithSamePayment"]) == ("unknown", True)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["X-Request-Id"] == document["requestId"]


@pytest.fixture
def nobody(tmp_path: Path) -> Iterator[Proxy]:
    """nginx in front of an API that does not run."""
    with in_front_of(claim_port(0), "nginx", tmp_path) as proxy:
        yield proxy


def check_problem(answer: httpx.Response, **expected: object) -> None:
    """One document for the API's problems and the proxy's."""
    document = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert document.keys() == json.loads(Problem(code="unavailable", detail="").body(instance="", request_id="")).keys()
    assert (document["status"], document["instance"]) == (answer.status_code, answer.request.url.path)
    assert answer.headers["X-Request-Id"] == document["requestId"]
    assert answer.headers.get("Retry-After") == (str(document["retryAfterSeconds"]) if document["retryable"] else None)
    assert {key: document[key] for key in expected} == expected


def test_the_proxys_own_answers_are_problems(nobody: Proxy) -> None:
    """Over both protocols. Where the API may have been asked, a payment may be charged, and the same one again is right."""
    unpaid = {"charged": False, "retryWithSamePayment": False}
    paid = {"charged": "unknown", "retryWithSamePayment": True}
    for protocol in PROTOCOLS:
        with nobody.client(protocol) as client:
            check_problem(client.post(ECHO), status=503, code="unavailable", **unpaid)
            check_problem(client.post(ECHO, headers=PAID_HEADER), status=503, code="unavailable", **paid)
            check_problem(client.post("/mcp", json={}), status=503, code="unavailable", **paid)
    # Over HTTP/2 httpx waits for leave to send the rest, which does not come.
    with nobody.client() as client:
        answer = client.post(ECHO, content=b" " * (4 * 1024 * 1024 + 1), headers=PAID_HEADER)
        check_problem(answer, status=413, code="too_large", retryable=False, **unpaid)


def test_unpaid_calls_of_one_address_are_limited(nobody: Proxy) -> None:
    """Those with a payment are not."""
    with nobody.client() as client:
        refused = next(answer for _ in range(200) if (answer := client.post(ECHO)).status_code == 429)
        check_problem(refused, code="rate_limited", charged=False, retryable=True, retryAfterSeconds=1)
        assert client.post(ECHO, headers=PAID_HEADER).status_code == 503


def test_a_body_that_pauses_is_cut_off(nobody: Proxy) -> None:
    """Long before the API would hear of it."""
    with (
        socket.create_connection(("127.0.0.1", nobody.port), timeout=10 * BODY_PAUSE_S) as plain,
        nobody.trust.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(b"POST %s HTTP/1.1\r\nHost: shop\r\nContent-Length: 10\r\n\r\n{" % ECHO.encode())
        try:
            answer = connection.recv(4096)
        except ConnectionResetError:
            answer = b""
        assert not answer or b" 408 " in answer
