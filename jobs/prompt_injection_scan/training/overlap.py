"""Finds texts that nearly repeat others, so that no fit learns from copies of what it is judged by."""

import re
from collections import Counter
from collections.abc import Sequence

_LENGTH = 5
"""Words of a phrase."""
_OWN_SHARE = 0.2
"""A text is a copy when so much of its phrases is in the others together."""
_OTHER_SHARE = 0.3
"""It is one as well when it has so much of the phrases of one of them."""


class Copies:
    """Tells which texts nearly repeat one of the given ones."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = []
        self._places: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            phrases = _phrases(text)
            self._counts.append(len(phrases))
            for phrase in phrases:
                self._places.setdefault(phrase, []).append(number)

    def has(self, text: str) -> bool:
        """Whether the text, or much of it, is in one of the others."""
        phrases = _phrases(text)
        shared = [self._places[phrase] for phrase in phrases if phrase in self._places]
        if len(shared) >= _OWN_SHARE * len(phrases):
            return True
        by_text = Counter(number for numbers in shared for number in numbers)
        return any(count >= _OTHER_SHARE * self._counts[number] for number, count in by_text.items())


def _phrases(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i : i + _LENGTH]) for i in range(max(1, len(words) - _LENGTH + 1))}
