"""A translation table that is computed on demand."""

from collections.abc import Callable

MOST_KNOWN = 100_000
"""How many characters a table remembers. A child process runs for long, and a text may have 100 000 different characters."""


class Table(dict[int, str]):
    """For `str.translate`: `form` computes the form of a character when it is first needed."""

    def __init__(self, form: Callable[[str], str]) -> None:
        super().__init__()
        self._form = form

    def __missing__(self, code: int) -> str:
        if len(self) > MOST_KNOWN:
            self.clear()
        self[code] = form = self._form(chr(code))
        return form
