"""whois: what a text says of a name: free, taken, or nothing because the server refused or failed."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compose.sandbox.upstreams.place import document
from jobs.whois.bootstrap import SHIPPED, rdap_servers
from jobs.whois.rdap import read_rdap
from jobs.whois.reason import Reason
from jobs.whois.record import is_refusal, read
from jobs.whois.rules import rules_of
from tests.jobs.whois.test_registered import EMPTY, FILES, plain
from tests.jobs.whois.test_verdicts import ENDING, FREE, HELD, REFUSED_BESIDE_A_STATEMENT, SILENT, TERSE, THROTTLED
from tests.quality.scorer import Measure
from tests.sites import PUBLIC

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
    (
        "a-name.online",
        "The queried object does not exist: DOMAIN NOT FOUND\n>>> Last update of WHOIS database: 2026-11-20 <<<\n\n"
        "Use of this service is monitored and throttled.\nVisit https://registry.example/guidance for more.\n",
    ),
    ("a-name.la", "DOMAIN NOT FOUND\n\nThis service is rate limited. Automated clients are\nblacklisted.\n"),
    ("a-name.bar", "NOT FOUND\n\n% Rate limits apply. See our fair use policy.\n"),
    (
        "a-name.fit",
        "No match for a-name.fit\n\nAnyone who sends too many\nrequests is blocked for a day.\n",
    ),
]
_UNKNOWN: list[tuple[Reason, str]] = [
    ("refused", "Your request was throttled.\nNOT FOUND\n"),
    ("refused", "You have been temporarily blocked\nNo match for a-name.com\n"),
    ("refused", "Maximum query rate reached\n\nNo entries found\n"),
    ("refused", "Query denied\n"),
    ("refused", "Rate exceeded.\n"),
    ("refused", "Please wait a minute.\n"),
    ("refused", "% Rejected\n"),
    ("refused", "Quota used up\n"),
    ("refused", "Too fast!\n"),
    ("refused", "error: 429\n"),
    ("unclear", "Internal error\nobject not found\n"),
    ("unclear", "Query timed out. No match.\n"),
    ("ending", "a-name.com is pending delete\nNo match\n"),
    ("ending", "This domain is available at auction\n"),
    ("ending", "Domain a-name.com is in quarantine until 2026-12-24\n"),
    ("reserved", "This domain is reserved for the registry\n"),
    ("reserved", "Reserved by the registry\n\nAccess to this service is rate limited.\n"),
    ("unclear", "WHOIS is available from https://whois.example/\n"),
    ("unclear", "Domain availability could not be determined\n"),
    ("unclear", "Sorry, no information for you today\n"),
]


_TOPS = Path(__file__).with_name("top_level_domains.txt")
"""Which have a WHOIS server. RDAP servers are those of the shipped bootstrap file."""
_NO_RECORD = {"events": [], "entities": []}
_RDAP: list[tuple[bool, dict[str, Any], tuple[bool | None, Reason | None]]] = [
    (True, {}, (True, None)),
    (True, {"ldhName": None, "unicodeName": "EXAMPLE.app."}, (True, None)),
    (True, {"ldhName": "other.app"}, (None, "unclear")),
    (True, {"status": ["reserved"], **_NO_RECORD}, (None, "reserved")),
    (True, {"status": ["pending delete", "redemption period"]}, (True, None)),
    (False, {"title": "Not Found", "description": ["The domain was not found."]}, (False, None)),
    (False, {"title": "Object not found"}, (False, None)),
    (False, {"title": "Not Found", "description": ["This name is reserved by the registry."]}, (None, "reserved")),
    (False, {"title": "Not Found", "description": ["The domain is pending delete."]}, (None, "ending")),
    (False, {"title": "Too many requests, please try again later."}, (None, "refused")),
]
_RDAP_SET_ASIDE: list[tuple[bool, dict[str, Any], tuple[bool | None, Reason | None]]] = [
    (True, {"secureDNS": None, "nameservers": None}, (True, None)),
    (True, {"ldhName": "EXAMPLE.APP"}, (True, None)),
    (True, {"status": ["blocked"], **_NO_RECORD}, (None, "reserved")),
    (False, {}, (False, None)),
    (
        False,
        {"title": "Domain not found", "description": ["Terms of use apply.", "Access is rate limited."]},
        (False, None),
    ),
    (False, {"title": "Not Found", "description": ["example.app is available for registration"]}, (False, None)),
    (False, {"title": "Error", "description": ["Rate limit exceeded"]}, (None, "refused")),
    (False, {"title": "Not Found", "description": ["This name is blocked (DPML)."]}, (None, "reserved")),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """Free names that are answered as free, other texts that are not, and the reason that is given; the fields of records."""
    free = _FREE if held_out else FREE
    unknown: list[tuple[Reason, str, str]] = [(reason, "a-name.com", text) for reason, text in _UNKNOWN]
    if not held_out:
        unknown = [("reserved", name, text) for name, text in HELD]
        unknown += [("refused", "a-name.com", text) for text in (*THROTTLED, *TERSE, *REFUSED_BESIDE_A_STATEMENT)]
        unknown += [("ending" if text in ENDING else "unclear", "a-name.com", text) for text in SILENT]
    said = [(reason, _answer(domain, text)) for reason, domain, text in unknown]
    yield Measure("free", len(free), sum(_answer(*case) is False for case in free))
    yield Measure("not sold as free", len(said), sum(given is not False for _, given in said))
    yield Measure("reason", len(said), sum(given == reason for reason, given in said))
    if not held_out:
        records = [_fields(file) for file in FILES]
        yield Measure("taken", len(records), sum(given["registered"] is True for given, _ in records))
        pairs = [(given[name], wanted[name]) for given, wanted in records for name in wanted]
        yield Measure("fields of records", len(pairs), sum(given == wanted for given, wanted in pairs))
        lines = [line.split() for line in _TOPS.read_text().splitlines() if not line.startswith("#")]
        servers = rdap_servers(SHIPPED, PUBLIC)
        answered = [has_whois == "whois" or top in servers for top, has_whois in lines]
        yield Measure("top-level domains with a server", len(answered), sum(answered))
    answers = _RDAP_SET_ASIDE if held_out else _RDAP
    read_answers = [_rdap(changes, is_found=is_found) == wanted for is_found, changes, wanted in answers]
    yield Measure("RDAP", len(read_answers), sum(read_answers))


def _rdap(changes: dict[str, Any], *, is_found: bool) -> tuple[bool | None, Reason | None]:
    """What an RDAP server's answer says of a name: a record with these changes, or an error with these members."""
    found = (json.loads(document("domain.rdap.json")) if is_found else {"errorCode": 404}) | changes
    record = read_rdap(json.dumps(found).encode(), ["example.app"], is_found=is_found)
    return record.registered, record.reason


def _answer(domain: str, text: str) -> bool | Reason | None:
    """Whether the domain is registered, or the reason why that is not known. A refusal is not read any further."""
    if is_refusal(text):
        return "refused"
    record = read(text, [domain], rules_of(domain))
    return record.reason or record.registered


def _fields(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is read from a record, and what is in it."""
    header, _, text = file.read_text().partition("\n---\n")
    wanted = tomllib.loads(header)
    domain = wanted.pop("domain")
    return plain(read(text, [domain], rules_of(domain))), EMPTY | wanted
