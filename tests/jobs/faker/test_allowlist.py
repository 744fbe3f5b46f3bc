"""The allowlist as a whole: real names, and a promise that every method keeps."""

import json
import os
import random
import re
import secrets
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import faker.generator
import faker.providers.date_time
import pytest

from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.records import MAX_VALUE_CHARS, SEEDED_REFERENCE, records

_ROOT = Path(__file__).parents[3]
_FAKER_JS = {
    line.split()[0]: int([*line.split(), "0"][1])
    for line in (Path(__file__).parent / "faker_js_methods.txt").read_text().splitlines()
    if not line.startswith("#")
}
"""Name, and distinct values in 1,000 draws."""
_NEEDS_ARGUMENTS = {"date.between", "date.betweens", "string.fromCharacters"}


def test_names_are_those_of_faker_js() -> None:
    """The allowlist is every faker-js method but helpers and three that only work on arguments, sorted."""
    helpers = {name for name in _FAKER_JS if name.startswith("helpers.")}
    assert set(METHODS) == set(_FAKER_JS) - helpers - _NEEDS_ARGUMENTS
    assert list(METHODS) == sorted(METHODS)
    assert len(METHODS) == 241


_EVERY = {name: name for name in METHODS}


@pytest.mark.parametrize("locale", LOCALES)
def test_values_are_short_text(locale: str) -> None:
    """Every method gives text that is not empty, not long, not blank at its ends, without a placeholder, and valid UTF-8."""
    for record in records(_EVERY, 200, seed=11, now=SEEDED_REFERENCE, locale=locale):
        for name, value in record.items():
            assert isinstance(value, str)
            assert 0 < len(value) <= MAX_VALUE_CHARS // 2, name
            assert value.encode().decode() == value
            assert value.strip() == value or name == "git.commitEntry", name
            assert not re.search(r"\{\{|##|\?\?", value) or name == "string.sample", (name, value)


def test_values_vary_at_least_half_as_much_as_those_of_faker_js() -> None:
    """Of a thousand draws."""
    drawn = records(_EVERY, 1000, seed=12, now=SEEDED_REFERENCE)
    distinct = {name: len({record[name] for record in drawn}) for name in METHODS}
    assert {name: count for name, count in distinct.items() if 2 * count < _FAKER_JS[name]} == {}
    assert min(distinct.values()) >= 2


def test_methods_are_documented() -> None:
    """Every method says in its docstring what it gives."""
    assert [name for name, method in METHODS.items() if not method.__doc__] == []


def test_no_method_reads_the_clock_or_another_source_of_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a seed, nothing outside the column's own stream and the reference date is read."""
    for locale in LOCALES:  # what is imported late is imported now
        records(_EVERY, 1, seed=1, now=SEEDED_REFERENCE, locale=locale)

    def poisoned(*args: object, **kwargs: object) -> NoReturn:
        raise AssertionError("read from outside")

    class Clock(datetime):
        now = today = utcnow = poisoned

    for name in ("random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "getrandbits"):
        monkeypatch.setattr(random, name, poisoned)
        monkeypatch.setattr(faker.generator.random, name, poisoned)
    monkeypatch.setattr(faker.providers.date_time, "datetime", Clock)
    monkeypatch.setattr(secrets, "token_bytes", poisoned)
    monkeypatch.setattr(os, "urandom", poisoned)
    monkeypatch.setattr(uuid, "uuid4", poisoned)
    for locale in LOCALES:
        records(_EVERY, 20, seed=1, now=SEEDED_REFERENCE, locale=locale)


_ALL_METHODS = """
import json, sys
from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.records import SEEDED_REFERENCE, records
names = list(METHODS)
if sys.argv[1] == "reversed":
    records({"warm": "person.fullName"}, 3, seed=None, now=SEEDED_REFERENCE)
    names.reverse()
every = {name: name for name in names}
made = [records(every, 10, seed=2**70, now=SEEDED_REFERENCE, locale=locale) for locale in LOCALES]
print(json.dumps(made, sort_keys=True))
"""


def _in_a_fresh_process(code: str, *arguments: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=_ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def test_a_seed_gives_the_same_in_every_process() -> None:
    """Hash order, time zone, locale, the order of columns and earlier calls change nothing, for any method."""
    first = _in_a_fresh_process(_ALL_METHODS, "as listed", PYTHONHASHSEED="1", TZ="Pacific/Auckland", LC_ALL="C.UTF-8")
    second = _in_a_fresh_process(_ALL_METHODS, "reversed", PYTHONHASHSEED="2", TZ="America/New_York", LC_ALL="C")
    assert first == second
    here = [records(_EVERY, 10, seed=2**70, now=SEEDED_REFERENCE, locale=locale) for locale in LOCALES]
    assert json.loads(first) == here


def test_declaration_does_not_load_faker() -> None:
    """The API imports jobs.faker.endpoint for its declaration and checks names without loading Python Faker (0.3 s)."""
    loaded = _in_a_fresh_process(
        "import sys, msgspec, jobs.faker.endpoint as f\n"
        "msgspec.convert({'template': {'a': 'git.branch'}}, f.Request)\n"
        "try: msgspec.convert({'template': {'a': 'git.brunch'}}, f.Request)\n"
        "except msgspec.ValidationError: pass\n"
        "print(*(name for name in sys.modules if name.partition('.')[0] == 'faker'))"
    )
    assert loaded.strip() == ""


def test_the_reference_date_moves_dates_and_nothing_else() -> None:
    """Only the methods that speak of time depend on the reference date."""
    template = {name: name for name in METHODS}
    early = records(template, 5, seed=3, now=SEEDED_REFERENCE)
    late = records(template, 5, seed=3, now=datetime(2031, 7, 8, 9, 10, 11, tzinfo=UTC))
    moved = {name for name in template if [row[name] for row in early] != [row[name] for row in late]}
    assert moved == {
        *(f"date.{name}" for name in ("anytime", "birthdate", "future", "past", "recent", "soon")),
        *("git.commitDate", "git.commitEntry", "internet.jwt", "string.ulid"),
    }
