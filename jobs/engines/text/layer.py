"""A rewritten copy of a text that knows the original place of each character."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import chain, repeat


class Layer:
    """A text with the origin of its characters. Each rewriting returns another Layer with places in the same original.

    Attributes:
        text: the text to search.
        note: how it was made, for the message of a finding; empty for the original.
    """

    def __init__(
        self, text: str, *, note: str = "", starts: "array[int] | None" = None, ends: "array[int] | None" = None
    ) -> None:
        self.text = text
        self.note = note
        self._starts = starts
        self._ends = ends

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The code points of the original for `text[start:end]`, which is not empty."""
        if self._starts is None or self._ends is None:
            return start, end
        return min(self._starts[start:end]), max(self._ends[start:end])

    def is_whole(self, start: int, end: int) -> bool:
        """Whether `text[start:end]` holds all characters that stand for its places of the original, and none of another."""
        starts, size = self._starts, len(self.text)
        if starts is None:
            return True
        cut_before = 0 < start < size and starts[start - 1] == starts[start]
        return not cut_before and not (0 < end < size and starts[end - 1] == starts[end])

    def between(self, start: int, end: int) -> str:
        """The text for these code points of the original, in a layer that keeps their order."""
        if self._starts is None:
            return self.text[max(0, start) : end]
        return self.text[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def named(self, note: str) -> "Layer":
        """The same layer with another note."""
        return Layer(self.text, note=note, starts=self._starts, ends=self._ends)

    def same_length(self, text: str) -> "Layer":
        """The same layer with another text of the same length."""
        if len(text) != len(self.text):
            raise ValueError("the text must keep its length")
        return Layer(text, note=self.note, starts=self._starts, ends=self._ends)

    def translated(self, table: Mapping[int, str]) -> "Layer":
        """Replace each character by the table's entry, which may be empty or have several characters."""
        text = self.text.translate(table)
        if len(text) == len(self.text) and all(len(table[ord(sign)]) == 1 for sign in set(self.text)):
            return self.same_length(text)
        counts = {sign: len(table[ord(sign)]) for sign in set(self.text)}
        origin = chain.from_iterable(map(repeat, range(len(self.text)), map(counts.__getitem__, self.text)))
        return self._picked(text, array("l", origin))

    def without(self, gaps: Iterable[tuple[int, int]]) -> "Layer":
        """Remove these ranges, which are in order and do not overlap."""
        return self.replaced((start, end, "") for start, end in gaps)

    def replaced(self, pieces: Iterable[tuple[int, int, str]]) -> "Layer":
        """Replace each piece's `text[start:end]`, in order. Each new character stands for everything that was replaced."""
        texts: list[str] = []
        starts, ends = array("l"), array("l")
        done = 0
        for start, end, new in pieces:
            texts += (self.text[done:start], new)
            self._copy_origin(done, start, starts, ends)
            if new:
                first, last = self.span(start, end)
                starts.extend(repeat(first, len(new)))
                ends.extend(repeat(last, len(new)))
            done = end
        texts.append(self.text[done:])
        self._copy_origin(done, len(self.text), starts, ends)
        return Layer("".join(texts), note=self.note, starts=starts, ends=ends)

    def backwards(self) -> "Layer":
        """Reverse the text."""
        return self._picked(self.text[::-1], array("l", range(len(self.text) - 1, -1, -1)))

    def _picked(self, text: str, origin: "array[int]") -> "Layer":
        """A layer with `text`, whose characters come from these places of this layer."""
        if self._starts is None or self._ends is None:
            return Layer(text, note=self.note, starts=origin, ends=array("l", (place + 1 for place in origin)))
        starts, ends = self._starts, self._ends
        return Layer(
            text,
            note=self.note,
            starts=array("l", map(starts.__getitem__, origin)),
            ends=array("l", map(ends.__getitem__, origin)),
        )

    def _copy_origin(self, start: int, end: int, starts: "array[int]", ends: "array[int]") -> None:
        if self._starts is None or self._ends is None:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend(self._starts[start:end])
            ends.extend(self._ends[start:end])


def joined(parts: Iterable[tuple[str, int, int]], note: str) -> Layer:
    """Make one layer of several paragraphs, each of which stands for (start, end) of the original."""
    texts: list[str] = []
    starts, ends = array("l"), array("l")
    for text, start, end in parts:
        texts.append(text + "\n\n")
        starts.extend(repeat(start, len(text) + 2))
        ends.extend(repeat(end, len(text) + 2))
    return Layer("".join(texts), note=note, starts=starts, ends=ends)
