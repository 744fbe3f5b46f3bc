"""Finds names of programs in which letters of another script look like Latin ones: `admin` with a Cyrillic first letter.

Letters of several scripts in one name are ordinary where they look different (`Δt`), and so are Latin words with endings of
another language in a line that is written in it.
"""

from collections.abc import Iterator

from jobs.engines.text.linear import Haystack, Pattern

LOOKALIKES = dict(
    zip(
        map(ord, "асеорхуіјѕһԁԛԝӏАВЕНІЈКМОРЅТУХοΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսԛ"),
        "aceopxyijshdqwlABEHIJKMOPSTYXoABEZHIKMNOPTYXouq",
        strict=True,
    )
)
"""Cyrillic, Greek and Armenian letters that nobody distinguishes from Latin ones."""
_NAME = Pattern(r"[\pL\pN_]{2,80}")
_OTHER_LETTERS = Pattern(r"[^\x00-\x{24F}\PL]{2}")
_AROUND = 200


def places(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each such name. The caller decides whether it is in a program."""
    signs = {sign for sign in set(text) if ord(sign) in LOOKALIKES}
    if not signs:
        return
    for start, end in _NAME.spans(Haystack(text), len(text)):
        name = text[start:end]
        others = [sign for sign in name if not sign.isascii() and sign.isalpha()]
        is_mixed = others and signs.issuperset(others) and any(sign.isascii() and sign.isalpha() for sign in name)
        if is_mixed and not _OTHER_LETTERS.found_in(_line_without(text, start, end)):
            yield start, end


def _line_without(text: str, start: int, end: int) -> str:
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
    after = text[end : end + _AROUND].partition("\n")[0]
    return f"{before} {after}"
