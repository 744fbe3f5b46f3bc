"""The server's free documents: the catalogue and the OpenAPI document."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from coinslot.address import checked_base
from coinslot.errors import CallFailed, Unreachable
from coinslot.exchange import ConnectionLost, Exchange

T = TypeVar("T")


async def fetch(exchange: Exchange, base_url: str, path: str, decode: Callable[[bytes], T], *, kind: str) -> T:
    """A document, decoded.

    Args:
        kind: of document, for the error.

    Raises:
        CallFailed: the server has no such document, or it has another form.
        Unreachable: the server did not answer.
    """
    url = checked_base(base_url) + path
    try:
        reply = await exchange.send("GET", url)
    except ConnectionLost as lost:
        raise Unreachable(f"{url}: {lost}") from None
    if reply.status != 200:
        raise CallFailed(f"{url} answered {reply.status}", status=reply.status)
    try:
        return decode(reply.body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError, KeyError, AttributeError):
        raise CallFailed(f"{url} is not {kind}", status=200) from None
