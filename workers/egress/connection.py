"""A connected socket that knows where it leads."""

import socket


class Connection(socket.socket):
    """A connection to a host, also through a proxy.

    Attributes:
        target: the judged address and the port that it leads to. The peer of a connection through a proxy is the proxy.
    """

    target: tuple[str, int] = ("", 0)
