"""The containers that are open while a text is read."""

from typing import Any, Literal

Closer = Literal["}", "]", ")", ""]


class ObjectFrame:
    """An object whose end was not found yet.

    Attributes:
        closer: `}`; `)` for the keyword arguments of a call; empty for members without an opening brace.
        key: the key whose value comes next, or None between members.
        bare: keys without a colon, in case the object is a set.
    """

    __slots__ = ("bare", "closer", "colons", "key", "members")

    def __init__(self, closer: Closer, members: dict[str, Any] | None = None) -> None:
        self.closer: Closer = closer
        self.members: dict[str, Any] = {} if members is None else members
        self.key: str | None = None
        self.bare: list[Any] = []
        self.colons = 0

    @property
    def empty(self) -> bool:
        return not self.members

    @property
    def solid(self) -> bool:
        """Whether its content shows that it is data, and not a brace in prose."""
        return self.colons > 0

    def add(self, value: Any, *, solid: bool) -> None:
        """Set the value of the current key."""
        self.members[self.key or ""] = value
        self.key = None

    def value(self, *, closed: bool) -> Any:
        """The object. A closed one with at least two keys and no values is a Python set: `{1, 2}`."""
        if closed and not self.colons and len(self.bare) > 1:
            return self.bare
        return self.members


class ListFrame:
    """An array, a tuple or the arguments of a call whose end was not found yet.

    Attributes:
        closer: `]`, or `)` after a parenthesis.
        called: whether a name precedes the parenthesis.
    """

    __slots__ = ("called", "closer", "commas", "items", "loose")

    def __init__(self, closer: Closer, *, called: bool = False) -> None:
        self.closer: Closer = closer
        self.called = called
        self.items: list[Any] = []
        self.commas = 0
        self.loose = 0

    @property
    def empty(self) -> bool:
        return not self.items

    @property
    def solid(self) -> bool:
        """Whether its content shows that it is data. `[INFO]` and the footnote mark `[1]` do not."""
        if len(self.items) == 1 and isinstance(self.items[0], int | float):
            return False
        return self.loose < len(self.items)

    def add(self, value: Any, *, solid: bool) -> None:
        """Add an item. `solid` means that it is more than an unquoted word."""
        self.items.append(value)
        self.loose += not solid

    def value(self, *, closed: bool) -> Any:
        """The array. Parentheses around one value are dropped, and a call has the value of its argument."""
        if self.closer == ")" and len(self.items) == 1 and not self.commas:
            return self.items[0]
        if self.called and not self.items:
            return None
        return self.items


Frame = ObjectFrame | ListFrame
