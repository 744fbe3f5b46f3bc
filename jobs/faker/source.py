"""What a method draws from. A method is a function of a Source and of nothing else: no clock, no global random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Fake(Protocol):
    """The part of Python Faker that is used: what draws from its random stream and reads no clock.

    Most of its date_time and firefox of its user_agent do read the clock; a seed would not repeat them.
    """

    def city(self) -> str: ...
    def country(self) -> str: ...
    def country_code(self) -> str: ...
    def emoji(self) -> str: ...
    def first_name(self) -> str: ...
    def last_name(self) -> str: ...
    def street_name(self) -> str: ...
    def timezone(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Source:
    """The randomness of one column.

    Attributes:
        rng: the column's own stream.
        now: the reference date, in UTC: past is before it, future after it.
        fake: Python Faker for en_US, drawing from `rng`.
    """

    rng: Random
    now: datetime
    fake: Fake

    def pick(self, values: Sequence[T]) -> T:
        """One of `values`."""
        return self.rng.choice(values)

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.rng.randint(low, high)

    def chars(self, alphabet: Sequence[str], length: int) -> str:
        """`length` characters of `alphabet`."""
        return "".join(self.rng.choices(alphabet, k=length))

    def digits(self, length: int) -> str:
        """`length` decimal digits; the first may be 0."""
        return self.chars("0123456789", length)

    def fill(self, pattern: str) -> str:
        """`pattern` with a digit for each ``#`` and a digit from 2 to 9 for each ``!``."""
        return "".join(
            self.digits(1) if sign == "#" else self.chars("23456789", 1) if sign == "!" else sign for sign in pattern
        )


Method = Callable[[Source], str]


def one_of(*values: str) -> Method:
    """The method that gives one of `values`."""

    def method(source: Source) -> str:
        return source.rng.choice(values)

    method.__doc__ = f"One of {len(set(values))} values."
    return method
