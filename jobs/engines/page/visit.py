"""One visit to a page: render it, read it, compare it with what was there, and note it for the next visit."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import msgspec

from jobs import http_status
from jobs.engines.page import compare, read_page, read_text, snapshots
from jobs.engines.page.compare import Diff, Texts
from jobs.engines.page.fields import checked_url
from jobs.engines.page.ignoring import Ignore
from jobs.engines.page.metadata import language_tag, line
from jobs.engines.page.reading import Asked, Extract, Reading
from jobs.engines.page.snapshots import Snapshot
from jobs.engines.page.text import normalised, sha256
from jobs.engines.page.tree import MAX_HTML
from jobs.hosts import PublicUrl
from jobs.ports import Context
from jobs.ports.browser import FAILURES, Area, RenderedPage
from shared.outcome import DeadlineExceeded, JobFailure, UpstreamFailed

DEADLINE_S = 25.0
RENDER_S = 13.0
AGAIN_S = 6.0
"""Seconds of RENDER_S that have to be left for a second rendering."""
READ_S = 5.0
READ_TEXT_S = 3.0
COMPARE_S = 2.0
"""Seconds. What is left of the deadline is for waiting: for a browser context and for free children."""

GONE = frozenset({404, 410})
REASONS = (*FAILURES, "http_status", "bot_wall")
"""`http_status`: the site answered with an error other than 404 and 410, so what it sent is not the page. `bot_wall`: it sent a
challenge or a refusal for programs, with any status."""

Status = Literal["new", "same", "changed", "removed"]
"""`new`: there is nothing to compare with. `removed`: the page was there, and now the site answers 404 or 410."""
Baseline = Literal["stored", "supplied", "none"]


class Visit(NamedTuple):
    """What a visit has found.

    Attributes:
        at: the time of the visit, ISO 8601 in UTC.
        baseline: where the text that it was compared with came from.
        previous_hash: SHA-256 of that text.
        compared_with: the stored observation that it was compared with.
        since_found: whether the observation that the caller named is stored; None when none was named.
        diff: None when there was nothing to compare with.
        kept: all observations with this one in front.
        last: the observation of the visit before this one.
    """

    page: RenderedPage
    reading: Reading
    at: str
    status: Status
    baseline: Baseline
    previous_hash: str | None
    compared_with: Snapshot | None
    since_found: bool | None
    diff: Diff | None
    kept: list[Snapshot]
    last: Snapshot | None

    @property
    def snapshot(self) -> Snapshot:
        """This observation."""
        return self.kept[0]

    @property
    def title(self) -> str | None:
        """The title as the browser shows it, else as the markup has it."""
        return line(self.page.title) or self.reading.metadata.title

    @property
    def language(self) -> str | None:
        """The page's language, as it states it."""
        return self.reading.metadata.language or language_tag(self.page.language)


class _Earlier(NamedTuple):
    """What a page is compared with."""

    baseline: Baseline
    markdown: str
    markdown_hash: str
    is_gone: bool
    snapshot: Snapshot | None


def visit(
    url: str,
    extract: Extract,
    context: Context,
    *,
    query: str | None = None,
    screenshot: Area | None = None,
    previous_markdown: str | None = None,
    since_cursor: str | None = None,
    ignore: Ignore | None = None,
    links: bool = False,
    images: bool = False,
) -> Visit:
    """Visit a page.

    Args:
        query: what evidence is looked for.
        previous_markdown: the text to compare with, in the place of a stored one.
        since_cursor: names the stored observation to compare with. When it is not kept any more, the last one counts.
        ignore: what does not count as a change.
        links, images: whether those of the page are wanted.

    Raises:
        UpstreamFailed: one of REASONS.
        BlockedAddress, DeadlineExceeded: as the browser raises them.
    """
    begin = time.monotonic()
    address = checked_url(url, context.site)

    def asked(page: RenderedPage) -> Asked:
        return Asked(
            html=_encodable(page.html),
            source=_encodable(page.source),
            url=page.final_url,
            status=page.http_status,
            extract=extract,
            query=query,
            without=ignore.elements if ignore else (),
            with_links=links,
            with_images=images,
        )

    def look() -> _Look:
        page = context.ports.browser.render(address, screenshot=screenshot, deadline=begin + RENDER_S)
        at = _iso(context.ports.clock.now())
        try:
            return _Look(page, at, _read_page(asked(page), context, begin))
        except UpstreamFailed as failure:
            return _Look(page, at, failure)

    page, at, found = _second_look(look, address, context, begin)
    if isinstance(found, UpstreamFailed):
        raise found
    earlier = snapshots.read(context.previous)
    previous = _previous(earlier, previous_markdown, since_cursor)
    is_gone = page.http_status in GONE
    diff = _diff(previous, found, ignore, context, begin) if previous else None
    name = snapshots.observation_id(
        final_url=page.final_url, extract=extract, markdown_hash=found.markdown_hash, text_hash=found.text_hash
    )
    return Visit(
        page=page,
        reading=found,
        at=at,
        status=_status(previous, found, diff, is_gone=is_gone),
        baseline=previous.baseline if previous else "none",
        previous_hash=previous.markdown_hash if previous else None,
        compared_with=previous.snapshot if previous else None,
        since_found=None if since_cursor is None else any(item.cursor == since_cursor for item in earlier),
        diff=diff,
        kept=snapshots.noted(found, earlier, observation_id=name, at=at, is_gone=is_gone),
        last=earlier[0] if earlier else None,
    )


