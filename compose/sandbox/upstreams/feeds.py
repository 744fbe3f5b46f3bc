"""https://feeds.example.com:8443: a feed of each kind, a feed that has moved, and a page that is not a feed."""

from aiohttp import web

from compose.sandbox.upstreams.place import Place, document

HOST = "feeds.example.com"

RSS, ATOM, RDF, PAGE = map(document, ("news.rss", "log.atom", "tides.rdf", "no-feed.html"))

_FILES = {
    "/": (PAGE, "text/html"),
    "/news.rss": (RSS, "application/rss+xml"),
    "/log.atom": (ATOM, "application/atom+xml"),
    "/tides.rdf": (RDF, "text/plain"),  # servers often do not know what they have
}


async def start(place: Place) -> None:
    """Add the site."""
    place.add_site(HOST, _answer)


async def _answer(request: web.Request) -> web.StreamResponse:
    if request.path == "/old.rss":
        return web.HTTPMovedPermanently("/news.rss")
    if request.path not in _FILES:
        return web.Response(status=404, text="no such feed")
    text, content_type = _FILES[request.path]
    return web.Response(text=text, content_type=content_type, charset="utf-8")
