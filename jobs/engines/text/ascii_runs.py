"""Runs of ASCII characters in a text, without the cost of a match object for each."""

from collections.abc import Iterator


class Runs:
    """Finds runs of some ASCII characters.

    A text is written in ASCII with one byte for each code point, so the places are those of the text. Everything else becomes a
    space, and `str.split` does the rest.
    """

    def __init__(self, characters: str) -> None:
        self._table = bytes(code if chr(code) in characters else ord(" ") for code in range(256))

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """The start and the text of each run, in order."""
        only = text.encode("ascii", "replace").translate(self._table).decode("ascii")
        end = 0
        for run in only.split():
            start = only.find(run, end)
            end = start + len(run)
            yield start, run
