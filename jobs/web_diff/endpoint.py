"""web-diff: renders a page in a browser and says what changed since this payer's last check.

- The text is compared line by line after normalisation (NFC, `\\n`, no blanks at the ends of lines). The hunks, applied to the
  previous text, give the current one exactly.
- `previousMarkdown` is compared with in the place of the stored text; what the page says now is stored all the same.
- `sinceCursor` names one of the last five observations to compare with. A fragment of the URL does not count.
- A page that answers 404 or 410 is `removed` if it was there before. Every other error of the site is a 502 (`http_status`),
  so a short failure never looks like a change.
- Child processes (jobs/page) read and compare, because a hostile page can make both take very long.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from jobs.observation import Observed
from jobs.page import snapshots
from jobs.page.compare import Diff
from jobs.page.reading import Extract, Method
from jobs.page.request import Cursor, Url, checked_url, subject
from jobs.page.visit import DEADLINE_S, REASONS, Baseline, Status, Visit, visit
from jobs.ports import Context
from jobs.web_diff.example import EXAMPLE
from shared.endpoint import Category, Endpoint, Flavour, Pool
from shared.money import Price

NAME = "web-diff"
MAX_PREVIOUS = 200_000
_BYTES_PER_CHARACTER = 12
"""Of an escaped surrogate pair."""

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Time = Annotated[str, msgspec.Meta(description="ISO 8601, UTC.", extra_json_schema={"format": "date-time"})]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`url`: the page. `extract`: which text. `previousMarkdown`: compared with in the place of the stored text.
    `sinceCursor`: an earlier observation to compare with."""

    url: Url
    extract: Annotated[Extract, msgspec.Meta(description="The main text, all text, or all text without Markdown.")] = (
        "article"
    )
    previous_markdown: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=MAX_PREVIOUS, description="The text to compare with; null: the one of your last check."
            ),
        ]
        | None
    ) = None
    since_cursor: Cursor | None = None

    def __post_init__(self) -> None:
        checked_url(self.url)


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed.

    `changed`: whether the page differs from what it was compared with; false the first time. `markdown`: what it says now, at
    most 60,000 characters, cut after a block. `markdownHash`, `previousHash`: SHA-256 of the texts as UTF-8. `diff`: null when
    there was nothing to compare with. `lastCheckedAt`: your previous check of this page, null the first time. `cursor`: names
    this observation, and stays while the page says the same. `sinceCursorFound`: whether the observation of `sinceCursor` is
    still kept; if not, the last one was compared with. `timedOut`: the page was read before it was at rest.
    """

    ok: bool
    url: str
    final_url: str
    http_status: int
    title: str | None
    extract: Extract
    method: Method
    from_source: bool
    timed_out: bool
    changed: bool
    status: Status
    markdown: str
    markdown_truncated: bool
    markdown_hash: Sha256
    previous_hash: Sha256 | None
    baseline: Baseline
    since_cursor_found: bool | None
    diff: Diff | None
    last_checked_at: Time | None
    checked_at: Time
    cursor: str
    observation_id: str


def run(request: Request, context: Context) -> Observed:
    """Visit the page."""
    found = visit(
        request.url,
        request.extract,
        context,
        previous_markdown=request.previous_markdown,
        since_cursor=request.since_cursor,
    )
    return Observed(_response(request, found), snapshots.write(found.kept))


def _response(request: Request, found: Visit) -> Response:
    page, text = found.page, found.reading
    return Response(
        ok=True,
        url=request.url,
        final_url=page.final_url,
        http_status=page.http_status,
        title=found.title,
        extract=request.extract,
        method=text.method,
        from_source=text.from_source,
        timed_out=page.timed_out,
        changed=found.status in ("changed", "removed"),
        status=found.status,
        markdown=text.markdown,
        markdown_truncated=text.is_truncated,
        markdown_hash=text.markdown_hash,
        previous_hash=found.previous_hash,
        baseline=found.baseline,
        since_cursor_found=found.since_found,
        diff=found.diff,
        last_checked_at=found.last.last_at if found.last else None,
        checked_at=found.at,
        cursor=found.snapshot.cursor,
        observation_id=found.snapshot.observation_id,
    )


def _subject(request: Request) -> str:
    return subject(NAME, request.url, request.extract)


ENDPOINT = Endpoint(
    name=NAME,
    price=Price.of("0.08"),
    category=Category.DATA,
    pool=Pool.RENDER,
    deadline_s=DEADLINE_S,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    failures=REASONS,
    target_failures=REASONS,
    max_body_bytes=_BYTES_PER_CHARACTER * MAX_PREVIOUS + 64 * 1024,
    summary=(
        "Renders a public page with full JavaScript and returns its current Markdown and a structured diff: whether it changed "
        "since your last check, which lines came and went, and how similar both texts are. Compares with your stored baseline, "
        "or with a text that you send."
    ),
    example=EXAMPLE,
    run=run,
    subject=_subject,
)
