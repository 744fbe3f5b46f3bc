"""What a text says of a name that has no record: free, held back, or nothing because we asked too much."""

from __future__ import annotations

import pytest

from jobs.whois.record import is_throttled, read
from jobs.whois.rules import rules_of
from tests.each import each

FREE = [
    (
        "free-name.com",
        'No match for "FREE-NAME.COM".\r\n>>> Last update of whois database: 2026-11-20T10:00:00Z <<<\r\n',
    ),
    ("free-name.net", 'No match for domain "FREE-NAME.NET".'),
    ("free-name.org", "NOT FOUND\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\n\nTerms of Use: x\n"),
    ("free-name.info", "Domain not found.\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\n"),
    ("free-name.biz", "No Data Found\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\n"),
    ("free-name.xyz", "The queried object does not exist: DOMAIN NOT FOUND\n\n>>> Last update of WHOIS database <<<\n"),
    ("free-name.app", "Domain not found.\n"),
    ("free-name.name", "No match.\n"),
    ("free-name.de", "% Restricted rights.\n%\n% The DENIC whois service\n\nDomain: free-name.de\nStatus: free\n"),
    (
        "free-name.co.uk",
        '\n    No match for "free-name.co.uk".\n\n    This domain name has not been registered.\n\n--\nThis\n',
    ),
    ("free-name.jp", "[ JPRS database provides information on network administration. ]\nNo match!!\n"),
    ("free-name.jp", "[ JPRS ]\n該当するデータがありません\n"),
    ("free-name.fr", "%%\n%% This is the AFNIC Whois server.\n%%\n\n%% NOT FOUND\n"),
    ("free-name.it", "\nDomain:             free-name.it\nStatus:             AVAILABLE\n"),
    ("free-name.pl", "No information available about domain name free-name.pl in the Registry NASK database.\n"),
    (
        "free-name.ru",
        "% TCI Whois Service.\n\nNo entries found for the selected source(s).\n\nLast updated on 2026-11-20T10:01:30Z\n",
    ),
    (
        "free-name.com.br",
        "% Copyright (c) Nic.br\n%  The use of the data\n%  a\n%  b\n\n% No match for free-name.com.br\n",
    ),
    (
        "free-name.kr",
        "query : free-name.kr\n\n# KOREAN(UTF8)\n\n상기 도메인이름은 등록되어 있지 않습니다.\n\n"
        "# ENGLISH\n\nAbove domain name is not registered to KRNIC.\n",
    ),
    (
        "free-name.kr",
        "query : free-name.kr\n\nThe requested domain was not found in the Registry or Registrar’s WHOIS Server.\n",
    ),
    ("free-name.tw", "No Found\n\n"),
    ("free-name.cn", "No matching record.\n"),
    (
        "free-name.eu",
        "% The WHOIS service\n% WHOIS free-name.eu\nDomain: free-name.eu\nScript: LATIN\nStatus: AVAILABLE\n",
    ),
    ("free-name.be", "% .be Whois Server 6.1\n\nDomain:\tfree-name.be\nStatus:\tAVAILABLE\n"),
    ("free-name.nl", "free-name.nl is free\n"),
    ("free-name.se", '# Copyright\n# All rights reserved.\ndomain "free-name.se" not found.\n'),
    ("free-name.fi", "Domain not found\n\n>>> Last update of WHOIS database: 20.11.2026 10:00:25 (EET) <<<\n"),
    ("free-name.at", "% Copyright (c)2026 by NIC.AT (1)\n%\n% Restricted rights.\n%\n% a\n% b\n\n% nothing found\n"),
    ("free-name.ch", "We do not have an entry in our database matching your query.\n"),
    ("free-name.cz", "%  (c) 2006-2026 CZ.NIC\n%\n%ERROR:101: no entries found\n%\n% No entries found.\n"),
    ("free-name.ca", "Not found: free-name.ca\n\n% Terms\n"),
    ("free-name.ca", "Domain name:           free-name.ca\nDomain status:         available\n"),
    ("free-name.com.au", "NOT FOUND\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\n"),
    (
        "free-name.co.nz",
        "version: 8.6\nquery_datetime: 2026-11-20T23:00:00+13:00\ndomain_name: free-name.co.nz\nquery_status: 220 Available\n",
    ),
    ("free-name.com.tr", 'No match found for "free-name.com.tr"\n'),
    ("free-name.com.ua", "% Query\n%\n% No entries found for domain free-name.com.ua\n"),
    ("free-name.no", "% By looking up information\n% service\n\n% No match\n"),
    ("free-name.dk", "# Hello 192.0.2.1.\n#\n\nNo entries found for the selected source.\n"),
    ("free-name.pt", "free-name.pt - No Match\n"),
    ("free-name.co.il", "% The data in the WHOIS database\n\n% No data was found to match the request criteria.\n"),
    ("free-name.hk", "The domain has not been registered.\n"),
    ("free-name.sg", "----\nSGNIC WHOIS Server\n----\n\nDomain Not Found\n"),
    ("free-name.com.my", "Domain Name [free-name.com.my] does not exist in database\n"),
    ("free-name.mx", "No_Se_Encontro_El_Objeto/Object_Not_Found\n"),
    ("free-name.com.ar", "El dominio no se encuentra registrado en NIC Argentina\n"),
    ("free-name.cl", "free-name.cl: no existe\n"),
    ("free-name.pe", "Domain Name: free-name.pe\nWHOIS Server: NIC .PE\nDomain Status: No Object Found\n"),
    ("free-name.ee", "Domain not found\n"),
    ("free-name.lv", "[Domain]\nDomain: free-name.lv\nStatus: free\n\n[Whois]\nUpdated: 2026-11-20T10:00:00+00:00\n"),
    ("free-name.lt", "% Hello\n%\nDomain:\t\t\tfree-name.lt\nStatus:\t\t\tavailable\n"),
    ("free-name.sk", "Domain not found.\n"),
    ("free-name.rs", "%ERROR:103: Domain is not registered\n"),
    ("free-name.by", "Object does not exist\n"),
    ("free-name.kz", "*** Nothing found for this query.\n"),
    ("free-name.uz", 'Sorry, but domain: "free-name.uz", not found in database\n'),
    ("free-name.edu", "This Registry database contains ONLY .EDU domains.\n\nNO MATCH: free-name.edu\n"),
    ("free-name.is", '% No entries found for query "free-name.is".\n'),
    ("free-name.lu", "% Access to RESTENA DNS-LU\n% No such domain\n"),
    ("free-name.im", "The domain free-name.im was not found.\n"),
    ("free-name.tk", "Domain name not known in Dot TK database\n"),
    ("free-name.bg", "Domain name free-name.bg does not exist in database!\n"),
    ("free-name.si", "% No entries found for the selected source(s).\n"),
    ("free-name.tn", "NO OBJECT FOUND!\n"),
    ("free-name.kg", "This domain is available for registration\n"),
    ("free-name.io", "Domain free-name.io is available for registration\n"),
    ("free-name.hu", "% Whois server 4.0 serving the hu ccTLD\n\n\nNincs tal\u00e1lat / No match\n"),
    ("free-name.cat", "%\n% Access restrictions apply.\n%\n\n% No matching objects found\n"),
    ("free-name.berlin", "% No match for free-name.berlin\n"),
    ("free-name.online", "The queried object does not exist: no matching objects found\n"),
    ("free-name.africa", "No information was found matching that query.\n"),
    ("free-name.uk.com", "DOMAIN NOT FOUND\n"),
    ("xn--mnchen-3ya.de", "Domain: xn--mnchen-3ya.de\nStatus: free\n"),
]

