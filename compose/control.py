"""Takes the commands of `coinslot-ops restart`, `scale` and `reload` at a Unix socket that only its owner may use.

A connection has one command, `restart [NAME ...]`, `scale NAME=N ...` or `reload`, as one line. It is answered with a line for
each thing that was done, and at the end with `ok` or `failed: REASON`. A caller that goes away does not stop its command.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from compose.procfile import InvalidProcfile, parse_scale
from compose.supervised_process import log

Report = Callable[[str], None]


class NotDone(Exception):
    """A command stopped half-way. The text says why, and what runs."""


class Commanded(Protocol):
    """What commands are for: compose.processes.Supervisor."""

    def restart(self, names: Sequence[str], report: Report) -> Awaitable[None]:
        """Raises InvalidProcfile, NotDone."""

    def scale(self, scale: Mapping[str, int], report: Report) -> Awaitable[None]:
        """Raises InvalidProcfile, NotDone."""

    def reload(self, report: Report) -> Awaitable[None]:
        """Raises NotDone."""


@contextlib.asynccontextmanager
async def commands_taken(path: Path | None, commanded: Commanded) -> AsyncIterator[None]:
    """Take commands, one at a time. At the end, the one that is under way is given up.

    Args:
        path: of the socket; None: no commands are taken.
    """
    if path is None:
        yield
        return
    tasks: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_first = not tasks
        task = asyncio.create_task(_take(reader, writer, commanded if is_first else None))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    before = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(take, path)
    except OSError as error:
        log(f"no commands are taken: the socket {path} cannot be made ({error.strerror or error})")
        yield
        return
    finally:
        os.umask(before)
    try:
        yield
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(OSError):
            os.unlink(path)


async def _take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, commanded: Commanded | None) -> None:
    def report(text: str) -> None:
        if not writer.is_closing():
            writer.write(f"{text}\n".encode())

    try:
        words = (await reader.readline()).decode().split()
        if commanded is None:
            raise NotDone("another command is under way")
        match words:
            case ["restart", *names]:
                await commanded.restart(names, report)
            case ["scale", *counts]:
                await commanded.scale(parse_scale(",".join(counts)), report)
            case ["reload"]:
                await commanded.reload(report)
            case _:
                raise NotDone("it is no command")
        report("ok")
    except (InvalidProcfile, NotDone, ValueError) as error:  # ValueError: the line is too long, or not UTF-8
        report(f"failed: {error}")
    except asyncio.CancelledError:
        report("failed: everything is being stopped")
        raise
    finally:
        writer.close()
