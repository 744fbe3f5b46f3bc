"""The guarded HTTP client: pinned addresses, redirects by hand, caps on what is sent back, one deadline for all of it.

httpcore speaks HTTP/1.1 on a connection that is made here; it resolves nothing, follows nothing and decodes nothing.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import httpcore

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Page
from shared.outcome import BlockedAddress, UpstreamFailed
from workers.egress.connect import Connector

MAX_REDIRECTS = 5
MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 * 1024
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_CHUNK_BYTES = 64 * 1024


class HttpClient:
    """One request on one connection at a time, and nothing kept between them: no cookies, no cache, no environment.

    Args:
        trust: verifies certificates.
        agent: who asks, for the User-Agent header.
    """

    def __init__(self, connector: Connector, trust: ssl.SSLContext, *, agent: str) -> None:
        self._connector = connector
        self._trust = trust
        self._agent = agent

    def get(
        self, url: PublicUrl, *, limit_bytes: int, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Page:
        """GET, following up to 5 redirects, each of which is checked as the first URL was.

        Args:
            limit_bytes: most bytes of a body, both as it is sent and as it is decoded.
            deadline: monotonic seconds, for all redirects together.

        Raises:
            BlockedAddress: the URL or a redirect leads to what is not public.
            UpstreamFailed: `timeout`, `dns_failure`, `connection_refused`, `tls_failure`, `too_large` or `bad_content`.
        """
        for _ in range(MAX_REDIRECTS + 1):
            page = self.exchange("GET", url, limit_bytes=limit_bytes, deadline=deadline, headers=headers)
            location = page.header("location")
            if page.status not in REDIRECTS or location is None:
                return page
            url = _redirected(url, location)
        raise UpstreamFailed(f"There were more than {MAX_REDIRECTS} redirects.", reason="bad_content")

    def exchange(
        self,
        method: str,
        url: PublicUrl,
        *,
        limit_bytes: int,
        deadline: float,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Page:
        """One request and its response, whatever its status. Raises what `get` raises."""
        stream = _Stream(self._connector.connect(url.host, url.port, deadline=deadline), deadline)
        try:
            if url.scheme == "https":
                stream.secure(self._trust, url.host)
            return self._exchanged(stream, method, url, limit_bytes, self._headers(url, headers or {}), content)
        except (TimeoutError, httpcore.TimeoutException):
            raise UpstreamFailed(f"{url.host} did not answer in time.", reason="timeout") from None
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or "the handshake failed"
            raise UpstreamFailed(f"No TLS connection to {url.host}: {why}.", reason="tls_failure") from None
        except (httpcore.RemoteProtocolError, httpcore.LocalProtocolError, zlib.error):
            raise UpstreamFailed(f"What {url.host} answered is not HTTP.", reason="bad_content") from None
        except (OSError, httpcore.NetworkError):
            raise UpstreamFailed(f"{url.host} closed the connection.", reason="connection_refused") from None
        finally:
            stream.close()

    def _exchanged(
        self,
        stream: _Stream,
        method: str,
        url: PublicUrl,
        limit_bytes: int,
        headers: list[tuple[bytes, bytes]],
        content: bytes | None,
    ) -> Page:
        target = httpcore.URL(
            scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
        )
        if content is not None:
            headers.append((b"Content-Length", str(len(content)).encode()))
        request = httpcore.Request(method, target, headers=headers, content=content or b"")
        with httpcore.HTTP11Connection(target.origin, stream) as connection:
            stream.allow(MAX_HEADER_BYTES + _CHUNK_BYTES)  # also for any number of answers that only announce one
            response = connection.handle_request(request)
            stream.allow(8 * (limit_bytes + _CHUNK_BYTES))  # a chunk of one byte is sent as six
            size = sum(len(name) + len(value) + 4 for name, value in response.headers)
            if len(response.headers) > MAX_HEADERS or size > MAX_HEADER_BYTES:
                raise UpstreamFailed(f"The headers of {url.host} are too many.", reason="too_large")
            if response.status == 101:
                raise UpstreamFailed(f"{url.host} changes to a protocol that was not asked for.", reason="bad_content")
            pairs = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers)
            codings = ",".join(value for name, value in pairs if name == "content-encoding")
            body = b"".join(_decoded(response.iter_stream(), codings, limit_bytes, url.host))
        return Page(str(url), response.status, pairs, body)

    def _headers(self, url: PublicUrl, more: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        headers = {
            "Host": url.origin.partition("//")[2],
            "User-Agent": self._agent,
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate",
            "Connection": "close",
            **more,
        }
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]


class _Stream(httpcore.NetworkStream):
    """A connected socket for httpcore, on which no operation outlives the deadline."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket = connected
        self._deadline = deadline
        self._left = 0

    def allow(self, most: int) -> None:
        """Take so many bytes from now on, and no more."""
        self._left = most

    def secure(self, trust: ssl.SSLContext, host: str) -> None:
        """A TLS handshake; SNI is the name that was checked."""
        self._limit()
        self._socket = trust.wrap_socket(self._socket, server_hostname=host)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come, at most `max_bytes`."""
        self._limit()
        received = self._socket.recv(min(max_bytes, _CHUNK_BYTES))
        self._left -= len(received)
        if self._left < 0:
            raise UpstreamFailed("More was sent than an answer may have.", reason="too_large")
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of it."""
        left = memoryview(buffer)
        while left:
            self._limit()
            left = left[self._socket.send(left) :]

    def close(self) -> None:
        """At once."""
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """Nothing that httpcore needs."""
        return None

    def _limit(self) -> None:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._socket.settimeout(left_s)


