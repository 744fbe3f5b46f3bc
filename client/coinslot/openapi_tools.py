"""The calls of a server as tools: names, prices and JSON Schemas, from its OpenAPI document."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import msgspec

from coinslot import free_document
from coinslot.exchange import Exchange
from shared.call_path import split, tool_name
from shared.money import Price

_COMPONENTS = "#/components/schemas/"
_DEFINITIONS = "#/$defs/"
_MAX_DEPTH = 100
JSON = "application/json"


class Unusable(ValueError):
    """A schema is not one that we take."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A call of the server.

    Attributes:
        name: of the tool.
        endpoint: of the call.
        price: in dollars, as the document says. The challenge is the authority.
        input_schema: of the body, an object. It takes no other members than those that it names.
        output_schema: of the answer; None when it is no object.
    """

    name: str
    endpoint: str
    summary: str
    price: Price | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None

    def refusal(self, arguments: dict[str, Any]) -> str:
        """Why the call's body is wrong; empty when it is right."""
        return refusal(self.input_schema, arguments)


async def fetch(exchange: Exchange, base_url: str) -> tuple[Tool, ...]:
    """The tools of the server, in its order. Calls whose schemas cannot be used are left out.

    Raises:
        CallFailed, Unreachable: as free_document.fetch.
    """
    return await free_document.fetch(
        exchange,
        base_url,
        "/openapi.json",
        lambda content: tools_of(msgspec.json.decode(content, type=dict[str, Any])),
        kind="an OpenAPI document of paid calls",
    )


def tools_of(document: dict[str, Any]) -> tuple[Tool, ...]:
    """The tools of an OpenAPI document. Raises TypeError, KeyError, AttributeError: it has another form."""
    components = document.get("components", {}).get("schemas", {})
    tools: dict[str, Tool] = {}
    for path, operations in document["paths"].items():
        base, name = split(path)
        if base or not name or "post" not in operations:
            continue
        try:
            tool = _tool(name, operations["post"], components)
        except Unusable:
            continue
        tools.setdefault(tool.name, tool)
    return tuple(tools.values())


def refusal(schema: dict[str, Any], value: object) -> str:
    """Why a value does not match a schema; empty when it does."""
    try:
        jsonschema_rs.validator_for(schema).validate(value)
    except jsonschema_rs.ValidationError as error:
        where = "/".join(map(str, error.instance_path))
        return f"{where}: {error.message}"[:500] if where else error.message[:500]
    return ""


def narrowed(schema: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The schema of an object with only these members. Raises Unusable: it has none of them."""
    properties = schema.get("properties")
    kept = {name: properties[name] for name in names if name in properties} if isinstance(properties, dict) else {}
    if not kept:
        raise Unusable("the object has no such member")
    required = [name for name in schema.get("required", ()) if name in kept]
    return _with_definitions({**schema, "properties": kept, "required": required}, schema.get("$defs", {}))


def _tool(endpoint: str, operation: dict[str, Any], components: dict[str, Any]) -> Tool:
    body = _schema(operation.get("requestBody", {}), components) or {"type": "object", "properties": {}}
    if body.get("type") != "object":
        raise Unusable("the body is not an object")
    answer = _schema(operation["responses"].get("200", {}), components)
    return Tool(
        name=tool_name(endpoint),
        endpoint=endpoint,
        summary=" ".join(str(operation.get("summary", "")).split()),
        price=_price(operation),
        input_schema={"additionalProperties": False, **body},
        output_schema=answer if answer and answer.get("type") == "object" else None,
    )


def _schema(part: dict[str, Any], components: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of a request or response, complete in itself. Raises Unusable."""
    schema = part.get("content", {}).get(JSON, {}).get("schema")
    if schema is None:
        return None
    definitions: dict[str, Any] = {}
    found = _copied(schema, components, definitions, 0)
    while isinstance(found, dict) and set(found) == {"$ref"}:
        found = definitions[found["$ref"].removeprefix(_DEFINITIONS)]
    if not isinstance(found, dict):
        raise Unusable("not a schema")
    complete = _with_definitions(found, definitions)
    try:
        jsonschema_rs.validator_for(complete)
    except (ValueError, jsonschema_rs.ValidationError):
        raise Unusable("not a schema") from None
    return complete


def _with_definitions(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema with those definitions that it or one of them refers to."""
    rest = {name: value for name, value in schema.items() if name != "$defs"}
    used = {name for name in definitions if f'"{_DEFINITIONS}{name}"' in _text([rest, definitions])}
    return {**rest, "$defs": {name: definitions[name] for name in sorted(used)}} if used else rest


def _copied(value: Any, components: dict[str, Any], definitions: dict[str, Any], depth: int) -> Any:
    """A copy that refers to `definitions`, to which it adds. Following any other reference could mean a request."""
    if depth > _MAX_DEPTH:
        raise Unusable("the schema is too deep")
    if isinstance(value, list):
        return [_copied(one, components, definitions, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    for keyword in ("$dynamicRef", "$recursiveRef", "$id", "$schema"):
        if isinstance(value.get(keyword), str):
            raise Unusable(f"{keyword} is not taken")
    target = value.get("$ref")
    copy = {key: _copied(one, components, definitions, depth + 1) for key, one in value.items()}
    if isinstance(target, str):
        name = target.removeprefix(_COMPONENTS)
        if name == target or name not in components:
            raise Unusable("a reference leads out of the document")
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _copied(components[name], components, definitions, depth + 1)
        copy["$ref"] = _DEFINITIONS + name
    return copy


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _price(operation: dict[str, Any]) -> Price | None:
    """Of `x-payment-info`, the profile that x402scan reads."""
    try:
        return Price.of(operation["x-payment-info"]["price"]["amount"])
    except (KeyError, TypeError, ValueError):
        return None
