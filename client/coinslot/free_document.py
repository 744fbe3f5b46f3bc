"""The server's free documents: the catalogue and the OpenAPI document."""

from __future__ import annotations

from coinslot.errors import CallFailed, Unreachable
from coinslot.exchange import ConnectionLost, Exchange


async def fetch(exchange: Exchange, url: str) -> bytes:
    """The content of a document.

    Raises:
        CallFailed: the server has no such document.
        Unreachable: the server did not answer.
    """
    try:
        reply = await exchange.send("GET", url)
    except ConnectionLost as lost:
        raise Unreachable(f"{url}: {lost}") from None
    if reply.status != 200:
        raise CallFailed(f"{url} answered {reply.status}", status=reply.status)
    return reply.body
