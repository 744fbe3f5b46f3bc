"""Whether a certificate is for a host (RFC 9525, 6.3). The common name is not asked: it says nothing since 2011."""

from __future__ import annotations

from collections.abc import Iterable


def is_for(host: str, names: Iterable[bytes]) -> bool:
    """Whether one of the names is the host's, or a wildcard of its first label.

    A wildcard is a whole label, the first, and at least two labels follow it. It stands for any one label, an A-label as well:
    RFC 6125 forbade parts of labels, and RFC 9525 leaves only whole ones.

    Args:
        host: lower-case A-labels without a trailing dot.
        names: DNS names as a certificate has them.
    """
    exact = host.encode()
    _, _, parent = exact.partition(b".")
    wildcard = b"*." + parent if b"." in parent else exact
    return any(name.lower() in (exact, wildcard) for name in names)
