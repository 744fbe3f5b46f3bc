"""rss: fetches a feed of any version of RSS or Atom and returns it in one shape.

- DNS, redirects and body may take 10 seconds together. The body may have 2 MB after decompression.
- The server's Content-Type is ignored: the content decides whether this is RSS or Atom.
- A child process (jobs/rss) parses the body, because a hostile feed can make this take very long.
"""

import time
from datetime import UTC
from typing import Annotated

import msgspec

from jobs import http_status
from jobs.fields import Ok, Time, doc
from jobs.hosts import checked, public_url
from jobs.ports import Context, Page
from jobs.rss import reading
from jobs.rss.shape import Feed, Fetched, Item, Parser, Reading
from jobs.site import Site, SiteRequest
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price
from shared.outcome import UpstreamFailed

MAX_BYTES = 2_000_000
FETCH_S = 10.0
READ_S = 4.0
"""CPU time. The worst 2 MB that were found take 0.8 s, 2600 ordinary items 0.05 s."""

ACCEPT = "application/rss+xml, application/atom+xml, application/rdf+xml;q=0.9, application/xml;q=0.8, */*;q=0.5"


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    url: Annotated[
        str,
        msgspec.Meta(
            min_length=1, max_length=2048, description="Public http or https address; ports 80, 443, 8080 and 8443."
        ),
    ]
    limit: Annotated[int, msgspec.Meta(ge=1, le=100, description="Items to return, from the feed's first.")] = 20

    def check(self, site: Site) -> None:
        checked(public_url, self.url, site, field="url")


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: Ok
    url: Annotated[str, doc("The address that the request named.")]
    final_url: Annotated[str, doc("The address that answered, after redirects.")]
    feed: Feed
    items: Annotated[list[Item], doc("The items in the feed's order, at most `limit`.")]
    item_count: Annotated[int, doc("The number of `items`.")]
    total_items: Annotated[int, doc("The number of all items in the feed.")]
    truncated: Annotated[bool, doc("Whether the feed has more items than `items`.")]
    fetched_at: Annotated[Time, doc("When the feed was fetched, ISO 8601 in UTC.")]
    parsed_by: Annotated[Parser, doc("Which reader read it: `native`, or `feedparser` for what only that one reads.")]


def run(request: Request, context: Context) -> Response:
    """Fetch the feed, and let a child process read it."""
    begin = time.monotonic()
    page = context.ports.pages.get(
        public_url(request.url, context.site),
        limit_bytes=MAX_BYTES,
        deadline=begin + FETCH_S,
        headers={"Accept": ACCEPT},
    )
    fetched_at = context.ports.clock.now().astimezone(UTC).replace(microsecond=0)
    _check(page)
    fetched = Fetched(url=page.url, content_type=page.header("content-type"), body=page.body, limit=request.limit)
    raw = context.ports.calculations.run(
        reading.NAME, msgspec.msgpack.encode(fetched), limit_s=READ_S, deadline=begin + ENDPOINT.deadline_s - READ_S
    )
    found = msgspec.msgpack.decode(raw, type=Reading)
    return Response(
        ok=True,
        url=request.url,
        final_url=page.url,
        feed=found.feed,
        items=found.items,
        item_count=len(found.items),
        total_items=found.total,
        truncated=found.total > len(found.items),
        fetched_at=fetched_at.isoformat().replace("+00:00", "Z"),
        parsed_by=found.parsed_by,
    )


def _check(page: Page) -> None:
    """Refuse an empty response and an error page. An error page may itself be a feed, but not the requested one."""
    if not 200 <= page.status < 300 or page.status in (204, 205):
        detail = f"The server answered with HTTP status {page.status}."
        raise UpstreamFailed(detail, reason="http_status", is_final=page.status in http_status.FINAL)
    if not page.body.strip():
        raise UpstreamFailed("The response is empty, so it is not a feed.", reason="not_a_feed")


_REASONS = (
    *("timeout", "dns_failure", "connection_refused", "tls_failure", "too_large", "bad_content", "http_status"),
    "not_a_feed",
)

ENDPOINT = Endpoint(
    name="rss",
    price=Price.of("0.008"),
    category=Category.DATA,
    pool=Pool.NET,
    deadline_s=20,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    failures=_REASONS,
    target_failures=_REASONS,
    summary=(
        "Fetches an RSS (0.9x, 1.0, 2.0) or Atom (0.3, 1.0) feed and returns one normalised shape: feed metadata and up to 100 "
        "items with absolute links, ISO dates, authors, categories, enclosures and content snippets without HTML."
    ),
    example=Example(
        request={"url": "https://feeds.example.com:8443/news.rss", "limit": 1},
        response={
            "ok": True,
            "url": "https://feeds.example.com:8443/news.rss",
            "finalUrl": "https://feeds.example.com:8443/news.rss",
            "feed": {
                "format": "rss2",
                "title": "Harbour News",
                "description": "What arrives and what leaves",
                "link": "https://feeds.example.com:8443/",
                "feedLink": "https://feeds.example.com:8443/news.rss",
                "language": "en-GB",
                "updatedAt": "2026-11-20T15:00:00Z",
                "publishedAt": "2026-11-20T09:00:00Z",
                "author": "Harbour Office",
                "imageUrl": "https://feeds.example.com:8443/logo.png",
                "generator": "harbourmaster 3",
                "copyright": "Harbour Office",
                "categories": ["shipping"],
            },
            "items": [
                {
                    "title": "The Marie Celeste is back & well",
                    "link": "https://feeds.example.com:8443/2026/marie-celeste",
                    "guid": "harbour-2",
                    "publishedAt": "2026-11-20T14:04:05Z",
                    "updatedAt": None,
                    "author": "Ann Chor",
                    "categories": ["ships", "history"],
                    "contentSnippet": "After 154 years: nobody aboard \u2013 again",
                    "enclosures": [
                        {
                            "url": "https://feeds.example.com:8443/2026/horn.mp3",
                            "type": "audio/mpeg",
                            "length": 48000,
                        }
                    ],
                }
            ],
            "itemCount": 1,
            "totalItems": 2,
            "truncated": True,
            "fetchedAt": "2026-11-20T15:04:05Z",
            "parsedBy": "native",
        },
    ),
    run=run,
)
