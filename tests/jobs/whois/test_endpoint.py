"""The endpoint, against servers that are a table."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jobs.ports import NO_PORTS, Context, RdapAnswer, WhoisText
from jobs.whois.bootstrap import SHIPPED, rdap_servers
from jobs.whois.endpoint import ENDPOINT, EXAMPLE_RECORD, InvalidDomain, Request, run
from jobs.whois.registries import WITHOUT_SERVER
from jobs.whois.rules import RULES
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.each import each
from tests.sites import PUBLIC, decoded

ROOT = "whois.iana.test.net"
TLD = {
    "com": "refer: whois.registry.net\n",
    "uk": "refer: whois.registry.net\n",
    "de": "domain: DE\nwhois: whois.registry.net\n",
    "jp": "refer: whois.registry.net\n",
    "int": f"whois: {ROOT}\n",
    "dev": "domain: DEV\nwhois:\n\nstatus: ACTIVE\n",
    "info": "refer: localhost\n",
    "biz": "refer: 127.0.0.1\n",
    "pro": "refer: not a host\n",
}
COMPLETE = "Domain Name: {}\nRegistrar: R\nCreation Date: 2001-01-01\nRegistry Expiry Date: 2027-01-01\n"
THIN = "Domain Name: {}\nRegistrar WHOIS Server: {}\nName Server: ns1.{}\n"


class Servers:
    """jobs.ports.Whois out of a table: (server, query) to a text, bytes or an exception."""

    root = ROOT

    def __init__(self, answers: dict[tuple[str, str], Any], age_s: float = 0.0) -> None:
        self._answers = {(ROOT, tld): text for tld, text in TLD.items()} | answers
        self._age_s = age_s
        self.asked: list[tuple[str, str]] = []

    def ask(self, server: str, query: str, *, deadline: float) -> WhoisText:
        self.asked.append((server, query))
        answer = self._answers[server, query]
        if isinstance(answer, Exception):
            raise answer
        raw = answer.encode() if isinstance(answer, str) else answer
        return WhoisText(raw, False, 0.0 if server == ROOT else self._age_s)


class Rdap:
    """jobs.ports.Rdap out of a table: a domain to an object, None for a 404, or an exception. It serves the table's domains."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    def server(self, domain: str) -> str | None:
        return "rdap.registry.net" if domain in self._answers else None

    def ask(self, domain: str, *, deadline: float) -> RdapAnswer:
        self.asked.append(domain)
        answer = self._answers[domain]
        if isinstance(answer, Exception):
            raise answer
        return RdapAnswer(answer is not None, msgspec.json.encode(answer) if answer else b"", 12.7)


class Ports:
    """A clock and the servers."""

    def __init__(self, whois: Servers, rdap: Rdap) -> None:
        self.whois = whois
        self.rdap = rdap
        self.clock = self
        self.site = PUBLIC

    def now(self) -> datetime:
        return datetime(2026, 11, 21, 15, 0, tzinfo=UTC)

    def __getattr__(self, name: str) -> Any:
        return getattr(NO_PORTS, name)


def answer(domain: str, servers: Servers, rdap: dict[str, Any] | Rdap | None = None) -> dict[str, Any]:
    request = decoded(Request, {"domain": domain})
    ports = Ports(servers, rdap if isinstance(rdap, Rdap) else Rdap(rdap or {}))
    body: dict[str, Any] = json.loads(msgspec.json.encode(run(request, Context("0x0", ports))))
    return body


def refusal(domain: Any) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        decoded(Request, {"domain": domain})
    return caught.value


def test_the_example() -> None:
    """What is documented is what the text gives."""
    documented = ENDPOINT.example.response
    servers = Servers({("whois.registry.net", "domain example.com"): EXAMPLE_RECORD})
    given = answer("www.example.com", servers)
    assert list(given) == list(documented)
    place = {"whoisServer": "whois.registry.net", "serversQueried": [ROOT, "whois.registry.net"]}
    assert given == documented | place | {"daysUntilExpiry": 264}


