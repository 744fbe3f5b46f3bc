"""Registrable domains, by the public suffix list as it was when tldextract was released: nothing is fetched or written.

Only ICANN's part of the list: `example.github.io` is a host of github.io, which is what a registry knows.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import ada_url

if TYPE_CHECKING:
    from tldextract import TLDExtract


@functools.cache
def _suffixes() -> TLDExtract:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=False)


def registrable(host: str) -> str | None:
    """``www.a.co.uk`` is a host of ``a.co.uk``. None when nobody can register it: a public suffix itself.

    Args:
        host: lower-case A-labels. Below an unknown top-level domain the second level is registrable, as the list's own rule is.
    """
    parts = _suffixes()(host)
    if not parts.suffix:
        labels = host.split(".")
        return ".".join(labels[-2:]) if len(labels) > 1 else None
    return f"{parts.domain}.{parts.suffix}" if parts.domain else None


def unicode_of(domain: str) -> str:
    """As it is read; as it is where it cannot be decoded."""
    text: str = ada_url.idna_to_unicode(domain)
    return text or domain
