"""What a seed promises."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.faker.allowlist import METHODS
from jobs.faker.people import ABOUT
from jobs.faker.records import MAX_VALUE_CHARS, SEEDED_REFERENCE, records
from tests.each import each

_templates = st.dictionaries(st.text(max_size=20), st.sampled_from(sorted(METHODS)), min_size=1, max_size=8)
_seeds = st.integers(min_value=-(2**256), max_value=2**256)


def _make(template: dict[str, str], count: int, seed: int | None) -> list[dict[str, str | None]]:
    return records(template, count, seed=seed, now=SEEDED_REFERENCE)


@settings(deadline=None, max_examples=60)
@given(template=_templates, count=st.integers(1, 10), seed=_seeds, data=st.data())
def test_columns_are_independent(template: dict[str, str], count: int, seed: int, data: st.DataObject) -> None:
    """Any choice and order of columns, and any smaller count, gives a part of the same table.

    Of methods about a person each is there once: a second column of one is about a second person.
    """
    once = {name: key for key, name in template.items() if name in ABOUT}
    template = {key: name for key, name in template.items() if once.get(name, key) == key}
    whole = _make(template, count, seed)
    keys = data.draw(st.lists(st.sampled_from(list(template)), min_size=1, unique=True))
    rows = data.draw(st.integers(1, count))
    part = _make({key: template[key] for key in keys}, rows, seed)
    assert part == [{key: record[key] for key in keys} for record in whole[:rows]]


@each("other", [{"b": "string.uuid"}, {"A": "string.uuid"}, {"a ": "string.uuid"}, {"": "string.uuid"}])
def test_another_key_is_another_column(other: dict[str, str]) -> None:
    """Two columns of the same method differ."""
    assert {*_make({"a": "string.uuid"}, 1, 1)[0].values()}.isdisjoint(_make(other, 1, 1)[0].values())


def test_seeds_differ() -> None:
    """Neighbours, negatives and numbers beyond 64 bits are different seeds."""
    seeds = (0, 1, -1, 2, 2**31, 2**32, 2**53, 2**63, 2**64, 2**64 + 1, -(2**64), 2**255, 2**256 - 1)
    assert len({_make({"a": "string.uuid"}, 1, seed)[0]["a"] for seed in seeds}) == len(seeds)


def test_no_seed_is_never_the_same() -> None:
    """Without a seed two calls have nothing in common."""
    first, second = (_make({"a": "string.uuid"}, 100, None) for _ in range(2))
    assert {record["a"] for record in first}.isdisjoint(record["a"] for record in second)


def test_threads_do_not_disturb_each_other() -> None:
    """Concurrent calls give what they give one after another, whatever the interpreter interleaves."""
    seeds = [5, 5, 6, 7]
    template = {name: name for name in list(METHODS)[::2]}
    alone = [_make(template, 8, seed) for seed in seeds]
    together = Barrier(len(seeds))

    def call(seed: int) -> list[list[dict[str, str | None]]]:
        together.wait()
        return [_make(template, 8, seed) for _ in range(3)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(len(seeds)) as pool:
            results = list(pool.map(call, seeds))
    finally:
        sys.setswitchinterval(interval)
    assert results == [[expected] * 3 for expected in alone]


def test_a_value_is_cut_at_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that ran away would still give at most 2000 characters."""
    monkeypatch.setitem(METHODS, "lorem.text", lambda source: "x" * 10_000)
    assert _make({"a": "lorem.text"}, 1, 1) == [{"a": "x" * MAX_VALUE_CHARS}]


def test_the_dearest_call_is_cheap() -> None:
    """5000 cells of the dearest methods take less than a second of processor time each."""
    for name in ("lorem.paragraphs", "lorem.sentences", "git.commitEntry", "location.postalAddress", "internet.jwt"):
        started = time.process_time()
        _make({f"key{number}": name for number in range(50)}, 100, 1)
        assert time.process_time() - started < 1, name
