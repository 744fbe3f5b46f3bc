"""RDAP over HTTP: the servers of the bootstrap file and no others, with five seconds for the whole exchange."""

import time
from collections.abc import Callable, Mapping

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Page, Pages, RdapAnswer
from jobs.site import Site
from jobs.whois.rdap import is_rdap
from shared.outcome import UpstreamFailed
from workers.adapters.expiring_cache import ExpiringCache
from workers.egress.http import REDIRECTS
from workers.egress.upstreams import Upstreams

CONNECTION_S = 5.0
"""Seconds for one question, redirects included."""
CACHE_S = 180.0
"""Seconds for which an answer is cached."""
CACHE_BYTES = 8 * 1024 * 1024
MOST_BYTES = 256 * 1024
MOST_REDIRECTS = 2
REFUSED = frozenset({401, 403, 429})


class RdapClient:
    """Implements jobs.ports.Rdap.

    Args:
        servers: the base URL for each top-level domain.
        clock: monotonic seconds, for the age of answers.
    """

    def __init__(
        self,
        pages: Pages,
        servers: Mapping[str, PublicUrl],
        site: Site,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pages = pages
        self._servers = servers
        self._hosts = {url.host for url in servers.values()}
        self._site = site
        self._upstreams = Upstreams(at_once=4, failures=5, throttles=3, pause_s=5.0)
        self._cache: ExpiringCache[str, RdapAnswer] = ExpiringCache(CACHE_BYTES, clock)

    def server(self, domain: str) -> str | None:
        """The host that answers for a domain's top-level domain, or None."""
        url = self._servers.get(domain.rpartition(".")[2])
        return url.host if url else None

    def ask(self, domain: str, *, deadline: float) -> RdapAnswer:
        """Ask the server for a domain. Answers of the last minutes come from a cache.

        Args:
            domain: in A-labels, below a top-level domain that has a server.
            deadline: monotonic seconds. The exchange ends after five seconds in any case.

        Raises:
            BlockedAddress: the server leads to an address that is not public.
            UpstreamFailed: what jobs.ports.Pages raises, `rate_limited` when the server refuses or its circuit is open, and
                `bad_content` for what is no answer of RDAP.
        """
        if cached := self._cache.get(domain):
            return cached[0]._replace(age_s=cached[1])
        base = self._servers[domain.rpartition(".")[2]]
        with self._upstreams.slot(base.host, deadline=deadline):
            try:
                page = self._get(base._replace(target=f"{base.target}domain/{domain}"), deadline)
            except UpstreamFailed as failure:
                raise failure.passing() from None
            answer = _answer(page, base.host)
        self._cache.put(domain, answer, size=len(answer.raw) + 1024, lifetime_s=CACHE_S)
        return answer

    def _get(self, url: PublicUrl, deadline: float) -> Page:
        until = min(deadline, time.monotonic() + CONNECTION_S)
        for _ in range(MOST_REDIRECTS + 1):
            page = self._pages.exchange(
                "GET",
                url,
                limit_bytes=MOST_BYTES,
                deadline=until,
                headers={"Accept": "application/rdap+json, application/json;q=0.9"},
            )
            location = page.header("location")
            if page.status not in REDIRECTS or location is None:
                return page
            url = self._redirected(url, location)
        raise UpstreamFailed(f"{url.host} redirects too often.", reason="bad_content")

    def _redirected(self, url: PublicUrl, location: str) -> PublicUrl:
        try:
            target = public_url(location.strip(), self._site, base=url)
        except NotPublic:
            target = None
        if target is None or target.host not in self._hosts:
            raise UpstreamFailed(f"{url.host} redirects to a host that is no RDAP server.", reason="bad_content")
        return target


def _answer(page: Page, host: str) -> RdapAnswer:
    if page.status in REFUSED:
        raise UpstreamFailed(f"{host} refuses to answer: status {page.status}.", reason="rate_limited")
    # A 404 of another kind of server, for a wrong path, says nothing about the domain.
    is_bare = page.status == 404 and not page.body and "rdap+json" in (page.header("content-type") or "").lower()
    if page.status not in (200, 404) or not (is_bare or is_rdap(page.body)):
        raise UpstreamFailed(f"{host} gave no answer of RDAP: status {page.status}.", reason="bad_content")
    return RdapAnswer(page.status == 200, page.body, 0.0)
