"""The bazaar: the extension by which facilitators index a call, and /bazaar.json.

Source: specs/extensions/bazaar.md of x402-foundation/x402.
"""

import enum
from collections.abc import Sequence
from typing import Any

import msgspec

from api.discovery.listing import Listing, published, resource, tool_resource
from jobs import schemas
from shared.call_path import tool_name
from shared.endpoint import Endpoint
from shared.x402.wire import BAZAAR, X402_VERSION, Resource

KEY = BAZAAR
"""The extension's key in a challenge's `extensions`."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
HTTP, MCP = "http", "mcp"
"""The types of resources: each call is sold as both."""


class Detail(enum.IntEnum):
    """How much the extension says of the answer, at last of the request, too. A challenge that would be too long says less."""

    OUTLINE_AND_EXAMPLE = 0
    OUTLINE = 1
    NOTHING = 2
    NOTHING_OF_EITHER = 3


def extension(endpoint: Endpoint, detail: Detail = Detail.OUTLINE_AND_EXAMPLE) -> dict[str, Any]:
    """``{"info": …, "schema": …}``: how to call the endpoint, and the JSON Schema that `info` validates against.

    It travels in the 402's headers and comes back in the payment's, and some proxies take 8 KB of headers altogether. With its
    whole schema, a rich answer such as tx-explain's makes a header of 8.7 KB on five rails (measured), with an outline 6.2 KB.
    So the answer is outlined here: the example shows what is inside, and the OpenAPI document has all of it. Nor is the list of
    faker's 241 methods here.

    Raises:
        ValueError: the endpoint is unlisted. A facilitator would index it, which is what unlisted means to prevent.
    """
    _require_listed(endpoint)
    output: dict[str, Any] = {"type": "json"}
    output_properties: dict[str, Any] = {"type": {"type": "string"}, "example": {"type": "object"}}
    if detail is Detail.OUTLINE_AND_EXAMPLE:
        output["example"] = endpoint.example.response
    if detail <= Detail.OUTLINE:
        output_properties["example"] = schemas.outline(endpoint.response)
    is_brief = detail <= Detail.NOTHING
    return {
        "info": {
            "input": {"type": HTTP, "method": "POST", "bodyType": "json", "body": endpoint.example.request},
            "output": output,
        },
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "const": HTTP},
                        "method": {"type": "string", "enum": ["POST"]},
                        "bodyType": {"type": "string", "enum": ["json"]},
                        "body": schemas.brief(endpoint.request) if is_brief else {"type": "object"},
                    },
                    "required": ["type", "method", "bodyType", "body"],
                    "additionalProperties": False,
                },
                "output": {
                    "type": "object",
                    "properties": output_properties,
                    "required": ["type"],
                },
            },
            "required": ["input"],
        },
    }


def tool_extension(endpoint: Endpoint) -> dict[str, Any]:
    """As `extension`, of the call as a tool of the MCP server. The tool is named by it, because all have one address.

    Raises:
        ValueError: the endpoint is unlisted.
    """
    _require_listed(endpoint)
    return {
        "info": {
            "input": {
                "type": MCP,
                "toolName": tool_name(endpoint.name),
                "inputSchema": schemas.brief(endpoint.request),
                "example": endpoint.example.request,
            },
            "output": {"type": "json"},
        },
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "const": MCP},
                        "toolName": {"type": "string", "const": tool_name(endpoint.name)},
                        "inputSchema": {"type": "object"},
                        "example": {"type": "object"},
                    },
                    "required": ["type", "toolName", "inputSchema"],
                    "additionalProperties": False,
                },
                "output": {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]},
            },
            "required": ["input"],
        },
    }


def _require_listed(endpoint: Endpoint) -> None:
    if not endpoint.listed:
        raise ValueError(f"{endpoint.name} is unlisted: its challenge must not carry the bazaar extension")


def catalogue_document(listings: Sequence[Listing], last_updated: int) -> dict[str, Any]:
    """/bazaar.json, in the shape of a facilitator's answer to GET /discovery/resources, on one page.

    Args:
        last_updated: Unix seconds.
    """
    found = [item for _, item in items(listings, last_updated)]
    return page(found, limit=len(found), offset=0, total=len(found))


def items(listings: Sequence[Listing], last_updated: int) -> list[tuple[Listing, dict[str, Any]]]:
    """Of each listed call: first all as HTTP calls, then all as tools."""
    shown = published(listings)
    calls = [(one, _item(one, HTTP, resource(one), extension(one.endpoint), last_updated)) for one in shown]
    tools = [(one, _item(one, MCP, tool_resource(one), tool_extension(one.endpoint), last_updated)) for one in shown]
    return calls + tools


def page(shown: Sequence[Any], *, limit: int, offset: int, total: int) -> dict[str, Any]:
    """A facilitator's answer to GET /discovery/resources: these items, of `total` that there are."""
    return {
        "x402Version": X402_VERSION,
        "items": shown,
        "pagination": {"limit": limit, "offset": offset, "total": total},
    }


def _item(
    listing: Listing, kind: str, described_as: Resource, indexed: dict[str, Any], last_updated: int
) -> dict[str, Any]:
    described = msgspec.to_builtins(described_as)
    return {
        # Here the resource is its address, and the rest of the challenge's `resource` object stands beside it.
        "resource": described.pop("url"),
        "type": kind,
        "x402Version": X402_VERSION,
        "accepts": msgspec.to_builtins(listing.offers),
        "lastUpdated": last_updated,
        **described,
        "extensions": {KEY: indexed},
    }
