"""Which hosts belong to one site."""

from jobs.x402_discover.site import is_same_site
from tests.each import each


@each(
    ("host", "other", "is_same"),
    [
        ("shop.example.com", "shop.example.com", True),
        ("shop.example.com", "example.com", True),
        ("shop.example.com", "a.b.example.com", True),
        ("shop.example.com", "shop.example.org", False),
        ("shop.example.com", "notexample.com", False),
        ("example.com", "example.com.evil.org", False),
        ("shop.co.uk", "other.co.uk", False),
        ("a.shop.co.uk", "shop.co.uk", True),
        ("one.github.io", "two.github.io", False),
        ("a.one.github.io", "one.github.io", True),
        ("github.io", "one.github.io", False),
        ("one.vercel.app", "two.vercel.app", False),
        ("com", "example.com", False),
        ("com", "com", True),
        ("internal", "shop.internal", False),
        ("xn--mnchen-3ya.de", "www.xn--mnchen-3ya.de", True),
    ],
)
def test_one_site(host: str, other: str, is_same: bool) -> None:
    """Hosts below one registrable domain are one site. Customers of a shared domain are not."""
    assert is_same_site(host, other) is is_same
    assert is_same_site(other, host) is is_same
