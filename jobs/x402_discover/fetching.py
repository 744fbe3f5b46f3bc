"""Requests for one report: few, small, and none after its deadline. Every hop of a redirect is one of them."""

from __future__ import annotations

import time

from jobs.hosts import NotPublic, PublicUrl, public_url
from jobs.ports import Page, Pages
from jobs.x402_discover.site import is_same_site
from shared.outcome import BlockedAddress, UpstreamFailed

MAX_REQUESTS = 8
MAX_BYTES = 1_000_000
LIMIT_S = 10.0
"""For all requests together."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5


class Spent(Exception):
    """There are no requests left, or no time."""


class OtherSite(Exception):
    """A redirect leads to somebody else's host."""


class Fetcher:
    """What is left of a report's requests and time."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._left = MAX_REQUESTS
        self._deadline = time.monotonic() + LIMIT_S

    def get(self, url: PublicUrl, *, limit_s: float, site: str | None = None) -> tuple[PublicUrl, Page]:
        """GET, following redirects; also where the page is in the end.

        Args:
            limit_s: seconds for this page, redirects included.
            site: a host; redirects out of its site are not followed. None: they may lead anywhere that is public.

        Raises:
            BlockedAddress: it leads to what is not public.
            OtherSite: it leads to another site.
            UpstreamFailed: there was no answer, or too many redirects.
            Spent: there is nothing left to do it with.
        """
        deadline = min(self._deadline, time.monotonic() + limit_s)
        for _ in range(MAX_REDIRECTS + 1):
            page = self._exchange("GET", url, deadline, None)
            location = page.header("location")
            if page.status not in REDIRECTS or location is None:
                return url, page
            url = _redirected(url, location)
            if site is not None and not is_same_site(url.host, site):
                raise OtherSite
        raise UpstreamFailed(f"There were more than {MAX_REDIRECTS} redirects.", reason="bad_content")

    def post(self, url: PublicUrl, *, limit_s: float) -> Page:
        """POST `{}`, following nothing. Raises what `get` raises."""
        return self._exchange("POST", url, min(self._deadline, time.monotonic() + limit_s), b"{}")

    def _exchange(self, method: str, url: PublicUrl, deadline: float, content: bytes | None) -> Page:
        if self._left == 0 or self._deadline <= time.monotonic():
            raise Spent
        self._left -= 1
        headers = {"Content-Type": "application/json"} if content is not None else None
        return self._pages.exchange(
            method, url, limit_bytes=MAX_BYTES, deadline=deadline, headers=headers, content=content
        )


def _redirected(url: PublicUrl, location: str) -> PublicUrl:
    try:
        return public_url(location, base=url)
    except NotPublic as refused:
        if refused.code == "blocked_address":
            raise BlockedAddress(f"{url.host} redirects to what is not called: {refused.detail}") from None
        raise UpstreamFailed(
            f"{url.host} redirects to what is no URL: {refused.detail}", reason="bad_content"
        ) from None
