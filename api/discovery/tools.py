"""The calls as tools of the MCP server: what tools/list, search_tools and describe_tool say of them."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from api.discovery.listing import Listing, published
from jobs import schemas
from shared.call_path import tool_name

SEARCH, DESCRIBE, CALL = "search_tools", "describe_tool", "call_tool"
CACHED = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"}
"""What results say that are the same for everybody until prices change."""
_WORD, _MOST_WORDS = re.compile(r"[a-z0-9]+"), 16
_NAME = msgspec.Meta(max_length=128, description="Name of a tool, as search_tools gives it.")


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of search_tools."""

    query: Annotated[
        str,
        msgspec.Meta(
            max_length=200, description="Words for what you need, such as: dns records. Empty finds all tools."
        ),
    ] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=100, description="How many tools to name at most.")] = 10


class Describe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of describe_tool."""

    name: Annotated[str, _NAME]


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of call_tool."""

    name: Annotated[str, _NAME]
    arguments: Annotated[
        msgspec.Raw,
        msgspec.Meta(description="Its arguments, as describe_tool says.", extra_json_schema={"type": "object"}),
    ] = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))


_FEW: Mapping[str, tuple[type[msgspec.Struct], str]] = {
    SEARCH: (Search, "Finds tools by words, with their prices. Free."),
    DESCRIBE: (Describe, "A tool's price, the schemas of its arguments and its answer, and an example. Free."),
    CALL: (Call, "Calls a tool. Costs that tool's price, which its challenge says; paid as if the tool were called."),
}


class Tools:
    """What is sold, as tools.

    Attributes:
        few: the answer to tools/list: the tools by which all others are found and called.
        every: the same with all tools that are sold publicly.

    Raises:
        ValueError: see `published`.
    """

    def __init__(self, listings: Sequence[Listing]) -> None:
        shown = published(listings)
        self.few = _listed([_few(name, *about) for name, about in _FEW.items()])
        self.every = _listed([_paid(one) for one in shown if tool_name(one.endpoint.name) not in _FEW])
        self._found = [(_item(listing), _text(listing)) for listing in shown]
        self._described = {
            name: msgspec.Raw(msgspec.json.encode(_described(listing)))
            for listing in shown
            for name in (listing.endpoint.name, tool_name(listing.endpoint.name))
        }

    def search(self, wanted: Search) -> msgspec.Raw:
        """The tools that have most of the words, the best first. A word in a tool's name counts twice."""
        words = _WORD.findall(wanted.query.lower())[:_MOST_WORDS]
        scored = [(sum((word in text) + (word in item["name"]) for word in words), item) for item, text in self._found]
        best = sorted((one for one in scored if one[0] or not words), key=lambda one: -one[0])
        found = [item for _, item in best]
        return msgspec.Raw(msgspec.json.encode({"tools": found[: wanted.limit], "total": len(found)}))

    def describe(self, wanted: Describe) -> msgspec.Raw | None:
        """All about one tool; None when there is none of this name."""
        return self._described.get(wanted.name)


def _listed(tools: Sequence[dict[str, Any]]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({**CACHED, "tools": tools}))


def _few(name: str, arguments: type[msgspec.Struct], description: str) -> dict[str, Any]:
    hints = {"readOnlyHint": name != CALL, "destructiveHint": False, "openWorldHint": name == CALL}
    return {
        "name": name,
        "description": description,
        "inputSchema": schemas.of(arguments),
        "annotations": hints,
    }


def _paid(listing: Listing) -> dict[str, Any]:
    # Without an output schema: clients drop answers that do not match it, and these are paid for.
    return {
        "name": tool_name(listing.endpoint.name),
        "description": f"{listing.endpoint.summary} Costs {listing.endpoint.price.text()} dollars a call.",
        "inputSchema": schemas.of(listing.endpoint.request),
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
    }


def _item(listing: Listing) -> dict[str, str]:
    endpoint = listing.endpoint
    return {"name": tool_name(endpoint.name), "priceDollars": endpoint.price.text(), "summary": endpoint.summary}


def _text(listing: Listing) -> str:
    endpoint = listing.endpoint
    return f"{endpoint.name} {endpoint.category.value} {endpoint.summary}".lower()


def _described(listing: Listing) -> dict[str, Any]:
    endpoint = listing.endpoint
    return {
        **_item(listing),
        "inputSchema": schemas.of(endpoint.request),
        "outputSchema": schemas.of(endpoint.response),
        "example": {"arguments": endpoint.example.request, "answer": endpoint.example.response},
        "failures": endpoint.failures,
        "sameOverHttp": listing.url,
    }
