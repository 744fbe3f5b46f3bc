"""Runs the upstreams of one sandbox: `python -m compose.sandbox.upstreams 127.77.1.2 var/upstreams`.

When all servers listen, it writes one line of JSON to stdout: the settings that lead to them.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from compose.sandbox.upstreams import feeds, names, pages, rdap, shop, whois
from compose.sandbox.upstreams.captions import start_captions
from compose.sandbox.upstreams.place import Place, start_sites
from compose.sandbox.upstreams.tls import start_tls

# Sites must be added before they are served. Names are looked up at each question.
UPSTREAMS: Sequence[Callable[[Place], Awaitable[None]]] = (
    names.start,
    start_captions,
    feeds.start,
    pages.start,
    shop.start,
    start_tls,
    whois.start,
    rdap.start,
    start_sites,
)


async def serve(place: Place) -> None:
    """Start all servers, print the settings, and serve for ever."""
    for start in UPSTREAMS:
        await start(place)
    place.settings |= {
        "CA_FILE": str(place.authority.write_root(place.folder / "ca.pem")),
        "EGRESS_ALLOW": f"{place.address}/32",
    }
    print(json.dumps(place.settings), flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve until the parent ends it."""
    address, folder = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    asyncio.run(serve(Place(address, Path(folder))))


if __name__ == "__main__":
    main()
