"""What a process that sees callers' requests says and leaves behind: never a value of one.

An exception's text may quote what it is about (`KeyError: 'the token'`), and so may the repr of a future, an argument of a
callback, or a Dramatiq message. So a log has an exception's type and the places in the code, whoever logs it, and of what
libraries log besides it has plain values, a Dramatiq message's actor and id, and of any other object the type. What our own
code passes to its loggers is written as it is: it names no values.
"""

from __future__ import annotations

import logging
import resource
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

OURS = ("api", "workers", "shared", "jobs", "facilitator")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def redact_logs() -> None:
    """For the rest of this process's life, and of those that it forks: also no core dumps. Doing it twice is harmless."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.setLogRecordFactory(redacted_record)
    logging.raiseExceptions = False  # a record that cannot be formatted is printed with its arguments otherwise
    sys.excepthook = lambda kind, error, trace: _tell(error)
    threading.excepthook = lambda told: _tell(told.exc_value)
    sys.unraisablehook = lambda told: _tell(told.exc_value)


def places(error: BaseException) -> str:
    """A traceback without the exceptions' texts: places and types, causes first."""
    told: list[str] = []
    current: BaseException | None = error
    while current is not None:
        kind = type(current)
        told.append(f"{''.join(traceback.format_tb(current.__traceback__))}{kind.__module__}.{kind.__qualname__}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\n".join(reversed(told))


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
    """What `logging` makes of each call of a logger."""
    is_ours = name.partition(".")[0] in OURS
    if not is_ours:
        message = _head(name, message) if isinstance(message, str) else _shown(message)
    if arguments:
        shown = _shown_by_us if is_ours else _shown
        (first, *others) = arguments
        if isinstance(first, Mapping) and not others:  # of a message with %(names)s
            arguments = ({key: shown(value) for key, value in first.items()},)
        else:
            arguments = tuple(shown(argument) for argument in arguments)
    record = logging.LogRecord(name, level, path, line, message, arguments or (), None, func, sinfo, **rest)
    if exc_info and exc_info[1] is not None:
        record.exc_text = places(exc_info[1])
    return record


def _head(name: str, message: str) -> str:
    """asyncio and granian write tracebacks, futures and callbacks with their arguments into the message itself."""
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
    # Dramatiq logs an actor's arguments under the name of the actor's module, which is one of ours.
    return type(argument).__name__ if isinstance(argument, bytes | dict | list | tuple) else argument


def _tell(error: BaseException | None) -> None:
    if error is not None and sys.stderr is not None:
        sys.stderr.write(f"{places(error)}\n")
