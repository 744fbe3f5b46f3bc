"""Makes the requests of one report, within a number, a size and a deadline. Every redirect counts as a request."""

import time

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Page, Ports
from jobs.site import Site
from jobs.x402_discover.site import is_same_site
from shared.outcome import BlockedAddress, UpstreamFailed

MAX_REQUESTS = 8
MAX_BYTES = 1_000_000
LIMIT_S = 10.0
"""For all requests together."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5


class Spent(Exception):
    """No requests are left, or no time."""


class OtherSite(Exception):
    """A redirect leads to a host of another site."""


class Fetcher:
    """The remaining requests and time of a report."""

    def __init__(self, ports: Ports) -> None:
        self._pages = ports.pages
        self._site = ports.site
        self._left = MAX_REQUESTS
        self._deadline = time.monotonic() + LIMIT_S

    def get(self, url: PublicUrl, *, limit_s: float, site: str | None = None) -> tuple[PublicUrl, Page]:
        """GET a URL, following redirects. Returns the final URL and its page.

        Args:
            limit_s: seconds for this page, redirects included.
            site: a host; redirects to other sites are not followed. None: they may lead to any public host.

        Raises:
            BlockedAddress: the URL leads to an address that is not public.
            OtherSite: a redirect leads to another site.
            UpstreamFailed: there was no answer, or there were too many redirects.
            Spent: no requests or no time are left.
        """
        deadline = min(self._deadline, time.monotonic() + limit_s)
        for _ in range(MAX_REDIRECTS + 1):
            page = self._exchange("GET", url, deadline, None)
            location = page.header("location")
            if page.status not in REDIRECTS or location is None:
                return url, page
            url = _redirected(url, location, self._site)
            if site is not None and not is_same_site(url.host, site):
                raise OtherSite
        raise UpstreamFailed(f"There were more than {MAX_REDIRECTS} redirects.", reason="bad_content", is_final=True)

    def post(self, url: PublicUrl, *, limit_s: float) -> Page:
        """POST `{}`, without following redirects. Raises what `get` raises."""
        return self._exchange("POST", url, min(self._deadline, time.monotonic() + limit_s), b"{}")

    def _exchange(self, method: str, url: PublicUrl, deadline: float, content: bytes | None) -> Page:
        if self._left == 0 or self._deadline <= time.monotonic():
            raise Spent
        self._left -= 1
        headers = {"Content-Type": "application/json"} if content is not None else None
        return self._pages.exchange(
            method, url, limit_bytes=MAX_BYTES, deadline=deadline, headers=headers, content=content
        )


def _redirected(url: PublicUrl, location: str, site: Site) -> PublicUrl:
    try:
        return public_url(location, site, base=url)
    except NotPublic as refused:
        if refused.code == "blocked_address":
            raise BlockedAddress(f"{url.host} redirects to what is not called: {refused.detail}") from None
        raise UpstreamFailed(
            f"{url.host} redirects to what is no URL: {refused.detail}", reason="bad_content", is_final=True
        ) from None
