"""echo: returns the message it was sent. It is the cheapest way to see a payment work."""

from typing import Annotated

import msgspec

from jobs.fields import Ok, doc
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price


class Request(msgspec.Struct, frozen=True, rename="camel"):
    message: Annotated[str, msgspec.Meta(max_length=500, description="Text to say back.")] | None = None


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Ok
    service: Annotated[str, doc("The name of this service: `coinslot`.")]
    you_sent: Annotated[str | None, doc("The message of the request, unchanged. Null when the request had none.")]


def run(request: Request, context: Context) -> Response:
    """Return the message."""
    return Response(ok=True, service="coinslot", you_sent=request.message)


ENDPOINT = Endpoint(
    name="echo",
    price=Price.of("0.001"),
    category=Category.UTILITY,
    pool=Pool.MICRO,
    deadline_s=5,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary="Says back the message it was sent. The cheapest way to see a paid call work.",
    example=Example(request={"message": "hello"}, response={"ok": True, "service": "coinslot", "youSent": "hello"}),
    run=run,
    body_optional=True,
)
