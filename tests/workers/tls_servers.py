"""TLS servers in threads, right and wrong, on one loopback address."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator

from compose.sandbox.upstreams.authority import Identity

ADDRESS = "127.77.32.1"
WEAK = "ALL:@SECLEVEL=0"

Behaviour = Callable[[socket.socket], None]


@contextlib.contextmanager
def server(behaviour: Behaviour, *, address: str = ADDRESS) -> Iterator[int]:
    """Behaves so towards every connection, each in its own thread. The value is its port."""
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):  # ValueError: closed in the meantime
            behaviour(connection)
        connection.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                connection.settimeout(10)
                connections.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server((address, 0)) as listening:
        port: int = listening.getsockname()[1]
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield port
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def shows(identity: Identity, version: ssl.TLSVersion | None = None, *, ciphers: str = WEAK) -> Behaviour:
    """A handshake, and the end of the connection."""
    return shakes(context(identity, version, ciphers=ciphers))


def context(identity: Identity, version: ssl.TLSVersion | None = None, *, ciphers: str = WEAK) -> ssl.SSLContext:
    """Of a server; of one version only."""
    found = identity.server_context(ciphers=ciphers)
    if version is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found.minimum_version = found.maximum_version = version
    return found


def shakes(using: ssl.SSLContext) -> Behaviour:
    """A handshake, and the end of the connection."""

    def behaviour(connection: socket.socket) -> None:
        with using.wrap_socket(connection, server_side=True) as secured:
            secured.recv(1)

    return behaviour


def says(*parts: bytes, hello: bool = True) -> Behaviour:
    """These bytes, after the client's hello or at once, and the end."""

    def behaviour(connection: socket.socket) -> None:
        if hello:
            connection.recv(4096)
        for part in parts:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(4096)

    return behaviour


def repeats(part: bytes, *first: bytes) -> Behaviour:
    """Some bytes, and then the same for ever."""

    def behaviour(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"".join(first))
        while True:
            connection.sendall(part)

    return behaviour


def relays(behind: int, *, change: Callable[[bytes], bytes] = bytes, rounds: int = 1) -> Behaviour:
    """What a server says to the client's first words, changed, and then nothing more while the connection is open.

    Args:
        behind: port of the server.
    """

    def behaviour(connection: socket.socket) -> None:
        with socket.create_connection((ADDRESS, behind)) as real:
            real.settimeout(0.3)
            for _ in range(rounds):
                real.sendall(connection.recv(65536))
                flight = b""
                with contextlib.suppress(TimeoutError):
                    while part := real.recv(65536):
                        flight += part
                connection.sendall(change(flight))
            while connection.recv(65536):
                pass

    return behaviour


def record(kind: int, content: bytes) -> bytes:
    """A TLS 1.2 record in the clear."""
    return bytes([kind, 3, 3]) + len(content).to_bytes(2) + content
