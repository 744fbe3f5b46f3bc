"""Servers that say exactly what a test wants, byte for byte, and a listener that nobody may reach."""

import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Iterator

from tests.workers.servers import ADDRESS, server

Answer = bytes | Callable[[socket.socket], None]


class Server:
    """Answers each connection with the next of its answers, the last one again and again.

    Attributes:
        requests: as they were sent, in their order.
    """

    def __init__(self, answers: list[Answer], trust: ssl.SSLContext | None) -> None:
        self.answers = answers
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        self._trust = trust

    def serve(self, connected: socket.socket) -> None:
        """Answer one connection."""
        self.connections += 1
        with contextlib.suppress(OSError):
            try:
                if self._trust is not None:
                    connected = self._trust.wrap_socket(connected, server_side=True)
                head = b""
                while b"\r\n\r\n" not in head and (part := connected.recv(65536)):
                    head += part
                # What is not read when the connection is closed resets it.
                length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
                while length and len(head) < head.find(b"\r\n\r\n") + 4 + int(length[1]):
                    head += connected.recv(65536)
                self.requests.append(head)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if callable(answer):
                    answer(connected)
                else:
                    connected.sendall(answer)
            finally:
                with contextlib.suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)
                connected.close()


@contextlib.contextmanager
def serving(*answers: Answer, address: str = ADDRESS, trust: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server with these answers."""
    made = Server(list(answers), trust)
    with server(made.serve, address=address) as made.port:
        yield made


def response(body: bytes = b"ok", *headers: str, status: str = "200 OK") -> bytes:
    """A correct response, with more headers."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
