"""The real ports of one worker process. Each is made when a handler first asks for it, with what it has to import."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shared.egress import Egress, egress
from shared.endpoint import Pool
from shared.settings import Settings
from workers.children import ChildPool

if TYPE_CHECKING:
    from workers.adapters.calculations import ChildCalculations
    from workers.adapters.captions import YouTubeCaptions
    from workers.adapters.dns import CachedDns
    from workers.adapters.tls import TlsInspector
    from workers.adapters.whois import WhoisClient
    from workers.egress.connect import Connector
    from workers.egress.http import HttpClient
    from workers.egress.policy import Policy
    from workers.egress.resolver import Resolver


class WorkerPorts:
    """jobs.ports.World.

    Args:
        children: of this process, for calculations.
        close: told that a pool's only upstream turns us away, and for how many seconds. Raises nothing.

    Raises:
        InvalidSetting: a setting of outgoing connections has the wrong form.
    """

    def __init__(
        self, settings: Settings, children: ChildPool, close: Callable[[Pool, float], None] = lambda pool, seconds: None
    ) -> None:
        self.settings: Egress = egress(settings)
        self._agent = f"coinslot (+{settings.base_url})"
        self._children = children
        self._close = close

    @cached_property
    def policy(self) -> Policy:
        """What may be connected to."""
        from workers.egress.policy import Policy

        return Policy(allowed=self.settings.allow, denied=self.settings.deny)

    @cached_property
    def resolver(self) -> Resolver:
        """Names to addresses that may be connected to."""
        from workers.egress.resolver import Resolver

        overrides = {**self.settings.hosts, **_as_it_is(self.settings.youtube_url)}
        return Resolver(self.policy, server=self.settings.dns_server, overrides=overrides)

    @cached_property
    def connector(self) -> Connector:
        """The only maker of connections to hosts that strangers name."""
        from workers.egress.connect import Connector

        return Connector(self.policy, self.resolver)

    @cached_property
    def trust(self) -> ssl.SSLContext:
        """The public certificate authorities, and the operator's."""
        import certifi

        context = ssl.create_default_context(cafile=certifi.where())
        if self.settings.ca_file is not None:
            context.load_verify_locations(self.settings.ca_file)
        return context

    @cached_property
    def pages(self) -> HttpClient:
        """jobs.ports.Pages."""
        from workers.egress.http import HttpClient

        return HttpClient(self.connector, self.trust, agent=self._agent)

    @cached_property
    def captions(self) -> YouTubeCaptions:
        """jobs.ports.Captions."""
        from workers.adapters.captions import YouTubeCaptions

        return YouTubeCaptions(self.pages, base=self.settings.youtube_url, on_open=partial(self._close, Pool.YOUTUBE))

    @cached_property
    def tls(self) -> TlsInspector:
        """jobs.ports.Tls."""
        from workers.adapters.tls import TlsInspector

        return TlsInspector(self.connector, self.settings.ca_file)

    @cached_property
    def calculations(self) -> ChildCalculations:
        """jobs.ports.Calculations."""
        from workers.adapters.calculations import ChildCalculations

        return ChildCalculations(self._children)

    @cached_property
    def dns(self) -> CachedDns:
        """jobs.ports.Dns."""
        from workers.adapters.dns import CachedDns

        return CachedDns(self.resolver)

    @cached_property
    def whois(self) -> WhoisClient:
        """jobs.ports.Whois."""
        from workers.adapters.whois import WhoisClient

        return WhoisClient(self.connector, root=self.settings.whois_iana, port=self.settings.whois_port)

    @cached_property
    def clock(self) -> Clock:
        """jobs.ports.Clock."""
        return Clock(self.settings.now)


def _as_it_is(url: str) -> dict[str, str]:
    """An operator's URL may name an address, which no stranger's does. Whether it is connected to is the policy's affair."""
    host = urlsplit(url).hostname or ""
    try:
        return {host: str(ipaddress.IPv4Address(host))}
    except ValueError:
        return {}


class Clock:
    """The time of day, or the one that the operator has fixed."""

    def __init__(self, fixed: datetime | None) -> None:
        self._fixed = fixed

    def now(self) -> datetime:
        """In UTC."""
        return self._fixed or datetime.now(UTC)
