"""The lines that every process writes to stderr: for people, or as one JSON object each (COINSLOT_LOG).

    2026-11-22T14:05:01.123Z WARNING api.call_log: paid call not answered: request=6f1c… payment=… cause=no_worker
    {"time":"2026-11-22T14:05:01.123Z","level":"warning","logger":"api.call_log","message":"paid call not answered","request":…}

A line that belongs to a call has the ids of its request, payment and job, whichever are known then, in all processes.
"""

import logging
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from shared.observability.log_redaction import OURS

_TALKING = (*OURS, "dramatiq", "_granian")


class LogFormat(StrEnum):
    """How lines are written."""

    TEXT = "text"
    JSON = "json"


class CallIds(Protocol):
    """What identifies a call, "" where it is not known yet."""

    request_id: str
    payment_id: str
    job_id: str


@dataclass(slots=True)
class JobIds:
    """The ids of a call in a worker, which gets them with the job."""

    request_id: str = ""
    payment_id: str = ""
    job_id: str = ""


call_ids: ContextVar[CallIds | None] = ContextVar("call_ids", default=None)
"""The call that the code works for. The ids may become known later."""


class Event:
    """A message with fields, for loggers: ``log.warning(Event("paid call not answered", endpoint="dns", charged=False))``.

    Its text is the message and the fields as ``name=value``, a None as ``-``.
    """

    def __init__(self, message: str, **fields: str | int | float | bool | None) -> None:
        self.message = message
        self.fields = fields

    def __str__(self) -> str:
        return f"{self.message}: {_text(self.fields)}" if self.fields else self.message


class Formatter(logging.Formatter):
    """Writes a record as one of both."""

    def __init__(self, log_format: LogFormat | str = LogFormat.TEXT) -> None:
        super().__init__()
        self._is_json = log_format == LogFormat.JSON

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines when there is a traceback; as JSON it is always one."""
        time = (
            datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        )
        event = record.msg if isinstance(record.msg, Event) else None
        trace = record.exc_text or (self.formatException(record.exc_info) if record.exc_info else "")
        known = event.fields if event else {}
        ids = {name: value for name, value in _ids().items() if name not in known}
        if self._is_json:
            message = event.message if event else record.getMessage()
            line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "logger": record.name}
            line |= {"process": record.process, "message": message, **known, **ids}
            return msgspec.json.encode(line | ({"trace": trace} if trace else {})).decode()
        suffix = f" {_text(ids)}" if ids else ""
        text = f"{time} {record.levelname} {record.name}: {record.getMessage()}{suffix}"
        return f"{text}\n{trace}" if trace else text


def configure_logs(log_format: LogFormat | str) -> None:
    """Write the lines of this process to stderr: from INFO on, those of libraries from WARNING on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Formatter(log_format))
    logging.getLogger().handlers[:] = [handler]
    for name in _TALKING:
        logger = logging.getLogger(name)
        if not logger.isEnabledFor(logging.INFO):  # `dramatiq -v` may want more
            logger.setLevel(logging.INFO)


def granian_config(log_format: LogFormat | str) -> dict[str, Any]:
    """The same for granian's master and worker processes, as its `log_dictconfig`."""
    return {
        "formatters": {"coinslot": {"()": Formatter, "log_format": log_format}},
        "handlers": {
            "coinslot": {"class": "logging.StreamHandler", "formatter": "coinslot", "stream": "ext://sys.stderr"},
        },
        "loggers": {name: {"level": "INFO"} for name in _TALKING},
        "root": {"handlers": ["coinslot"], "level": "WARNING"},
    }


def _ids() -> dict[str, str]:
    ids = call_ids.get()
    if ids is None:
        return {}
    found = {"request": ids.request_id, "payment": ids.payment_id, "job": ids.job_id}
    return {name: value for name, value in found.items() if value}


def _text(fields: Mapping[str, str | int | float | bool | None]) -> str:
    return " ".join(f"{name}={_shown(value)}" for name, value in fields.items())


def _shown(value: str | int | float | bool | None) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case _:
            return str(value)
