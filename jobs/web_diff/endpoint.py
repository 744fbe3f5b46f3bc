"""web-diff: renders a page in a browser and says what changed since this payer's last check.

- The text is compared line by line after normalisation (NFC, `\\n`, no blanks at the ends of lines). The hunks, applied to the
  previous text, give the current one exactly.
- `previousMarkdown` is compared with in the place of the stored text; what the page says now is stored all the same.
- `ignore` leaves out what does not count. Selectors make another view of the page, which has its own baseline. Texts, numbers
  and dates stay in the stored text, so the same baseline serves calls with and without them.
- `sinceCursor` names one of the last five observations to compare with. A fragment of the URL does not count.
- A page that answers 404 or 410 is `removed` if it was there before. Every other error of the site is a 502 (`http_status`),
  so a short failure never looks like a change.
- A challenge or a refusal for programs is no page, whatever its status: a 502 (`bot_wall`).
- Child processes (jobs/engines/page) read and compare, because a hostile page can make both take very long.
"""

from typing import Annotated

import msgspec

from jobs.engines.page import example as page
from jobs.engines.page import fields, snapshots
from jobs.engines.page.compare import Diff
from jobs.engines.page.ignoring import Ignore
from jobs.engines.page.visit import DEADLINE_S, REASONS, Baseline, Status, Visit, visit
from jobs.fields import Ok, Time, doc
from jobs.observation import Observed
from jobs.ports import Context
from jobs.site import Site, SiteRequest
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price

NAME = "web-diff"
MAX_PREVIOUS = 200_000
_BYTES_PER_CHARACTER = 12
"""Of an escaped surrogate pair."""

_OLD_PRICE = page.PRICE.replace("24", "22")

EXAMPLE = Example(
    request={
        "url": page.URL,
        "previousMarkdown": "\n\n".join((page.TITLE, page.BERTHS, "## Prices", _OLD_PRICE)),
    },
    response={
        **page.ADDRESSES,
        **page.EXTRACTION,
        "changed": True,
        "status": "changed",
        "markdown": page.MARKDOWN,
        "markdownTruncated": False,
        "markdownHash": page.MARKDOWN_HASH,
        "previousHash": "08cc5b9b6b35770768f6802219aa41396f8b3abe62ee375edacfb1d55c39c32e",
        "baseline": "supplied",
        "sinceCursorFound": None,
        "diff": {
            "addedLines": 3,
            "removedLines": 1,
            "similarity": 0.8239,
            "hunks": [
                {
                    "oldStart": 7,
                    "oldLines": 1,
                    "newStart": 7,
                    "newLines": 3,
                    "removed": [_OLD_PRICE],
                    "added": [page.PRICE, "", page.WEEK],
                    "words": page.PRICE.replace("24", "[-22-]{+24+}").rstrip(".") + f"{{+.\n\n{page.WEEK[:-1]}+}}.",
                }
            ],
            "unified": (
                "--- previous\n+++ current\n@@ -4,4 +4,6 @@\n \n ## Prices\n \n"
                f"-{_OLD_PRICE}\n+{page.PRICE}\n+\n+{page.WEEK}\n"
            ),
        },
        "ignoredElements": None,
        "lastCheckedAt": None,
        "checkedAt": "2026-11-20T15:04:05Z",
        **page.IDENTITY,
    },
)


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    url: fields.Url
    extract: fields.Extraction = "article"
    previous_markdown: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=MAX_PREVIOUS, description="The text to compare with; null: the one of your last check."
            ),
        ]
        | None
    ) = None
    since_cursor: fields.Since | None = None
    ignore: Annotated[Ignore, doc("What does not count as a change; null: everything counts.")] | None = None

    def check(self, site: Site) -> None:
        fields.checked_url(self.url, site)


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: Ok
    url: fields.RequestedUrl
    final_url: fields.FinalUrl
    http_status: fields.HttpStatus
    title: fields.Title
    extract: fields.Extracted
    method: fields.Found
    kind: fields.PageKind
    coverage: fields.Coverage
    from_source: fields.FromSource
    timed_out: fields.TimedOut
    changed: Annotated[bool, doc("Whether the page differs from what it was compared with. False the first time.")]
    status: Annotated[
        Status,
        doc("`new` when there was nothing to compare with; `removed` when the page was there and is now a 404 or 410."),
    ]
    markdown: fields.Markdown
    markdown_truncated: fields.IsCut
    markdown_hash: Annotated[fields.Sha256, doc("SHA-256 of `markdown` as UTF-8, in lower-case hex.")]
    previous_hash: Annotated[
        fields.Sha256 | None, doc("SHA-256 of the text that it was compared with. Null when there was none.")
    ]
    baseline: Annotated[
        Baseline,
        doc("What it was compared with: your `stored` last check, the text `supplied` in the request, or `none`."),
    ]
    since_cursor_found: fields.SinceCursorFound
    diff: Annotated[
        Diff | None,
        doc(
            "The changes. Null when there was nothing to compare with. With `ignore.texts` its lines are counted in the texts "
            "without the lines that are ignored."
        ),
    ]
    ignored_elements: Annotated[
        int | None,
        doc("How many elements of the page `ignore.selectors` took out. Null when there were no selectors."),
    ]
    last_checked_at: Annotated[
        Time | None, doc("When you last checked this page, ISO 8601 in UTC. Null the first time.")
    ]
    checked_at: Annotated[Time, doc("When the page was visited, ISO 8601 in UTC.")]
    cursor: fields.Cursor
    observation_id: fields.ObservationId


def run(request: Request, context: Context) -> Observed:
    """Visit the page."""
    found = visit(
        request.url,
        request.extract,
        context,
        previous_markdown=request.previous_markdown,
        since_cursor=request.since_cursor,
        ignore=request.ignore,
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
        kind=text.kind,
        coverage=text.coverage,
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
        ignored_elements=text.taken_out if request.ignore and request.ignore.selectors else None,
        last_checked_at=found.last.last_at if found.last else None,
        checked_at=found.at,
        cursor=found.snapshot.cursor,
        observation_id=found.snapshot.observation_id,
    )


def _subject(request: Request, site: Site) -> str:
    without = request.ignore.elements if request.ignore else ()
    return fields.subject(NAME, request.url, request.extract, site, without)


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
