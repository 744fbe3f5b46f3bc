"""`jobs.catalogue.UPDATED` cannot stay behind when something that discovery shows has changed."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from jobs import schemas
from jobs.catalogue import CATALOGUE, DIGEST, UPDATED
from shared.endpoint import Endpoint


def _shown(endpoint: Endpoint) -> dict[str, Any]:
    """What discovery shows of an endpoint, from its declaration."""
    return {
        "path": endpoint.path,
        "price": endpoint.price.text(),
        "category": endpoint.category.value,
        "flavour": endpoint.flavour.value,
        "rails": [rail.value for rail in endpoint.rails],
        "summary": endpoint.summary,
        "request": schemas.of(endpoint.request),
        "response": schemas.of(endpoint.response),
        "example": [endpoint.example.request, endpoint.example.response],
        "failures": endpoint.failures,
        "body_optional": endpoint.body_optional,
    }


def _digest(catalogue: Iterable[Endpoint]) -> str:
    """Sixteen hex digits for the listed endpoints, in their order."""
    shown = [_shown(endpoint) for endpoint in catalogue if endpoint.listed]
    return hashlib.sha256(msgspec.json.encode(shown, order="deterministic")).hexdigest()[:16]


def test_updated_is_the_date_of_what_is_sold() -> None:
    """A change of anything that discovery shows needs a new date and a new digest."""
    found = _digest(CATALOGUE)
    assert found == DIGEST, (
        "What discovery shows has changed. Write into jobs/catalogue.py:\n"
        f'UPDATED = "{datetime.now(UTC):%Y-%m-%dT00:00:00Z}"\n'
        f'DIGEST = "{found}"'
    )


def test_updated_is_a_day_in_utc() -> None:
    """Discovery documents convert it to Unix seconds."""
    updated = datetime.fromisoformat(UPDATED)
    assert updated.tzinfo is not None
    assert f"{updated:%Y-%m-%dT00:00:00Z}" == UPDATED
