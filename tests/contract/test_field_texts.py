"""Every field of what is sold says what it is, where it is declared: the catalogue's pages and the schemas show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobs import schemas
from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from tests.each import each


def _fields(schema: Any, path: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each field, also of the objects inside."""
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            yield f"{path}.{name}", field.get("description", "")
            yield from _fields(field, f"{path}.{name}")
        for part in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
            yield from _fields(part, path)


@each("endpoint", CATALOGUE)
def test_every_field_has_a_sentence(endpoint: Endpoint) -> None:
    """A field of a request or an answer without one leaves a buyer guessing."""
    fields = [*_fields(schemas.of(endpoint.request), "request"), *_fields(schemas.of(endpoint.response), "response")]
    assert [path for path, text in fields if not text.endswith(".")] == []
