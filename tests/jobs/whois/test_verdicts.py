"""What a text says of a name that has no record: free, held back, or nothing because we asked too much."""

import re
from pathlib import Path

import pytest

from jobs.whois.record import is_refusal, read
from jobs.whois.rules import rules_of
from tests.each import each

FOLDER = Path(__file__).parent


def answers(file: str) -> list[tuple[str, str]]:
    """Domains, and what their registries' servers say. In the file a line ``=== domain`` is above each text."""
    _, *parts = re.split(r"^=== (\S+)\n", (FOLDER / file).read_text(), flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


FREE = answers("free_domains.txt")
HELD = answers("held_domains.txt")

THROTTLED = [
    "WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\n",
    "Number of allowed queries exceeded.\n",
    "Query rate limit exceeded. Please try again later.\r\n",
    "% Quota exceeded\n",
    "Your connection limit exceeded. Please slow down and try again later.\n",
    "% Error: 55000000002 Connection refused; access control limit exceeded\n",
    'Error for "a.co.uk".\n\nthe WHOIS query quota for 192.0.2.1 has been exceeded\nand will be replenished in 50 seconds\n',
    "Too many requests\n",
    "You have exceeded the maximum allowable number of whois lookups.\n",
    "% You are not authorized to access; your IP address has been blocked.\n",
    "Requests of this client are not permitted. Please use https://www.nic.ch/whois/ for queries.\n",
    "% Excessive querying, grace period of 120 seconds\n",
    "Access denied\n",
    "The maximum number of requests per second has been exceeded.\n",
    "-3: IP address blacklisted\n",
    "Server is busy now, please try again later.\n",
    "Query limit exceeded. If you need more, you may write to us.\n",
    "You are not allowed to connect\n",
    "Your address has been blocked; if this is wrong, please write to us.\n",
]

TERSE = [
    "Denied\n",
    "denied.\r\n",
    "Rate limited\n",
    "% Rate limit\n",
    "Throttled\n",
    "403 Forbidden\n",
    "Forbidden",
    "429\n",
    "Limit exceeded\n",
    "EXCEEDED_QUOTA\n",
    "Blacklisted\n",
    "Banned for abuse.\n",
    "Unauthorized\n",
    "Please try later\n",
    "Try again\n",
    "Wait 60 seconds\n",
    "Overloaded\n",
    "Server busy\n",
    "Fair use policy\n",
]
"""Refusals in a word or two."""

REFUSED_BESIDE_A_STATEMENT = [
    "Query rate limit exceeded.\nNo match for a-name.com\n",
    "No match for domain A-NAME.COM\n\nYour connection has been blocked: too many queries.\n",
    "NOT FOUND\nWHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\n",
    "Domain not found.\nAccess denied\n",
]

ENDING = [
    "No match for a-name.com\na-name.com is in its redemption period\n",
    "Domain Status: available\nPending delete, to be released on 2026-12-01\n",
    "a-name.com is in quarantine until 2026-12-24\n",
    "The queried object does not exist: previous registration\n",
]
SILENT = [
    *ENDING,
    # Errors and boilerplate, which sound like a free name.
    "Invalid query\nNo match for a-name.com\n",
    "Error: unable to connect to the database\nNot found\n",
    "TLD is not supported.\nNo entries found\n",
    "Service temporarily unavailable\nNo data found\n",
    "a-name.com is available to its former holder only\n",
    "The domain is available for backorder\n",
    "This information is available at www.registry.example\n",
    "Registration data not found here is available from the registrar\n",
    "No information is available\n",
    "Unknown\n",
    "a-name.com is already registered\n",
    "Not available\n",
    "Welcome to the registry.\n",
    "query : a-name.kr\n",
    "Domain Name: another-name.com\nCreation Date: 2001-01-01T00:00:00Z\nRegistrar: X\nName Server: ns1.x.com\n",
    "<html><head><title>400 Bad Request</title></head></html>\n",
    "\x00\x01\x02\x7f\n",
    # Boilerplate, wrapped where it looks like a verdict.
    "The registry says nothing here. If there is\nno match for the domain name that you ask for, then the answer of\n"
    "this server says so, and the domain\nname is available for registration by everybody who asks\n"
    "for it. All rights reserved. Domain Name: is a trademark.\n",
]


@each(("domain", "text"), FREE, ids=[domain for domain, _ in FREE])
def test_nobody_has_it(domain: str, text: str) -> None:
    """In the words of each registry."""
    for written in (text, text.replace("\n", "\r\n")):
        assert read(written, [domain], rules_of(domain)).registered is False
        assert not is_refusal(written)


@each(("domain", "text"), HELD, ids=[domain for domain, _ in HELD])
def test_what_is_held_back_is_not_free(domain: str, text: str) -> None:
    """Reserved, premium or blocked: nobody has it, and nobody gets it."""
    record = read(text, [domain], rules_of(domain))
    assert (record.registered, record.reason) == (None, "reserved")
    assert not is_refusal(text)


@each("text", THROTTLED)
def test_we_asked_too_much(text: str) -> None:
    """A refusal is not an answer, also with a banner above it."""
    banner = "".join(f"% This is line {number} of the terms of use of this registry.\n" for number in range(20))
    for whole in (text, banner + "\n" + text):
        assert is_refusal(whole), whole
        assert read(whole, ["a-name.com"]).reason == "refused"


@each("text", TERSE)
def test_a_terse_refusal(text: str) -> None:
    """A text of nothing else is one; the same words below a statement are a rule."""
    assert is_refusal(text)
    assert read(text, ["a-name.com"]).reason == "refused"


@each("text", REFUSED_BESIDE_A_STATEMENT)
def test_a_refusal_comes_before_a_statement(text: str) -> None:
    """A server that refuses may send its no-match line as well. The name may have an owner."""
    assert is_refusal(text)
    assert read(text, ["a-name.com"]).reason == "refused"


def test_a_rule_about_queries_is_no_refusal() -> None:
    """Terms of use say what would happen, also below a statement that nobody understands."""
    rule = "% If too many queries are sent, access may be denied.\n"
    other = "% Write to us if your address has been blocked.\n% Access is denied if clients\n% send too many queries.\n"
    for statement, registered in (("No match for a-name.com\n", False), ("Ukjent\n% Velkommen\n", None)):
        for text in (f"{statement}\n{rule}", f"{statement}\n{other}"):
            assert not is_refusal(text)
            assert read(text, ["a-name.com"]).registered is registered


@each("text", SILENT)
def test_it_does_not_say(text: str) -> None:
    """Then the answer does not say it either."""
    record = read(text, ["a-name.com"])
    assert (record.registered, record.reason) == (None, "ending" if text in ENDING else "unclear")
    assert not is_refusal(text)


BOILERPLATE = """
NOTICE AND TERMS OF USE: You are not authorized to access or query our WHOIS
database through the use of high-volume, automated, electronic processes. We
reserve the right to restrict access if too many queries come, or the rate
limit is exceeded: please try again later. If there is no match for
domain name: some-name.com
No match for "SOME-NAME.COM"
the domain is available. Reserved and premium names are not available. The
expiration date: is the date of the registrar.
"""
RECORD = """Domain Name: SOME-NAME.COM
Registrar: Some Registrar
Creation Date: 2001-02-03T04:05:06Z
Name Server: ns1.some-name.com
"""


@pytest.mark.parametrize("text", [RECORD + BOILERPLATE, BOILERPLATE + "\n" + RECORD], ids=["below", "above"])
def test_a_record_overrules_all_boilerplate(text: str) -> None:
    """Above or below the record."""
    record = read(text, ["some-name.com"])
    assert (record.registered, record.registrar, record.expires) == (True, "Some Registrar", None)
    assert record.name_servers == ("ns1.some-name.com",)
    assert not is_refusal(text)


def test_a_registrar_called_reserved_is_a_registrar() -> None:
    """As of example.com itself."""
    text = RECORD.replace("Some Registrar", "RESERVED-Internet Assigned Numbers Authority")
    assert read(text, ["some-name.com"]).registered is True


def test_of_several_records_the_one_that_was_asked_for() -> None:
    """A server that finds names by their parts says more than it was asked."""
    text = "\n\n".join(
        f"Domain Name: {name}\nRegistrar: R of {name}\nCreation Date: 200{number}-01-01\nName Server: ns.{name}"
        for number, name in enumerate(("A.COM.EXAMPLE.NET", "A.COM", "XA.COM"))
    )
    record = read(text, ["a.com"])
    assert (record.registered, record.registrar, record.name_servers) == (True, "R of A.COM", ("ns.a.com",))
    assert read(text, ["b.com"]).registered is None


def test_a_name_may_stand_there_in_either_form() -> None:
    """A-labels were asked for, and the registry answers in its own script."""
    names = ["xn--mnchen-3ya.de", "münchen.de"]
    for shown in ("MÜNCHEN.de", "xn--mnchen-3ya.de", "München.DE (xn--mnchen-3ya.de)"):
        assert read(f"Domain: {shown}\nNserver: ns1.a.de\nStatus: connect\n", names).registered is True


def test_a_registrar_fills_gaps_and_corrects_nothing() -> None:
    """Thick data that disagrees is the registrar's opinion."""
    thin = read("Domain Name: a.com\nRegistry Expiry Date: 2027-01-01\nName Server: ns1.a.com\n", ["a.com"])
    thick = read(
        "Domain Name: a.com\nRegistrar: R\nCreation Date: 2001-01-01\nExpiry Date: 2030-01-01\nName Server: ns9.a.com\n"
        "Domain Status: ok\n",
        ["a.com"],
    )
    whole = thin.completed(thick)
    assert (whole.registrar, whole.created, whole.status) == ("R", thick.created, ("ok",))
    assert (whole.expires, whole.name_servers) == (thin.expires, ("ns1.a.com",))
