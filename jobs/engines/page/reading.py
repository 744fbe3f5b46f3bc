"""What the calculations that read a page are given, and what they return."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from jobs.engines.page.evidence import Focus, evidence
from jobs.engines.page.kinds import Kind
from jobs.engines.page.links import Image, Link
from jobs.engines.page.metadata import Metadata
from jobs.engines.page.text import bounded, normalised, sha256

Extract = Literal["article", "full", "text"]
"""`article`: the main text as Markdown. `full`: all that the page shows, as Markdown. `text`: the same without Markdown's
signs."""

Method = Literal["precision", "default", "main", "body"]

_SIGNS = str.maketrans("", "", "*_`~#>|\\-")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A page to read.

    Args:
        html: the DOM after the scripts have run.
        source: the document before any script ran; "" when it is not known.
        url: of the page itself.
        status: the HTTP status that it came with.
        query: what evidence is looked for; None for none.
        without: CSS selectors of elements that are taken out before.
        with_links, with_images: whether the page's links and images are wanted.
    """

    html: str
    source: str
    url: str
    status: int = 200
    extract: Extract
    query: str | None
    without: tuple[str, ...] = ()
    with_links: bool = False
    with_images: bool = False


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says.

    Attributes:
        markdown: normalised, of whole blocks, at most 60,000 code points.
        is_truncated: there was more.
        method: how it was found: `precision` and `default` are trafilatura's modes; `main` is the main text by the page's
            structure; `body` is all that the page shows.
        kind: what the page was taken for; None when it was read without a tree.
        coverage: the share of the page's main text that was found, from 0 to 1, before it was cut; None as with `kind`.
        from_source: it was read from the document before any script ran, because scripts had removed most of it.
        text_hash: SHA-256 of the text without Markdown's signs, white space collapsed.
        html_hash: SHA-256 of the markup without what changes at every load (jobs/engines/page/markup.py); None when it was
        not read.
        wall: whose wall the page is, when it is no page (jobs/engines/page/bot_wall.py).
        taken_out: how many elements the selectors have found.
        links, images: of the page; None when they were not wanted, or the page was read without a tree.
    """

    markdown: str
    is_truncated: bool
    method: Method
    kind: Kind | None
    coverage: float | None
    from_source: bool
    markdown_hash: str
    text_hash: str
    html_hash: str | None
    metadata: Metadata
    focus: Focus | None
    wall: str | None
    taken_out: int
    links: list[Link] | None
    images: list[Image] | None


def examples() -> Iterator[bytes]:
    """A page with every kind of block, read with and without Markdown, and pages whose text is found in other ways."""
    pages: tuple[tuple[str, Extract], ...] = (
        (_EXAMPLE.replace("TYPE", "Article"), "article"),
        (_EXAMPLE.replace("TYPE", "Product"), "article"),
        (_EXAMPLE.replace("TYPE", "Article"), "full"),
        (_EXAMPLE.replace("TYPE", "Article"), "text"),
    )
    for html, extract in pages:
        asked = Asked(
            html=html,
            source=html,
            url="https://shop.example/",
            extract=extract,
            query="tea",
            without=("nav",),
            with_links=True,
            with_images=True,
        )
        yield msgspec.msgpack.encode(asked)


_EXAMPLE = """<!doctype html><html lang="en">
<head><title>A shop</title><meta name="description" content="Tea, and cups.">
<link rel="canonical" href="https://shop.example/tea"><script type="application/ld+json">{"@type": "TYPE"}</script></head>
<body><nav><a href="/">Home</a></nav><article><h1>Tea</h1><p>Green tea is <b>4 dollars</b> a cup, and black tea is three.
A pot is for two, and who stays for the afternoon gets the second one for $2. Cups are made here, of clay from the river.</p>
<ul><li>one</li><li>two</li></ul><table><tr><th>a</th></tr><tr><td>1</td></tr></table>
<pre>x = 1</pre></article></body></html>"""


def reading(
    asked: Asked,
    text: str,
    *,
    method: Method,
    from_source: bool,
    metadata: Metadata,
    html_hash: str | None,
    wall: str | None = None,
    taken_out: int = 0,
    kind: Kind | None = None,
    coverage: float | None = None,
    links: list[Link] | None = None,
    images: list[Image] | None = None,
) -> Reading:
    """Bound and hash a text that was found, and look for evidence in what is returned."""
    markdown, is_truncated = bounded(normalised(text))
    return Reading(
        markdown=markdown,
        is_truncated=is_truncated,
        method=method,
        kind=kind,
        coverage=coverage,
        from_source=from_source,
        markdown_hash=sha256(markdown),
        text_hash=sha256(" ".join(markdown.translate(_SIGNS).split())),
        html_hash=html_hash,
        metadata=metadata,
        focus=None if asked.query is None else evidence(markdown, asked.query),
        wall=wall,
        taken_out=taken_out,
        links=links,
        images=images,
    )
