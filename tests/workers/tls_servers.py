"""What TLS servers do, right and wrong."""

import contextlib
import socket
import ssl
import warnings
from collections.abc import Callable

from compose.sandbox.upstreams.authority import Identity
from tests.workers.servers import ADDRESS, Answer

WEAK = "ALL:@SECLEVEL=0"


def shows(identity: Identity, version: ssl.TLSVersion | None = None, *, ciphers: str = WEAK) -> Answer:
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


def shakes(using: ssl.SSLContext) -> Answer:
    """A handshake, and the end of the connection."""

    def behaviour(connection: socket.socket) -> None:
        with using.wrap_socket(connection, server_side=True) as secured:
            secured.recv(1)

    return behaviour


def says(*parts: bytes, hello: bool = True) -> Answer:
    """These bytes, after the client's hello or at once, and the end."""

    def behaviour(connection: socket.socket) -> None:
        if hello:
            connection.recv(4096)
        for part in parts:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(4096)

    return behaviour


def repeats(part: bytes, *first: bytes) -> Answer:
    """Some bytes, and then the same for ever."""

    def behaviour(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"".join(first))
        while True:
            connection.sendall(part)

    return behaviour


def relays(behind: int, *, change: Callable[[bytes], bytes] = bytes, rounds: int = 1) -> Answer:
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
