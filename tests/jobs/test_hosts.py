"""Public hosts and URLs: what is ordinary goes through, what is not is refused, and what went through says itself again.

The list of bad inputs, with what becomes of each on the network: tests/workers/egress/test_bad_inputs.py."""

import ipaddress
import re
import socket
from functools import partial

import ada_url
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from jobs import hosts
from jobs.hosts import MAX_URL, NotPublic, PublicUrl
from jobs.site import Site
from tests.each import each
from tests.sites import PUBLIC

domain_name = partial(hosts.domain_name, site=PUBLIC)
public_host = partial(hosts.public_host, site=PUBLIC)
public_url = partial(hosts.public_url, site=PUBLIC)


def refusal(text: str, base: PublicUrl | None = None) -> str:
    """The code with which a URL is refused."""
    with pytest.raises(NotPublic) as refused:
        public_url(text, base=base)
    assert str(refused.value) == refused.value.detail
    return refused.value.code


def host_refusal(text: str) -> str:
    """The code with which a host is refused."""
    with pytest.raises(NotPublic) as refused:
        public_host(text)
    return refused.value.code


@each(
    ("text", "host"),
    [
        *(
            (name, name)
            for name in (
                *(
                    "example.com",
                    "1and1.com",
                    "0x7f.com",
                    "1e3.com",
                    "127.0.0.1.example.com",
                    "123.456.example.com",
                    "a.co",
                ),
                *("host_name.example.com", "_sip._tcp.example.com", "r3---sn-4g5e6nl7.example.com", "nic.xn--p1ai"),
                *("a" * 63 + ".example.com", ".".join(["a" * 61] * 4) + ".abcd", "localhost.example.com", "local.com"),
                *("test.de", "home.pl", "notlocalhost.dev", "example.org.au", "xn--mnchen-3ya.de", "xn--i-7iq.ws"),
            )
        ),
        ("example.com.", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        (".".join(["a" * 61] * 4) + ".abcd.", ".".join(["a" * 61] * 4) + ".abcd"),
        ("MÜNCHEN.DE", "xn--mnchen-3ya.de"),
        ("mu\u0308nchen.de", "xn--mnchen-3ya.de"),
        ("faß.de", "xn--fa-hia.de"),
        ("XN--MNCHEN-3YA.de", "xn--mnchen-3ya.de"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("例え。jp", "xn--r8jz45g.jp"),
        ("한국.한국", "xn--3e0b707e.xn--3e0b707e"),
        ("אתר.ישראל", "xn--4db2cf.xn--4dbrk0ce"),
        ("उदाहरण.भारत", "xn--p1b6ci4b4b3a.xn--h2brj9c"),
        ("i❤.ws", "xn--i-7iq.ws"),
        ("ＷＷＷ.ｅｘａｍｐｌｅ．ｃｏｍ", "www.example.com"),
        ("exam\u00adple.com", "example.com"),
    ],
)
def test_ordinary_names_go_through(text: str, host: str) -> None:
    """Alone, in a URL and as a name to ask the DNS for, and once more as what they became."""
    assert public_host(text) == host
    assert public_host(host) == host
    assert domain_name(text) == host
    assert public_url(f"https://{text}/") == PublicUrl("https", host, 443, "/")


@each(
    ("text", "canonical"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://EXAMPLE.COM/Path", "https://example.com/Path"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:0443/", "https://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:8443/x", "https://example.com:8443/x"),
        ("https://example.com./x", "https://example.com/x"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com/#top", "https://example.com/"),
        ("https://example.com/a#b@c", "https://example.com/a"),
        ("https://example.com/a/b/../c/./d", "https://example.com/a/c/d"),
        ("https://example.com/%2e%2e/x", "https://example.com/x"),
        ("https://example.com/a%2Fb%20c%00?x=%0d%0a", "https://example.com/a%2Fb%20c%00?x=%0d%0a"),
        ("https://example.com/" + "d/" * 500, "https://example.com/" + "d/" * 500),
        ("https://example.com/@user/post", "https://example.com/@user/post"),
        ("https://example.com/?next=https://a@b.com//c", "https://example.com/?next=https://a@b.com//c"),
        ("https://web.example.com/web/http://127.0.0.1/", "https://web.example.com/web/http://127.0.0.1/"),
        ("https://example.com/straße?q=日本", "https://example.com/stra%C3%9Fe?q=%E6%97%A5%E6%9C%AC"),
        ("https://example.com/[a]|{b}^`\"'<>", "https://example.com/[a]|%7Bb%7D%5E%60%22'%3C%3E"),
        ("https://example.com/?a[]=1&b={2}|3", "https://example.com/?a[]=1&b={2}|3"),
        ("https://ex%61mple.com/", "https://example.com/"),
        ("https://1and1.com:8443/a:b@c", "https://1and1.com:8443/a:b@c"),
    ],
)
def test_ordinary_urls_go_through(text: str, canonical: str) -> None:
    """And are what a browser makes of them."""
    assert str(public_url(text)) == canonical
    assert public_url(canonical) == public_url(text)


@each(
    ("location", "canonical"),
    [
        ("next", "https://example.com/a/next"),
        ("/next?x=//y@z", "https://example.com/next?x=//y@z"),
        ("/to/mailto://bob@example.org", "https://example.com/to/mailto://bob@example.org"),
        ("?page=2", "https://example.com/a/b?page=2"),
        ("//example.org/x", "https://example.org/x"),
        ("http://example.org:8080", "http://example.org:8080/"),
        ("", "https://example.com/a/b?q"),
        ("#part", "https://example.com/a/b?q"),
        ("../../..", "https://example.com/"),
        ("a:b", None),
        ("https:", "https://example.com/a/b?q"),
        ("//example.org:22/", None),
        ("//user@example.org/", None),
        ("//@example.org/", None),
        ("//127.0.0.1/", None),
        ("//redis:8080/", None),
        ("/\\127.0.0.1/", None),
        ("file:///etc/hostname", None),
        ("javascript:alert(1)", None),
    ],
)
def test_what_is_relative_is_read_as_what_it_leads_to(location: str, canonical: str | None) -> None:
    """By the same rules as a URL of a caller's."""
    base = public_url("https://example.com/a/b?q")
    if canonical is None:
        assert refusal(location, base) in {"invalid_url", "blocked_address"}
    else:
        assert str(public_url(location, base=base)) == canonical


MALFORMED = (
    *(
        "",
        ".",
        "..",
        "a..com",
        ".com",
        "example.com..",
        "-a.com",
        "a-.com",
        "*.example.com",
        "a" * 64 + ".com",
        "a." * 600,
    ),
    *(".".join(["a" * 61] * 4) + ".abcdef", "a.1", "a.0x1", "example.com:443", "https://example.com", "example.com/"),
    *("user@example.com", "example.com\r\nX: y", "exa mple.com", "exa\u3000mple.com", "exa\x00mple.com", "\ud800.com"),
    *(
        "a\u200db.com",
        "a!b.com",
        "a'b.com",
        "a,b.com",
        "example.com／",
        "example.com＠127.0.0.1",
        "xn--a.com",
        "xn--.com",
    ),
    *("xn--zzzzzz.com", "xn--localhost-.com", "xn--example-.com", "::1:80:zz", "[::1", "[v1.fe80::a]"),
)
NOT_PUBLIC = (
    *("127.0.0.1", "8.8.8.8", "8.8.8.8.", "0x8080808", "::1", "[::1]", "[2606:4700::1111]", "fe80::1%eth0", "com"),
    *(
        "localhost",
        "a.localhost.",
        "printer.home",
        "router.home.arpa",
        "1.0.0.127.in-addr.arpa",
        "mdns.local",
        "a.example",
    ),
)


@each(
    ("text", "code"),
    [*((text, "invalid_domain") for text in MALFORMED), *((text, "blocked_address") for text in NOT_PUBLIC)],
)
def test_what_is_no_public_host_is_refused(text: str, code: str) -> None:
    """Malformed: `invalid_domain`. An address or a name of no public zone: `blocked_address`."""
    assert host_refusal(text) == code


@each(
    "text", ["127.0.0.1", "1.2.3.4.", "0x7f.1", "127.1", "[::1]", "::1", "fe80::1%eth0", "localhost", "x.local", "a b"]
)
def test_a_name_to_ask_for_is_refused_with_one_code(text: str) -> None:
    """Nothing is connected to, so nothing is blocked."""
    with pytest.raises(NotPublic) as refused:
        domain_name(text)
    assert refused.value.code == "invalid_domain"


@each("text", ["com", "*.example.com", "1.0.0.127.in-addr.arpa", "arpa", "xn--p1ai"])
def test_names_that_only_the_dns_knows_may_be_asked_for(text: str) -> None:
    """A host could not be called so."""
    assert domain_name(text) == text
    with pytest.raises(NotPublic):
        public_host(text)


@each("text", ["", "example.com", "/path", "//example.com", "http:/example.com", "http:///example.com"])
def test_a_url_begins_with_its_scheme_and_host(text: str) -> None:
    """Without a base there is nothing to be relative to."""
    assert refusal(text) == "invalid_url"


def test_lengths() -> None:
    """2048 characters, whatever they become when they are sent, but not without end."""
    longest = "https://example.com/" + "a" * (MAX_URL - 20)
    assert str(public_url(longest)) == longest
    assert refusal(longest + "a") == "invalid_url"
    assert len(str(public_url("https://example.com/" + "é" * 1_000))) == 20 + 6_000
    assert refusal("https://example.com/" + "é" * 1_100) == "invalid_url"


def test_the_operator_adds_names_and_ports_and_takes_away_hosts() -> None:
    """For one Site, and for no other."""
    site = Site(own={"api.coinslot.example.com"}, ports={8000}, names={"printer.home", "inside"})
    assert hosts.public_host("printer.home", site) == "printer.home"
    assert hosts.public_host("INSIDE.", site) == "inside"
    assert hosts.public_url("http://inside:8000/", site) == PublicUrl("http", "inside", 8000, "/")
    assert hosts.domain_name("printer.home", site) == "printer.home"
    assert hosts.tls_port(8000, site) == 8000
    for host in ("other.home", "API.coinslot.example.com."):
        with pytest.raises(NotPublic) as refused:
            hosts.public_host(host, site)
        assert refused.value.code == "blocked_address"
    with pytest.raises(NotPublic, match="80, 443, 8000, 8080, 8443"):
        hosts.public_url("http://example.com:22/", site)
    assert host_refusal("printer.home") == "blocked_address"
    assert refusal("http://example.com:8000/") == "blocked_address"


def test_a_refusal_repeats_nothing_of_what_was_refused() -> None:
    """It is shown to callers and may be logged."""
    for text in (
        "http://SECRET@example.com/",
        "http://SECRET\r\n.com",
        "SECRET:",
        "https://secret.local",
        "http://a.b:9/SECRET",
    ):
        with pytest.raises(NotPublic) as refused:
            public_url(text)
        assert "secret" not in refused.value.detail.lower()


# Texts made of what parsers disagree about.
PIECES = st.sampled_from(
    [
        *"0123456789abcdefxX.:/\\@%#?[]-_~!$&'()*+,;=",
        *(
            *("127.0.0.1", "0x7f", "0177", "localhost", "example.com", ".com", "[::1]", "::ffff:", "xn--"),
            "xn--mnchen-3ya",
        ),
        *(
            *("%2e", "%00", "%40", "%31", "//", "http:", "https://", "①", "⓪", "。", "．", "／", "＠", "\u00ad"),
            *("\u200d", "ü"),
        ),
        *(
            *("ß", "例", "א", "💩", "\t", "\n", " ", "\x00", "\ufeff", "\u3000", ":80", ":443", ":8443", "İ", "ſ"),
            *("K", "㏕", "℀"),
        ),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=40))
LDH = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+", re.ASCII)


def hold(host: str) -> None:
    """What is true of every host that goes through."""
    assert LDH.fullmatch(host)
    assert len(host) <= 253
    assert host.rpartition(".")[2] not in hosts._SPECIAL
    with pytest.raises(OSError, match="illegal IP address"):
        socket.inet_aton(host)  # glibc's, which also reads octal, hexadecimal and fewer parts
    with pytest.raises(ValueError, match="does not appear"):
        ipaddress.ip_address(host)
    assert ada_url.URL(f"http://{host}/").host_type == ada_url.HostType.DEFAULT
    assert public_host(host) == host


def read(text: str, base: PublicUrl | None = None) -> PublicUrl | str:
    """A URL, or the code of its refusal."""
    try:
        return public_url(text, base=base)
    except NotPublic as refused:
        return refused.code


@given(TEXTS)
def test_what_becomes_of_any_host(text: str) -> None:
    """It is refused, or becomes a plain name that nobody takes for an address."""
    try:
        host = public_host(text)
    except NotPublic as refused:
        event(refused.code)
    else:
        hold(host)


@given(
    st.sampled_from(["http://", "https://", "HTTP://", "http://example.com", ""]),
    TEXTS,
    st.sampled_from(["", "/", "/a?b"]),
)
def test_what_becomes_of_any_url(scheme: str, text: str, end: str) -> None:
    """It is refused, or says the same again when it is read again, without user, fragment or anything that is not printable."""
    url = read(scheme + text + end)
    if isinstance(url, str):
        assert url in {"invalid_url", "blocked_address"}
        return
    hold(url.host)
    assert url.port in hosts.PORTS
    assert url.target.startswith("/")
    assert re.fullmatch(r"https?://[a-z0-9_.-]+(:[0-9]+)?/[!-~]*", str(url), re.ASCII)
    assert "#" not in str(url)
    assert public_url(str(url)) == url


@given(TEXTS)
def test_what_becomes_of_any_redirect(text: str) -> None:
    """It is refused, or as good as a URL that a caller names."""
    url = read(text, public_url("https://example.com/a/b?c"))
    if isinstance(url, str):
        assert url in {"invalid_url", "blocked_address"}
    else:
        hold(url.host)
        assert public_url(str(url)) == url


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from("dox"), min_size=4, max_size=4),
    st.integers(1, 4),
    st.booleans(),
)
def test_no_notation_of_an_ipv4_address_goes_through(number: int, forms: list[str], parts: int, dot: bool) -> None:
    """Decimal, octal and hexadecimal, in one to four parts."""
    octets = number.to_bytes(4)
    values = [*octets[: parts - 1], int.from_bytes(octets[parts - 1 :])]
    written = [{"d": f"{v}", "o": f"0{v:o}", "x": f"0x{v:x}"}[form] for v, form in zip(values, forms, strict=False)]
    text = ".".join(written)
    assert socket.inet_aton(text) == octets
    assert host_refusal(text + "." * dot) == "blocked_address"
    assert refusal(f"http://{text}{'.' * dot}/") == "blocked_address"


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_goes_through(address: ipaddress.IPv6Address) -> None:
    """Short or in full."""
    for text in (str(address), address.exploded):
        assert host_refusal(text) == host_refusal(f"[{text}]") == refusal(f"http://[{text}]/") == "blocked_address"
