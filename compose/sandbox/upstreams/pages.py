"""https://site.example.com:8443: pages of the kinds that a browser is needed for, and an ordinary article."""

import itertools
from collections import defaultdict
from collections.abc import Iterator

from aiohttp import web

from compose.sandbox.upstreams.place import Place, document

HOST = "site.example.com"

BERTHS = document("berths.html")
"""An article. It is the documented example of render-pro and web-diff."""
_PAGES = {
    "/berths": BERTHS,
    "/tides": document("tides.html"),  # the client renders it: its source has no text
    "/terms": document("terms.html"),  # it has a cookie wall
    "/log": document("log.html"),  # it scrolls without end: more entries come as soon as its end is seen
}
_TIDE_TABLE = document("tides.json")
_ARRIVALS = document("arrivals.html")
"""It changes at each visit: one boat more at the top, and the fourth goes."""

_BOATS = ("Alma", "Brise", "Calypso", "Dorade", "Esmeralda", "Fortuna", "Gannet", "Halcyon")
_LISTED = 3


async def start(place: Place) -> None:
    """Add the site."""
    visits: dict[str, Iterator[int]] = defaultdict(itertools.count)
    """Of each path with its query: who asks with a query of his own counts for himself."""

    async def answer(request: web.Request) -> web.Response:
        if request.path in _PAGES:
            return _page(_PAGES[request.path])
        if request.path == "/tides.json":
            return web.Response(text=_TIDE_TABLE, content_type="application/json")
        if request.path == "/arrivals":
            boats = arrived(next(visits[request.path_qs]))
            return _page(_ARRIVALS.format(items="".join(f"<li>{boat}</li>" for boat in boats)))
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
