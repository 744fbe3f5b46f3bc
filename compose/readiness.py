"""Whether a process that was just started does its work: it listens on its port, or reads the queues of its pools."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from compose.procfile import Line
from shared.settings.service import Settings

if TYPE_CHECKING:
    import redis

_LISTENING = "0A"
"""The state of a listening socket in /proc/net/tcp."""


class QueueUnreadable(Exception):
    """The queue's Redis does not answer."""


def expect(line: Line, settings: Settings) -> Callable[[int], bool]:
    """What says of the new process of a line whether it is ready. Call it before the process is started.

    Returns:
        A function of the process's id. Of a line that is neither the API, our facilitator nor a worker it is always true.

    Raises:
        QueueUnreadable: nobody can say which workers there are.
    """
    if port := {"api": settings.port, "facilitator": settings.facilitator_port}.get(line.name):
        return lambda pid: _listens(pid, port)
    if pools := queues(line.command):
        url = settings.redis_url(settings.queue_url)
        known = _readers(url, pools)

        def has_new_readers(_: int) -> bool:
            with contextlib.suppress(QueueUnreadable):
                return all(now - before for now, before in zip(_readers(url, pools), known, strict=True))
            return False

        return has_new_readers
    return lambda _: True


def _listens(group: int, port: int) -> bool:
    """Whether a process of a process group listens on a port. Several groups may do so (SO_REUSEPORT)."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in _lines(Path("/proc/net", name))]
    sockets = {f"socket:[{row[9]}]" for row in rows if row[3] == _LISTENING and row[1].endswith(f":{port:04X}")}
    return bool(sockets) and any(sockets & _files(pid) for pid in members(group))


def _lines(table: Path) -> list[str]:
    return table.read_text().splitlines()[1:] if table.exists() else []


def members(group: int) -> list[str]:
    """The ids of the processes of a process group."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(pid)) == group:
                found.append(pid)
        except ProcessLookupError:
            continue
    return found


def _files(pid: str) -> set[str]:
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            found.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    except OSError:  # the process has ended, or the file was closed
        pass
    return found


def queues(command: Sequence[str]) -> list[str]:
    """The pools that a worker's command names."""
    if "--queues" not in command:
        return []
    named = list(command[command.index("--queues") + 1 :])
    options = [at for at, word in enumerate(named) if word.startswith("-")]
    return named[: options[0]] if options else named


def _readers(url: str, pools: Sequence[str]) -> list[set[bytes]]:
    """The consumers of each pool that have started their port, whether it works or not. Raises QueueUnreadable."""
    from redis.exceptions import RedisError, ResponseError  # only when something is restarted: it takes 15 MB

    from shared.queue.streams import GROUP, SILENT_MS, STARTING, stream_key, unavailable_key
    from shared.servers.redis_connection import connect

    def readers(queue: redis.Redis, pool: str) -> set[bytes]:
        try:
            consumers = cast(list[Any], queue.xinfo_consumers(stream_key(pool), GROUP))
        except ResponseError:  # there is no group yet
            return set()
        names = {each["name"] for each in consumers if each["idle"] < SILENT_MS}
        return {name for name in names if queue.get(unavailable_key(pool, name.decode())) != STARTING.encode()}

    try:
        with connect(url) as queue:
            return [readers(queue, pool) for pool in pools]
    except RedisError:
        raise QueueUnreadable from None
