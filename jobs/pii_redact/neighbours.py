"""What the other values of a text say about its numbers: their countries, and which are beside an e-mail address."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from jobs.pii_redact import plans
from jobs.pii_redact.spans import Span

_GENERIC = frozenset(
    ("co", "io", "ai", "me", "tv", "cc", "to", "fm", "ly", "gg", "sh", "im", "ws", "la", "vc", "so", "st")
)
"""Domains of countries that are sold to everybody."""
_BESIDE = 8
"""Characters between a number and the address that it belongs to."""
_BETWEEN = " ,;:|/<>()[]-\t\n\"'*"


class Neighbours:
    """The evidence of one text."""

    def __init__(self, text: str, codes: Iterable[int | None], emails: Sequence[Span]) -> None:
        self._text = text
        self._starts = [span.start for span in emails]
        self._ends = [span.end for span in emails]
        domains = {text[span.end - 3 : span.end].lower() for span in emails}
        regions = {domain[1:] for domain in domains if domain[:1] == "."} - _GENERIC
        found = {*codes, *(plans.code_of_region("GB" if region == "uk" else region.upper()) for region in regions)}
        # North America has its own, wider rules.
        self._codes = sorted(code for code in found if code is not None and code != plans.NANP_CODE)

    def has_country_of(self, digits: str, shape: str) -> bool:
        """Whether digits are a number of a country that another value of the text is from, in groups as it writes them."""
        return any(plans.is_at_home(code, digits, shape) for code in self._codes)

    def has_address_beside(self, start: int, end: int) -> bool:
        """Whether only punctuation is between a number and an e-mail address."""
        before = bisect_right(self._ends, start) - 1
        if before >= 0 and self._is_close(self._ends[before], start):
            return True
        after = bisect_left(self._starts, end)
        return after < len(self._starts) and self._is_close(end, self._starts[after])

    def _is_close(self, end: int, start: int) -> bool:
        return start - end <= _BESIDE and not self._text[end:start].strip(_BETWEEN)
