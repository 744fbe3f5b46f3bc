"""The endpoint: its requests, what it fetches, and its answers."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

from compose.sandbox.upstreams import feeds
from jobs.calculations import CALCULATIONS
from jobs.hosts import PublicUrl
from jobs.ports import Context, Page
from jobs.rss.endpoint import ENDPOINT, FETCH_S, MAX_BYTES, READ_S, Request, run
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress, JobFailure, UpstreamFailed
from tests.each import each
from tests.sites import PUBLIC, decoded

URL = "https://feeds.example.com:8443/news.rss"


@dataclass
class Site:
    """The ports of this endpoint: one page, and calculations in this process."""

    body: bytes = feeds.RSS.encode()
    status: int = 200
    final_url: str = URL
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/html"),)
    failure: JobFailure | None = None
    asked: list[Any] = field(default_factory=list)
    time: datetime = datetime(2026, 11, 20, 15, 4, 5, 999, tzinfo=UTC)
    site: Any = PUBLIC

    @property
    def pages(self) -> "Site":
        return self

    @property
    def calculations(self) -> "Site":
        return self

    @property
    def clock(self) -> "Site":
        return self

    def now(self) -> datetime:
        return self.time

    def get(
        self, url: PublicUrl, *, limit_bytes: int, deadline: float, headers: Mapping[str, str] | None = None
    ) -> Page:
        self.asked.append((str(url), limit_bytes, deadline - time.monotonic(), headers))
        if self.failure:
            raise self.failure
        return Page(self.final_url, self.status, self.headers, self.body)

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        assert limit_s == READ_S
        return CALCULATIONS[name].calculate(argument)


def answer(site: Site, **request: Any) -> dict[str, Any]:
    asked = decoded(Request, {"url": URL} | request)
    response = run(asked, Context(payer="0x0", ports=site))
    found: dict[str, Any] = json.loads(msgspec.json.encode(response))
    return found


def reason(site: Site) -> str | None:
    with pytest.raises(UpstreamFailed) as caught:
        answer(site)
    return caught.value.reason


def test_example_is_what_the_call_gives() -> None:
    """With the clock at the example's time."""
    assert answer(Site(), **ENDPOINT.example.request) == ENDPOINT.example.response


def test_the_page_is_fetched_within_limits() -> None:
    """At most 2 MB, in at most 10 seconds."""
    site = Site()
    answer(site)
    ((url, limit_bytes, seconds, headers),) = site.asked
    assert (url, limit_bytes) == (URL, MAX_BYTES) == (URL, 2_000_000)
    assert FETCH_S - 1 < seconds <= FETCH_S == 10
    assert "application/rss+xml" in headers["Accept"]
    assert ENDPOINT.deadline_s >= FETCH_S + READ_S


def test_links_are_relative_to_where_the_feed_came_from() -> None:
    """Links are resolved against the final address; the answer has both addresses."""
    site = Site(final_url="https://cdn.example.net/a/b.xml", body=b"<rss><channel><link>c</link></channel></rss>")
    found = answer(site, url="http://feeds.example.com/#part")
    assert (found["url"], found["finalUrl"]) == ("http://feeds.example.com/#part", "https://cdn.example.net/a/b.xml")
    assert found["feed"]["link"] == "https://cdn.example.net/a/c"


def test_items_up_to_the_limit() -> None:
    """Without a limit there are 20."""
    site = Site(body=("<rss><channel>" + "<item/>" * 150 + "</channel></rss>").encode())
    for limit, count in ((None, 20), (1, 1), (100, 100)):
        found = answer(site, **({} if limit is None else {"limit": limit}))
        assert (len(found["items"]), found["itemCount"]) == (count, count)
        assert (found["totalItems"], found["truncated"]) == (150, True)
    found = answer(Site(body=b"<rss><channel><title>t</title></channel></rss>"))
    assert (found["items"], found["itemCount"], found["totalItems"], found["truncated"]) == ([], 0, 0, False)


def test_every_key_is_there() -> None:
    """A field that the feed does not state is null."""
    found = answer(Site(body=b"<feed><entry/></feed>"))
    expected = ENDPOINT.example.response
    assert list(found) == list(expected)
    assert list(found["feed"]) == list(expected["feed"])
    assert list(found["items"][0]) == list(expected["items"][0])
    assert {value for name, value in found["feed"].items() if name not in ("format", "categories")} == {None}


