"""HTTP requests with limits in time and size: what both exchanges share.

They use httpcore itself. httpx also reads cookies and the address of a redirect. When it cannot read them, it raises the same
errors as for a request that it has not sent.
"""

import functools
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import httpcore

from coinslot.address import is_loopback

CONNECT_TIMEOUT_S = 5.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024

# All that httpcore raises before it writes the first byte of a request. After any other error the request may have arrived.
_BEFORE_SENDING = (
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.PoolTimeout,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete HTTP answer. Header names are lower case; a repeated header's values are joined by a comma."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ConnectionLost(Exception):
    """There is no complete answer.

    Args:
        sent: False when no part of the request can have been sent.
    """

    def __init__(self, detail: str, *, sent: bool) -> None:
        super().__init__(detail)
        self.sent = sent


class Exchange(Protocol):
    """Connections to one server, and the two other things that a purchase waits for.

    The steps of a purchase are written once, as coroutines. With a BlockingExchange they never wait for an event loop.
    """

    async def send(self, method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Reply:
        """Send exactly these bytes as JSON. Raises ConnectionLost."""

    async def pause(self, seconds: float) -> None:
        """Wait."""

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function that may block: one that signs or writes to the disk."""


class Received:
    """The body of an answer as it arrives.

    Args:
        timeout_s: for the whole answer. httpcore's own time limits start again with every byte.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._give_up_at = time.monotonic() + timeout_s
        self._body = bytearray()

    def add(self, chunk: bytes) -> None:
        """Take the next bytes. Raises ConnectionLost when the answer is too large or too late."""
        self._body += chunk
        if len(self._body) > MAX_ANSWER_BYTES:
            raise ConnectionLost(f"the answer is larger than {MAX_ANSWER_BYTES} bytes", sent=True)
        if time.monotonic() > self._give_up_at:
            raise ConnectionLost(f"the answer was not complete after {self._timeout_s:g} s", sent=True)

    def reply(self, response: httpcore.Response) -> Reply:
        """The complete answer."""
        headers: dict[str, str] = {}
        for raw_name, raw_value in response.headers:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return Reply(response.status, headers, bytes(self._body))


def pool_options(base_url: str) -> dict[str, Any]:
    """The arguments of httpcore's pool. A proxy from the environment is not used for a server on this host."""
    is_here = is_loopback(base_url)
    env = {} if is_here else os.environ
    return {
        "ssl_context": _tls_context(env.get("SSL_CERT_FILE", ""), env.get("SSL_CERT_DIR", "")),
        "proxy": None if is_here else _proxy(base_url),
        "max_connections": 100,
        "keepalive_expiry": 5.0,
    }


@functools.cache
def _tls_context(file: str, folder: str) -> ssl.SSLContext:
    """One for all exchanges of a process: to read every root certificate takes 25 ms of CPU time.

    Args:
        file, folder: of root certificates. The file goes first; without both, the public ones of certifi are trusted.
    """
    if folder and not file:
        return ssl.create_default_context(capath=folder)
    return ssl.create_default_context(cafile=file or certifi.where())


def _proxy(base_url: str) -> httpcore.Proxy | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for a server."""
    parts, proxies = urlsplit(base_url), getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    return httpcore.Proxy(
        httpcore.URL(scheme=proxy.scheme, host=proxy.hostname or "", port=proxy.port, target="/"),
        auth=(unquote_to_bytes(proxy.username), unquote_to_bytes(proxy.password or "")) if proxy.username else None,
    )


def request_options(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float
) -> dict[str, Any]:
    """The arguments of httpcore's request.

    Args:
        body: None for none, which claims no type.
        timeout_s: longest wait for one step of it.
    """
    return {
        "method": method,
        "url": url,
        "headers": {
            "host": urlsplit(url).netloc.rpartition("@")[2],
            "accept": "application/json",
            # A few hundred bytes can be hundreds of megabytes that were compressed.
            "accept-encoding": "identity",
            "user-agent": "coinslot",
            **({} if body is None else {"content-type": "application/json"}),
            **headers,
        },
        "content": body if method == "GET" else body or b"",
        "extensions": {
            "timeout": {
                "connect": min(timeout_s, CONNECT_TIMEOUT_S),
                **dict.fromkeys(("read", "write", "pool"), timeout_s),
            }
        },
    }


def connection_lost(error: Exception, timeout_s: float) -> ConnectionLost:
    """What an error of a request means for it. Only those of _BEFORE_SENDING prove that nothing was sent."""
    if isinstance(error, ConnectionLost):
        return error
    if isinstance(error, _BEFORE_SENDING):
        return ConnectionLost(f"no connection could be made ({_why(error)})", sent=False)
    if isinstance(error, httpcore.TimeoutException):
        return ConnectionLost(f"no answer came within {timeout_s:g} s", sent=True)
    if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError):
        return ConnectionLost(f"the connection broke ({_why(error)})", sent=True)
    return ConnectionLost(f"the exchange failed ({type(error).__name__})", sent=True)


def _why(error: Exception) -> str:
    """The library's text, which names addresses and protocol errors, never a header's or body's content."""
    if isinstance(error, httpcore.TimeoutException):
        return "timed out"
    return str(error)[:200] or type(error).__name__
