"""Whether the client of an HTTP request has closed its connection, before the answer to its call was there."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

_HAS_GONE = "coinslot.client_has_gone"

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


def watched(app: App) -> App:
    """An ASGI application that notes it in the request's scope. It notes what the application itself waits for."""

    async def watching(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                scope[_HAS_GONE] = True
            return message

        await app(scope, received, send)

    return watching


def has_gone(request: object) -> bool:
    """Whether the client of a request has gone; False for what is no HTTP request.

    Args:
        request: Starlette's, or None.
    """
    scope = getattr(request, "scope", None)
    return isinstance(scope, MutableMapping) and scope.get(_HAS_GONE) is True
