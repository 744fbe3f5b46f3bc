"""A real proxy on loopback: HTTP CONNECT and SOCKS5 on one port, with or without a password. It connects to whatever it is
asked for, and remembers what that was."""

import base64
import contextlib
import ipaddress
import select
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from shared.settings.egress_proxies import PoolProxies, ProxyServer
from tests.workers.egress.hostile import head_of
from tests.workers.servers import server

Scheme = Literal["http", "socks5"]

PLACE = "127.77.41.2"
"""An address that no policy of a test allows: only the operator's setting leads there."""
USER, PASSWORD = "shop", "p%ss:w@rd-3141"
"""Credentials that no output may show."""


class RealProxy:
    """What the proxy does and has seen.

    Attributes:
        asked: addresses and ports, as they came.
        credentials: user and password that it wants; None: none.
        answer: the status of HTTP or the reply of SOCKS5 in place of a connection.
        connections: how many clients have connected.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.credentials: tuple[str, str] | None = (USER, PASSWORD)
        self.answer = 0
        self.connections = 0
        self.port = 0

    def server(self, scheme: Scheme, password: str = PASSWORD) -> ProxyServer:
        """The proxy, as a setting names it."""
        return ProxyServer(scheme, PLACE, self.port, USER, password)

    def always(self, scheme: Scheme) -> PoolProxies:
        """Proxies of a pool that always uses this one."""
        return PoolProxies((self.server(scheme),), is_always=True)

    def after_refusal(self, scheme: Scheme) -> PoolProxies:
        """Proxies of a pool that uses this one after a refusal."""
        return PoolProxies((self.server(scheme),), is_always=False)

    def file(self, folder: Path, pool: str, scheme: Scheme, use: str) -> str:
        """The path of a file of COINSLOT_EGRESS_PROXY_FILE that names this proxy for a pool."""
        path = folder / "proxies.toml"
        url = f"{scheme}://{USER}:{quote(PASSWORD, safe='')}@{PLACE}:{self.port}"
        path.write_text(f'[{pool}]\nuse = "{use}"\nproxies = ["{url}"]\n')
        return str(path)

    def serve(self, client: socket.socket) -> None:
        """Serve one client."""
        self.connections += 1
        with contextlib.suppress(IndexError):  # it has left in the middle
            if client.recv(1, socket.MSG_PEEK) == b"\x05":
                self._socks5(client)
            elif head := head_of(client):
                self._http(client, head)

    def _http(self, client: socket.socket, head: bytes) -> None:
        first, *lines = head.decode().split("\r\n")
        method, target, _ = first.split(" ")
        assert method == "CONNECT"
        host, _, port = target.rpartition(":")
        if self.credentials:
            basic = base64.b64encode(":".join(self.credentials).encode()).decode()
            if f"Proxy-Authorization: Basic {basic}" not in lines:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
                return
        self.asked.append((host.strip("[]"), int(port)))
        if self.answer:
            client.sendall(b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\n\r\n" % self.answer)
            return
        try:
            upstream = socket.create_connection(self.asked[-1], 5)
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
            return
        client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n")
        _relay(client, upstream)

    def _socks5(self, client: socket.socket) -> None:
        _, count = client.recv(2)
        wanted = 2 if self.credentials else 0
        if wanted not in client.recv(count):
            client.sendall(b"\x05\xff")
            return
        client.sendall(bytes([5, wanted]))
        if self.credentials:
            user = client.recv(client.recv(2)[1]).decode()
            password = client.recv(client.recv(1)[0]).decode()
            is_right = (user, password) == self.credentials
            client.sendall(bytes([1, not is_right]))
            if not is_right:
                return
        kind = client.recv(4)[3]
        size = {1: 4, 4: 16}.get(kind) or client.recv(1)[0]
        raw = client.recv(size)
        host = str(ipaddress.ip_address(raw)) if kind in (1, 4) else raw.decode()
        self.asked.append((host, struct.unpack(">H", client.recv(2))[0]))
        if self.answer:
            client.sendall(bytes([5, self.answer, 0, 1]) + bytes(6))
            return
        try:
            upstream = socket.create_connection(self.asked[-1], 5)
        except OSError:
            client.sendall(b"\x05\x05\x00\x01" + bytes(6))
            return
        client.sendall(b"\x05\x00\x00\x03\x09localhost\x00\x00")
        _relay(client, upstream)


def _relay(client: socket.socket, upstream: socket.socket) -> None:
    to = {client: upstream, upstream: client}
    with upstream:
        while to:
            for ready in select.select(list(to), [], [], 60)[0]:
                data = ready.recv(65536)
                if data:
                    to[ready].sendall(data)
                else:
                    with contextlib.suppress(OSError):
                        to[ready].shutdown(socket.SHUT_WR)
                    del to[ready]


@contextlib.contextmanager
def real_proxy() -> Iterator[RealProxy]:
    """A running proxy."""
    proxy = RealProxy()
    with server(proxy.serve, address=PLACE) as proxy.port:
        yield proxy
