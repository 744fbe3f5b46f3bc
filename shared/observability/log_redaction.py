"""Keeps callers' values out of the logs and core dumps of a process that sees their requests.

The text of an exception may quote a value (`KeyError: 'the token'`), and so may the repr of a future, of a callback's argument
or of a Dramatiq message. So a log shows only the type of an exception and the places in the code. In messages of libraries it
shows plain values, the actor and id of a Dramatiq message, and the type of any other object. Messages of our own code are
written unchanged, because they contain no values of callers.
"""

import ctypes
import logging
import resource
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

OURS = ("api", "workers", "shared", "jobs", "facilitator")

_PR_SET_DUMPABLE = 4

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def redact_logs() -> None:
    """Redact logs, and disable core dumps and tracing, in this process and the ones that it forks.

    A second call changes nothing. Other processes of its user, a child that was taken over among them, cannot read its memory
    and environment then.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    logging.setLogRecordFactory(redacted_record)
    logging.raiseExceptions = False  # logging would print a record that it cannot format, with its arguments
    sys.excepthook = lambda kind, error, trace: _write(error)
    threading.excepthook = lambda failure: _write(failure.exc_value)
    sys.unraisablehook = lambda failure: _write(failure.exc_value)


def places(error: BaseException) -> str:
    """A traceback without the texts of exceptions: places and types, causes first."""
    texts: list[str] = []
    current: BaseException | None = error
    while current is not None:
        kind = type(current)
        texts.append(f"{''.join(traceback.format_tb(current.__traceback__))}{kind.__module__}.{kind.__qualname__}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\n".join(reversed(texts))


def redacted_record(
    name: str,
    level: int,
    path: str,
    line: int,
    message: object,
    arguments: tuple[Any, ...] | None,
    exc_info: _ExcInfo | None,
    func: str | None = None,
    sinfo: str | None = None,
    **rest: Any,
) -> logging.LogRecord:
    """Make the record for a call of a logger."""
    is_ours = name.partition(".")[0] in OURS
    if not is_ours:
        message = _head(name, message) if isinstance(message, str) else _shown(message)
    if arguments:
        shown = _shown_by_us if is_ours else _shown
        (first, *others) = arguments
        if isinstance(first, Mapping) and not others:  # the message uses %(names)s
            arguments = ({key: shown(value) for key, value in first.items()},)
        else:
            arguments = tuple(shown(argument) for argument in arguments)
    record = logging.LogRecord(name, level, path, line, message, arguments or (), None, func, sinfo, **rest)
    if exc_info and exc_info[1] is not None:
        record.exc_text = places(exc_info[1])
    return record


def _head(name: str, message: str) -> str:
    """The part of a message before its arguments: asyncio and granian put tracebacks, futures and callbacks into the
    message."""
    if name == "asyncio":
        return message.partition("\n")[0].partition("(")[0]
    return message.partition("\n")[0] if name.startswith("_granian") else message


def _shown(argument: Any) -> Any:
    if argument is None or isinstance(argument, str | int | float):
        return argument
    message_id = getattr(argument, "message_id", None)
    if isinstance(message_id, str):
        return f"{getattr(argument, 'actor_name', '')} {message_id}"
    return type(argument).__name__


def _shown_by_us(argument: Any) -> Any:
    # Dramatiq logs an actor's arguments under the name of the actor's module, which is ours.
    return type(argument).__name__ if isinstance(argument, bytes | dict | list | tuple) else argument


def _write(error: BaseException | None) -> None:
    if error is not None and sys.stderr is not None:
        sys.stderr.write(f"{places(error)}\n")