class _Look(NamedTuple):
    """A page, when it was rendered, and what was read, or why it is not the page."""

    page: RenderedPage
    at: str
    found: Reading | UpstreamFailed

    @property
    def is_refusal(self) -> bool:
        """Whether the site refuses programs, or our address."""
        return isinstance(self.found, UpstreamFailed) and (
            self.found.reason == "bot_wall" or self.page.http_status in http_status.REFUSALS
        )


def _second_look(look: Callable[[], _Look], address: PublicUrl, context: Context, begin: float) -> _Look:
    """Look, and once more from another address where the site refuses the first one. A refusal is noted in any case: the same
    call, when it is repeated, comes from there."""
    first = look()
    if not first.is_refusal or not context.ports.browser.refused(address, first.page):
        return first
    if begin + RENDER_S - time.monotonic() < AGAIN_S:
        return first
    try:
        second = look()
    except JobFailure:
        return first
    if second.is_refusal:
        context.ports.browser.refused(address, second.page)
    return second


def _read_page(asked: Asked, context: Context, begin: float) -> Reading:
    """Read what the site sent, if it is the page."""
    is_error = not 200 <= asked.status < 300 and asked.status not in GONE
    error = UpstreamFailed(
        f"The site answered with HTTP status {asked.status}.",
        reason="http_status",
        is_final=asked.status in http_status.FINAL,
    )
    try:
        found = _read(asked, context, begin)
    except (UpstreamFailed, DeadlineExceeded):
        if is_error:
            raise error from None
        raise
    if found.wall:
        raise UpstreamFailed(f"The site shows programs a challenge or a refusal of {found.wall}.", reason="bot_wall")
    if is_error:
        raise error
    return found


def _read(asked: Asked, context: Context, begin: float) -> Reading:
    argument = msgspec.msgpack.encode(asked)
    run = context.ports.calculations.run
    wait_until = begin + DEADLINE_S - READ_S - READ_TEXT_S - COMPARE_S
    try:
        raw = run(read_page.NAME, argument, limit_s=READ_S, deadline=wait_until)
    except UpstreamFailed:  # too much for one child
        if asked.without:  # all text would be compared with a text without these elements
            raise
        raw = run(read_text.NAME, argument, limit_s=READ_TEXT_S, deadline=wait_until + READ_S)
    return msgspec.msgpack.decode(raw, type=Reading)


def _encodable(text: str) -> str:
    """As much of the text as is read, without lone surrogates, which MessagePack cannot hold."""
    return text[:MAX_HTML].encode("utf-8", "replace").decode()


def _previous(earlier: Sequence[Snapshot], supplied: str | None, since_cursor: str | None) -> _Earlier | None:
    if supplied is not None:
        markdown = normalised(supplied)
        return _Earlier("supplied", markdown, sha256(markdown), False, None)
    named = [snapshot for snapshot in earlier if snapshot.cursor == since_cursor]
    found = next(iter((*named, *earlier)), None)
    if found is None:
        return None
    return _Earlier("stored", found.markdown, found.markdown_hash, found.is_gone, found)


def _status(previous: _Earlier | None, found: Reading, diff: Diff | None, *, is_gone: bool) -> Status:
    if previous is None or diff is None:
        return "new"
    if is_gone and not previous.is_gone:
        return "removed"
    return "same" if not diff.hunks and previous.is_gone == is_gone else "changed"


def _diff(previous: _Earlier, found: Reading, ignore: Ignore | None, context: Context, begin: float) -> Diff:
    if previous.markdown_hash == found.markdown_hash:
        return compare.compared(found.markdown, found.markdown)
    argument = msgspec.msgpack.encode(Texts(previous.markdown, found.markdown, ignore))
    deadline = begin + DEADLINE_S - COMPARE_S
    try:
        raw = context.ports.calculations.run(compare.NAME, argument, limit_s=COMPARE_S, deadline=deadline)
    except UpstreamFailed:  # too much for one child
        return compare.compared(previous.markdown, found.markdown, ignore=ignore, max_cells=0)
    return msgspec.msgpack.decode(raw, type=Diff)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
