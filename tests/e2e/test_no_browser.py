"""A service whose browser does not start, and which logs JSON: what a person is told, and how a refused call is found."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from tests.e2e.running import Running


def test_a_refused_call_is_explained_and_found(tmp_path: Path) -> None:
    """scripts/run says what is not sold, and serves the rest. The two endpoints of the browser are offered, and refused
    uncharged when they are paid. The request id that the caller got leads to the line with payment and cause; every line is an
    object; an answered call has one, too.

    tests/workers/browser/test_adapter.py has a machine without a browser, which differs by the reason alone.
    """
    running = Running(tmp_path, COINSLOT_LOG="json", COINSLOT_LOG_CALLS="1", COINSLOT_CHROMIUM="/bin/true")
    try:
        running.wait_until_serving()
        (notice,) = (line for line in running.told if line.startswith("notice"))
        assert "Calls of render-pro, web-diff are refused, uncharged: the browser cannot be started." in notice
        assert running.buy("echo", {"message": "a"})["ok"] is True
        with pytest.raises(CoinslotError) as refused:
            running.buy("web-diff", {"url": "https://example.com/"}, retry_policy=RetryPolicy(budget_s=0))
    finally:
        running.end(signal.SIGINT)
    lines = [json.loads(line) for line in running.log().splitlines()]
    assert all({"time", "level", "logger", "process", "message"} <= line.keys() for line in lines)
    problem = refused.value.problem
    assert problem is not None
    assert (problem["reason"], problem["charged"]) == ("browser_not_started", False)
    (line,) = (line for line in lines if line.get("request") == problem["requestId"])
    assert (line["message"], line["cause"], line["charged"]) == ("paid call not answered", "port_unavailable", False)
    assert line["payment"].startswith("eip155:8453:")
    answered = [line for line in lines if line["message"] == "paid call answered"]
    assert {line["endpoint"] for line in answered} == {"echo"}
    assert all(line["job"] and line["payment"] and line["ms"] > 0 for line in answered)