HELD = [
    ("held-name.app", "This name is reserved by the Registry in accordance with ICANN Policy.\n"),
    ("held-name.xyz", "The domain held-name.xyz is a premium domain and is available for purchase.\n"),
    ("held-name.io", "Reserved Domain Name\n"),
    (
        "held-name.co.uk",
        '    No match for "held-name.co.uk".\n\n'
        "    This domain cannot be registered because it contravenes the Nominet UK\n    naming rules.\n",
    ),
    (
        "held-name.cn",
        "the Domain Name you apply can not be registered online. Please consult your Domain Name Registrar\n",
    ),
    ("held-name.eu", "Domain: held-name.eu\nScript: LATIN\nStatus: RESERVED\n"),
    ("held-name.be", "Domain:\theld-name.be\nStatus:\tNOT ALLOWED\n"),
    ("held-name.it", "Domain:             held-name.it\nStatus:             UNASSIGNABLE\n"),
    ("held-name.com", "Domain Name: held-name.com\nDomain Status: Reserved\n"),
    ("held-name.shop", "Domain not found.\nThis domain is blocked by the registry.\n"),
    ("held-name.club", "Premium Domain Name\nDomain not found.\n"),
    ("held-name.com.br", "% Copyright (c) Nic.br\n\n% held-name.com.br is reserved\n"),
]

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
]

REFUSED_BESIDE_A_STATEMENT = [
    "Query rate limit exceeded.\nNo match for a-name.com\n",
    "No match for domain A-NAME.COM\n\nYour connection has been blocked: too many queries.\n",
    "NOT FOUND\nWHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\n",
    "Domain not found.\nAccess denied\n",
]

SILENT = [
    # Errors, grace periods and boilerplate, which sound like a free name.
    "Invalid query\nNo match for a-name.com\n",
    "Error: unable to connect to the database\nNot found\n",
    "TLD is not supported.\nNo entries found\n",
    "Service temporarily unavailable\nNo data found\n",
    "No match for a-name.com\na-name.com is in its redemption period\n",
    "Domain Status: available\nPending delete, to be released on 2026-12-01\n",
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
    record = read(text, [domain], rules_of(domain))
    assert record.registered is False
    assert not is_throttled(text)


@each(("domain", "text"), HELD, ids=[domain for domain, _ in HELD])
def test_what_is_held_back_is_not_free(domain: str, text: str) -> None:
    """Reserved, premium or blocked: nobody has it, and nobody gets it."""
    assert read(text, [domain], rules_of(domain)).registered is None


@each("text", THROTTLED)
def test_we_asked_too_much(text: str) -> None:
    """A refusal is not an answer, also with a banner above it."""
    banner = "".join(f"% This is line {number} of the terms of use of this registry.\n" for number in range(20))
    for whole in (text, banner + "\n" + text):
        assert is_throttled(whole), whole
        assert read(whole, ["a-name.com"]).registered is None


@each("text", REFUSED_BESIDE_A_STATEMENT)
def test_a_refusal_comes_before_a_statement(text: str) -> None:
    """A server that refuses may send its no-match line as well. The name may have an owner."""
    assert is_throttled(text)
    assert read(text, ["a-name.com"]).registered is None


def test_a_rule_about_queries_is_no_refusal() -> None:
    """Terms of use below a statement say what would happen."""
    text = "No match for a-name.com\n\n% If too many queries are sent, access may be denied.\n"
    assert not is_throttled(text)
    assert read(text, ["a-name.com"]).registered is False


@each("text", SILENT)
def test_it_does_not_say(text: str) -> None:
    """Then the answer does not say it either."""
    assert read(text, ["a-name.com"]).registered is None
    assert not is_throttled(text)


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
    assert not is_throttled(text)


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
