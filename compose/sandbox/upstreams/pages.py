"""https://site.example.com:8443: pages of the kinds that a browser is needed for, and an ordinary article."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

from aiohttp import web

from compose.sandbox.upstreams.place import Place

HOST = "site.example.com"

BERTHS = """\
<!doctype html>
<html lang="en-GB"><head><title>Berths and their prices</title>
<link rel="canonical" href="/berths"><meta name="author" content="Ann Chor">
<meta property="article:published_time" content="2026-11-02T08:00:00+01:00"></head>
<body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/contact">Contact</a></li></ul></nav>
<main><article><h1>Berths and their prices</h1>
<p>The harbour has forty berths for visitors, and every one of them has water and power on the quay.</p>
<h2>Prices</h2>
<p>A night costs 24 euros for a boat of up to ten metres, and each further metre costs two euros more.</p>
<p>Who stays for a week pays for six nights. The office takes cards, and coins for the showers.</p>
</article></main>
<footer><p>Harbour Office, Quay 1</p></footer>
</body></html>
"""
"""An article. It is the documented example of render-pro and web-diff."""

TIDES = """\
<!doctype html>
<html lang="en-GB"><head><title>Tides</title></head>
<body><main id="app"></main><noscript>This page needs JavaScript.</noscript>
<script>
fetch("/tides.json").then((answer) => answer.json()).then((tides) => {
  const article = document.createElement("article");
  article.innerHTML = "<h1>Tides of the day</h1>" + tides.map((tide) =>
    `<p>${tide.name} is at ${tide.time}, and the water then stands ${tide.metres} metres above the sill of the lock.</p>`
  ).join("");
  document.getElementById("app").append(article);
});
</script></body></html>
"""
"""Rendered by the client: its source has no text."""

TIDE_TABLE = [
    {"name": "The first high water", "time": "03:12", "metres": 4.1},
    {"name": "The first low water", "time": "09:25", "metres": 0.8},
    {"name": "The second high water", "time": "15:40", "metres": 4.3},
]

ARRIVALS = """\
<!doctype html>
<html lang="en-GB"><head><title>Arrivals</title></head>
<body><main><article><h1>Arrivals</h1>
<p>This list has the last boats that came into the harbour, with the newest of them at the top.</p>
<ul>{items}</ul>
<p>Who arrives after ten in the evening ties up at the waiting pontoon and reports in the morning.</p>
</article></main></body></html>
"""
"""It changes at each visit: one boat more at the top, and the fourth goes."""

TERMS = """\
<!doctype html>
<html lang="en-GB"><head><title>Harbour rules</title>
<style>#consent { position: fixed; inset: 0; background: white; padding: 4em; z-index: 9 } body { overflow: hidden }</style>
</head>
<body>
<div id="consent" role="dialog" aria-modal="true" class="cookie-consent">
<h2>We value your privacy</h2>
<p>We and our 214 partners use cookies to measure visits and to show you advertisements that fit your interests.</p>
<button>Accept all cookies</button> <button>Reject all cookies</button></div>
<main><article><h1>Harbour rules</h1>
<p>The speed limit within the harbour walls is three knots, and under sail it applies as well.</p>
<p>Engines are not run before seven in the morning unless the boat leaves its berth at once.</p>
<p>Waste is taken at the quay beside the office, where it is sorted by glass, paper, oil and everything else.</p>
</article></main></body></html>
"""
"""Behind a cookie wall."""

LOG = """\
<!doctype html>
<html lang="en-GB"><head><title>Harbour log</title></head>
<body><main><article><h1>Harbour log</h1><div id="log"></div></article><p id="end">Loading more entries</p></main>
<script>
let day = 0;
function more() {
  for (let i = 0; i < 10; i++) {
    day += 1;
    const entry = document.createElement("p");
    entry.textContent = `On day ${day} the watch saw nothing that was worth more than this one sentence in the log.`;
    document.getElementById("log").append(entry);
  }
}
more();
new IntersectionObserver((seen) => { if (seen[0].isIntersecting) more(); }).observe(document.getElementById("end"));
addEventListener("scroll", more);
</script></body></html>
"""
"""It scrolls without end: more entries come as soon as its end is seen."""

_BOATS = ("Alma", "Brise", "Calypso", "Dorade", "Esmeralda", "Fortuna", "Gannet", "Halcyon")
_LISTED = 3


async def start(place: Place) -> None:
    """Add the site."""
    visits: dict[str, Iterator[int]] = defaultdict(itertools.count)
    """Of each path with its query: who asks with a query of his own counts for himself."""

    async def answer(request: web.Request) -> web.Response:
        match request.path:
            case "/berths":
                return _page(BERTHS)
            case "/tides":
                return _page(TIDES)
            case "/tides.json":
                return web.json_response(TIDE_TABLE)
            case "/arrivals":
                boats = arrived(next(visits[request.path_qs]))
                return _page(ARRIVALS.format(items="".join(f"<li>{boat}</li>" for boat in boats)))
            case "/terms":
                return _page(TERMS)
            case "/log":
                return _page(LOG)
            case _:
                return web.Response(status=404, text="<h1>Not found</h1>", content_type="text/html")

    place.add_site(HOST, answer)


def arrived(visit: int) -> list[str]:
    """The boats on the page of arrivals at a visit, the newest first. Visits are counted from 0."""
    return [
        f"{_BOATS[number % len(_BOATS)]}, boat {number} of the year, came in with a crew of two"
        for number in range(visit + _LISTED, visit, -1)
    ]


def _page(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")
