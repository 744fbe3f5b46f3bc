"""The connections of a buyer: proxies, certificates and time limits."""

import base64
import contextlib
import socket
import ssl
import threading
from pathlib import Path

import anyio
import certifi
import pytest

from coinslot.async_exchange import AsyncExchange
from coinslot.blocking_exchange import BlockingExchange
from coinslot.exchange import ConnectionLost, Reply, pool_options
from tests.client.conftest import Canned, Shop
from tests.each import each

Kind = type[BlockingExchange | AsyncExchange]


def get(kind: Kind, url: str, *, timeout_s: float = 2) -> Reply:
    """One document over one exchange."""

    async def get() -> Reply:
        exchange = kind(url, timeout_s=timeout_s)
        try:
            with anyio.fail_after(10):
                return await exchange.send("GET", url)
        finally:
            await exchange.aclose() if isinstance(exchange, AsyncExchange) else exchange.close()

    return anyio.run(get)


@each("kind", [BlockingExchange, AsyncExchange])
def test_the_environments_proxy_is_used_for_other_hosts(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """With its user and password. A proxy for the internet has no way to this host, or to those that NO_PROXY names."""
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", shop.base_url.replace("//", "//me:p%40ss@"))
    monkeypatch.setenv("no_proxy", "inside.example")
    shop.documents["http://shop.example/"] = shop.documents["/"] = Canned(200, b"{}")
    shop.seen.clear()
    assert get(kind, "http://shop.example/").body == get(kind, shop.base_url + "/").body == b"{}"
    through, direct = shop.seen
    assert base64.b64decode(through.headers["proxy-authorization"].removeprefix("Basic ")) == b"me:p@ss"
    assert (through.headers["host"], direct.path) == ("shop.example", "/")
    assert pool_options("http://a.inside.example")["proxy"] is None


def test_the_environment_names_the_trusted_roots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given a buyer with the usual roots, when SSL_CERT_FILE or SSL_CERT_DIR names others, then the next trusts only those."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    usual: ssl.SSLContext = pool_options("https://shop.example.com")["ssl_context"]
    one = tmp_path / "one.pem"
    end = "-----END CERTIFICATE-----\n"
    one.write_text(Path(certifi.where()).read_text().partition(end)[0] + end)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    folder: ssl.SSLContext = pool_options("https://shop.example.com")["ssl_context"]
    monkeypatch.setenv("SSL_CERT_FILE", str(one))
    narrow: ssl.SSLContext = pool_options("https://shop.example.com")["ssl_context"]
    assert (len(folder.get_ca_certs()), len(narrow.get_ca_certs())) == (0, 1)
    assert len(usual.get_ca_certs()) > 1
    assert pool_options("https://shop.example.com")["ssl_context"] is narrow
    assert (narrow.verify_mode, narrow.check_hostname) == (ssl.CERT_REQUIRED, True)


@each("kind", [BlockingExchange, AsyncExchange])
def test_headers_that_trickle_are_given_up(kind: Kind) -> None:
    """The time limit is for the whole answer."""
    ended = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
            while not ended.wait(0.02):
                connection.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        with pytest.raises(ConnectionLost, match=r"0\.3 s") as caught:
            get(kind, f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_s=0.3)
        ended.set()
        thread.join()
    assert caught.value.sent
