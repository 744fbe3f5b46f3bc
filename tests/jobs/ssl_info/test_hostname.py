"""Whether a certificate is for a host."""

import service_identity
from hypothesis import example, given
from hypothesis import strategies as st
from service_identity import hazmat

from jobs.ssl_info.hostname import is_for
from tests.each import each

MATCHES = [
    ("www.example.com", b"www.example.com"),
    ("www.example.com", b"WWW.Example.COM"),
    ("www.example.com", b"*.example.com"),
    ("xn--bcher-kva.example.com", b"xn--bcher-kva.example.com"),
    ("xn--bcher-kva.example.com", b"*.example.com"),
    ("a_b.example.com", b"a_b.example.com"),
]
NO_MATCHES = [
    ("example.com", b"*.example.com"),
    ("a.b.example.com", b"*.example.com"),
    ("a.b.example.com", b"*.*.example.com"),
    ("a.b.example.com", b"a.*.example.com"),
    ("www.example.com", b"w*.example.com"),
    ("www.example.com", b"*w.example.com"),
    ("www.example.com", b"*"),
    ("example.com", b"*.com"),
    ("www.example.com", b"*.com"),
    ("www.example.com", b"example.com"),
    ("www.example.com", b"www.example.com."),
    ("www.example.com", b".www.example.com"),
    ("www.example.com", b"www.example.com\0.evil.example.net"),
    ("www.example.com", b"www.example.com\0"),
    ("www.example.com", b" www.example.com"),
    ("www.example.com", b""),
    ("www.example.com", b"*.example.com.evil.example.net"),
    ("xn--bcher-kva.example.com", "bücher.example.com".encode()),
    ("xn--bcher-kva.example.com", b"xn--*.example.com"),
    ("kelvin.example.com", "\u212aelvin.example.com".encode()),
]


@each(("host", "name"), MATCHES)
def test_names_that_match(host: str, name: bytes) -> None:
    """The same, but for the case of ASCII letters, or a wildcard of the first label."""
    assert is_for(host, [b"other.example.org", name])


@each(("host", "name"), NO_MATCHES)
def test_names_that_do_not(host: str, name: bytes) -> None:
    """A wildcard is one whole label, the first, and two follow it."""
    assert not is_for(host, [name])


def test_no_names() -> None:
    """A certificate without alternative names is for nobody."""
    assert not is_for("www.example.com", [])


LABELS = st.lists(st.sampled_from(["a", "b", "*", "www", "xn--a", "a*", ""]), min_size=1, max_size=4)
HOSTS = st.lists(st.sampled_from(["a", "b", "www", "xa"]), min_size=2, max_size=4).map(".".join)


@given(host=HOSTS, name=LABELS.map(".".join))
@example(host="www.a", name="*.a")
def test_it_agrees_with_service_identity(host: str, name: str) -> None:
    """An independent judgement. It has a rule more, by which no wildcard matches an A-label."""
    try:
        pattern = hazmat.DNSPattern.from_bytes(name.encode())
        hazmat.verify_service_identity([pattern], [hazmat.DNS_ID(host)], [])
    except (service_identity.CertificateError, service_identity.VerificationError):
        assert not is_for(host, [name.encode()])
    else:
        assert is_for(host, [name.encode()])
