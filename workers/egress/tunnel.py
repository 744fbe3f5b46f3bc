"""Connections through a proxy of the operator's: HTTP CONNECT (RFC 9110, 9.3.6) and SOCKS5 (RFC 1928, RFC 1929).

A proxy is given an address that was resolved and judged here, never a name. The operator chooses the proxy's own address, which
is not judged: it may be this machine's.
"""

import base64
import ipaddress
import re
import socket
import time

from shared.settings.egress_proxies import ProxyServer
from workers.egress.connection import Connection
from workers.egress.deadline import left_s

MAX_HEAD_BYTES = 16 * 1024
FAIR_S = 2.0
"""Seconds that a proxy has for its own part. One that had less, because a caller's slow name took the time, is not broken."""

_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: [^\r\n]*)?\r?\n")
_WANTS_OTHER_CREDENTIALS = frozenset({401, 407})
_HOST_UNREACHED = frozenset({500, 502, 503})
"""What proxies answer when the host does not take the connection. 504: it takes too long."""
_HOST_LATE = 504
_NO_CREDENTIALS, _PASSWORD = 0, 2
_SOCKS_UNREACHED = frozenset({1, 3, 4, 5})
_SOCKS_LATE = 6
_ADDRESS_BYTES = {1: 4, 4: 16}


class ProxyFailed(Exception):
    """A proxy did not do its work. The text names no credential.

    Attributes:
        is_broken: it would do so whatever host is asked for: it is not there, or wants other credentials. What depends on
            the host does not count, because callers name hosts.
    """

    def __init__(self, why: str, *, is_broken: bool) -> None:
        super().__init__(why)
        self.is_broken = is_broken


def open_tunnel(server: ProxyServer, address: str, port: int, *, deadline: float) -> Connection:
    """Connect to an address through a proxy.

    Args:
        deadline: monotonic seconds.

    Raises:
        ProxyFailed: by the proxy.
        TimeoutError, ConnectionRefusedError: as the proxy says, by the host.
    """
    connection = _reached(server, deadline)
    try:
        connection.target = (address, port)
        try:
            if server.scheme == "http":
                _connect(connection, server, deadline)
            else:
                _request(connection, deadline)
        except (TimeoutError, ConnectionRefusedError):
            raise
        except (OSError, EOFError):
            raise ProxyFailed("it closes the connection", is_broken=False) from None
    except BaseException:
        connection.close()
        raise
    return connection


def check(server: ProxyServer, asked: tuple[str, int] | None, *, deadline: float) -> None:
    """See whether a proxy is there and takes our credentials. Raises ProxyFailed.

    Args:
        asked: the address that an HTTP proxy has refused our credentials for: only a CONNECT shows whether it takes them.
    """
    if server.scheme == "socks5" or asked is None:
        _reached(server, deadline).close()
        return
    try:
        open_tunnel(server, *asked, deadline=deadline).close()
    except ProxyFailed as failed:
        if failed.is_broken:
            raise
    except OSError:
        pass  # the host does not answer, which says nothing of the proxy


def _reached(server: ProxyServer, deadline: float) -> Connection:
    """A connection to the proxy; one of SOCKS5 has agreed on who we are."""
    began = time.monotonic()
    connection = None
    try:
        opened = socket.create_connection((server.host, server.port), timeout=left_s(deadline))
        connection = Connection(fileno=opened.detach())
        if server.scheme == "socks5":
            _agree(connection, server, deadline)
    except (OSError, EOFError, ProxyFailed) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, ProxyFailed):
            raise
        if isinstance(error, TimeoutError):
            is_broken = time.monotonic() - began >= FAIR_S
            raise ProxyFailed("it does not answer in time", is_broken=is_broken) from None
        why = "no connection" if connection is None else "it does not answer as SOCKS5 does"
        raise ProxyFailed(why, is_broken=True) from None
    return connection


def _connect(connection: Connection, server: ProxyServer, deadline: float) -> None:
    address, port = connection.target
    target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if server.user:
        credentials = base64.b64encode(f"{server.user}:{server.password}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {credentials}")
    _send(connection, "".join(f"{line}\r\n" for line in (*lines, "")).encode(), deadline)
    head = bytearray()
    while not head.endswith((b"\r\n\r\n", b"\n\n")) and len(head) < MAX_HEAD_BYTES:
        head += _exactly(connection, 1, deadline)  # what comes behind it is the host's
    answer = _STATUS.match(head) if len(head) < MAX_HEAD_BYTES else None
    status = int(answer[1]) if answer else 0
    if status == _HOST_LATE:
        raise TimeoutError
    if status in _HOST_UNREACHED:
        raise ConnectionRefusedError
    if status in _WANTS_OTHER_CREDENTIALS:
        raise ProxyFailed(f"it refuses our credentials (status {status})", is_broken=True)
    if not 200 <= status < 300:
        what = f"status {status}" if status else "what is not HTTP"
        raise ProxyFailed(f"it answers CONNECT with {what}", is_broken=False)


def _agree(connection: Connection, server: ProxyServer, deadline: float) -> None:
    methods = bytes([_NO_CREDENTIALS, _PASSWORD]) if server.user else bytes([_NO_CREDENTIALS])
    _send(connection, bytes([5, len(methods)]) + methods, deadline)
    version, method = _exactly(connection, 2, deadline)
    if version != 5:
        raise EOFError
    if method == _PASSWORD and server.user:
        user, password = server.user.encode(), server.password.encode()
        _send(connection, bytes([1, len(user)]) + user + bytes([len(password)]) + password, deadline)
        if _exactly(connection, 2, deadline)[1]:
            raise ProxyFailed("it refuses our credentials", is_broken=True)
    elif method != _NO_CREDENTIALS:
        raise ProxyFailed("it wants credentials", is_broken=True)


def _request(connection: Connection, deadline: float) -> None:
    address = ipaddress.ip_address(connection.target[0])
    kind = bytes([1 if address.version == 4 else 4])
    _send(connection, b"\x05\x01\x00" + kind + address.packed + connection.target[1].to_bytes(2, "big"), deadline)
    version, reply, _, kind_of_ours = _exactly(connection, 4, deadline)
    if version != 5:
        raise EOFError
    if reply == _SOCKS_LATE:
        raise TimeoutError
    if reply in _SOCKS_UNREACHED:
        raise ConnectionRefusedError
    if reply:
        raise ProxyFailed(f"it does not connect (reply {reply})", is_broken=False)
    size = _ADDRESS_BYTES.get(kind_of_ours) or _exactly(connection, 1, deadline)[0]
    _exactly(connection, size + 2, deadline)


def _send(connection: Connection, data: bytes, deadline: float) -> None:
    connection.settimeout(left_s(deadline))
    connection.sendall(data)


def _exactly(connection: Connection, size: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < size:
        connection.settimeout(left_s(deadline))
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError
        received += part
    return bytes(received)
