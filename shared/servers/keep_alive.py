"""Keeps connections to Redis alive that carry nothing for a while. A firewall forgets such a connection, and the next command
would wait for an answer that cannot come."""

import socket

KEEP_ALIVE = {socket.TCP_KEEPIDLE: 60, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 3}
"""Options of TCP: after a minute without traffic the kernel asks whether the other end is there. It gives the connection up
half a minute later. Firewalls keep a quiet connection for five minutes or more."""


def keep_alive(connection: socket.socket) -> None:
    """Set the options. A Unix socket needs none."""
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEP_ALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