def test_what_nobody_has() -> None:
    """Is an answer, and has every field all the same."""
    servers = Servers({("whois.registry.net", "domain nobody.com"): 'No match for "NOBODY.COM".\n'})
    given = answer("nobody.com", servers)
    assert set(given) == set(ENDPOINT.example.response)
    assert (given["ok"], given["registered"], given["registrar"], given["nameServers"]) == (True, False, None, [])
    assert (given["expiresAt"], given["daysUntilExpiry"], given["dnssec"]) == (None, None, None)
    assert given["raw"] == 'No match for "NOBODY.COM".\n'


@each(
    ("asked", "domain", "query", "parsed_by"),
    [
        ("www.a.co.uk", "a.co.uk", "a.co.uk", "uk"),
        ("A.COM.", "a.com", "domain a.com", "generic"),
        ("deep.below.a.de", "a.de", "-T dn,ace a.de", "de"),
        ("münchen.de", "xn--mnchen-3ya.de", "-T dn,ace xn--mnchen-3ya.de", "de"),
        ("_dmarc.a.jp", "a.jp", "a.jp/e", "jp"),
        ("user.github.com", "github.com", "domain github.com", "generic"),
    ],
)
def test_how_it_is_asked(asked: str, domain: str, query: str, parsed_by: str) -> None:
    """The registrable domain, in the registry's own form, and nothing else."""
    servers = Servers({("whois.registry.net", query): COMPLETE.format(domain)})
    given = answer(asked, servers)
    assert servers.asked == [(ROOT, domain.rpartition(".")[2]), ("whois.registry.net", query)]
    assert (given["domain"], given["registered"], given["parsedBy"]) == (domain, True, parsed_by)
    assert given["unicodeDomain"] == ("münchen.de" if "xn--" in domain else domain)


def test_days_until_expiry_are_whole_and_may_be_negative() -> None:
    """By the clock of this installation."""
    for expires, days in {"2026-11-21T15:00:00Z": 0, "2026-11-22T14:59:59Z": 0, "2026-11-21T14:59:59Z": -1}.items():
        text = f"Domain Name: a.com\nRegistrar: R\nCreation Date: 2001-01-01\nRegistry Expiry Date: {expires}\n"
        given = answer("a.com", Servers({("whois.registry.net", "domain a.com"): text}))
        assert (given["expiresAt"], given["daysUntilExpiry"]) == (expires, days)


def test_a_registrar_is_asked_where_something_is_missing() -> None:
    """The registry's data count where they disagree."""
    servers = Servers(
        {
            ("whois.registry.net", "domain a.com"): THIN.format("a.com", "whois.registrar.net", "a.com"),
            ("whois.registrar.net", "a.com"): COMPLETE.format("a.com") + "Name Server: other.net\n",
        },
        age_s=61.9,
    )
    given = answer("a.com", servers)
    assert (given["registrar"], given["createdAt"]) == ("R", "2001-01-01T00:00:00Z")
    assert given["nameServers"] == ["ns1.a.com"]
    assert given["serversQueried"] == [ROOT, "whois.registry.net", "whois.registrar.net"]
    assert given["registrarWhoisServer"] == "whois.registrar.net"
    assert "# whois.registrar.net\n\nDomain Name: a.com" in given["raw"]
    assert given["ageSeconds"] == 61


@each("server", ["whois.registry.net", ROOT, "localhost", "10.0.0.1", "whois.internal", "redis.cluster.local"])
def test_loops_and_internal_hosts_are_not_followed(server: str) -> None:
    """Anybody may name a registrar's server: no server is asked twice, and none inside at all."""
    servers = Servers({("whois.registry.net", "domain a.com"): THIN.format("a.com", server, "a.com")})
    given = answer("a.com", servers)
    assert len(servers.asked) == 2
    assert (given["registered"], given["nameServers"]) == (True, ["ns1.a.com"])


