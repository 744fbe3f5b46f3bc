"""Decides whether hosts belong to one site: below one registrable domain, by the public suffix list of the package."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract


def is_same_site(host: str, other: str) -> bool:
    """Whether two hosts are the same, or are below the same registrable domain.

    The list's private part is used, so customers of a shared domain (`one.github.io`, `two.github.io`) are different sites.
    """
    if host == other:
        return True
    domain = _registrable(host)
    return bool(domain) and domain == _registrable(other)


def _registrable(host: str) -> str:
    """The registrable domain; empty for a public suffix."""
    return str(_extract()(host).top_domain_under_public_suffix)


@functools.cache
def _extract() -> TLDExtract:
    import tldextract  # takes 0.2 s, and few reports need it

    # Use the list in the package. It is never fetched, and nothing is written.
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
