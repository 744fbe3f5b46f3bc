"""A forward proxy on the guarded connections, for a browser that has no other network.

    proxy = Proxy(connector, site)
    slot = await proxy.listen(listening)  # a socket, which may be of another network namespace
    with proxy.serving(Job(proxy.route("site.example.com")), slot) as job:
        ...  # whatever connects to the socket belongs to the job
    job.refusals  # reasons of refused requests, by host

It has no other policy than the rest of the worker: jobs.hosts reads names, and the Connector resolves, checks and connects in
one step. HTTP is parsed and written anew on both sides, one request per connection, so that no two parsers can disagree about
where a request ends. A CONNECT tunnel carries bytes; the proxy does not check whether they are TLS.
"""

import asyncio
import contextlib
import functools
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import h11

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.site import Site
from shared.observability.metrics import metrics
from shared.outcome import BlockedAddress, JobFailure, UpstreamFailed
from workers.egress.allowance import Job, Refused, Slot
from workers.egress.connect import Connector
from workers.egress.connection import Connection
from workers.egress.exits import Route
from workers.egress.peer import Peer, passed_on

HEAD_S = 10.0
"""Seconds for a request's head."""
CONNECT_S = 10.0
CONNECTIONS = 256
"""Open connections, of all jobs together and of clients without a job."""
MAX_INTERIM_RESPONSES = 10
"""Responses of 1xx before the response."""

_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS"})
_CLEAR_PORTS = frozenset({80, 8080})
_AUTHORITY = re.compile(rb"[^/?#@\\]+:[0-9]{1,5}")
_ABSOLUTE = re.compile(rb"(http://[^/?#\\]+)((?:[/?][^#]*)?)", re.IGNORECASE)