def _redirected(url: PublicUrl, location: str) -> PublicUrl:
    # As browsers do: the bytes of a header are UTF-8 more often than Latin-1, and blanks are escaped.
    with contextlib.suppress(UnicodeDecodeError):
        location = location.encode("latin-1").decode()
    try:
        return public_url(location.replace(" ", "%20"), base=url)
    except NotPublic as refused:
        if refused.code == "blocked_address":
            raise BlockedAddress(f"{url.host} redirects to what is not called: {refused.detail}") from None
        raise UpstreamFailed(
            f"{url.host} redirects to what is no URL: {refused.detail}", reason="bad_content"
        ) from None


def _decoded(chunks: Iterator[bytes], encoding: str, limit_bytes: int, host: str) -> Iterator[bytes]:
    """A body's parts, decoded. Neither what was sent nor what it becomes is longer than the limit."""
    decoder: _Decoder | None = (
        None  # nothing is nothing in any coding: redirects and 304 name the one that a body would have
    )
    sent = decoded = 0
    for chunk in chunks:
        sent += len(chunk)
        decoder = decoder or _Decoder(encoding, host)
        # One byte more than is left shows that there is more.
        for part in decoder.parts(chunk, limit_bytes + 1 - decoded):
            decoded += len(part)
            if decoded > limit_bytes:
                break
            yield part
        if sent > limit_bytes or decoded > limit_bytes:
            raise UpstreamFailed(f"The body of {host} has more than {limit_bytes} bytes.", reason="too_large")
    if decoder is not None:
        decoder.end()


class _Decoder:
    """One content coding: none, gzip or deflate. Raises UpstreamFailed `bad_content` for any other, which was not asked for."""

    def __init__(self, encoding: str, host: str) -> None:
        self._host = host
        self._zlib: Any = None
        match encoding.strip().lower():
            case "identity" | "":
                pass
            case "gzip" | "x-gzip":
                self._zlib = zlib.decompressobj(16 + zlib.MAX_WBITS)
            case "deflate":
                self._zlib = _Deflate()
            case _:
                raise UpstreamFailed(f"{host} sent a content coding that was not asked for.", reason="bad_content")

    def parts(self, chunk: bytes, most: int) -> Iterator[bytes]:
        """What a chunk becomes, at most `most` bytes of it."""
        if self._zlib is None:
            yield chunk
            return
        while chunk and most > 0 and not self._zlib.eof:
            part = self._zlib.decompress(chunk, most)
            chunk = self._zlib.unconsumed_tail
            most -= len(part)
            yield part

    def end(self) -> None:
        """Raises UpstreamFailed when the stream was cut off."""
        if self._zlib is not None and not self._zlib.eof:
            raise UpstreamFailed(f"The body of {self._host} is cut off.", reason="bad_content")


class _Deflate:
    """`deflate` is zlib's format (RFC 9110, 8.4.1.2), and some servers send it without zlib's header."""

    def __init__(self) -> None:
        self._inner: Any = None

    @property
    def eof(self) -> bool:
        """Whether the end has come."""
        return self._inner is not None and self._inner.eof

    @property
    def unconsumed_tail(self) -> bytes:
        """What is left of a chunk."""
        tail: bytes = self._inner.unconsumed_tail
        return tail

    def decompress(self, chunk: bytes, most: int) -> bytes:
        """At most `most` bytes."""
        if self._inner is None:
            has_header = chunk[0] & 0x0F == 8 and (len(chunk) < 2 or int.from_bytes(chunk[:2]) % 31 == 0)
            self._inner = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        part: bytes = self._inner.decompress(chunk, most)
        return part
