"""What the endpoints of a package are held to when they are loaded, beside what every declaration checks of itself. Our own
keep it, too (tests/contract/test_packages.py).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from jobs import schemas
from jobs.reasons import REASONS
from jobs.site import SiteRequest
from shared.endpoint import Endpoint
from shared.money import ExcessPrecision
from shared.pools import Pool
from shared.x402.networks import Rail

_DECIMALS = 6
"""Of the asset with the fewest that calls are paid in."""


def breaches(prefix: str, declared: Sequence[object]) -> Iterator[str]:
    """A sentence for each thing that a package's endpoints lack."""
    if not declared:
        yield "its entry point names no endpoint"
    for endpoint in declared:
        if not isinstance(endpoint, Endpoint):
            yield f"its entry point gives {type(endpoint).__name__!r} in place of Endpoints"
            continue
        if not endpoint.name.startswith(f"{prefix}/"):
            yield f"{endpoint.name} is to be named {prefix}/{endpoint.name.rpartition('/')[2]}, after its entry point"
        pool = endpoint.pool
        if pool not in set(Pool) and pool != prefix and not pool.startswith(f"{prefix}-"):
            yield f"the pool {pool} of {endpoint.name} is to be named {prefix} or {prefix}-…, after the entry point"
        yield from (f"{endpoint.name}: {breach}" for breach in breaches_of(endpoint))


def breaches_of(endpoint: Endpoint) -> Iterator[str]:
    """What a single endpoint lacks, whoever declares it."""
    if endpoint.rails != (Rail.XRPL_RLUSD,):
        try:
            endpoint.price.atomic(_DECIMALS)
        except ExcessPrecision:
            yield f"the price {endpoint.price.text()} has more than {_DECIMALS} decimals"
    for side, struct in (("request", endpoint.request), ("response", endpoint.response)):
        try:
            schema = schemas.of(struct)
        except (TypeError, ValueError) as error:
            yield f"its {side} has no JSON Schema: {error}"
        else:
            for path, text in field_texts(schema, side):
                if not text.endswith("."):
                    yield f"the field {path} has no sentence that says what it is"
    shown = endpoint.example.response
    if msgspec.to_builtins(msgspec.convert(shown, endpoint.response)) != shown:
        yield "the response of its example is not what its response type encodes"
    for reason in endpoint.failures:
        if not {**REASONS, **endpoint.failure_texts}.get(reason, "").endswith("."):
            yield f"the failure {reason!r} has no sentence in failure_texts"
    needs_site = issubclass(endpoint.request, SiteRequest)
    if hasattr(endpoint.request, "check") and not needs_site:
        yield "its request has a method `check`, and is no SiteRequest: nobody would call it"
    if needs_site and endpoint.calculates:
        yield "a SiteRequest cannot run in a child process"


def field_texts(schema: Any, path: str) -> Iterator[tuple[str, str]]:
    """The path and the description of each field of a schema, also of the objects inside."""
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            yield f"{path}.{name}", field.get("description", "")
            yield from field_texts(field, f"{path}.{name}")
        for part in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
            yield from field_texts(part, path)
