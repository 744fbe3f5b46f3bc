"""Whether a certificate is for a host (RFC 9525, 6.3). The common name is ignored: it has not counted since 2011."""

from collections.abc import Iterable


def is_for(host: str, names: Iterable[bytes]) -> bool:
    """Whether one of the names is the host, or a wildcard for its first label.

    A wildcard is the whole first label, and at least two labels follow it. It matches any one label, an A-label as well: RFC
    6125 had rules for parts of labels, but RFC 9525 allows only whole ones.

    Args:
        host: lower-case A-labels without a trailing dot.
        names: DNS names, as in the certificate.
    """
    exact = host.encode()
    _, _, parent = exact.partition(b".")
    wildcard = b"*." + parent if b"." in parent else exact
    return any(name.lower() in (exact, wildcard) for name in names)
