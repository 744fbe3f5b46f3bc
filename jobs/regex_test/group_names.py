"""Reads the names of groups, and decides which names may be used twice."""

from jobs.regex_test.cursor import Cursor
from jobs.regex_test.escapes import unicode_escape
from jobs.regex_test.unicode import is_part, is_start


def read_name(cursor: Cursor) -> str | None:
    """Skip a name and its `>`, and return the name with its escapes decoded. None when there is no valid name."""
    name = ""
    while (c := cursor.at()) != ">":
        if not c:
            return None
        cursor.i += 1
        point: int | None = ord(c)
        if c == "\\":
            if cursor.at() != "u":
                return None
            cursor.i += 1
            point = unicode_escape(cursor, unicode=True)
        elif "\ud800" <= c <= "\udbff" and "\udc00" <= cursor.at() <= "\udfff":
            point = 0x10000 + ((ord(c) - 0xD800) << 10) + (ord(cursor.at()) - 0xDC00)
            cursor.i += 1
        if point is None or not (is_part(point) if name else is_start(point)):
            return None
        name += chr(point)
    cursor.i += 1
    return name or None


class GroupNames:
    """The group names of a pattern. Two groups may share a name only in different alternatives, because only one can match.

    Attributes:
        every: all names so far.
    """

    def __init__(self) -> None:
        self.every: set[str] = set()
        # For each open disjunction: the names in the current alternative, and those in the earlier ones.
        self._levels: list[tuple[set[str], set[str]]] = [(set(), set())]
        self._taken: set[str] = set()  # the names in all current alternatives

    def add(self, name: str) -> bool:
        """Add the name of a group. False when another group that may match together with it has the same name."""
        if name in self._taken:
            return False
        self._taken.add(name)
        self._levels[-1][0].add(name)
        self.every.add(name)
        return True

    def open(self) -> None:
        """A disjunction begins."""
        self._levels.append((set(), set()))

    def next_alternative(self) -> None:
        """The next alternative of the innermost disjunction begins."""
        current, before = self._levels[-1]
        self._taken -= current
        self._levels[-1] = (set(), _union(before, current))

    def close(self) -> None:
        """The innermost disjunction ends."""
        names = _union(*self._levels.pop())
        self._taken |= names
        current, before = self._levels[-1]
        self._levels[-1] = (_union(current, names), before)


def _union(one: set[str], other: set[str]) -> set[str]:
    """Add the smaller of two sets to the larger one, and return it."""
    small, large = sorted((one, other), key=len)
    large |= small
    return large