def test_there_are_three_servers_at_most() -> None:
    """The third may name a fourth."""
    servers = Servers(
        {
            ("whois.registry.net", "domain a.com"): THIN.format("a.com", "whois.b.net", "a.com"),
            ("whois.b.net", "a.com"): THIN.format("a.com", "whois.c.net", "a.com"),
        }
    )
    assert answer("a.com", servers)["serversQueried"] == [ROOT, "whois.registry.net", "whois.b.net"]


@each(
    "failure",
    [
        UpstreamFailed("late", reason="timeout"),
        UpstreamFailed("too much", reason="rate_limited"),
        BlockedAddress("private"),
        "Domain Name: another.com\nRegistrar: X\nCreation Date: 1999-01-01\n",
        "No match for a.com\n",
        b"\xff\x00",
    ],
)
def test_a_registrar_that_fails_takes_nothing_away(failure: Any) -> None:
    """What the registry said is the answer."""
    servers = Servers(
        {
            ("whois.registry.net", "domain a.com"): THIN.format("a.com", "whois.registrar.net", "a.com"),
            ("whois.registrar.net", "a.com"): failure,
        }
    )
    given = answer("a.com", servers)
    assert (given["registered"], given["registrar"], given["nameServers"]) == (True, None, ["ns1.a.com"])


@pytest.mark.parametrize(
    ("domain", "reason"),
    [("a.dev", "no_whois_server"), ("a.pro", "no_whois_server"), ("a.unheardof", "no_whois_server")],
)
def test_without_a_whois_server(domain: str, reason: str) -> None:
    """As more and more top-level domains are."""
    servers = Servers({(ROOT, "unheardof"): "% This query returned 0 objects.\n"})
    with pytest.raises(UpstreamFailed) as caught:
        answer(domain, servers)
    assert (caught.value.reason, caught.value.retryable) == (reason, False)
    assert reason in ENDPOINT.failures


@pytest.mark.parametrize("domain", ["a.info", "a.biz"])
def test_a_registry_inside_is_blocked(domain: str) -> None:
    """Before anything is asked of it."""
    servers = Servers({})
    with pytest.raises(BlockedAddress):
        answer(domain, servers)
    assert len(servers.asked) == 1


def test_iana_is_a_registry_itself() -> None:
    """Of .int: that is no loop."""
    record = "domain: A.INT\nnserver: NS.A.INT 192.0.2.1\ncreated: 1998-06-05\nchanged: 2020-01-01\nsource: IANA\n"
    given = answer("a.int", Servers({(ROOT, "a.int"): record}))
    assert (given["registered"], given["whoisServer"], given["serversQueried"]) == (True, ROOT, [ROOT])


@pytest.mark.parametrize("domain", ["co.uk", "a_b.com", "uk.co.uk."])
def test_what_nobody_can_register(domain: str) -> None:
    """A public suffix, or a name with an underscore: only the list of suffixes knows."""
    if domain == "uk.co.uk.":
        servers = Servers({("whois.registry.net", "uk.co.uk"): COMPLETE.format("uk.co.uk")})
        assert answer(domain, servers)["domain"] == "uk.co.uk"
        return
    with pytest.raises(InvalidDomain):
        answer(domain, Servers({}))


@each(
    ("domain", "code"),
    [
        ("", None),
        (5, None),
        ("a.com\r\nb.com", "invalid_domain"),
        ("a.com b.com", "invalid_domain"),
        ("-T dn a.de", "invalid_domain"),
        ("https://a.com", "invalid_domain"),
        ("127.0.0.1", "blocked_address"),
        ("com", "blocked_address"),
        ("a.com/e", "invalid_domain"),
    ],
)
def test_what_is_refused_unpaid(domain: Any, code: str | None) -> None:
    """All that can be judged without the list of suffixes."""
    if code is None:
        with pytest.raises(msgspec.ValidationError):
            decoded(Request, {"domain": domain})
        return
    refused = refusal(domain)
    assert (refused.code, refused.field) == (code, "domain")


