"""JSON Schemas stand alone, say what msgspec enforces, and carry nothing of Python."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from jobs import schemas
from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from tests.api.discovery.conftest import make_endpoint
from tests.each import each


class Tree(msgspec.Struct):
    """Contains itself."""

    children: "list[Tree]" = []


class Inner(msgspec.Struct):
    """Inner, by its docstring."""

    value: int


class Outer(msgspec.Struct):
    """Outer."""

    plain: Inner
    told: Annotated[Inner, msgspec.Meta(description="Told here.")]
    maybe: Inner | None
    title: str
    description: str
    default: str = "discriminator"


def _structs(endpoint: Endpoint) -> tuple[type[msgspec.Struct], type[msgspec.Struct]]:
    return endpoint.request, endpoint.response


def _keys(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from _keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from _keys(value)


ENDPOINTS = [make_endpoint(), *CATALOGUE]
"""The made-up endpoint, then each that is sold."""


@each("endpoint", ENDPOINTS)
def test_schemas_are_valid_and_stand_alone(endpoint: Endpoint) -> None:
    """A schema is valid draft 2020-12 and refers to nothing, so it can be cut out of any document."""
    for struct in _structs(endpoint):
        schema = schemas.of(struct)
        Draft202012Validator.check_schema(schema)
        assert not {"$ref", "$defs", "discriminator"} & set(_keys(schema))


@each("endpoint", ENDPOINTS)
def test_examples_validate(endpoint: Endpoint) -> None:
    """The declared example is an instance of both schemas, by a validator that is not msgspec."""
    Draft202012Validator(schemas.of(endpoint.request)).validate(endpoint.example.request)
    Draft202012Validator(schemas.of(endpoint.response)).validate(endpoint.example.response)


@each("endpoint", ENDPOINTS)
def test_descriptions_use_the_names_of_the_wire(endpoint: Endpoint) -> None:
    """A Struct's docstring, which callers read, does not quote a field by its Python name."""
    for struct in _structs(endpoint):
        shown = json.dumps(schemas.of(struct))
        for field in msgspec.structs.fields(struct):
            if field.name != field.encode_name:
                assert f"`{field.name}`" not in shown


def test_class_names_do_not_show(endpoint_of: Callable[..., Endpoint]) -> None:
    """The title that stays is the one a field was given on purpose."""
    schema = schemas.of(endpoint_of().request)
    assert re.findall(r'"title": "([^"]*)"', json.dumps(schema)) == ["Text"]


def test_a_property_may_be_called_like_a_keyword() -> None:
    """Fields named title, description or default stay, with and without descriptions."""
    for described in (True, False):
        schema = schemas.of(Outer, described=described)
        assert {"title", "description", "default"} <= set(schema["properties"])
        assert schema["properties"]["default"]["default"] == "discriminator"


def test_a_docstring_is_cut_to_its_first_paragraph(endpoint_of: Callable[..., Endpoint]) -> None:
    """What follows the first paragraph of a docstring is for developers."""
    assert schemas.of(endpoint_of().request)["description"] == "`maxItems` bounds the answer."


def test_the_nearer_description_wins() -> None:
    """A field's own description hides its type's, and an optional field is described as a whole."""
    properties = schemas.of(Outer)["properties"]
    assert properties["plain"]["description"] == "Inner, by its docstring."
    assert properties["told"]["description"] == "Told here."
    assert properties["maybe"]["description"] == "Inner, by its docstring."
    assert [sorted(option) for option in properties["maybe"]["anyOf"]] == [["properties", "required", "type"], ["type"]]


def test_descriptions_can_be_left_out(endpoint_of: Callable[..., Endpoint]) -> None:
    """Without descriptions, the same instances are valid."""
    struct = endpoint_of().request
    bare = schemas.of(struct, described=False)
    assert "description" not in set(_keys(bare))
    assert set(_keys(schemas.of(struct))) == set(_keys(bare)) | {"description"}


def test_an_outline_has_names_and_types_only(endpoint_of: Callable[..., Endpoint]) -> None:
    """An outline is one level deep: each member with its types, null among them, or with none when any will do."""
    assert schemas.outline(endpoint_of().request) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "shapes": {"type": "array"},
            "first": {"type": ["object", "null"]},
            "colour": {"type": "string"},
            "mode": {"type": "string"},
            "weights": {"type": "object"},
            "data": {},
            "maxItems": {"type": "integer"},
        },
        "required": ["text"],
    }


@each("endpoint", ENDPOINTS)
def test_an_outline_holds_for_the_example(endpoint: Endpoint) -> None:
    """What the whole schema allows, the outline allows too."""
    for struct, example in zip(_structs(endpoint), (endpoint.example.request, endpoint.example.response), strict=True):
        Draft202012Validator(schemas.outline(struct)).validate(example)


def test_bounds_and_required_fields_are_kept(endpoint_of: Callable[..., Endpoint]) -> None:
    """What msgspec refuses, the schema refuses too."""
    validator = Draft202012Validator(schemas.of(endpoint_of().request))
    good = {"text": "hello"}
    validator.validate(good)
    for bad in (
        {},
        {"text": ""},
        good | {"maxItems": 0},
        good | {"mode": "other"},
        good | {"colour": "green"},
        good | {"weights": {"a": 10}},
        good | {"shapes": [{"kind": "circle", "sideLength": 1}]},
        good | {"shapes": [{"halfWidth": 1}]},
    ):
        assert not validator.is_valid(bad), bad


def test_a_recursive_struct_is_refused() -> None:
    """A Struct that contains itself cannot stand alone, and saying so beats writing a broken schema."""
    with pytest.raises(ValueError, match="contains itself"):
        schemas.of(Tree)
