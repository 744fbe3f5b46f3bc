"""Few calls at a time to each upstream, and none while it has had enough."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.outcome import BlockedAddress, UpstreamFailed
from tests.time_limits import SLACK_S
from workers.egress.upstreams import Upstreams


class Clock:
    """Monotonic seconds, by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def upstreams(clock: Clock) -> Upstreams:
    return Upstreams(at_once=2, failures=3, pause_s=30, longest_pause_s=100, fair_s=2, names=4, clock=clock)


def end(upstreams: Upstreams, clock: Clock, reason: str | None, name: str = "a", took_s: float = 3) -> None:
    """One exchange that ends in this way."""
    try:
        with upstreams.slot(name, deadline=clock.now + 5):
            clock.now += took_s
            if reason is not None:
                raise UpstreamFailed("as told", reason=reason)
    except UpstreamFailed as failure:
        if failure.detail != "as told":
            raise


def is_open(upstreams: Upstreams, clock: Clock, name: str = "a") -> bool:
    try:
        with upstreams.slot(name, deadline=clock.now + 5):
            raise KeyboardInterrupt  # says nothing of the upstream
    except KeyboardInterrupt:
        return False
    except UpstreamFailed as failure:
        return failure.reason == "rate_limited"


def test_an_open_circuit_is_told(clock: Clock) -> None:
    """Each time with its pause, so that nobody has to be turned away by it."""
    told: list[float] = []
    upstreams = Upstreams(failures=2, pause_s=30, longest_pause_s=100, clock=clock, on_open=told.append)
    for _ in range(2):
        end(upstreams, clock, "timeout")
    clock.now += 31
    end(upstreams, clock, "rate_limited")
    assert told == [30, 60]


def test_failures_in_a_row_open_the_circuit(upstreams: Upstreams, clock: Clock) -> None:
    """Three, whatever they are; a success in between begins anew."""
    for reason in ("timeout", "connection_refused", None, "timeout", "tls_failure"):
        end(upstreams, clock, reason)
        assert not is_open(upstreams, clock)
    end(upstreams, clock, "dns_failure")
    assert is_open(upstreams, clock)
    assert not is_open(upstreams, clock, "b"), "another upstream is another's"


def test_what_is_refused_says_for_how_long(upstreams: Upstreams, clock: Clock) -> None:
    """The upstream's name and the seconds that are left."""
    end(upstreams, clock, "rate_limited")
    clock.now += 10.5
    with pytest.raises(UpstreamFailed, match=r"^a has had .* for 20 s\.$"), upstreams.slot("a", deadline=clock.now):
        pytest.fail("the exchange must not begin")


def test_a_throttled_answer_opens_it_at_once_and_a_probe_closes_it(upstreams: Upstreams, clock: Clock) -> None:
    """While it is open nobody asks; afterwards one does, and when that one succeeds all may."""
    end(upstreams, clock, "rate_limited")
    assert is_open(upstreams, clock)
    clock.now += 31
    with upstreams.slot("a", deadline=clock.now):
        assert is_open(upstreams, clock), "while one probes, the others do not"
    assert not is_open(upstreams, clock)
    with upstreams.slot("a", deadline=clock.now), upstreams.slot("a", deadline=clock.now):
        pass


def test_each_failed_probe_doubles_the_pause(upstreams: Upstreams, clock: Clock) -> None:
    """Up to the longest; a success makes it short again."""
    end(upstreams, clock, "rate_limited")
    for pause_s in (30, 60, 100, 100):
        clock.now += pause_s - 1
        assert is_open(upstreams, clock)
        clock.now += 1
        end(upstreams, clock, "timeout")
    clock.now += 100
    end(upstreams, clock, None)
    end(upstreams, clock, "rate_limited")
    clock.now += 30
    assert not is_open(upstreams, clock)


def test_a_probe_that_says_nothing_leaves_the_next_one_to_probe(upstreams: Upstreams, clock: Clock) -> None:
    """A blocked address or an interrupted call neither closes nor lengthens."""
    end(upstreams, clock, "rate_limited")
    clock.now += 30
    for _ in range(3):
        with pytest.raises(BlockedAddress), upstreams.slot("a", deadline=clock.now):
            raise BlockedAddress("private")
    end(upstreams, clock, "timeout")
    clock.now += 59
    assert is_open(upstreams, clock)


