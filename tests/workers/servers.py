"""Servers in threads, on loopback addresses, that do what a test tells them to."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

ADDRESS = "127.77.40.2"

Answer = Callable[[socket.socket], None]


@contextlib.contextmanager
def server(answer: Answer, *, address: str = ADDRESS, port: int = 0) -> Iterator[int]:
    """Answer every connection in a thread of its own, and close it. The value is the port."""
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:  # ValueError: closed in the meantime
            answer(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                connection.settimeout(10)
                connections.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server((address, port)) as listening:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(5)
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
