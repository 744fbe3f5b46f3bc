"""whois: what a text says of a name: free, taken, or nothing because the server refused or failed."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.whois.record import read
from jobs.whois.rules import rules_of
from tests.jobs.whois.test_verdicts import FREE, HELD, REFUSED_BESIDE_A_STATEMENT, SILENT, THROTTLED
from tests.quality.scorer import Measure

_FREE = [
    (
        "a-name.org",
        "Domain not found.\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\n\nTerms of Use: x\n",
    ),
    ("a-name.me", "NOT FOUND\n"),
    ("a-name.store", "The queried object does not exist: DOMAIN NOT FOUND\n"),
    ("a-name.museum", "% No matching objects found\n"),
    ("a-name.hu", "% Whois server\n\nNo match\n"),
    ("a-name.co", "No Data Found\n"),
    ("a-name.gr.com", "DOMAIN NOT FOUND\n"),
    ("a-name.paris", "%% NOT FOUND\n"),
    ("a-name.ir", "%ERROR:101: no entries found\n%\n% No entries found in the selected source(s).\n"),
    ("a-name.asia", "No match for domain a-name.asia\n"),
    ("a-name.ie", "Not found: a-name.ie\n"),
    ("a-name.lt", "Domain: a-name.lt\nStatus: available\n"),
]
_UNKNOWN = [
    "Your request was throttled.\nNOT FOUND\n",
    "You have been temporarily blocked\nNo match for a-name.com\n",
    "Maximum query rate reached\n\nNo entries found\n",
    "Internal error\nobject not found\n",
    "Query timed out. No match.\n",
    "a-name.com is pending delete\nNo match\n",
    "This domain is available at auction\n",
    "This domain is reserved for the registry\n",
    "WHOIS is available from https://whois.example/\n",
    "Domain availability could not be determined\n",
    "Sorry, no information for you today\n",
    "Domain a-name.com is in quarantine until 2026-12-24\n",
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Free names that are reported as free, and other texts that are not."""
    free = _FREE if held_out else FREE
    unknown = [(_name, text) for _name, text in HELD]
    unknown += [("a-name.com", text) for text in (*THROTTLED, *REFUSED_BESIDE_A_STATEMENT, *SILENT)]
    if held_out:
        unknown = [("a-name.com", text) for text in _UNKNOWN]
    yield Measure("free", len(free), sum(_registered(*case) is False for case in free))
    yield Measure("not sold as free", len(unknown), sum(_registered(*case) is not False for case in unknown))


def _registered(domain: str, text: str) -> bool | None:
    return read(text, [domain], rules_of(domain)).registered
