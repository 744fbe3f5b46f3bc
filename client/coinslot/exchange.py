"""HTTP requests with limits in time and size: what both exchanges share. Redirects are never followed."""

from __future__ import annotations

import functools
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import httpx

from coinslot.address import is_loopback

CONNECT_TIMEOUT_S = 5.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that name root certificates, for httpx."""

HTTP_ERRORS = (httpx.TransportError, httpx.InvalidURL, UnicodeError)
"""What a request of httpx raises, for `connection_lost`."""

# What httpx raises before the first byte of a request is written.
_BEFORE_SENDING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
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

    async def post(self, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """POST exactly these bytes as JSON. Raises ConnectionLost."""

    async def get(self, url: str) -> Reply:
        """GET a document. Raises ConnectionLost."""

    async def pause(self, seconds: float) -> None:
        """Wait."""

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function that may block: one that signs or writes to the disk."""


class Received:
    """The body of an answer as it arrives.

    Args:
        timeout_s: for the whole answer. httpx's own time limits start again with every byte.
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

    def reply(self, response: httpx.Response) -> Reply:
        """The complete answer."""
        return Reply(response.status_code, dict(response.headers), bytes(self._body))


def client_options(base_url: str, timeout_s: float) -> dict[str, Any]:
    """The arguments of httpx's client. A proxy from the environment is not used for a server on this host."""
    trust_env = not is_loopback(base_url)
    return {
        "timeout": httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S)),
        "follow_redirects": False,
        "trust_env": trust_env,
        "verify": _tls_context(trust_env, *(os.environ.get(name) for name in _TRUSTED)),
        # httpx would decompress a few hundred bytes into hundreds of megabytes before we could count them.
        "headers": {"accept": "application/json", "accept-encoding": "identity", "user-agent": "coinslot"},
    }


@functools.cache
def _tls_context(trust_env: bool, *trusted: str | None) -> ssl.SSLContext:
    """One for all clients of a process: httpx reads every root certificate for each context, which takes 25 ms of CPU time.

    Args:
        trusted: what _TRUSTED say now: httpx reads them.
    """
    return httpx.create_ssl_context(trust_env=trust_env)


def as_json(body: bytes | None, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a POST. No body claims no type."""
    return {**({} if body is None else {"content-type": "application/json"}), **headers}


def connection_lost(error: Exception, timeout_s: float) -> ConnectionLost:
    """What one of HTTP_ERRORS means for the request."""
    if isinstance(error, _BEFORE_SENDING):
        return ConnectionLost(f"no connection could be made ({_why(error)})", sent=False)
    if isinstance(error, httpx.TimeoutException):
        return ConnectionLost(f"no answer came within {timeout_s:g} s", sent=True)
    if isinstance(error, httpx.TransportError):
        return ConnectionLost(f"the connection broke ({_why(error)})", sent=True)
    return ConnectionLost("the address cannot be used", sent=False)


def _why(error: Exception) -> str:
    """The library's text, which names addresses and protocol errors, never a header's or body's content."""
    if isinstance(error, httpx.TimeoutException):
        return "timed out"
    return str(error)[:200] or type(error).__name__
