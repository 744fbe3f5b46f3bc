"""Imported first by every client in Python: a connection to anything but this machine fails, and is listed in `elsewhere`."""

import sys
from typing import Any

elsewhere: list[str] = []


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host, port = args[:2]
    elif event == "socket.connect" and isinstance(args[1], tuple):
        host, port = args[1][:2]
    else:
        return
    if host not in (None, "127.0.0.1", "::1", "localhost"):
        elsewhere.append(f"{host}:{port}")
        raise OSError(f"not this machine: {host}")


sys.addaudithook(_watch)
