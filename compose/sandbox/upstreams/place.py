"""The place of a sandbox's upstreams: their loopback address, the names that lead to it, and the settings for both."""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from compose.sandbox.upstreams.authority import Authority
from compose.sandbox.upstreams.ports import HTTP_PORT, HTTPS_PORT

_DOCUMENTS = Path(__file__).with_name("documents")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Place:
    """What the servers of one sandbox share.

    Attributes:
        address: a loopback address, 127.x.y.z, that nothing else uses: every server binds ports on it.
        folder: for files.
        names: hosts of the sandbox, all under example.com, example.net and example.org, and their addresses.
        settings: of the processes, without COINSLOT_: ``DNS_SERVER``, ``WHOIS_IANA``, ...
        sites: the applications that answer HTTP and HTTPS for a host, on HTTP_PORT and HTTPS_PORT.
    """

    address: str
    folder: Path
    authority: Authority = field(default_factory=Authority)
    names: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    sites: dict[str, Handler] = field(default_factory=dict)

    def add_site(self, host: str, handler: Handler) -> None:
        """Add an application that answers HTTP and HTTPS for a host."""
        self.names[host] = self.address
        self.sites[host] = handler


async def start_sites(place: Place) -> None:
    """Serve all sites that were added, until the event loop ends."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, web.Request)
        handler = place.sites.get(request.host.partition(":")[0].lower())
        return await handler(request) if handler else web.Response(status=404, text="no such site")

    if not place.sites:
        return
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, place.address, HTTP_PORT).start()
    trust: ssl.SSLContext = place.authority.identity(*place.sites).server_context()
    await web.TCPSite(runner, place.address, HTTPS_PORT, ssl_context=trust).start()


def document(name: str) -> str:
    """The text of a file that a server of the sandbox answers with."""
    return (_DOCUMENTS / name).read_text("utf-8")
