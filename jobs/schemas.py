"""JSON Schema 2020-12 of a request or response Struct, with nothing left to resolve.

The schema is embedded in places that have different roots (a bazaar `schema`, an OpenAPI component, /.well-known/x402),
and indexers cut it out of them, so every reference is replaced by what it points at.
"""

import functools
from collections.abc import Mapping
from typing import Any

import msgspec

from shared.endpoint import EXTRA_JSON_SCHEMA

Schema = dict[str, Any]

MOST_WORDS = 64
"""How long an `enum` may be in a challenge."""

# Where msgspec puts schemas inside a schema. All else (enum, default, Meta's extra_json_schema) is copied as it is.
_ONE = ("items", "additionalProperties", "propertyNames")
_MANY = ("anyOf", "prefixItems")
_NAMED = ("properties",)

# Of the values that msgspec allows in an enum.
_JSON_TYPES = {str: "string", int: "integer", type(None): "null"}


@functools.cache  # several documents show each schema, and are built again while calls are answered
def of(struct: type[msgspec.Struct], *, described: bool = True) -> Schema:
    """The schema of a Struct's JSON form, self-contained and without `$schema`. Every call returns the same object.

    Class names never appear: every request is called `Request`, and a reader would take that for the name of a type.
    The first paragraph of a Struct's docstring is its description, for a field too that has no text of its own.

    Args:
        described: False leaves out every description.

    Raises:
        ValueError: the Struct contains itself, which cannot be written without references.
    """
    (root,), components = msgspec.json.schema_components((struct,), ref_template="{name}")
    return _inlined(root, components, (), described) | getattr(struct, EXTRA_JSON_SCHEMA, {})


@functools.cache
def brief(struct: type[msgspec.Struct]) -> Schema:
    """As `of`, without lists of more than MOST_WORDS words, which OpenAPI documents have. For places where each byte counts.
    Every call returns the same object."""
    return _without_long_lists(of(struct))


def _without_long_lists(schema: Schema) -> Schema:
    return {
        key: _without_long_lists(value)
        if isinstance(value, dict)
        else [_without_long_lists(one) for one in value]
        if key in _MANY
        else value
        for key, value in schema.items()
        if not (key == "enum" and len(value) > MOST_WORDS)
    }


@functools.cache
def outline(struct: type[msgspec.Struct]) -> Schema:
    """The members of a Struct's JSON form and their types, and nothing that is inside them.

    Every instance of the whole schema is an instance of the outline. For places where each byte counts. Every call returns the
    same object.
    """
    whole = of(struct, described=False)
    result: Schema = {"type": "object", "properties": {}}
    for name, member in whole["properties"].items():
        types = _types(member)
        result["properties"][name] = {"type": types[0] if len(types) == 1 else types} if types else {}
    if "required" in whole:
        result["required"] = whole["required"]
    return result


def _types(schema: Schema) -> list[str]:
    """The JSON types that an instance may have, each once. Empty: any."""
    if "anyOf" in schema:
        options = [_types(option) for option in schema["anyOf"]]
        found = [name for option in options for name in option] if all(options) else []
    elif "enum" in schema:
        found = [_JSON_TYPES[type(value)] for value in schema["enum"]]
    else:
        declared = schema.get("type", [])
        found = [declared] if isinstance(declared, str) else declared
    return list(dict.fromkeys(found))


def _inlined(schema: Schema, components: Mapping[str, Schema], inside: tuple[str, ...], described: bool) -> Schema:
    """A copy of `schema` in which no reference is left. `inside` names the components that are being written."""
    result = dict(schema)
    name = result.pop("$ref", None)
    if name is not None:
        if name in inside:
            raise ValueError(
                f"{' > '.join((*inside, name))}: a Struct that contains itself has no schema without references"
            )
        # What stands beside a reference (a field's description, its default) speaks of this place, so it wins.
        result = _component(components[name]) | result
        inside = (*inside, name)
    # `maxItems` says of a tuple what `items: false` says, and generators want a schema there that is no `false`.
    if result.get("items") is False and result.get("maxItems") == len(result["prefixItems"]):
        kinds = [kind for at, kind in enumerate(result["prefixItems"]) if kind not in result["prefixItems"][:at]]
        result["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    # Generators of TypeScript take an object of which nothing is said for one that must be empty.
    if result.get("type") == "object" and "properties" not in result:
        result.setdefault("additionalProperties", True)
    # An OpenAPI hint that maps tags to references; the tags' own `enum` says the same.
    tag = result.pop("discriminator", {}).get("propertyName")
    if not described:
        result.pop("description", None)
    for key in _ONE:
        if isinstance(result.get(key), dict):
            result[key] = _inlined(result[key], components, inside, described)
    for key in _MANY:
        if key in result:
            result[key] = [_inlined(option, components, inside, described) for option in result[key]]
    if tag and described:
        for option in result["anyOf"]:  # a tag is no field of its Struct, which could describe it
            option["properties"][tag] = {"description": "The kind of this object.", **option["properties"][tag]}
    _describe_the_whole(result)
    for key in _NAMED:
        if key in result:
            result[key] = {
                field: _inlined(value, components, inside, described) for field, value in result[key].items()
            }
    return result


def _describe_the_whole(schema: Schema) -> None:
    """Move the description of `X` in `X | None` up to the field, which is where forms and agents look for it."""
    kinds = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(kinds) == 1 and "description" in kinds[0]:
        description = kinds[0].pop("description")
        schema.setdefault("description", description)


def _component(schema: Schema) -> Schema:
    """A component without the class's name, with its docstring cut to the first paragraph, on one line."""
    result = {key: value for key, value in schema.items() if key != "title"}
    if "description" in result:
        result["description"] = " ".join(result["description"].split("\n\n", 1)[0].split())
    if result.get("required") == []:
        del result["required"]
    return result