def test_the_raw_text_has_its_limit() -> None:
    """64 KB of UTF-8, whatever the registry's encoding was."""
    text = ("é" * 70 + "\n") * 1_000 + COMPLETE.format("a.com")
    given = answer("a.com", Servers({("whois.registry.net", "domain a.com"): text.encode("latin-1")[:65_536]}))
    assert given["rawTruncated"] is True
    assert len(given["raw"].encode()) <= 65_536


def test_queries_hold_nothing_that_ends_a_line() -> None:
    """Of all query forms."""
    from jobs.whois.rules import RULES
    from workers.adapters.whois import _QUERY

    seen: list[str] = [rules.query.format("xn--a-b.co.uk") for rules in RULES.values()]
    check: Callable[[str], Any] = re.compile(r"[ -~]+").fullmatch
    assert all(check(query) and _QUERY.fullmatch(query) for query in seen)


@pytest.mark.parametrize("domain", ["foo.vn", "WWW.Example.GR.", "a.b.mil"])
def test_a_registry_that_is_known_to_have_no_server_is_refused_before_the_payment(domain: str) -> None:
    """IANA would say the same, and the call would be charged."""
    refused = refusal(domain)
    assert (refused.code, refused.field) == ("invalid_domain", "domain")
    assert "no WHOIS server" in refused.detail


OBJECT = {
    "objectClassName": "domain",
    "ldhName": "A.DEV",
    "status": ["client transfer prohibited"],
    "events": [{"eventAction": "registration", "eventDate": "2019-03-04T05:06:07.89Z"}],
}


@each("domain", ["a.dev", "a.com"])
def test_rdap_answers_where_whois_does_not(domain: str) -> None:
    """IANA names no server, or the server that it names fails. The fields are the same, and `raw` is the JSON."""
    failing = Servers({("whois.registry.net", "domain a.com"): UpstreamFailed("late", reason="timeout")})
    given = answer(domain, failing, {domain: OBJECT | {"ldhName": domain}})
    assert set(given) == set(ENDPOINT.example.response)
    assert (given["source"], given["parsedBy"], given["registered"]) == ("rdap", "rdap", True)
    assert (given["createdAt"], given["status"]) == ("2019-03-04T05:06:07Z", ["clientTransferProhibited"])
    assert given["serversQueried"] == [ROOT, "rdap.registry.net"]
    assert given["whoisServer"] == ("" if domain == "a.dev" else "whois.registry.net")
    assert json.loads(given["raw"])["ldhName"] == domain
    assert given["ageSeconds"] == 12


def test_rdap_answers_where_iana_does_not() -> None:
    """Then no WHOIS server is known."""
    given = answer("a.io", Servers({(ROOT, "io"): UpstreamFailed("late", reason="timeout")}), {"a.io": None})
    assert (given["registered"], given["source"], given["whoisServer"]) == (False, "rdap", "")
    assert (given["serversQueried"], given["raw"]) == (["rdap.registry.net"], "")


@each(
    ("text", "other", "expected"),
    [
        ("Forbidden\n", None, (False, None, "rdap")),
        ("Forbidden\n", OBJECT | {"ldhName": "a.com"}, (True, None, "rdap")),
        ("Forbidden\n", UpstreamFailed("late", reason="timeout"), (None, "refused", "whois")),
        ("Welcome.\n", OBJECT | {"ldhName": "a.com"}, (True, None, "rdap")),
        ("Welcome.\n", None, (None, "unclear", "whois")),
        ("Welcome.\n", UpstreamFailed("late", reason="timeout"), (None, "unclear", "whois")),
    ],
)
def test_a_second_opinion(text: str, other: Any, expected: tuple[bool | None, str | None, str]) -> None:
    """Of RDAP, where the text of WHOIS is unclear. There only a record counts: the text may mean that a name is held back."""
    given = answer("a.com", Servers({("whois.registry.net", "domain a.com"): text}), {"a.com": other})
    assert (given["registered"], given["registeredReason"], given["source"]) == expected
    assert given["raw"] == text if expected[2] == "whois" else given["raw"] != text