def test_the_time_is_utc() -> None:
    """Whole seconds."""
    site = Site(time=datetime(2026, 11, 20, 1, 0, 0, 5, tzinfo=timezone(timedelta(hours=2))))
    assert answer(site)["fetchedAt"] == "2026-11-19T23:00:00Z"


@each(
    ("site", "expected"),
    [
        (Site(status=404), "http_status"),
        (Site(status=500), "http_status"),
        (Site(status=204, body=b""), "http_status"),
        (Site(status=304, body=b""), "http_status"),
        (Site(status=302), "http_status"),
        (Site(body=b""), "not_a_feed"),
        (Site(body=b" \r\n"), "not_a_feed"),
        (Site(body=feeds.PAGE.encode()), "not_a_feed"),
        (Site(body=b"<rss><channel>" + b"<a>" * 300), "bad_content"),
        (Site(failure=UpstreamFailed("x", reason="timeout")), "timeout"),
    ],
)
def test_failures(site: Site, expected: str) -> None:
    """Each has a reason that is documented."""
    assert reason(site) == expected
    assert expected in ENDPOINT.failures


@pytest.mark.parametrize("status", [200, 203, 206])
def test_other_good_statuses(status: int) -> None:
    """A feed is a feed."""
    assert answer(Site(status=status))["ok"] is True


def test_a_blocked_address_is_the_callers_mistake() -> None:
    """BlockedAddress is raised unchanged."""
    with pytest.raises(BlockedAddress):
        answer(Site(failure=BlockedAddress("no")))


def test_what_comes_out_can_be_encoded() -> None:
    """Control characters, surrogates and code points that are no characters do not break the JSON."""
    body = b"<rss><channel><title>a\x00\x01\xed\xa0\x80&#xD800;&#0;\xef\xbf\xbf&#xFFFF;b</title></channel></rss>"
    found = answer(Site(body=body))
    assert found["feed"]["title"].startswith("a")
    assert found["feed"]["title"].endswith("b")
    json.dumps(found, ensure_ascii=False).encode()


@each(
    ("body", "field_name", "code"),
    [
        ({}, "", "invalid_body"),
        ({"url": 5}, "", "invalid_body"),
        ({"url": ""}, "", "invalid_body"),
        ({"url": "https://a.example.com/" + "x" * 2048}, "", "invalid_body"),
        ({"url": URL, "limit": 0}, "", "invalid_body"),
        ({"url": URL, "limit": 101}, "", "invalid_body"),
        ({"url": URL, "limit": "5"}, "", "invalid_body"),
        ({"url": URL, "limit": 1.5}, "", "invalid_body"),
        ({"url": "feeds.example.com/x"}, "url", "invalid_url"),
        ({"url": "ftp://feeds.example.com/x"}, "url", "invalid_url"),
        ({"url": "file:///etc/passwd"}, "url", "invalid_url"),
        ({"url": "http://user:pass@feeds.example.com/"}, "url", "invalid_url"),
        ({"url": "http://feeds.example.com\\@127.0.0.1/"}, "url", "invalid_url"),
        ({"url": "http://feeds.example.com:22/"}, "url", "blocked_address"),
        ({"url": "http://127.0.0.1/"}, "url", "blocked_address"),
        ({"url": "http://2130706433/"}, "url", "blocked_address"),
        ({"url": "http://[::1]/"}, "url", "blocked_address"),
        ({"url": "http://localhost/"}, "url", "blocked_address"),
        ({"url": "http://redis/"}, "url", "blocked_address"),
        ({"url": "http://metadata.google.internal/"}, "url", "blocked_address"),
    ],
)
def test_what_is_refused_before_the_payment(body: dict[str, Any], field_name: str, code: str) -> None:
    """A request that can be refused without a network access is refused."""
    with pytest.raises((InvalidField, msgspec.ValidationError)) as caught:
        decoded(Request, body)
    refused = caught.value
    found = (refused.field, refused.code) if isinstance(refused, InvalidField) else ("", "invalid_body")
    assert found == (field_name, code)


def test_the_sandbox_has_one_of_each() -> None:
    """The sandbox serves the feeds that the README's calls and the example read."""
    for text, kind in ((feeds.RSS, "rss2"), (feeds.ATOM, "atom1"), (feeds.RDF, "rss1")):
        assert answer(Site(body=text.encode()))["feed"]["format"] == kind
