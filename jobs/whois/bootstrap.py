"""Reads IANA's RDAP bootstrap file (RFC 9224): which RDAP server answers for a top-level domain."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from jobs.hosts import PublicUrl, public_url
from jobs.site import Site

SHIPPED = Path(__file__).with_name("rdap_bootstrap.json")
"""Written by scripts/data. `publication` is IANA's date, and `source` says where the file is from."""


class _File(msgspec.Struct, frozen=True):
    """`services`: each is a list of top-level domains and a list of the URLs that answer for all of them."""

    publication: str
    services: list[tuple[list[str], list[str]]]


def rdap_servers(file: Path, site: Site) -> Mapping[str, PublicUrl]:
    """The base URL for each top-level domain, with https where there is one. Each ends in a slash.

    Raises:
        ValueError: the file is no bootstrap file, or names a URL that may not be called.
    """
    found: dict[str, PublicUrl] = {}
    for tops, urls in msgspec.json.decode(file.read_bytes(), type=_File).services:
        secure_first = sorted(urls, key=lambda url: not url.startswith("https:"))
        if not urls:
            continue
        for top in tops:
            found[top.lower()] = public_url(secure_first[0].rstrip("/") + "/", site)
    return found
