"""pii-redact: phones in the words of people, with other numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobs.pii_redact.redaction import redact
from tests.jobs.pii_redact.marked import read
from tests.jobs.pii_redact.test_phones import FOUND, NOT_FOUND
from tests.quality.scorer import Measure

# Nobody has looked at the answers to these while the rules were written.
_FOUND = [
    *(
        "Reception: «5521 8834»",
        "my cell is «0412 555 019»",
        "«8834 1290» -Fax",
        "«020 8834 1290» (direct)",
        "«612345678» - Mobil",
    ),
    *(
        "please ring Anna at «7712 0934»",
        "We called the shop («334 9021»)",
        "Contact the vet on «8841 2200» after six.",
    ),
    *(
        "Dial «1800 123 456» for help",
        "tel.: «030 123456»",
        "T: «+49 30 123456»",
        "Mobile «07700 900123»",
        "home «5550142», work",
    ),
    *(
        "reach Tom on «555-0173»",
        "«(212) 555-0187» (o)",
        "leave a message at «555 0110»",
        "Handy: «0171 2345678»",
        "fax «22 33 44 55»",
    ),
    *(
        "«94 12 33 45» mob",
        "His number is «4455 6677»",
        "text «07700 900456» now",
        "phone Lea: «66 12 34 56 78»",
        "call «311-5552»",
    ),
    *(
        "office line: «6123 9000»",
        "Büro: «089 123456»",
        "«+1-202-555-0143», ext. 12",
        "Ring me: «01632 960 001»",
        "«2212 3344» (w)",
    ),
]
_OTHERS = [
    *(
        "Reception opens 0800-1700",
        "order 8834 1290 -Fax machine",
        "he called 3 times in 2026",
        "line 5521 of file 8834",
    ),
    *(
        "work item 612345678",
        "home loan 5550142 approved",
        "call id 7712 0934 failed",
        "tests: 1234567 passed, 12 failed",
    ),
    *(
        "Ring buffer size 1048576",
        "page 555-0173 (of 900)",
        "ISO 8601:2004",
        "reach 1000000 users",
        "the text 12345678 long",
    ),
    *(
        "contact sheet 20261122",
        "temperature 21.5 - 23.5",
        "dial gauge 0.001-0.010",
        "invoice 2026-0001234 (work)",
        "ratio 4455:6677",
    ),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Recall over the marked phones, and the share of other numbers that stay."""
    found: Sequence[str] = _FOUND if held_out else FOUND
    others: Sequence[str] = _OTHERS if held_out else NOT_FOUND
    texts = [read(marked, "phone") for marked in found]
    right = sum(redact(text, ["phone"]).spans == spans for text, _, spans in texts)
    yield Measure("phones found", len(texts), right)
    yield Measure("other numbers left", len(others), sum(not redact(text, ["phone"]).spans for text in others))
