"""What a method may use. A method is a function of a Source alone: no clock, no global random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jobs.faker.lists import LISTS

if TYPE_CHECKING:
    from faker import Faker

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Person:
    """The person of a record.

    Attributes:
        sex: `female` or `male`.
        username: from the name, in ASCII.
    """

    sex: str
    first: str
    last: str
    username: str


@dataclass(frozen=True, slots=True)
class Source:
    """The random source of one column.

    Attributes:
        rng: the column's own stream.
        now: the reference date, in UTC. Past dates are before it, future dates after it.
        locale: one of LOCALES.
        fake: Python Faker for that locale, which draws from `rng`. Most of its date_time, and firefox of its user_agent, read
            the clock, so a seed would not repeat their values: they must not be used.
        someone: the person of the record, for the methods of people.ABOUT.
    """

    rng: Random
    now: datetime
    locale: str
    fake: Faker
    someone: Person | None = None

    @property
    def person(self) -> Person:
        """The person of the record."""
        assert self.someone is not None
        return self.someone

    def pick(self, values: Sequence[T]) -> T:
        """Draw one of `values`."""
        return self.rng.choice(values)

    def chance(self, share: float) -> bool:
        """Draw true in this share of the draws."""
        return self.rng.random() < share

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

    def provider(self, name: str) -> Any:
        """Python Faker's provider of that name for the locale, or the one in its place."""
        return cast(Any, self.fake).provider(f"faker.providers.{name}")

    def has(self, name: str) -> bool:
        """Whether Python Faker's provider of that name is the locale's own."""
        return str(self.provider(name).__lang__) == self.locale


Method = Callable[[Source], str]


def gives(text: str, method: Method) -> Method:
    """Give a method its docstring, which says what it gives."""
    method.__doc__ = text
    return method


def drawn(values: Sequence[str]) -> Method:
    """Make a method that draws one of `values`."""
    return gives(f"One of {len(set(values))} values.", lambda source: source.rng.choice(values))


def one_of(section: str) -> Method:
    """Make a method that draws one of the names of a section of lists.txt."""
    return drawn(LISTS[section])


def signs(alphabet: Sequence[str], length: int, text: str, *, before: str = "") -> Method:
    """Make a method that draws `length` characters of `alphabet`, and puts `before` in front of them."""
    return gives(text, lambda source: before + source.chars(alphabet, length))


def integers(low: int, high: int, text: str) -> Method:
    """Make a method that draws an integer from `low` to `high`, both included."""
    return gives(text, lambda source: str(source.integer(low, high)))


def fakes(name: str, text: str) -> Method:
    """Make a method that calls Python Faker's of that name."""
    return gives(text, lambda source: str(getattr(source.fake, name)()).strip())
