"""https://rdap.registry.example.net:8443: the RDAP server of .app and .biz, and the bootstrap file that names it."""

import json

from aiohttp import web

from compose.sandbox.upstreams.place import Place, document
from compose.sandbox.upstreams.ports import HTTPS_PORT

HOST = "rdap.registry.example.net"
TOPS = ("app", "biz")

_RECORD = document("domain.rdap.json")
_MEDIA_TYPE = "application/rdap+json"
_REGISTERED = {f"example.{top}" for top in TOPS}
_NOT_FOUND = {"errorCode": 404, "title": "Not Found", "description": ["The domain was not found."]}
_RESERVED = {"errorCode": 404, "title": "Not Found", "description": ["This name is reserved by the registry."]}


async def start(place: Place) -> None:
    """Add the site, and write the bootstrap file."""
    place.add_site(HOST, _answer)
    file = place.folder / "rdap_bootstrap.json"
    services = [[list(TOPS), [f"https://{HOST}:{HTTPS_PORT}/"]]]
    file.write_text(json.dumps({"version": "1.0", "publication": "2026-11-20T00:00:00Z", "services": services}))
    place.settings["RDAP_BOOTSTRAP"] = str(file.resolve())


async def _answer(request: web.Request) -> web.StreamResponse:
    name = request.path.removeprefix("/domain/").lower()
    if name == "moved.app":
        return web.HTTPTemporaryRedirect("/domain/example.app")
    if name == "elsewhere.app":
        return web.HTTPTemporaryRedirect("https://site.example.com:8443/domain/elsewhere.app")
    if name == "busy.app":
        return web.Response(status=429)
    if name == "lost.app":  # a gateway that does not know the path
        return web.json_response({"message": "no Route matched"}, status=404)
    if name == "bare.app":
        return web.Response(status=404, content_type=_MEDIA_TYPE)
    if name in _REGISTERED:
        return web.Response(text=_RECORD.replace("example.app", name), content_type=_MEDIA_TYPE)
    error = _RESERVED if name.startswith("reserved.") else _NOT_FOUND
    return web.Response(text=json.dumps(error), status=404, content_type=_MEDIA_TYPE)
