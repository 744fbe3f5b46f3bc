"""Ports that are started, checked and closed in a thread of their own, and what a worker then knows of them."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from shared.pools import Pool
from shared.queue.streams import STARTING
from tests.workers.until import until
from workers import port_lifecycle
from workers.port_lifecycle import CHECK_FAILED, CHECK_OVERDUE, LivePort, PortMonitor


class Port:
    """Does what a test tells it to."""

    def __init__(self) -> None:
        self.reason: str | Exception = ""
        self.start_failures = 0
        self.threads: set[int] = set()
        self.calls: list[str] = []
        self.may_start = threading.Event()
        self.may_start.set()
        self.may_answer = threading.Event()
        self.may_answer.set()

    def start(self) -> None:
        self._note("start")
        self.may_start.wait(30)
        if self.start_failures:
            self.start_failures -= 1
            raise OSError("no such file")

    def unavailable_reason(self) -> str:
        self._note("check")
        self.may_answer.wait(30)
        if isinstance(self.reason, Exception):
            raise self.reason
        return self.reason

    def close(self) -> None:
        self._note("close")

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.get_ident())


@pytest.fixture
def port() -> Port:
    return Port()


@pytest.fixture
def monitor(port: Port, monkeypatch: pytest.MonkeyPatch) -> Iterator[PortMonitor]:
    """Of a port that two pools need."""
    monkeypatch.setattr(port_lifecycle, "CHECK_S", 0.01)
    monkeypatch.setattr(port_lifecycle, "START_AGAIN_S", 0.01)

    def ports_of(pool: Pool) -> Sequence[LivePort]:
        return (port,) if pool in {Pool.RENDER, Pool.NET} else ()

    monitor = PortMonitor(ports_of)
    yield monitor
    port.may_start.set()
    port.may_answer.set()
    monitor.close()


def test_a_port_is_unavailable_until_it_has_started(port: Port, monitor: PortMonitor) -> None:
    """Nothing waits for it, and queues that do not need it are served."""
    port.may_start.clear()
    monitor.start([Pool.RENDER, Pool.FAST])
    assert (monitor.unavailable_reason("render"), monitor.unavailable_reason("fast")) == (STARTING, "")
    port.may_start.set()
    until(lambda: not monitor.unavailable_reason("render"))


def test_a_port_that_cannot_be_started_is_started_again(port: Port, monitor: PortMonitor) -> None:
    """Until it starts."""
    port.start_failures = 3
    monitor.start([Pool.RENDER])
    until(lambda: not monitor.unavailable_reason("render"))
    assert port.calls[:4] == ["start"] * 4


@pytest.mark.parametrize("reason", [RuntimeError("secret"), "No browser at /home/me", "a__b", "é"])
def test_only_codes_are_told(port: Port, monitor: PortMonitor, reason: str | Exception) -> None:
    """A check that fails, and one that gives free text, are a failed check."""
    port.reason = reason
    monitor.start([Pool.RENDER])
    until(lambda: monitor.unavailable_reason("render") == CHECK_FAILED)


def test_a_check_that_hangs_is_a_port_that_does_not_work(
    port: Port, monitor: PortMonitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while; it works again when the check ends."""
    monitor.start([Pool.RENDER])
    until(lambda: not monitor.unavailable_reason("render"))
    port.may_answer.clear()
    monkeypatch.setattr(port_lifecycle, "CHECK_LIMIT_S", 0.05)
    until(lambda: monitor.unavailable_reason("render") == CHECK_OVERDUE)
    monkeypatch.setattr(port_lifecycle, "CHECK_LIMIT_S", 30)
    port.may_answer.set()
    until(lambda: not monitor.unavailable_reason("render"))


def test_one_thread_calls_a_port_that_two_pools_need(port: Port, monitor: PortMonitor) -> None:
    """It is started once and closed once."""
    monitor.start([Pool.RENDER, Pool.NET])
    until(lambda: not monitor.unavailable_reason("net") and not monitor.unavailable_reason("render"))
    monitor.close()
    assert (port.calls.count("start"), port.calls.count("close"), port.calls[-1]) == (1, 1, "close")
    assert len(port.threads) == 1


def test_a_port_that_never_started_is_closed(port: Port, monitor: PortMonitor) -> None:
    """It may have started half of what it is."""
    port.start_failures = 1_000_000
    monitor.start([Pool.RENDER])
    until(lambda: "start" in port.calls)
    monitor.close()
    assert port.calls[-1] == "close"
