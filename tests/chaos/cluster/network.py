"""Hosts on one machine: network namespaces with addresses of their own on a bridge, whose links can be cut.

Only for a process that is alone in namespaces of its own for network, mounts and processes, as `scripts/chaos --cluster` starts
it: whatever becomes of it, the kernel removes everything with it.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

SERVICES = ("api-1", "api-2", "worker-1", "worker-2", "facilitator", "queue")
LEDGERS = tuple(f"ledger-{number}" for number in range(1, 10))
NAMES = (*SERVICES, *LEDGERS)
_NET = "10.77.0."
_FOLDER = Path("/run/netns")


def address(host: str) -> str:
    """Of a host; callers have 10.77.0.1."""
    return f"{_NET}{10 + NAMES.index(host)}"


def namespace(host: str) -> Path:
    """The file that names the host's network namespace."""
    return _FOLDER / host


def inside(host: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command on a host. It becomes the command, with the same process id."""
    return ["nsenter", f"--net={namespace(host)}", "--", *command]


def make_hosts() -> None:
    """All of them, and a bridge to which this process has an address."""
    if os.getpid() != 1:
        raise SystemExit("Start it with scripts/chaos --cluster, which gives it namespaces of its own.")
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


@contextlib.contextmanager
def cut(host: str) -> Iterator[None]:
    """Nothing reaches it, and it reaches nothing."""
    _ip("-n", host, "link", "set", "eth0", "down")
    try:
        yield
    finally:
        _ip("-n", host, "link", "set", "eth0", "up")


@contextlib.contextmanager
def split(some: Sequence[str], others: Sequence[str]) -> Iterator[None]:
    """No host of the ones reaches one of the others; everybody else reaches all of them."""
    unreached = {**dict.fromkeys(some, others), **dict.fromkeys(others, some)}
    for host, those in unreached.items():
        _routes("add", host, those)
    try:
        yield
    finally:
        for host, those in unreached.items():
            _routes("del", host, those)


@contextlib.contextmanager
def silenced(host: str, port: int, to: str) -> Iterator[None]:
    """What a server says on this port does not reach another host. The host's other ports do, such as that of the cluster's
    bus."""
    rule = ("ipproto", "tcp", "sport", str(port), "to", f"{address(to)}/32", "blackhole")
    _ip("-n", host, "rule", "add", *rule)
    try:
        yield
    finally:
        _ip("-n", host, "rule", "del", *rule)


def _routes(verb: str, host: str, others: Sequence[str]) -> None:
    lines = "".join(f"route {verb} blackhole {address(other)}/32\n" for other in others)
    subprocess.run(["ip", "-n", host, "-batch", "-"], input=lines, check=True, capture_output=True, text=True)


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
