"""The time of the queue's server, from what it answered."""

import time

import pytest

from shared.queue import queue_clock
from shared.queue.queue_clock import QueueClock

WORST_S = 0.5


def test_it_has_the_servers_time_whatever_happens_to_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also between two measurements, when somebody sets this machine's clock."""
    clock, server_s = QueueClock(), time.time() - 4
    clock.measured(time.monotonic(), time.monotonic(), server_s)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    assert abs(clock.now_s() - (real() - 4)) < WORST_S
    assert abs(clock.offset_s - 3604) < WORST_S


def test_a_slow_answer_is_worth_less_than_a_quick_one() -> None:
    """Unless they contradict each other: then the server's clock was set, or it is another server."""
    clock, now = QueueClock(), time.monotonic()
    assert clock.is_due
    clock.measured(now - 0.001, now, 1_000.0)
    clock.measured(now, now + 2, 1_001.9)  # it may have been asked at any moment of two seconds
    assert not clock.is_due
    assert abs(clock.now_s() - 1_000) < WORST_S
    clock.measured(now, now + 2, 5_000.0)
    assert abs(clock.now_s() - 4_999) < WORST_S
    clock.measured(now + 2, now + 2.001, 5_002.0)
    assert abs(clock.now_s() - 5_000) < WORST_S


def test_a_machine_is_reported_while_its_workers_note_it() -> None:
    """In a sentence."""
    notes = [
        queue_clock.note(1_000, "one", 4.04).encode(),
        queue_clock.note(1_000, "two", -2).encode(),
        queue_clock.note(900, "gone", 9).encode(),
        b"junk",
    ]
    assert queue_clock.sentences(notes, 1_010) == [
        "The clock of one is 4.0 s ahead of the queue's",
        "The clock of two is 2.0 s behind the queue's",
    ]
