"""The sandbox's upstreams as a child process: name server, WHOIS, TLS servers and sites that the endpoints may call."""

import ipaddress
import json
import secrets
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compose.sandbox.child import Child, StartFailed, spawn
from compose.sandbox.upstreams.ports import HTTP_PORT, HTTPS_PORT

_NETWORK = ipaddress.IPv4Network("127.64.0.0/10")
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The running process.

    Attributes:
        settings: the settings of the other processes that lead to it: ``DNS_SERVER``, ``CA_FILE``, ...
    """

    child: Child
    settings: Mapping[str, str]


def start_upstreams(var: Path, address: str = "") -> Upstreams:
    """Start the servers on an address of their own, and return when all of them listen.

    Args:
        var: the project's state folder.
        address: of this machine; empty: a free loopback address.

    Raises:
        StartFailed: the address does not exist (only Linux has more than one), or a server could not be started.
    """
    command = [
        sys.executable,
        "-m",
        "compose.sandbox.upstreams",
        address or _free_address(),
        str(var.resolve() / "upstreams"),
    ]
    child = spawn("upstreams", command, var)
    child.wait_ready(lambda: _told(child) is not None)
    return Upstreams(child, _told(child) or {})


def _told(child: Child) -> dict[str, str] | None:
    for line in child.log.read_text().splitlines():
        if line.startswith("{"):
            settings: dict[str, str] = json.loads(line)
            return settings
    return None


def _free_address() -> str:
    """A random loopback address whose ports are free, so that two sandboxes on one machine do not meet."""
    for _ in range(_TRIES):
        address = str(_NETWORK[1 + secrets.randbelow(_NETWORK.num_addresses - 2)])
        if all(_is_free(address, port) for port in (HTTP_PORT, HTTPS_PORT)):
            return address
    raise StartFailed(f"no loopback address has the ports {HTTP_PORT} and {HTTPS_PORT} free")


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True
