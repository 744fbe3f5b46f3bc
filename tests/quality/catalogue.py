"""All endpoints: fields of requests and responses that say what they are, as the catalogue's pages show them."""

from collections.abc import Iterator, Mapping
from typing import Any

from jobs import schemas
from jobs.catalogue import CATALOGUE
from tests.quality.scorer import Measure


def measures(held_out: bool) -> Iterator[Measure]:
    """Every property of every object, at any depth. A field of several types is one. None is set aside."""
    if not held_out:
        for name, structs in (
            ("fields of requests with a text", [endpoint.request for endpoint in CATALOGUE]),
            ("fields of responses with a text", [endpoint.response for endpoint in CATALOGUE]),
        ):
            texts = [text for struct in structs for text in _texts(schemas.of(struct))]
            yield Measure(name, len(texts), sum(map(bool, texts)))


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    for member in schema.get("properties", {}).values():
        yield member.get("description", "")
        yield from _texts(member)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from _texts(inner)
    for inner in (*schema.get("anyOf", ()), *schema.get("prefixItems", ())):
        yield from _texts(inner)
