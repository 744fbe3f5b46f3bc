"""Finds registrable domains with the public suffix list of the installed tldextract. Nothing is fetched or written.

Only ICANN's part of the list is used: for a registry, `example.github.io` is a host below github.io. The exceptions are the
private registries that serve WHOIS themselves (registries.py).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import ada_url

from jobs.whois.registries import private_suffix

if TYPE_CHECKING:
    from tldextract import TLDExtract


@functools.cache
def _suffixes() -> TLDExtract:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=False)


def registrable(host: str) -> str | None:
    """The registrable domain of a host: ``a.co.uk`` for ``www.a.co.uk``. None when the host is a public suffix itself.

    Args:
        host: lower-case A-labels. Below an unknown top-level domain the second level is registrable, by the list's default
        rule.
    """
    if private := private_suffix(host):
        return f"{host.removesuffix(private).rstrip('.').rpartition('.')[2]}.{private}"
    parts = _suffixes()(host)
    if not parts.suffix:
        labels = host.split(".")
        return ".".join(labels[-2:]) if len(labels) > 1 else None
    return f"{parts.domain}.{parts.suffix}" if parts.domain else None


def unicode_of(domain: str) -> str:
    """The Unicode form of a domain. A label that cannot be decoded stays as it is."""
    text: str = ada_url.idna_to_unicode(domain)
    return text or domain
