"""What a method may use. A method is a function of a Source alone: no clock, no global random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Fake(Protocol):
    """The part of Python Faker that is used: functions that use its random stream and no clock.

    Most of its date_time, and firefox of its user_agent, read the clock, so a seed would not repeat their values.
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
    """The random source of one column.

    Attributes:
        rng: the column's own stream.
        now: the reference date, in UTC. Past dates are before it, future dates after it.
        fake: Python Faker for en_US, which draws from `rng`.
    """

    rng: Random
    now: datetime
    fake: Fake

    def pick(self, values: Sequence[T]) -> T:
        """Draw one of `values`."""
        return self.rng.choice(values)

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return self.rng.randint(low, high)

    def chars(self, alphabet: Sequence[str], length: int) -> str:
        """Draw `length` characters of `alphabet`."""
        return "".join(self.rng.choices(alphabet, k=length))

    def digits(self, length: int) -> str:
        """Draw `length` decimal digits. The first may be 0."""
        return self.chars("0123456789", length)

    def fill(self, pattern: str) -> str:
        """Replace each ``#`` in a pattern with a digit, and each ``!`` with a digit from 2 to 9."""
        return "".join(
            self.digits(1) if sign == "#" else self.chars("23456789", 1) if sign == "!" else sign for sign in pattern
        )


Method = Callable[[Source], str]


def one_of(*values: str) -> Method:
    """Make a method that draws one of `values`."""

    def method(source: Source) -> str:
        return source.rng.choice(values)

    method.__doc__ = f"One of {len(set(values))} values."
    return method
