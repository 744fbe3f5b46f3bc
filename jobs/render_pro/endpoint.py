"""render-pro: renders a page in a browser and returns its text as Markdown, with evidence, a picture, and what changed.

- `extract` chooses the text: the article (trafilatura), all that the page shows, or that without Markdown's signs.
- `focus` is answered with verbatim quotes: each is ``markdown[start:end]``. What the page does not say is `found: false`.
- The comparison is with this payer's last call for the same page and `extract`; `sinceCursor` names an older one. A fragment
  of the URL does not count. A page that answers 404 or 410 is rendered, too: it is `removed` if it was there before.
- Every other error of the site is a 502 (`http_status`): what it sent is not the page, and comparing with it would mislead.
- A child process (jobs/page) reads the page, because a hostile one can make this take very long.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Annotated, Literal

import msgspec

from jobs.observation import Observed
from jobs.page import snapshots
from jobs.page.browser import Area, Screenshot
from jobs.page.evidence import Focus
from jobs.page.reading import Extract, Method
from jobs.page.request import Cursor, Url, checked_url, subject
from jobs.page.screenshot import pixel_hash
from jobs.page.visit import DEADLINE_S, REASONS, Status, Visit, visit
from jobs.ports import Context
from jobs.render_pro.example import EXAMPLE
from shared.endpoint import Category, Endpoint, Flavour, Pool
from shared.money import Price

NAME = "render-pro"
MAX_FOCUS = 500

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Time = Annotated[str, msgspec.Meta(description="ISO 8601, UTC.", extra_json_schema={"format": "date-time"})]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`url`: the page. `extract`: which text. `focus`: text to find evidence for. `screenshot`: whether to draw the page;
    `fullPage`: down to 4,000 pixels instead of 800. `sinceCursor`: an earlier observation to compare with."""

    url: Url
    extract: Annotated[Extract, msgspec.Meta(description="The main text, all text, or all text without Markdown.")] = (
        "article"
    )
    focus: (
        Annotated[str, msgspec.Meta(max_length=MAX_FOCUS, description="Text that the page may say; blank means none.")]
        | None
    ) = None
    screenshot: bool = False
    full_page: bool = False
    since_cursor: Cursor | None = None

    def __post_init__(self) -> None:
        checked_url(self.url)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A picture of the page. `bytes`: the size of the file. `sha256`: of the file."""

    format: Literal["png", "webp"]
    width: int
    height: int
    bytes: int
    sha256: Sha256
    data_base64: str


class Hashes(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """SHA-256. `markdown`: of the Markdown as UTF-8. `text`: without Markdown's signs and with white space collapsed. `html`:
    of the page's markup without scripts, tokens and other things that no reader sees. `visual`: of the picture's pixels."""

    markdown: Sha256
    text: Sha256
    html: Sha256 | None
    visual: Sha256 | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed since this payer's earlier call. Line counts are null when there was none.

    `sinceCursorFound`: whether the observation of `sinceCursor` is still kept; if not, the last one was compared with.
    """

    status: Status
    previous_observation_id: str | None
    previous_observed_at: Time | None
    added_lines: int | None
    removed_lines: int | None
    since_cursor_found: bool | None


class Payment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The settled payment of this call. `amount`: atomic units of the asset; on the XRP Ledger, the token's own decimal."""

    network: str
    asset: str
    amount: str
    payer: str
    transaction: str


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The page.

    `url`: as requested. `finalUrl`: after redirects. `markdown`: at most 60,000 characters, cut after a block. `method`: how
    it was found. `fromSource`: scripts had removed most of the page, so it was read from the document as it was sent.
    `timedOut`: the page was read before it was at rest. `cursor`: names this observation, and stays while the page says the
    same.
    `observationId`: names the content, for every caller.
    """

    ok: bool
    url: str
    final_url: str
    http_status: int
    title: str | None
    language: str | None
    canonical_url: str | None
    author: str | None
    published_at: Time | None
    link_count: int
    extract: Extract
    method: Method
    from_source: bool
    timed_out: bool
    markdown: str
    markdown_truncated: bool
    focus: Focus | None
    snapshot: Snapshot | None
    hashes: Hashes
    comparison: Comparison
    cursor: str
    observation_id: str
    observed_at: Time
    payment: Payment


def run(request: Request, context: Context) -> Observed:
    """Visit the page."""
    area = (Area.FULL_PAGE if request.full_page else Area.VIEWPORT) if request.screenshot else None
    found = visit(
        request.url,
        request.extract,
        context,
        query=request.focus if request.focus and request.focus.strip() else None,
        screenshot=area,
        since_cursor=request.since_cursor,
    )
    return Observed(_response(request, found, context), snapshots.write(found.kept))


def _response(request: Request, found: Visit, context: Context) -> Response:
    page, text, paid = found.page, found.reading, context.payment
    return Response(
        ok=True,
        url=request.url,
        final_url=page.final_url,
        http_status=page.http_status,
        title=found.title,
        language=found.language,
        canonical_url=text.metadata.canonical_url,
        author=text.metadata.author,
        published_at=text.metadata.published_at,
        link_count=text.metadata.link_count,
        extract=request.extract,
        method=text.method,
        from_source=text.from_source,
        timed_out=page.timed_out,
        markdown=text.markdown,
        markdown_truncated=text.is_truncated,
        focus=text.focus,
        snapshot=_snapshot(page.screenshot) if page.screenshot else None,
        hashes=Hashes(
            markdown=text.markdown_hash,
            text=text.text_hash,
            html=text.html_hash,
            visual=pixel_hash(page.screenshot) if page.screenshot else None,
        ),
        comparison=_comparison(found),
        cursor=found.snapshot.cursor,
        observation_id=found.snapshot.observation_id,
        observed_at=found.at,
        payment=Payment(
            network=paid.network,
            asset=paid.asset,
            amount=paid.amount,
            payer=paid.payer,
            transaction=paid.transaction,
        ),
    )


def _snapshot(picture: Screenshot) -> Snapshot:
    return Snapshot(
        format=picture.format,
        width=picture.width,
        height=picture.height,
        bytes=len(picture.data),
        sha256=hashlib.sha256(picture.data).hexdigest(),
        data_base64=base64.b64encode(picture.data).decode(),
    )


def _comparison(found: Visit) -> Comparison:
    earlier, diff = found.compared_with, found.diff
    return Comparison(
        status=found.status,
        previous_observation_id=earlier.observation_id if earlier else None,
        previous_observed_at=earlier.last_at if earlier else None,
        added_lines=diff.added_lines if diff else None,
        removed_lines=diff.removed_lines if diff else None,
        since_cursor_found=found.since_found,
    )


def _subject(request: Request) -> str:
    return subject(NAME, request.url, request.extract)


ENDPOINT = Endpoint(
    name=NAME,
    price=Price.of("0.01"),
    category=Category.DATA,
    pool=Pool.RENDER,
    deadline_s=DEADLINE_S,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    failures=REASONS,
    target_failures=REASONS,
    summary=(
        "Renders a public page in a real browser and returns its article, or all its text, as Markdown of at most 60,000 "
        "characters: with verbatim evidence for a text that you look for, an optional screenshot, hashes, a content-bound "
        "observation id, and what changed since your last call for the same page."
    ),
    example=EXAMPLE,
    run=run,
    subject=_subject,
)
