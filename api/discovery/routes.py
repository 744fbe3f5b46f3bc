"""The routes of discovery: its documents, and the bazaar's list in parts."""

import re
from collections.abc import Mapping
from typing import Any

from litestar import HttpMethod, MediaType, Request, Response, route
from litestar.handlers import BaseRouteHandler

from api.discovery.catalogue import DEFAULT_LIMIT, MAX_LIMIT, Catalogue, Filters
from api.errors import Problem
from api.stored import answer

RESOURCES = "/discovery/resources"
MAX_OFFSET = 999_999_999

_METHODS = [HttpMethod.GET, HttpMethod.HEAD]
_CACHE = {"Cache-Control": "public, max-age=60"}


def routes(catalogue: Catalogue) -> list[BaseRouteHandler]:
    """The routes of a catalogue."""

    def served(path: str) -> BaseRouteHandler:
        @route(path, http_method=_METHODS, media_type=MediaType.JSON, sync_to_thread=False)
        def document(request: Request[Any, Any, Any]) -> Response[bytes]:
            return answer(request, catalogue.documents[path], MediaType.JSON, _CACHE)

        return document

    @route(RESOURCES, http_method=_METHODS, media_type=MediaType.JSON, sync_to_thread=False)
    def resources(request: Request[Any, Any, Any]) -> Response[bytes]:
        asked = request.query_params
        filters = Filters(
            kind=asked.get("type"),
            pay_to=asked.get("payTo"),
            network=asked.get("network"),
            scheme=asked.get("scheme"),
            extension=asked.get("extensions"),
        )
        body = catalogue.resources(
            filters,
            limit=_number(asked, "limit", DEFAULT_LIMIT, least=1, most=MAX_LIMIT),
            offset=_number(asked, "offset", 0, least=0, most=MAX_OFFSET),
        )
        return Response(body, media_type=MediaType.JSON, headers=_CACHE)

    return [*map(served, catalogue.documents), resources]


def _number(asked: Mapping[str, str], name: str, default: int, *, least: int, most: int) -> int:
    """A parameter of the query. Raises Problem."""
    text = asked.get(name)
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,9}", text, re.ASCII) or not least <= int(text) <= most:
        raise Problem(code="invalid_url", detail=f"{name} is a whole number from {least} to {most}.", field=name)
    return int(text)
