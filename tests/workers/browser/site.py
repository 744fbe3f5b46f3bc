"""A site of pages that a browser is given, and who was called."""

import contextlib
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HTML = "text/html; charset=utf-8"


@dataclass
class Content:
    """What is answered.

    Attributes:
        pause_s: before the answer.
        raw: makes all that is sent, the status line too, in the place of the others.
    """

    body: bytes
    kind: str = HTML
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    raw: Callable[[], Iterable[bytes]] | None = None


class Site:
    """Answers on a loopback address, on any path that a test gives it.

    Attributes:
        asked: paths with their queries, in the order of the requests.
    """

    def __init__(self, address: str, trust: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Content] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append(self.path)
                content = site.pages.get(urlsplit(self.path).path)
                if content is None:
                    content = Content(b"nothing here", "text/plain", 404)
                time.sleep(content.pause_s)
                if content.raw is not None:
                    self.close_connection = True
                    for part in content.raw():
                        self.wfile.write(part)
                    return
                self.send_response(content.status)
                for name, value in {"Content-Type": content.kind, **content.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content.body)))
                self.end_headers()
                self.wfile.write(content.body)

            do_POST = do_GET  # noqa: N815

            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle()

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        if trust is not None:
            self._server.socket = trust.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def add(self, path: str, body: str | bytes, kind: str = HTML, **options: Any) -> None:
        """Add a page."""
        self.pages[path] = Content(body.encode() if isinstance(body, str) else body, kind, **options)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(urlsplit(asked).path == path for asked in self.asked)

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class Canaries:
    """TCP and UDP sockets on 127.0.0.1 and, where there is IPv6, on ::1. No page's request may ever arrive there."""

    def __init__(self) -> None:
        self._sockets = _on_one_port()
        self.port: int = self._sockets[0].getsockname()[1]
        for each in self._sockets:
            each.setblocking(False)

    @property
    def calls(self) -> list[str]:
        """Who has connected or sent since it was last asked."""
        calls = []
        for each in self._sockets:
            with contextlib.suppress(BlockingIOError):
                while True:
                    if each.type is socket.SOCK_STREAM:
                        connection, caller = each.accept()
                        connection.close()
                    else:
                        _, caller = each.recvfrom(10)
                    calls.append(f"{each.type.name} from {caller[0]} {caller[1]}")
        return calls

    def close(self) -> None:
        """Close all."""
        for each in self._sockets:
            each.close()


def _on_one_port() -> list[socket.socket]:
    """Not of the ports that Linux gives away, nor of those that servers of tests claim: other tests call ports on which nobody
    listens any more."""
    for port in random.SystemRandom().sample(range(61_000, 65_000), 100):
        with contextlib.ExitStack() as opened:
            try:
                sockets = [opened.enter_context(socket.create_server(("127.0.0.1", port), backlog=64))]
                sockets.append(opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
                sockets[1].bind(("127.0.0.1", port))
            except OSError:
                continue  # it is taken
            with contextlib.suppress(OSError):
                sockets.append(
                    opened.enter_context(socket.create_server(("::1", port), family=socket.AF_INET6, backlog=64))
                )
                sockets.append(opened.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)))
                sockets[3].bind(("::1", port))
            opened.pop_all()
            return sockets
    raise OSError("no port is free")
