"""The lines of the log, as text and as JSON."""

import json
import logging
import sys
from typing import Any

import pytest

from shared.observability.log_redaction import redacted_record
from shared.observability.logs import Event, Formatter, JobIds, LogFormat, call_ids


def record(message: Any, *arguments: Any, exc_info: Any = None) -> logging.LogRecord:
    made = redacted_record("api.call_log", logging.WARNING, "p", 1, message, arguments, exc_info)
    made.created = 1_795_356_301.1234
    return made


@pytest.fixture
def ids() -> Any:
    token = call_ids.set(JobIds("r-1", "p-1"))
    yield
    call_ids.reset(token)


def test_a_line_for_people() -> None:
    """Time in UTC, level, logger, message, fields."""
    line = Formatter(LogFormat.TEXT).format(record(Event("not answered", payment=None, charged=False, error="a b")))
    assert line == "2026-11-22T14:05:01.123Z WARNING api.call_log: not answered: payment=- charged=false error=a b"


def test_a_line_for_programs() -> None:
    """One object: the fields keep their types, and a traceback stays in the line."""
    value = "-".join(("canary", "5"))
    try:
        raise KeyError(value)
    except KeyError:
        text = Formatter(LogFormat.JSON).format(record("failed\n%s", 5, exc_info=sys.exc_info()))
    assert "\n" not in text
    assert value not in text
    line = json.loads(text)
    assert line.pop("trace").endswith("builtins.KeyError")
    assert line.pop("process") > 1
    assert line == {
        "time": "2026-11-22T14:05:01.123Z",
        "level": "warning",
        "logger": "api.call_log",
        "message": "failed\n5",
    }
    event = json.loads(Formatter(LogFormat.JSON).format(record(Event("not answered", charged=False, payment=None))))
    assert (event["message"], event["charged"], event["payment"]) == ("not answered", False, None)


def test_a_line_about_a_call_has_its_ids(ids: Any) -> None:
    """Those that are known; fields of the event win."""
    assert Formatter(LogFormat.TEXT).format(record("job %d", 7)).endswith("job 7 request=r-1 payment=p-1")
    line = json.loads(Formatter(LogFormat.JSON).format(record(Event("event", request="other"))))
    assert (line["request"], line["payment"], "job" in line) == ("other", "p-1", False)
