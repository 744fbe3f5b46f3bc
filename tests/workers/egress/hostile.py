"""What hostile servers say, canaries that nobody may call, and a way to them."""

import contextlib
import socket
import sys
import threading
import time
from ipaddress import ip_network

from tests.workers.servers import ADDRESS, Answer
from workers.egress.connect import Connector
from workers.egress.exits import Exits
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver


def head_of(connection: socket.socket) -> bytes:
    """A request up to its empty line."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = connection.recv(65536)
        if not part:
            break
        head += part
    return head


def saying(response: bytes) -> Answer:
    """These bytes, whatever is asked, and the end."""

    def answer(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(response)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    return answer


def repeating(first: bytes, then: bytes, *, pause_s: float = 0.0) -> Answer:
    """The first bytes, and the others for ever."""

    def answer(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(first)
        while True:
            connection.sendall(then)
            time.sleep(pause_s)

    return answer


class Calls:
    """Whom this thread calls, by TCP or UDP, as Python's audit sees it: also where nobody listens."""

    _watched: list[tuple[str, int]] | None = None
    _is_hooked = False

    def __enter__(self) -> list[tuple[str, int]]:
        if not Calls._is_hooked:
            sys.addaudithook(Calls._hook)  # for ever
            Calls._is_hooked = True
        Calls._watched = []
        return Calls._watched

    def __exit__(self, *error: object) -> None:
        Calls._watched = None

    @staticmethod
    def _hook(event: str, arguments: tuple[object, ...]) -> None:
        is_call = event in {"socket.connect", "socket.sendto"} and threading.current_thread() is threading.main_thread()
        if is_call and Calls._watched is not None:
            Calls._watched.append(arguments[1])  # type: ignore[arg-type]


class Canary:
    """Listens where nobody may call, and counts who does."""

    def __init__(self, *places: tuple[str, int]) -> None:
        self.places = places
        self._listeners: list[socket.socket] = []

    def __enter__(self) -> "Canary":
        for address, port in self.places:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listener = socket.create_server((address, port), family=family, backlog=16)
            listener.setblocking(False)
            self._listeners.append(listener)
        return self

    def __exit__(self, *error: object) -> None:
        for listener in self._listeners:
            listener.close()

    @property
    def calls(self) -> int:
        """Connections since the last look. The kernel makes them whether they are accepted or not."""
        calls = 0
        for listener in self._listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    calls += 1
        return calls

    @property
    def ports(self) -> list[int]:
        """In the order of the places."""
        return [listener.getsockname()[1] for listener in self._listeners]


def connector(
    *,
    hosts: dict[str, str] | None = None,
    server: tuple[str, int] | None = None,
    allow: str = ADDRESS,
    exits: Exits | None = None,
) -> Connector:
    """One that may call the servers."""
    policy = Policy(allowed=[ip_network(allow)])
    return Connector(policy, Resolver(policy, server=server or (ADDRESS, 9), overrides=hosts), exits)
