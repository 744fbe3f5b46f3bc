"""Tables of names."""


def names(text: str) -> frozenset[str]:
    """The words of a text, as which a table of many short names is easier to read."""
    return frozenset(text.split())
