"""WHOIS servers of a sandbox: IANA's, a registry's, a registrar's, and one that refuses because of too many questions."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from compose.sandbox.upstreams.place import Place, document
from jobs.whois.endpoint import EXAMPLE_RECORD

IANA = "whois.iana.example.net"
REGISTRY = "whois.registry.example.net"
REGISTRAR = "whois.registrar.example.net"
BUSY = "whois.busy.example.net"

IANA_PORT = 4343
PORT = 4344
"""Port of the other servers. One server acts as all of them and answers by the requested domain."""

_TOP_LEVEL = {
    **dict.fromkeys(("com", "net", "org", "uk"), REGISTRY),
    **dict.fromkeys(("info", "biz"), BUSY),
    **dict.fromkeys(("app", "dev"), ""),
}
"""WHOIS server by top-level domain. The server of .info and .biz refuses every question. .app and .dev have no server, like a
growing number. rdap.py has RDAP for .app and .biz."""


def _record(name: str) -> str:
    return document(f"{name}.whois").replace("\n", "\r\n")


_NET_AT_THE_REGISTRAR = _record("example.net.registrar")
_RECORDS = {"example.com": EXAMPLE_RECORD} | {
    name: _record(name) for name in ("example.net", "example.org", "example.co.uk")
}


async def start(place: Place) -> None:
    """Serve until the event loop ends."""
    for name in (IANA, REGISTRY, REGISTRAR, BUSY):
        place.names[name] = place.address
    await asyncio.start_server(_answering(_iana), place.address, IANA_PORT)
    await asyncio.start_server(_answering(_registry), place.address, PORT)
    place.settings |= {"WHOIS_IANA": f"{IANA}:{IANA_PORT}", "WHOIS_PORT": str(PORT)}


def _iana(query: str) -> str:
    name = query.rpartition(".")[2].lower()
    if name not in _TOP_LEVEL:
        return "% IANA WHOIS server\n% This query returned 0 objects.\n"
    refer = f"refer:        {_TOP_LEVEL[name]}\n\n" if _TOP_LEVEL[name] else ""
    return f"% IANA WHOIS server\n% This query returned 1 object\n\n{refer}domain:       {name.upper()}\n\nsource:       IANA\n"


def _registry(query: str) -> str:
    # Verisign's way of asking for a domain and nothing else; a registrar is asked for the bare name.
    kind, _, domain = query.lower().rpartition(" ")
    if domain.endswith((".info", ".biz")):
        return "Query rate limit exceeded. Please try again later.\r\n"
    if domain == "example.net" and kind != "domain":
        return _NET_AT_THE_REGISTRAR
    return _RECORDS.get(domain) or f'No match for "{domain.upper()}".\r\n'


def _answering(answer: Callable[[str], str]) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, TimeoutError):
            async with asyncio.timeout(10):
                query = (await reader.readline()).decode("ascii", "replace").strip()
                writer.write(answer(query).encode())
                await writer.drain()
        writer.close()

    return serve
