"""render-pro: the words of pages of each kind, on the layouts of tests/quality/layouts.py, of which none is set aside; and
walls of bot filters, which are no pages."""

import re
from collections.abc import Iterator

from lxml.html import fromstring

from jobs.engines.page.bot_wall import bot_wall
from jobs.engines.page.read_page import read
from jobs.engines.page.reading import Asked
from tests.quality.layouts import LAYOUTS
from tests.quality.scorer import Measure
from tests.quality.test_extraction import reading, score

_WALLS = (
    "Verify you are human by completing the action below.",
    "Press & Hold to confirm you are a human",
    "Access to this page has been denied.",
    "Checking your browser before accessing shop.example.",
    "Please enable JS and disable any ad blocker",
    "Performing security verification",
    "Drag the slider to verify",
    "Sorry, you have been blocked",
    "Bestätigen Sie, dass Sie ein Mensch sind.",
    "请完成安全验证",
)
_WALLS_SET_ASIDE = (
    "Are you a robot?",
    "Please complete the security check to access shop.example",
    "Let's make sure you're not a bot",
    "Human verification required",
    "Vérifiez que vous êtes humain",
    "Confirma que eres humano",
    "Verifica di essere umano",
    "We need to verify that you're human",
    "Swipe to confirm",
    "This request was blocked by our security service",
)
_PAGES = (
    "In stock: 24 jars",
    "Your order has been confirmed. Thank you!",
    "Please enter your e-mail address to continue",
    'This article explains what "Verify you are human" means.',
    "The film I, Robot is shown at eight.",
)
_PAGES_SET_ASIDE = (
    "Access is free for members.",
    "Please wait for the crew on the pier",
    "The robot and the human are friends",
    "Page not found",
    "Security checks at the airport take an hour",
)
_URL = "https://example.com/a/b"
_NAVIGATION = re.compile(r"<body>(.*)</body>", re.DOTALL)
_PARTS = [
    (
        "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    ("<p>Press <kbd>Ctrl</kbd> and <code>a | b</code>.</p>", "`a | b`"),
    ("<p>Call <code>open()</code> first.</p>", "Call `open()` first."),
    ("<table><tr><td><p>Left column of a page</p></td></tr></table>", "Left column of a page"),
    (
        "<table><thead><tr><th>x</th><th>z</th></tr></thead><tbody><tr><td><code>y</code></td><td>1</td></tr></tbody></table>",
        "| `y` | 1 |",
    ),
]
_LINKS = """<base href="/c/"><body>
<a href="d?x#y"><img src="i.png" alt=" An  image "></a><a href="https://other.example"> Other </a>
<a href="#top">top</a><a href="javascript:x()">no</a><img data-src="//cdn.example/late.jpg"><a href="../up">Up</a></body>"""
_LINKED = [
    ("https://example.com/c/d?x", "An image"),
    ("https://other.example", "Other"),
    ("https://example.com/up", "Up"),
    ("https://example.com/c/i.png", "An image"),
    ("https://cdn.example/late.jpg", None),
]


def measures(held_out: bool) -> Iterator[Measure]:
    """The mean F1 of each kind's layouts, and how many kinds were recognised."""
    walls, pages = (_WALLS_SET_ASIDE, _PAGES_SET_ASIDE) if held_out else (_WALLS, _PAGES)
    yield Measure("walls", len(walls), sum(map(_is_wall, walls)))
    yield Measure("no walls", len(pages), sum(not _is_wall(text) for text in pages))
    if held_out:
        return
    for kind in sorted({layout.kind for layout in LAYOUTS}):
        layouts = [layout for layout in LAYOUTS if layout.kind == kind]
        yield Measure(f"F1 of words, {kind}", len(layouts), sum(score(layout).f1 for layout in layouts))
    hidden = [layout._replace(html=_NAVIGATION.sub(r"<body><nav>\1</nav></body>", layout.html)) for layout in LAYOUTS]
    yield Measure(
        "not empty when all is navigation", len(hidden), sum(bool(reading(layout).markdown) for layout in hidden)
    )
    part = [_full(html) for html, _ in _PARTS]
    yield Measure(
        "tables and inline code in full", len(part), sum(map(str.__contains__, part, (text for _, text in _PARTS)))
    )
    read_links = read(
        Asked(html=_LINKS, source="", url=_URL, extract="text", query=None, with_links=True, with_images=True)
    )
    found = [(one.url, one.text) for one in read_links.links or ()] + [
        (one.url, one.alt) for one in read_links.images or ()
    ]
    yield Measure("links and images", len(_LINKED), sum(one in found for one in _LINKED))
    yield Measure("coverage is said", len(LAYOUTS), sum(reading(layout).coverage is not None for layout in LAYOUTS))
    yield Measure("kind", len(LAYOUTS), sum(reading(layout).kind == layout.kind for layout in LAYOUTS))


def _full(html: str) -> str:
    body = f"<html><body><p>The harbour has forty berths.</p>{html}</body></html>"
    return read(Asked(html=body, source="", url=_URL, extract="full", query=None)).markdown


def _is_wall(text: str) -> bool:
    root = fromstring(f"<html><head><title>site.example</title></head><body><h1>{text}</h1></body></html>")
    return bot_wall(root, None, text, status=200) is not None
