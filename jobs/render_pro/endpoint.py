"""render-pro: renders a page in a browser and returns its text as Markdown, with evidence, a picture, and what changed.

- `extract` chooses the text: the article (trafilatura), all that the page shows, or that without Markdown's signs.
- `focus` is answered with verbatim quotes: each is ``markdown[start:end]``. What the page does not say is `found: false`.
- The comparison is with this payer's last call for the same page and `extract`; `sinceCursor` names an older one. A fragment
  of the URL does not count. A page that answers 404 or 410 is rendered, too: it is `removed` if it was there before.
- Every other error of the site is a 502 (`http_status`): what it sent is not the page, and comparing with it would mislead.
- A challenge or a refusal for programs is no page, whatever its status: a 502 (`bot_wall`).
- A child process (jobs/engines/page) reads the page, because a hostile one can make this take very long.
"""

import base64
import hashlib
from typing import Annotated, Literal

import msgspec

from jobs.engines.page import fields, snapshots
from jobs.engines.page.evidence import Focus
from jobs.engines.page.links import Image, Link
from jobs.engines.page.screenshot import pixel_hash
from jobs.engines.page.visit import DEADLINE_S, REASONS, Status, Visit, visit
from jobs.fields import Ok, Time, doc
from jobs.observation import Observed
from jobs.ports import Context
from jobs.ports.browser import Area, NotDrawn, Screenshot
from jobs.render_pro.example import EXAMPLE
from jobs.site import Site, SiteRequest
from shared.endpoint import Category, Endpoint, Flavour, Pool
from shared.money import Price

NAME = "render-pro"
MAX_FOCUS = 500


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    url: fields.Url
    extract: fields.Extraction = "article"
    focus: (
        Annotated[str, msgspec.Meta(max_length=MAX_FOCUS, description="Text to find evidence for; blank means none.")]
        | None
    ) = None
    screenshot: Annotated[bool, doc("Whether to return a picture of the page.")] = False
    full_page: Annotated[bool, doc("Whether the picture shows up to 4,000 pixels of height instead of 800.")] = False
    since_cursor: fields.Since | None = None
    links: Annotated[bool, doc("Whether to return the page's links.")] = False
    images: Annotated[bool, doc("Whether to return the addresses of the page's images.")] = False

    def check(self, site: Site) -> None:
        fields.checked_url(self.url, site)


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A picture of the page."""

    format: Annotated[Literal["png", "webp"], doc("The format of the picture.")]
    width: Annotated[int, doc("Its width, in pixels.")]
    height: Annotated[int, doc("Its height, in pixels.")]
    bytes: Annotated[int, doc("Size of the picture's file, in bytes.")]
    sha256: Annotated[fields.Sha256, doc("SHA-256 of the file, in lower-case hex.")]
    data_base64: Annotated[str, doc("The file, in base64.")]


class Hashes(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """SHA-256 of what was seen, in lower-case hex."""

    markdown: Annotated[fields.Sha256, doc("SHA-256 of `markdown` as UTF-8.")]
    text: Annotated[fields.Sha256, doc("SHA-256 of the text without Markdown's signs, with white space collapsed.")]
    html: Annotated[
        fields.Sha256 | None,
        doc("SHA-256 of the markup, without parts that no reader sees. Null when it was not read."),
    ]
    visual: Annotated[fields.Sha256 | None, doc("SHA-256 of the picture's pixels. Null without a picture.")]


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed since your earlier call for this page."""

    status: Annotated[
        Status, doc("`new` when there is no earlier call; `removed` when the page was there and is now a 404 or 410.")
    ]
    previous_observation_id: Annotated[
        str | None, doc("The `observationId` of the earlier call. Null when there is none.")
    ]
    previous_observed_at: Annotated[
        Time | None, doc("The time of the earlier call, ISO 8601 in UTC. Null when there is none.")
    ]
    added_lines: Annotated[int | None, doc("How many lines came. Null when there is no earlier call.")]
    removed_lines: Annotated[int | None, doc("How many lines went. Null when there is no earlier call.")]
    since_cursor_found: fields.SinceCursorFound


class Payment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The settled payment of this call."""

    network: Annotated[str, doc("The network of the payment (CAIP-2).")]
    asset: Annotated[str, doc("The asset that was paid.")]
    amount: Annotated[str, doc("The amount in atomic units of the asset; on the XRP Ledger in whole units.")]
    payer: Annotated[str, doc("The wallet that paid.")]
    transaction: Annotated[str, doc("The transaction of the payment.")]


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: Ok
    url: fields.RequestedUrl
    final_url: fields.FinalUrl
    http_status: fields.HttpStatus
    title: fields.Title
    language: Annotated[str | None, doc("The language that the page states, such as `en`. Null when it states none.")]
    canonical_url: Annotated[str | None, doc("The address that the page calls canonical. Null when it names none.")]
    author: Annotated[str | None, doc("The author that the page names. Null when it names none.")]
    published_at: Annotated[
        Time | None, doc("When the page was published, ISO 8601 in UTC. Null when it does not say.")
    ]
    link_count: Annotated[int, doc("How many links the page has.")]
    links: Annotated[
        list[Link] | None,
        doc(
            "The first 200 links, each target once, in the page's order. Null when none were asked for, or they were not read."
        ),
    ]
    images: Annotated[
        list[Image] | None,
        doc(
            "The first 200 images, each once, in the page's order. Null when none were asked for, or they were not read."
        ),
    ]
    extract: fields.Extracted
    method: fields.Found
    kind: fields.PageKind
    coverage: fields.Coverage
    from_source: fields.FromSource
    timed_out: fields.TimedOut
    markdown: fields.Markdown
    markdown_truncated: fields.IsCut
    focus: Annotated[Focus | None, doc("Evidence for `focus` of the request. Null when none was asked for.")]
    snapshot: Annotated[
        Snapshot | None, doc("The picture. Null when none was asked for, or there is none: `snapshotMissing` says why.")
    ]
    snapshot_missing: Annotated[
        NotDrawn | None,
        doc(
            "Why there is no picture: drawing it took too long (`timeout`), its file is larger than 1.5 MB (`too_large`), or "
            "the browser could not draw the page (`not_drawn`). Null with a picture, or when none was asked for."
        ),
    ]
    hashes: Hashes
    comparison: Comparison
    cursor: fields.Cursor
    observation_id: fields.ObservationId
    observed_at: Annotated[Time, doc("When the page was visited, ISO 8601 in UTC.")]
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
        links=request.links,
        images=request.images,
    )
    return Observed(_response(request, found, context), snapshots.write(found.kept))


def _response(request: Request, found: Visit, context: Context) -> Response:
    page, text, paid = found.page, found.reading, context.payment
    picture = page.screenshot if isinstance(page.screenshot, Screenshot) else None
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
        links=text.links,
        images=text.images,
        extract=request.extract,
        method=text.method,
        kind=text.kind,
        coverage=text.coverage,
        from_source=text.from_source,
        timed_out=page.timed_out,
        markdown=text.markdown,
        markdown_truncated=text.is_truncated,
        focus=text.focus,
        snapshot=_snapshot(picture) if picture else None,
        snapshot_missing=None if isinstance(page.screenshot, Screenshot) else page.screenshot,
        hashes=Hashes(
            markdown=text.markdown_hash,
            text=text.text_hash,
            html=text.html_hash,
            visual=pixel_hash(picture) if picture else None,
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


def _subject(request: Request, site: Site) -> str:
    return fields.subject(NAME, request.url, request.extract, site)


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
