"""Texts that somebody made to be slow, endless or wrong."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.whois.dates import read_date
from jobs.whois.domains import registrable, unicode_of
from jobs.whois.record import is_refusal, read
from jobs.whois.rules import RULES, rules_of
from jobs.whois.search import referral
from jobs.whois.text import MOST_BYTES, cut, decode
from jobs.whois.values import name_servers, registrar, statuses, web_address, whois_server

N = MOST_BYTES
HOSTILE = {
    "colons": ":" * N,
    "spaces": " " * N,
    "dots": "a" + "." * N,
    "dots per line": ("a" * 50 + "." * 500 + "\n") * 110,
    "brackets": "[" * N,
    "bracket lines": "[a]\n" * (N // 4),
    "key lines": "a:\n" * (N // 3),
    "headings": "registrant\n" * (N // 11),
    "deeper and deeper": "".join(" " * depth + "a:\n" for depth in range(350)),
    "name servers": "Name Server: " + "a.b " * (N // 4),
    "one per line": "Name Server: a.b\n" * (N // 17),
    "domains": "Domain Name: a.b.com\n" * (N // 21),
    "dates": "Creation Date: 1-1-1-1-1-1-1-1-1-1-1-1-1\n" * (N // 42),
    "no match": "no match " * (N // 9),
    "no match lines": "no match for you my friend because\n\n" * (N // 36),
    "domain domain": ("domain name domain object record name query " * 4 + "\n\n") * (N // 180),
    "limits": ("quota limit rate exceeds " * 7 + "\n\n") * (N // 180),
    "reserved": ("it this domain name object " * 7 + "\n\n") * (N // 190),
    "sorry": ("sorry but error " * 12 + "\n\n") * (N // 194),
    "asked": ("§ a.com " * 24 + "\n\n") * (N // 194),
    "statuses": "Status: " + "client transfer, " * (N // 17),
    "urls": "Registrar: " + "http://" * (N // 7),
    "tags": "Registrar: " + "[Tag = " * (N // 7),
    "tabs": "\t" * N + "a:b",
    "controls": "".join(map(chr, range(256))) * (N // 256),
    "new lines of all kinds": "\r\n\x85\u2028\x0b\x0c\r" * (N // 16),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_it_is_read_in_no_time(text: str) -> None:
    """64 KB of anything, by every set of rules that reads differently."""
    began = time.process_time()
    is_refusal(text)
    referral(text)
    beside_s = time.process_time() - began
    for rules in (rules_of("a.com"), RULES["jp"], RULES["il"], RULES["uk"]):
        began = time.process_time()
        record = read(text, ["a.com"], rules)
        assert time.process_time() - began + beside_s < 1.0
        assert record.registered in (True, False, None)
        assert len(record.name_servers) <= 100


def test_twice_the_text_takes_no_more_than_some_times_as_long() -> None:
    """No square of anything."""

    def cost_s(text: str) -> float:
        def once() -> float:
            began = time.process_time()
            read(text, ["a.com"])
            is_refusal(text)
            return time.process_time() - began

        return min(once() for _ in range(3))

    for name in ("no match lines", "limits", "reserved", "domain domain", "dots per line", "one per line"):
        whole = HOSTILE[name]
        assert cost_s(whole) < 8 * max(cost_s(whole[: len(whole) // 2]), 0.003), name


@given(st.text(max_size=400))
def test_nothing_raises(text: str) -> None:
    """Whatever a server says."""
    for rules in (rules_of("a.com"), RULES["jp"], RULES["kr"], RULES["il"]):
        read(text, ["a.com"], rules)
    is_refusal(text)
    referral(text)
    for value in text.split("\n"):
        assert all("." in host for host in name_servers(value))
        statuses(value)
        registrar(value)
        web_address(value)
        whois_server(value)
        read_date(value)


@given(st.binary(max_size=300))
def test_every_byte_is_some_text(raw: bytes) -> None:
    """In all encodings that are tried."""
    for encodings in {rules.encodings for rules in RULES.values()}:
        text = decode(raw, encodings)
        assert cut(text) == (text, False)


def test_encodings() -> None:
    """Those of the registries, and UTF-8 before all others."""
    assert decode("Müller".encode(), ("utf-8", "latin-1")) == "Müller"
    assert decode("Müller".encode("latin-1"), ("utf-8", "latin-1")) == "Müller"
    assert decode("[登録年月日] 2001/08/09".encode("iso2022_jp"), RULES["jp"].encodings) == "[登録年月日] 2001/08/09"
    assert decode("[登録年月日]".encode("euc_jp"), RULES["jp"].encodings) == "[登録年月日]"
    assert decode("등록일 : 2006".encode("euc_kr"), RULES["kr"].encodings) == "등록일 : 2006"
    assert decode("домен".encode("koi8-r"), RULES["ru"].encodings) == "домен"
    assert decode("範例".encode("big5"), RULES["tw"].encodings) == "範例"
    cut_through = ("é" * 10).encode()[:-1]
    assert decode(cut_through) == "é" * 9


def test_what_is_too_long_is_cut() -> None:
    """At 64 KB of UTF-8, and not inside of a character."""
    text, is_cut = cut("é" * 40_000)
    assert (is_cut, len(text.encode())) == (True, MOST_BYTES)
    assert cut("a" * MOST_BYTES) == ("a" * MOST_BYTES, False)


def test_epp_codes_only() -> None:
    """In whatever spelling, and beside whatever else."""
    for value, codes in {
        "clientTransferProhibited https://icann.org/epp#clientTransferProhibited": ["clientTransferProhibited"],
        "client transfer prohibited": ["clientTransferProhibited"],
        "CLIENT-UPDATE-PROHIBITED": ["clientUpdateProhibited"],
        "ok (paid and in zone)": ["ok"],
        "inactive / dnsHold": ["inactive"],
        "clientHold serverHold": ["clientHold", "serverHold"],
        "client_hold,server_hold": ["clientHold", "serverHold"],
        "redemptionPeriod (https://icann.org/epp#redemptionPeriod)": ["redemptionPeriod"],
        "ACTIVE": [],
        "Registered until expiry date.": [],
        "https://icann.org/epp#ok": [],
        "": [],
    }.items():
        assert statuses(value) == codes, value


def test_referrals() -> None:
    """`refer` before `whois`, and neither from a comment; whose word it is stays to be checked."""
    assert referral("% whois: no.example.com\n\nwhois: b.nic.net\nrefer:   A.NIC.net.\n") == "a.nic.net"
    assert referral("domain: COM\nwhois:        whois.nic.net\n") == "whois.nic.net"
    assert referral("domain: DEV\nwhois:\n\nstatus: ACTIVE\n") is None
    assert referral("refer: 127.0.0.1\n") == "127.0.0.1"
    assert whois_server("whois.nic.net:43") == "whois.nic.net"
    assert whois_server("whois.nic.net:6379") is None
    assert whois_server("http://whois.nic.net/path") == "whois.nic.net"
    assert whois_server("not a host") is None


def test_registrable_domains() -> None:
    """By the list, without its private part, and by its own rule where it says nothing."""
    for host, domain in {
        "www.a.co.uk": "a.co.uk",
        "co.uk": None,
        "com": None,
        "a.b.c.example.com": "example.com",
        "user.github.io": "github.io",
        "x.uk.com": "x.uk.com",
        "y.x.uk.com": "x.uk.com",
        "uk.com": "uk.com",
        "x.a.b.kawasaki.jp": "x.a.b.kawasaki.jp".partition(".")[2],
        "www.ck": "www.ck",
        "a.unheardof": "a.unheardof",
        "b.a.unheardof": "a.unheardof",
        "www.xn--mnchen-3ya.de": "xn--mnchen-3ya.de",
        "a.xn--55qx5d.cn": "a.xn--55qx5d.cn",
    }.items():
        assert registrable(host) == domain, host
    assert unicode_of("xn--mnchen-3ya.de") == "münchen.de"
    assert unicode_of("xn--0.de")