@each(
    ("domain", "text"),
    [
        ("a.com", COMPLETE.format("a.com")),
        ("a.com", "No match for a.com\n"),
        ("a.com", "This name is reserved by the registry.\n"),
        ("a.com", "a.com is pending delete\n"),
    ],
)
def test_rdap_is_not_asked_where_whois_answers(domain: str, text: str) -> None:
    """The order is IANA, then port 43."""
    rdap = Rdap({domain: OBJECT})
    assert answer(domain, Servers({("whois.registry.net", f"domain {domain}"): text}), rdap)["source"] == "whois"
    assert rdap.asked == []


@each(
    ("domain", "second", "reason"),
    [("a.dev", "rate_limited", "rate_limited"), ("a.com", "bad_content", "timeout")],
)
def test_both_fail(domain: str, second: str, reason: str) -> None:
    """The failure of WHOIS counts, unless there is no WHOIS server."""
    servers = Servers({("whois.registry.net", "domain a.com"): UpstreamFailed("late", reason="timeout")})
    with pytest.raises(UpstreamFailed) as caught:
        answer(domain, servers, {domain: UpstreamFailed("no", reason=second)})
    assert (caught.value.reason, caught.value.retryable) == (reason, True)
    assert {"tls_failure", "too_large"} < set(ENDPOINT.failures)


def test_a_registry_of_the_second_level() -> None:
    """IANA names no server for .za, and its registries have some."""
    servers = Servers({(ROOT, "za"): "domain: ZA\n", ("whois.registry.net.za", "a.co.za"): "Available\n"})
    given = answer("www.a.co.za", servers)
    assert (given["domain"], given["registered"], given["whoisServer"]) == ("a.co.za", False, "whois.registry.net.za")
    with pytest.raises(UpstreamFailed):
        answer("a.law.za", servers)


def test_a_private_registry_has_no_rdap() -> None:
    """The bootstrap file's server of .com knows nothing of names below uk.com."""
    failing = Servers({("whois.centralnic.com", "a.uk.com"): UpstreamFailed("late", reason="timeout")})
    rdap = Rdap({"a.uk.com": OBJECT})
    with pytest.raises(UpstreamFailed):
        answer("a.uk.com", failing, rdap)
    assert rdap.asked == []


def test_what_has_an_rdap_server_is_not_refused_before_the_payment() -> None:
    """And every server of the shipped file may be called."""
    servers = rdap_servers(SHIPPED, PUBLIC)
    page = (Path(__file__).parents[3] / "docs" / "whois.md").read_text()
    assert f"| {len(servers):,} |" in page
    assert f"| {len(WITHOUT_SERVER)} |" in page
    assert json.loads(SHIPPED.read_bytes())["publication"][:10] in page
    assert not WITHOUT_SERVER & set(servers)
    assert str(servers["xyz"]).startswith("https://")
    assert all(url.target.endswith("/") for url in servers.values())


def test_no_rules_are_written_for_a_registry_without_a_server() -> None:
    """Rules come from answers: whoever writes some has seen a server."""
    assert not any(top in RULES for top in WITHOUT_SERVER)


@pytest.mark.parametrize(
    ("host", "domain", "server"),
    [
        ("www.foo.uk.com", "foo.uk.com", "whois.centralnic.com"),
        ("foo.eu.org", "foo.eu.org", "whois.eu.org"),
        ("foo.co.pl", "foo.co.pl", "whois.co.pl"),
    ],
)
def test_names_below_a_private_registry_are_asked_there(host: str, domain: str, server: str) -> None:
    """Not the registry of the top-level domain, which knows only the operator's own name."""
    servers = Servers({(server, domain): COMPLETE.format(domain)})
    said = answer(host, servers)
    assert (said["domain"], said["registered"], said["serversQueried"]) == (domain, True, [server])


def test_a_private_registrys_own_name_is_asked_at_the_registry() -> None:
    """`uk.com` is a name in .com."""
    servers = Servers({("whois.registry.net", "domain uk.com"): COMPLETE.format("uk.com")})
    assert answer("uk.com", servers)["domain"] == "uk.com"
