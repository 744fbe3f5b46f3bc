"""The real ports of one worker process. A port and its imports are made when a handler first uses it."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jobs.ports.chains import CHAIN_IDS, Chain
from jobs.site import site_of
from shared.pools import POOLS, Pool
from shared.settings.egress import Egress, egress
from shared.settings.egress_proxies import read_egress_proxies
from shared.settings.service import InvalidSetting, Settings
from workers.children import ChildPool
from workers.port_lifecycle import LivePort

if TYPE_CHECKING:
    from workers.adapters.browser import ChromiumBrowser
    from workers.adapters.calculations import ChildCalculations
    from workers.adapters.captions import YouTubeCaptions
    from workers.adapters.chains import NodeChains
    from workers.adapters.dns import CachedDns
    from workers.adapters.rdap import RdapClient
    from workers.adapters.tls import TlsInspector
    from workers.adapters.whois import WhoisClient
    from workers.adapters.xrpl import XrplNodes
    from workers.egress.connect import Connector
    from workers.egress.exits import Exits
    from workers.egress.health import EgressHealth
    from workers.egress.http import HttpClient
    from workers.egress.policy import Policy
    from workers.egress.resolver import Resolver


class WorkerPorts:
    """Implements jobs.ports.Ports.

    Args:
        children: the child processes of this worker, for calculations.
        close: called when a pool's only upstream refuses our calls, with the pool and for how many seconds. Raises nothing.

    Raises:
        InvalidSetting: a setting of outgoing connections has the wrong form.
    """

    def __init__(
        self, settings: Settings, children: ChildPool, close: Callable[[str, float], None] = lambda pool, seconds: None
    ) -> None:
        self.settings: Egress = egress(settings)
        # Every chain: the API refuses those that it has no node of, and the port `chains` fails with `not_configured`.
        self.site = site_of(self.settings, tuple(CHAIN_IDS))
        self._agent = f"coinslot (+{settings.base_url})"
        self._chain_urls: dict[Chain, tuple[str, ...]] = {
            "ethereum": settings.rpc_ethereum_urls,
            "base": settings.rpc_base_urls,
        }
        self._hedge = settings.rpc_hedge
        self._xrpl = settings.xrpl
        self._chromium = settings.chromium
        self._proxies = read_egress_proxies(settings.egress_proxy_file)
        self._children = children
        self._close = close
        if self.settings.rdap_bootstrap is not None:  # a file that is wrong is found at the start
            _ = self.rdap

    def live_ports(self, pool: str) -> Sequence[LivePort]:
        """The ports that a worker of this pool starts, checks and closes (workers/port_lifecycle.py)."""
        browser = (self.browser,) if pool == Pool.RENDER else ()
        exits = (self.exits[pool],) if pool in self.exits else ()
        has_route = pool not in self.exits or self.exits[pool].has_direct
        health = self.egress_health if has_route else self.dns_health
        return (*browser, *exits, health) if POOLS[pool].calls_out else ()

    @cached_property
    def policy(self) -> Policy:
        """Which addresses a worker may connect to."""
        from workers.egress.policy import Policy

        return Policy(allowed=self.settings.allow, denied=self.settings.deny)

    @cached_property
    def resolver(self) -> Resolver:
        """Resolves names to addresses that the policy allows."""
        from workers.egress.resolver import Resolver

        overrides = {**self.settings.hosts, **_address_in(self.settings.youtube_url)}
        return Resolver(self.policy, server=self.settings.dns_server, overrides=overrides)

    @cached_property
    def egress_health(self) -> EgressHealth:
        """Whether hosts that callers name can be reached at all."""
        return self._health(needs_route=not self.settings.allow)

    @cached_property
    def dns_health(self) -> EgressHealth:
        """The same of pools that leave by proxies alone, which need no route to these hosts."""
        return self._health(needs_route=False)

    def _health(self, *, needs_route: bool) -> EgressHealth:
        from workers.egress.health import EgressHealth

        return EgressHealth(self.resolver, question=self.settings.dns_probe, needs_route=needs_route)

    @cached_property
    def exits(self) -> Mapping[str, Exits]:
        """The exits of each pool that has proxies."""
        from workers.egress.exits import Exits

        return {pool: Exits(pool, proxies) for pool, proxies in self._proxies.items()}

    @cached_property
    def connector(self) -> Connector:
        """Makes the connections of pools without proxies to hosts that callers name."""
        return self._connector("")

    def _connector(self, pool: str) -> Connector:
        from workers.egress.connect import Connector

        return Connector(self.policy, self.resolver, self.exits.get(pool))

    @cached_property
    def trust(self) -> ssl.SSLContext:
        """The public certificate authorities and the operator's."""
        import certifi

        context = ssl.create_default_context(cafile=certifi.where())
        if self.settings.ca_file is not None:
            context.load_verify_locations(self.settings.ca_file)
        return context

    @cached_property
    def pages(self) -> HttpClient:
        """Implements jobs.ports.Pages."""
        return self._http(self._connector(Pool.NET))

    def _http(self, connector: Connector) -> HttpClient:
        from workers.egress.http import HttpClient

        return HttpClient(connector, self.trust, self.site, agent=self._agent)

    @cached_property
    def captions(self) -> YouTubeCaptions:
        """Implements jobs.ports.Captions."""
        from workers.adapters.captions import YouTubeCaptions

        connector, base = self._connector(Pool.YOUTUBE), self.settings.youtube_url
        return YouTubeCaptions(
            self._http(connector),
            base=base,
            route=partial(connector.route, urlsplit(base).hostname or ""),
            on_open=partial(self._close, Pool.YOUTUBE),
        )

    @cached_property
    def tls(self) -> TlsInspector:
        """Implements jobs.ports.Tls."""
        from workers.adapters.tls import TlsInspector

        return TlsInspector(self._connector(Pool.NET), self.settings.ca_file)

    @cached_property
    def calculations(self) -> ChildCalculations:
        """Implements jobs.ports.Calculations."""
        from workers.adapters.calculations import ChildCalculations

        return ChildCalculations(self._children)

    @cached_property
    def dns(self) -> CachedDns:
        """Implements jobs.ports.Dns."""
        from workers.adapters.dns import CachedDns

        return CachedDns(self.resolver)

    @cached_property
    def whois(self) -> WhoisClient:
        """Implements jobs.ports.Whois."""
        from workers.adapters.whois import WhoisClient

        return WhoisClient(self.connector, root=self.settings.whois_iana, port=self.settings.whois_port)

    @cached_property
    def rdap(self) -> RdapClient:
        """Implements jobs.ports.Rdap."""
        from jobs.whois.bootstrap import SHIPPED, rdap_servers
        from workers.adapters.rdap import RdapClient

        file = self.settings.rdap_bootstrap or SHIPPED
        try:
            servers = rdap_servers(file, self.site)
        except ValueError as error:
            raise InvalidSetting(f"COINSLOT_RDAP_BOOTSTRAP: {file} is no bootstrap file: {error}") from None
        return RdapClient(self._http(self.connector), servers, self.site)

    @cached_property
    def chains(self) -> NodeChains:
        """Implements jobs.ports.chains.Chains."""
        from workers.adapters.chains import NodeChains

        return NodeChains(self._chain_urls, hedge=self._hedge)

    @cached_property
    def xrpl(self) -> XrplNodes:
        """Implements jobs.ports.xrpl.XrplLedger."""
        from workers.adapters.xrpl import XrplNodes

        return XrplNodes(self._xrpl.read_urls, network=self._xrpl.network)

    @cached_property
    def browser(self) -> ChromiumBrowser:
        """Implements jobs.ports.browser.Browser."""
        from workers.adapters.browser import ChromiumBrowser

        return ChromiumBrowser(
            self._connector(Pool.RENDER),
            self.site,
            configured=self._chromium,
            agent=self._agent,
            ca_file=self.settings.ca_file,
        )

    @cached_property
    def clock(self) -> Clock:
        """Implements jobs.ports.Clock."""
        return Clock(self.settings.now)


def _address_in(url: str) -> dict[str, str]:
    """An operator's URL may name an address, which a caller's may not. The policy decides whether it is connected to."""
    host = urlsplit(url).hostname or ""
    try:
        return {host: str(ipaddress.IPv4Address(host))}
    except ValueError:
        return {}


class Clock:
    """The time of day, or the time that the operator has fixed."""

    def __init__(self, fixed: datetime | None) -> None:
        self._fixed = fixed

    def now(self) -> datetime:
        """The time in UTC."""
        return self._fixed or datetime.now(UTC)
