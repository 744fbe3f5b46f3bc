"""Finds the end of a value that is source code with unescaped quotes: `{"code": "import a from "b";\\nrun(a);", "path":
"x.js"}`.

Code has many quotes after which a value might end, but seldom members with quoted keys. The first quote in it opens a
string, so it does not end the value.
"""

import re
from bisect import bisect_right
from functools import cache

from jobs.json_repair.source import Source

_STATEMENT = re.compile(
    r"[}\])\s]*+;(?!\s*+(?:[\"'][^\"'\n]{1,64}+[\"']\s*+:|[{}\[\]]|$))"  # `"b"};` or `"b" ]; then`
    r"|\s*+\)\s*+[^\s,;)}\]]"  # `f(a="b"):`
    r"|\s*+\)\s*+;(?!\s*+$)"
    r"|,\s*+[A-Za-z_]\w*+\s*+=(?![=>])"  # `f(a="b", c=`
    r"|[ \t]*+\n\s*+[A-Za-z_]\w*+[ \t]*+[:=(]"  # a line that begins with a name, and no comma before it
)


@cache
def _patterns(family: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The end of a key with this family's quotes, and what follows a value: such a key, or the end of the text."""
    return (
        re.compile(rf"[{family}]\s{{0,64}}+:\s*+"),
        re.compile(rf"\s*+,\s*+[{family}][^{family}\n]{{1,64}}+[{family}]\s*+:|\s*+[}}\]][\s}}\]]*+(?>(?:```\s*+)?)$"),
    )


class Programs:
    """Finds the ends of values that are code, among the quotes of one family."""

    def __init__(self, source: Source, family: str, places: list[int]) -> None:
        self.source = source
        self.places = places
        self._key, self._member = _patterns(family)
        self._ends: list[int] | None = None

    def end(self, opening: int, index: int) -> int | None:
        """The index of the quote that ends the value, when the quote at `index` seems to end it but belongs to the code.

        Args:
            opening: the index of the quote that opens the value.
            index: the index of a quote after which a value might end.
        """
        text, places = self.source.text, self.places
        if (
            index < opening + 2
            or not opening
            or self._key.fullmatch(text, places[opening - 1], places[opening]) is None
        ):
            return None
        if _STATEMENT.match(text, places[index] + 1) is None:
            return None
        if self._ends is None:
            self._ends = [k for k, q in enumerate(places) if self._member.match(text, q + 1)]
        k = bisect_right(self._ends, index)
        return self._ends[k] if k < len(self._ends) else None
