"""The settings of outgoing connections: what they mean, which forms are refused, and what production refuses."""

import dataclasses
import ipaddress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.settings.egress import egress
from shared.settings.service import InvalidSetting, Settings
from tests.each import each


def test_without_settings_only_the_rules_apply() -> None:
    """The system's name servers, no names, no networks."""
    plain = egress(Settings())
    assert (plain.dns_server, plain.hosts, plain.allow, plain.deny, plain.ports) == (None, {}, (), (), frozenset())
    assert plain.dns_probe == "."
    assert (plain.ca_file, plain.rdap_bootstrap, plain.now) == (None, None, None)
    assert plain.whois_iana == ("whois.iana.org", 43)
    assert plain.own_host == "127.0.0.1"


def test_every_setting_is_read_into_what_it_means(tmp_path: Path) -> None:
    """With blanks and capitals where people write them."""
    authority = tmp_path / "ca.pem"
    authority.write_text("")
    read = egress(
        Settings(
            base_url="https://API.Example.com./v1",
            dns_server="[::1]:5353",
            dns_probe="Example.com",
            hosts=" A.example.com. = 127.7.7.7 , b=::1,",
            egress_allow="127.7.0.0/16, ::1/128",
            egress_deny="198.51.100.7, 2001:db8::/32",
            egress_ports="8000, 9000",
            ca_file=str(authority),
            whois_iana="WHOIS.example.com:4343",
            youtube_url="http://youtube.example.com:8080/",
            now="2026-11-20T16:04:05+01:00",
        )
    )
    assert read.dns_server == ("::1", 5353)
    assert read.dns_probe == "example.com."
    assert read.hosts == {"a.example.com": "127.7.7.7", "b": "::1"}
    assert read.allow == (ipaddress.ip_network("127.7.0.0/16"), ipaddress.ip_network("::1/128"))
    assert read.deny == (ipaddress.ip_network("198.51.100.7/32"), ipaddress.ip_network("2001:db8::/32"))
    assert read.ports == {8000, 9000}
    assert read.ca_file == authority
    assert read.whois_iana == ("whois.example.com", 4343)
    assert read.youtube_url == "http://youtube.example.com:8080"
    assert read.own_host == "api.example.com"
    assert read.now == datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC)


@each(
    ("name", "value"),
    [
        ("dns_server", "127.0.0.1"),
        ("dns_server", "dns.example.com:53"),
        ("dns_server", "127.0.0.1:0"),
        ("dns_server", "127.0.0.1:65536"),
        ("dns_server", "127.0.0.1:٥٣"),
        ("dns_probe", "a b"),
        ("hosts", "a.example.com"),
        ("hosts", "a.example.com=localhost"),
        ("hosts", "a.example.com=127.1"),
        ("hosts", "=127.0.0.1"),
        ("hosts", "*.example.com=127.0.0.1"),
        ("hosts", "a..b=127.0.0.1"),
        ("egress_allow", "127.0.0.1/8"),
        ("egress_allow", "loopback"),
        ("egress_deny", "10.0.0.0/33"),
        ("egress_ports", "http"),
        ("egress_ports", "0"),
        ("egress_ports", "65536"),
        ("egress_ports", "-1"),
        ("ca_file", "/nonexistent/ca.pem"),
        ("rdap_bootstrap", "/nonexistent/dns.json"),
        ("whois_iana", "whois.iana.org"),
        ("whois_iana", ":43"),
        ("whois_iana", "whois.iana.org:0"),
        ("now", "yesterday"),
        ("now", "2026-13-01T00:00:00Z"),
        ("now", "0001-01-01T00:00:00+23:59"),
    ],
)
def test_a_wrong_form_is_named(name: str, value: str) -> None:
    """At the start, not when the first call needs it."""
    with pytest.raises(InvalidSetting, match=f"COINSLOT_{name.upper()}"):
        egress(dataclasses.replace(Settings(), **{name: value}))


@each(
    ("name", "value"),
    [
        ("hosts", "a.example.com=127.0.0.1"),
        ("egress_allow", "10.0.0.0/8"),
        ("now", "2026-11-20"),
        ("failpoint", "settled"),
    ],
)
def test_production_refuses_what_is_for_sandboxes(name: str, value: str) -> None:
    """Each of them would lead calls to private addresses, or make answers untrue."""
    with pytest.raises(InvalidSetting, match=f"COINSLOT_{name.upper()} is for sandboxes"):
        egress(dataclasses.replace(Settings(production=True), **{name: value}))


def test_production_takes_what_an_operator_needs() -> None:
    """A name server, networks to keep away from, and more ports."""
    read = egress(
        Settings(production=True, dns_server="9.9.9.9:53", egress_deny="198.51.100.0/24", egress_ports="8000")
    )
    assert read.deny
    assert read.ports == {8000}
