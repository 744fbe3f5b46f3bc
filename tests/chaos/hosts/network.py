"""Hosts on one machine: network namespaces with addresses of their own on a bridge, whose links can be cut.

Only for a process that is alone in namespaces of its own for network, mounts and processes, as `scripts/chaos --hosts` starts
it: whatever becomes of it, the kernel removes everything with it.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

NAMES = (
    *("proxy", "api-1", "api-2", "worker-1", "worker-2", "facilitator", "queue"),
    *(f"ledger-{number}" for number in range(1, 7)),
)
_NET = "10.77.0."
_FOLDER = Path("/run/netns")


def address(host: str) -> str:
    """Of a host; callers have 10.77.0.1."""
    return f"{_NET}{10 + NAMES.index(host)}"


def inside(host: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command on a host. It becomes the command, with the same process id."""
    return ["nsenter", f"--net={_FOLDER / host}", "--", *command]


def make_hosts() -> None:
    """All of them, and a bridge to which this process has an address."""
    if os.getpid() != 1:
        raise SystemExit("Start it with scripts/chaos --hosts, which gives it namespaces of its own.")
    _FOLDER.mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "tmpfs", str(_FOLDER))
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "hosts", "type", "bridge")
    _ip("address", "add", f"{_NET}1/24", "dev", "hosts")
    _ip("link", "set", "hosts", "up")
    for host in NAMES:
        _ip("netns", "add", host)
        _ip("link", "add", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", host)
        _ip("link", "set", f"to-{host}", "master", "hosts", "up")
        _ip("-n", host, "address", "add", f"{address(host)}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            _ip("-n", host, "link", "set", link, "up")


def cut(host: str) -> None:
    """Nothing reaches it, and it reaches nothing."""
    _ip("-n", host, "link", "set", "eth0", "down")


def join(host: str) -> None:
    """The end of `cut`."""
    _ip("-n", host, "link", "set", "eth0", "up")


def split(host: str, others: Sequence[str]) -> None:
    """The host and the others do not reach one another; everybody else reaches all of them."""
    _route("add", host, others)


def unite(host: str, others: Sequence[str]) -> None:
    """The end of `split`."""
    _route("del", host, others)


def _route(verb: str, host: str, others: Sequence[str]) -> None:
    for other in others:
        _ip("-n", host, "route", verb, "blackhole", f"{address(other)}/32")
        _ip("-n", other, "route", verb, "blackhole", f"{address(host)}/32")


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
