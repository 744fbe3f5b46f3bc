"""HTTP requests with limits in time and size. Redirects are never followed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import httpx

from client.address import is_loopback

CONNECT_TIMEOUT_S = 5.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024

# What httpx raises before the first byte of a request is written.
_BEFORE_SENDING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


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


class Exchange:
    """Connections to one server.

    Args:
        base_url: of the server. A proxy from the environment is not used for a server on this host.
        timeout_s: longest wait for one answer.
    """

    def __init__(self, base_url: str, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._client = httpx.Client(
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S)),
            follow_redirects=False,
            trust_env=not is_loopback(base_url),
            # httpx would decompress a few hundred bytes into hundreds of megabytes before we could count them.
            headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "coinslot"},
        )

    def post(self, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """POST exactly these bytes as JSON. Raises ConnectionLost."""
        content_type = {} if body is None else {"content-type": "application/json"}
        return self._send("POST", url, body or b"", {**content_type, **headers})

    def get(self, url: str) -> Reply:
        """GET a document. Raises ConnectionLost."""
        return self._send("GET", url, None, {})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Exchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        # httpx's own time limits start again with every byte. This one is for the whole answer.
        give_up_at = time.monotonic() + self._timeout_s
        try:
            with self._client.stream(method, url, content=body, headers=headers) as response:
                content = bytearray()
                for chunk in response.iter_raw():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise ConnectionLost(f"the answer is larger than {MAX_ANSWER_BYTES} bytes", sent=True)
                    if time.monotonic() > give_up_at:
                        raise ConnectionLost(f"the answer was not complete after {self._timeout_s:g} s", sent=True)
                return Reply(response.status_code, dict(response.headers), bytes(content))
        except _BEFORE_SENDING as error:
            raise ConnectionLost(f"no connection could be made ({_why(error)})", sent=False) from None
        except httpx.TimeoutException:
            raise ConnectionLost(f"no answer came within {self._timeout_s:g} s", sent=True) from None
        except httpx.TransportError as error:
            raise ConnectionLost(f"the connection broke ({_why(error)})", sent=True) from None
        except (httpx.InvalidURL, UnicodeError):
            raise ConnectionLost("the address cannot be used", sent=False) from None


def _why(error: httpx.TransportError) -> str:
    """The library's text, which names addresses and protocol errors, never a header's or body's content."""
    if isinstance(error, httpx.TimeoutException):
        return "timed out"
    return str(error)[:200] or type(error).__name__
