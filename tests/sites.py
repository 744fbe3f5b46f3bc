"""Sites of tests, and requests that are checked with them."""

import json
from collections.abc import Collection
from typing import Any, TypeVar

import msgspec

from jobs.ports.chains import CHAIN_IDS
from jobs.site import Site, SiteRequest

Request = TypeVar("Request", bound=msgspec.Struct)

PUBLIC = Site(own=(), chains=tuple(CHAIN_IDS))
"""No exceptions, and every chain."""
FREE_PORTS = range(1024, 65536)
"""Where servers of tests listen."""


def on_any_port(names: Collection[str]) -> Site:
    """A Site that reaches these names on every port."""
    return Site(own=(), ports=range(1, 65536), names=names)


def decoded(request: type[Request], body: Any, site: Site = PUBLIC) -> Request:
    """A request as a worker reads it. Raises msgspec.ValidationError, InvalidField."""
    found = msgspec.json.decode(json.dumps(body), type=request)
    if isinstance(found, SiteRequest):
        found.check(site)
    return found
