"""The guarded HTTP client: checked addresses, checked redirects, limits on the response, one deadline for the whole call.

httpcore speaks HTTP/1.1 on a connection that this module makes. It does not resolve names, follow redirects or decode bodies.
"""

import contextlib
import socket
import ssl
import zlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpcore

from jobs import http_status
from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Page
from jobs.site import Site
from shared.observability.metrics import metrics
from shared.outcome import BlockedAddress, JobFailure, UpstreamFailed
from workers.egress.connect import Connector
from workers.egress.connection import Connection
from workers.egress.deadline import left_s
from workers.egress.decoding import decoded

MAX_REDIRECTS = 5
MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 * 1024
"""Bytes before the body: the status line and the headers, and interim responses (1xx) with theirs."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_WITHOUT_BODY = frozenset({204, 304})
_CHUNK_BYTES = 64 * 1024


class HttpClient:
    """Makes a new connection for each request. It has no cookies and no cache, and ignores proxies in the environment.

    Args:
        trust: verifies certificates.
        agent: the User-Agent header.
    """

    def __init__(self, connector: Connector, trust: ssl.SSLContext, site: Site, *, agent: str) -> None:
        self._connector = connector
        self._trust = trust
        self._site = site
        self._agent = agent

    def get(
        self, url: PublicUrl, *, limit_bytes: int, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Page:
        """GET a URL, and follow up to 5 redirects. Each one is checked as the first URL was.

        Args:
            limit_bytes: limit of the body, both as it is sent and as it is decoded.
            deadline: monotonic seconds, for all redirects together.

        Raises:
            BlockedAddress: the URL or a redirect leads to what is not public.
            UpstreamFailed: `timeout`, `dns_failure`, `connection_refused`, `tls_failure`, `too_large` or `bad_content`.
        """
        for _ in range(MAX_REDIRECTS + 1):
            page = self._send("GET", url, limit_bytes, deadline, headers, None, follows=True)
            location = page.header("location")
            if page.status not in REDIRECTS or location is None:
                return page
            url = _redirected(url, location, self._site)
        raise UpstreamFailed(f"There were more than {MAX_REDIRECTS} redirects.", reason="bad_content", is_final=True)

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
        """Send one request and return its response, whatever its status. Raises the same exceptions as `get`."""
        return self._send(method, url, limit_bytes, deadline, headers, content, follows=False)

    def _send(
        self,
        method: str,
        url: PublicUrl,
        limit_bytes: int,
        deadline: float,
        headers: Mapping[str, str] | None,
        content: bytes | None,
        *,
        follows: bool,
    ) -> Page:
        """Send a request, and once more by another exit (workers/egress/exits.py) when the site refuses the first one."""
        route = self._connector.route(url.host)
        connect = partial(self._connector.connect, url.host, url.port, deadline=deadline, route=route)

        def sent(connection: Connection) -> Page:
            return self._sent(connection, method, url, limit_bytes, deadline, headers, content, follows=follows)

        connection = connect()
        try:
            page = sent(connection)
        except UpstreamFailed as failure:
            # Whether a lost request of another method was done is not known.
            if failure.reason != "connection_refused" or method != "GET" or not route.refused():
                raise
            return sent(connect())
        if page.status not in http_status.REFUSALS or not route.refused():
            return page
        try:
            second = sent(connect())
        except JobFailure:
            return page
        if second.status in http_status.REFUSALS:
            route.refused()
        return second

    def _sent(
        self,
        connection: Connection,
        method: str,
        url: PublicUrl,
        limit_bytes: int,
        deadline: float,
        headers: Mapping[str, str] | None,
        content: bytes | None,
        *,
        follows: bool,
    ) -> Page:
        stream = _Stream(connection, deadline)
        try:
            if url.scheme == "https":
                stream.secure(self._trust, url.host)
            request = _request(method, url, self._headers(url, headers or {}), content)
            return _answer(stream, request, url, limit_bytes, follows=follows)
        except (TimeoutError, httpcore.TimeoutException):
            raise UpstreamFailed(f"{url.host} did not answer in time.", reason="timeout") from None
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or "the handshake failed"
            raise UpstreamFailed(f"No TLS connection to {url.host}: {why}.", reason="tls_failure") from None
        except httpcore.LocalProtocolError:
            raise UpstreamFailed(f"What {url.host} made of the request cannot be sent.", reason="bad_content") from None
        except httpcore.RemoteProtocolError:
            if stream.received == 0:
                raise UpstreamFailed(f"{url.host} closed the connection.", reason="connection_refused") from None
            raise UpstreamFailed(f"What {url.host} answered is not HTTP, or cut off.", reason="bad_content") from None
        except zlib.error:
            raise UpstreamFailed(
                f"The body of {url.host} is not compressed as it says.", reason="bad_content"
            ) from None
        except (OSError, httpcore.NetworkError):
            raise UpstreamFailed(f"{url.host} closed the connection.", reason="connection_refused") from None
        finally:
            stream.close()

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


def _request(
    method: str, url: PublicUrl, headers: list[tuple[bytes, bytes]], content: bytes | None
) -> httpcore.Request:
    target = httpcore.URL(scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode())
    if content is not None:
        headers.append((b"Content-Length", str(len(content)).encode()))
    return httpcore.Request(method, target, headers=headers, content=content or b"")


def _answer(stream: "_Stream", request: httpcore.Request, url: PublicUrl, limit_bytes: int, *, follows: bool) -> Page:
    """The response. The body of a redirect that is followed is not read: it may be endless."""
    with httpcore.HTTP11Connection(request.url.origin, stream) as connection:
        response = connection.handle_request(request)
        stream.is_in_head = False
        stream.most = stream.received + 8 * (limit_bytes + _CHUNK_BYTES)  # a chunk of one byte is sent as six
        if len(response.headers) > MAX_HEADERS:
            raise UpstreamFailed(f"{url.host} sent more than {MAX_HEADERS} headers.", reason="too_large", is_final=True)
        if response.status < 200:  # 101: we asked for no other protocol
            raise UpstreamFailed(f"{url.host} switched to another protocol.", reason="bad_content")
        pairs = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers)
        page = Page(str(url), response.status, pairs, b"")
        if follows and response.status in REDIRECTS and page.header("location") is not None:
            return page
        if request.method != b"HEAD" and response.status not in _WITHOUT_BODY and _declared(page) > limit_bytes:
            detail = f"The body of {url.host} has more than {limit_bytes} bytes."
            raise UpstreamFailed(detail, reason="too_large", is_final=True)
        codings = ", ".join(value for name, value in pairs if name == "content-encoding")
        return page._replace(body=b"".join(decoded(response.iter_stream(), codings, limit_bytes, url.host)))


def _declared(page: Page) -> int:
    length = (page.header("content-length") or "").strip()
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


class _Stream(httpcore.NetworkStream):
    """A connected socket for httpcore. None of its operations outlasts the deadline.

    Attributes:
        received: bytes received so far.
        is_in_head: whether the headers are being read, which may have MAX_HEADER_BYTES.
        most: limit of received bytes, with the framing of chunks.
    """

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket = connected
        self._deadline = deadline
        self.received = 0
        self.is_in_head = True
        self.most = 0

    def secure(self, trust: ssl.SSLContext, host: str) -> None:
        """Make a TLS handshake. SNI is the name that was checked."""
        self._limit()
        self._socket = trust.wrap_socket(self._socket, server_hostname=host)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes, at most `max_bytes`."""
        self._limit()
        most = min(max_bytes, _CHUNK_BYTES)
        if self.is_in_head:
            most = min(most, MAX_HEADER_BYTES - self.received)
            if most <= 0:
                detail = f"The headers have more than {MAX_HEADER_BYTES} bytes."
                raise UpstreamFailed(detail, reason="too_large", is_final=True)
        elif self.received > self.most:
            raise UpstreamFailed("There is more around the body than in it.", reason="too_large", is_final=True)
        received = self._socket.recv(most)
        self.received += len(received)
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write everything. sendall() would not do: over TLS it gives each part the whole timeout."""
        rest = memoryview(buffer)
        try:
            while rest:
                self._limit()
                rest = rest[self._socket.send(rest[:_CHUNK_BYTES]) :]
        except (BrokenPipeError, ConnectionResetError):
            # A server may refuse a request before it has read all of it: httpcore then reads the answer.
            raise httpcore.WriteError from None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """None: httpcore needs nothing from it."""
        return None

    def _limit(self) -> None:
        self._socket.settimeout(left_s(self._deadline))


def _redirected(url: PublicUrl, location: str, site: Site) -> PublicUrl:
    # Servers send UTF-8, as browsers read it, or Latin-1, and spaces.
    with contextlib.suppress(UnicodeDecodeError):
        location = location.encode("latin-1").decode()
    try:
        return public_url(location.strip().replace(" ", "%20"), site, base=url)
    except NotPublic as refused:
        if refused.code == "blocked_address":
            metrics.egress_refused("blocked_redirect")
            raise BlockedAddress(f"{url.host} redirects to what is not called: {refused.detail}") from None
        raise UpstreamFailed(
            f"{url.host} redirects to what is no URL: {refused.detail}", reason="bad_content", is_final=True
        ) from None
