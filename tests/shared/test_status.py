"""What processes count for /status adds up to what one would have counted, and its times and windows are as they say."""

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from shared.observability.status import FORM, RESULTS, WINDOWS, WRITE_S, Result, Tally, Window, fields_of, summed

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["echo", "chain/call"]),
        st.sampled_from(["base", "xrpl-usdc", ""]),
        st.sampled_from(RESULTS),
        st.sampled_from(["no_worker", "timeout"]),
        st.floats(0, 200),
        st.integers(1, 1000),
    ),
    max_size=30,
)
SPANS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 60)).map(lambda one: (one[0], one[0] + one[1])), max_size=6
)
Call = tuple[str, str, Result, str, float, int]


def fields(process: str, tally: Tally) -> dict[str, bytes]:
    """As they are in a hash."""
    words = list(fields_of(process, tally, tally.cells))
    return dict(zip(map(str, words[::2]), (value for value in words[1::2] if isinstance(value, bytes)), strict=True))


@given(st.lists(st.tuples(CALLS, SPANS), max_size=4))
def test_processes_add_up_to_one(processes: list[tuple[list[Call], list[tuple[int, int]]]]) -> None:
    """In any order, and when a process has written a part of it before: its fields are written anew."""
    one, written = Tally(), dict[str, bytes]()
    for number, (calls, spans) in enumerate(processes):
        own = Tally()
        for done, call in enumerate(calls):
            own.count(*call)
            one.count(*call)
            if done == len(calls) // 2:
                written |= fields(f"p{number}", own)
        own.add(Tally(spans=spans))
        one.add(Tally(spans=spans))
        written |= fields(f"p{number}", own)
    for values in (list(written.values()), list(written.values())[::-1]):
        total = summed(values)
        assert (total.cells, total.spans) == (one.cells, one.spans)
    everything = [call for calls, _ in processes for call in calls]
    for result in RESULTS:
        assert total.total(endpoint="echo").count(result) == sum(
            (name, ended) == ("echo", result) for name, _, ended, *_ in everything
        )


@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=50), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_at_most_an_eighth_too_high(times: list[float], share: float) -> None:
    """And never too low, but for its rounding to three digits."""
    tally = Tally()
    for took_s in times:
        tally.count("echo", "base", "answered", "", took_s, 0)
    true = sorted(times)[math.ceil(share * len(times)) - 1]
    told = tally.total().quantile(share)
    assert told is not None
    assert 0.995 <= told / true <= 1.13
    assert Tally().total().quantile(share) is None


@given(st.lists(SPANS, max_size=3), st.integers(0, 400))
def test_a_second_is_known_when_any_process_counted(processes: list[list[tuple[int, int]]], ago: int) -> None:
    """The seconds since the last write of a service that runs are not counted as unknown."""
    window = WINDOWS[0]
    begin = 10_000 * window.slot_s
    now = begin + window.length_s + ago % window.slot_s
    total, known = Tally(), set()
    for spans in processes:
        moved = [(now - 300 + first, now - 300 + last) for first, last in spans if last <= 300]
        total.add(Tally(spans=moved))
        known |= {second for first, last in moved for second in range(first, last)}
    known_s, whole_s = total.known(window, now)
    assert known_s == len(known)
    newest = total.spans[-1][1] if total.spans else 0
    assert whole_s == (newest if now - newest < 3 * WRITE_S else now) - begin


@given(st.sampled_from(WINDOWS), st.integers(0, 2**32), st.integers(0, 31 * 86400))
def test_a_window_has_what_is_younger_and_not_what_is_a_slot_older(window: Window, now: int, age: int) -> None:
    """And a hash is there for as long as it may be read."""
    slot = window.slots(now - age)[-1]
    if age <= window.length_s:
        assert slot in window.slots(now)
    if age > window.length_s + window.slot_s:
        assert slot not in window.slots(now)
    if slot in window.slots(now):
        assert now <= (slot + 1) * window.slot_s + window.keep_s - window.slot_s


def test_a_field_that_cannot_be_read_is_left_out() -> None:
    """Of another version, or no field at all."""
    own = Tally(spans=[(1, 2)])
    newer = msgspec.msgpack.encode([FORM + 1, [[1, 9]], {}])
    other = msgspec.msgpack.encode({"form": 3})
    assert summed([*fields("p", own).values(), newer, other, b"\xc1"]).spans == [(1, 2)]