class Proxy:
    """Serves until it is closed. It belongs to one event loop; threads resolve names and connect.

    Args:
        threads: connections that are opened at the same time.
    """

    def __init__(self, connector: Connector, site: Site, *, threads: int = 32) -> None:
        self._connector = connector
        self._site = site
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="egress")
        self._own: set[tuple[str, int]] = set()
        self._open: set[asyncio.Task[None]] = set()

    def route(self, site: str) -> Route:
        """The route of a job whose page is of this host."""
        return self._connector.route(site)

    async def listen(self, listening: socket.socket) -> Slot:
        """Listen on a socket for one job at a time. Close the slot at the end."""
        slot = Slot()
        self._own.add(listening.getsockname()[:2])
        listening.setblocking(False)
        slot.server = await asyncio.start_server(functools.partial(self._serve, slot), sock=listening)
        return slot

    @contextlib.contextmanager
    def serving(self, job: Job, slot: Slot) -> Iterator[Job]:
        """Serve a job on a slot, and close its connections at the end."""
        slot.job = job
        try:
            yield job
        finally:
            slot.job = None
            job.disconnect()

    async def close(self) -> None:
        """Close every connection. Threads that are connecting end at their deadlines."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, slot: Slot, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        client = Peer(h11.SERVER, reader, writer, lambda count: None)
        try:
            if len(self._open) <= CONNECTIONS:
                await self._answer(client, task, slot)
                await client.end()
        except (h11.ProtocolError, OSError, asyncio.CancelledError):
            pass  # the client sees that the connection is closed
        finally:
            self._open.discard(task)
            client.abort()

    async def _answer(self, client: Peer, task: asyncio.Task[None], slot: Slot) -> None:
        try:
            async with asyncio.timeout(HEAD_S):
                request = await client.head()
            if not isinstance(request, h11.Request):
                raise ConnectionResetError
            job = slot.job
            if job is None:
                raise Refused("bad_request", "No job is served here.")
            job.tasks.add(task)
            task.add_done_callback(job.tasks.discard)
            client.spend = job.spend
            async with asyncio.timeout(job.left_s()):
                await self._serve_job(job, client, request)
        except Refused as refusal:
            metrics.egress_refused(f"browser_{refusal.reason}")
            await client.refuse(refusal)
        except h11.RemoteProtocolError:
            await client.refuse(Refused("bad_request", "This is not a request that a proxy takes."))
        except TimeoutError:
            await client.refuse(Refused("timeout", "The time is up."))
        except OSError:
            await client.refuse(Refused("connection_refused", "The connection broke off."))

    async def _serve_job(self, job: Job, client: Peer, request: h11.Request) -> None:
        host = ""
        try:
            url, target = _parsed(request, self._site)
            host = url.host
            job.count_request(host)
            async with job.connecting:
                upstream = await self._connected(url, job)
        except (NotPublic, JobFailure, Refused) as failure:
            refusal = _refusal(failure)
            job.refusals.setdefault(host, refusal.reason)
            if isinstance(failure, UpstreamFailed) and not failure.retryable:
                job.absent.add(host)
            raise refusal from None
        try:
            if request.method == b"CONNECT":
                await _tunnel(client, upstream)
            else:
                await _forward(client, upstream, request, url, target)
        except Refused as refusal:
            job.refusals.setdefault(host, refusal.reason)
            raise
        finally:
            upstream.abort()

    async def _connected(self, url: PublicUrl, job: Job) -> Peer:
        deadline = min(job.deadline, time.monotonic() + CONNECT_S)
        connect = functools.partial(self._connector.connect, url.host, url.port, deadline=deadline, route=job.route)
        made = self._threads.submit(connect)
        try:
            connected = await asyncio.wrap_future(made)
        except asyncio.CancelledError:
            made.add_done_callback(_discard)  # a thread is not cancelled
            raise
        try:
            if connected.target in self._own:
                raise BlockedAddress("The proxy does not call itself.")
            connected.setblocking(False)
            return Peer(h11.CLIENT, *await asyncio.open_connection(sock=connected), job.receive)
        except BaseException:
            connected.close()
            raise


def _parsed(request: h11.Request, site: Site) -> tuple[PublicUrl, bytes]:
    """The URL and the target of a request."""
    if request.http_version not in {b"1.0", b"1.1"}:
        raise Refused("bad_request", "Ask in HTTP/1.1.")
    if request.method == b"CONNECT":
        if not _AUTHORITY.fullmatch(request.target):
            raise Refused("bad_request", "CONNECT takes a host and a port.")
        url = public_url(f"https://{request.target.decode('ascii')}/", site)
        if url.port in _CLEAR_PORTS:
            raise Refused("blocked_address", "There is no tunnel to a port that is not for TLS.")
        return url, b""
    absolute = _ABSOLUTE.fullmatch(request.target)
    if absolute is None or request.method not in _METHODS:
        raise Refused("bad_request", "Ask for http:// by an ordinary method, or for a tunnel.")
    names = [name for name, _ in request.headers]
    if b"transfer-encoding" in names and b"content-length" in names:
        raise Refused("bad_request", "A body has one length.")
    # The target may be longer than a caller's URL may be: nothing here reads it.
    target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
    return public_url(absolute[1].decode("ascii") + "/", site), target


async def _forward(client: Peer, upstream: Peer, request: h11.Request, url: PublicUrl, target: bytes) -> None:
    headers = [(name, value) for name, value in passed_on(list(request.headers)) if name != b"host"]
    headers = [(b"Host", url.origin.partition("//")[2].encode()), *headers, (b"Connection", b"close")]
    with _breaking_off():
        await upstream.send(h11.Request(method=request.method, target=target, headers=headers))
    while isinstance(part := await client.next(), h11.Data):
        with _breaking_off():
            await upstream.send(part)
    try:
        with _breaking_off():
            await upstream.send(h11.EndOfMessage())
            response = await _response(upstream)
        headers = [*passed_on(list(response.headers)), (b"Connection", b"close")]
        await client.send(h11.Response(status_code=response.status_code, headers=headers, reason=response.reason))
        while isinstance(part := await upstream.next(), h11.Data):
            await client.send(part)
        await client.send(h11.EndOfMessage())
    except h11.ProtocolError:
        raise Refused("bad_content", f"What {url.host} answered is not HTTP.") from None


@contextlib.contextmanager
def _breaking_off() -> Iterator[None]:
    """An upstream that ends the connection before it has answered is a reason; a client that does so is not."""
    try:
        yield
    except OSError:
        raise Refused("connection_refused", "The connection broke off.") from None


async def _response(upstream: Peer) -> h11.Response:
    for _ in range(MAX_INTERIM_RESPONSES):
        head = await upstream.head()
        if isinstance(head, h11.Response):
            return head
    raise h11.RemoteProtocolError("announcements without end")


async def _tunnel(client: Peer, upstream: Peer) -> None:
    if isinstance(await client.next(), h11.Data):
        raise Refused("bad_request", "CONNECT has no body.")
    await client.send(h11.Response(status_code=200, headers=[], reason="Connection established"))
    first = client.taken_over()
    client.spend(len(first))
    await upstream.write(first)
    pouring = [asyncio.create_task(client.pour(upstream)), asyncio.create_task(upstream.pour(client))]
    try:
        done, _ = await asyncio.wait(pouring, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in pouring:
            task.cancel()
        await asyncio.gather(*pouring, return_exceptions=True)


def _refusal(failure: NotPublic | JobFailure | Refused) -> Refused:
    if isinstance(failure, NotPublic):
        return Refused("blocked_address" if failure.code == "blocked_address" else "bad_request", failure.detail)
    if isinstance(failure, JobFailure):
        return Refused(failure.reason or failure.code, failure.detail)
    return failure


def _discard(made: Future[Connection]) -> None:
    if not made.cancelled() and made.exception() is None:
        made.result().close()