def test_other_reasons_say_that_it_works(upstreams: Upstreams, clock: Clock) -> None:
    """Too long an answer, or one that says no, is an answer."""
    for reason in ("timeout", "timeout", "too_large", "timeout", "timeout", "video_unavailable"):
        end(upstreams, clock, reason)
    assert not is_open(upstreams, clock)


def test_a_timeout_of_the_callers_own_making_does_not_count(upstreams: Upstreams, clock: Clock) -> None:
    """Whoever had half a second left cannot say that the upstream is slow."""
    for _ in range(5):
        end(upstreams, clock, "timeout", took_s=0.5)
    assert not is_open(upstreams, clock)


def test_exchanges_that_fail_together_open_it_once(upstreams: Upstreams, clock: Clock) -> None:
    """The pause is not doubled by those that were on their way, and their success does not end it."""

    def fail_in_both() -> None:
        with upstreams.slot("a", deadline=clock.now):
            end(upstreams, clock, "rate_limited")
            raise UpstreamFailed("as told", reason="rate_limited")

    with pytest.raises(UpstreamFailed, match="as told"):
        fail_in_both()
    clock.now += 29
    assert is_open(upstreams, clock)
    clock.now += 1
    assert not is_open(upstreams, clock)
    with upstreams.slot("b", deadline=clock.now):
        end(upstreams, clock, "rate_limited", "b")
    assert is_open(upstreams, clock, "b")


def test_names_are_forgotten_but_not_those_in_use_or_at_rest(upstreams: Upstreams, clock: Clock) -> None:
    """Strangers choose names: memory has a bound, and a flood of names does not close a circuit."""
    end(upstreams, clock, "rate_limited", "bad")
    with upstreams.slot("busy", deadline=clock.now):
        for number in range(100):
            end(upstreams, clock, None, f"n{number}", took_s=0)
            assert len(upstreams._upstreams) <= 4
        assert {"bad", "busy"} <= set(upstreams._upstreams)
    clock.now -= 3
    assert is_open(upstreams, clock, "bad")
    for number in range(10):
        end(upstreams, clock, "rate_limited", f"bad{number}", took_s=0)
    assert len(upstreams._upstreams) <= 5


def test_no_more_than_so_many_at_once() -> None:
    """Twenty threads, two at a time, and every one gets a slot."""
    upstreams = Upstreams(at_once=2)
    lock, together, most = threading.Lock(), 0, 0

    def call(_: int) -> bool:
        nonlocal together, most
        with upstreams.slot("a", deadline=time.monotonic() + 10):
            with lock:
                together += 1
                most = max(most, together)
            time.sleep(0.005)
            with lock:
                together -= 1
        return True

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(call, range(40)))
    assert most == 2


def test_who_waits_too_long_is_refused() -> None:
    """At the caller's deadline, not at the upstream's."""
    upstreams = Upstreams(at_once=1)
    with upstreams.slot("a", deadline=time.monotonic()):
        began = time.monotonic()
        refused = pytest.raises(UpstreamFailed, match="Too many calls wait")
        with refused as caught, upstreams.slot("a", deadline=began + 0.05):
            pytest.fail("the exchange must not begin")
        assert caught.value.reason == "rate_limited"
        assert 0.04 < time.monotonic() - began < SLACK_S


def test_those_who_wait_learn_that_it_was_opened() -> None:
    """They do not get a slot one after the other with an upstream that has had enough."""
    upstreams = Upstreams(at_once=1)
    waits = threading.Event()

    def second() -> str | None:
        waits.set()
        try:
            with upstreams.slot("a", deadline=time.monotonic() + 10):
                return "asked"
        except UpstreamFailed as failure:
            return failure.reason

    def first() -> None:
        with upstreams.slot("a", deadline=time.monotonic()):
            futures.append(threads.submit(second))
            assert waits.wait(5)
            time.sleep(0.05)
            raise UpstreamFailed("slow down", reason="rate_limited")

    futures: list = []
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(UpstreamFailed, match="slow down"):
            first()
        assert futures[0].result(5) == "rate_limited"
