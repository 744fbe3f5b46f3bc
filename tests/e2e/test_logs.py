"""COINSLOT_LOG=json: what the processes of a whole service write, and how the lines of one call are found."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from client.delivery import RetryPolicy
from client.errors import CoinslotError
from tests.e2e.running import Running


def test_every_line_is_an_object_and_a_call_is_found_by_its_id(tmp_path: Path) -> None:
    """The request id that the caller got leads to the line with payment, job and cause; an answered call has one, too."""
    running = Running(tmp_path, COINSLOT_LOG="json", COINSLOT_LOG_CALLS="1", COINSLOT_CHROMIUM="/bin/true")
    try:
        running.wait_until_serving()
        running.buy("echo", {"message": "a"})
        with pytest.raises(CoinslotError) as refused:
            running.buy("web-diff", {"url": "https://example.com/"}, retry_policy=RetryPolicy(budget_s=0))
    finally:
        running.end(signal.SIGINT)
    lines = [json.loads(line) for line in running.log().splitlines()]
    assert all({"time", "level", "logger", "process", "message"} <= line.keys() for line in lines)
    problem = refused.value.problem
    assert problem is not None
    (line,) = (line for line in lines if line.get("request") == problem["requestId"])
    assert (line["message"], line["cause"], line["charged"]) == ("paid call not answered", "port_unavailable", False)
    assert line["payment"].startswith("eip155:8453:")
    answered = [line for line in lines if line["message"] == "paid call answered"]
    assert {line["endpoint"] for line in answered} == {"echo"}
    assert all(line["job"] and line["payment"] and line["ms"] > 0 for line in answered)
