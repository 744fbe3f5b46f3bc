"""`jobs.catalogue.UPDATED` cannot stay behind when something that discovery shows has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from jobs import schemas
from jobs.catalogue import CATALOGUE, DIGEST, UPDATED
from shared.endpoint import Category, Endpoint, Example, Flavour
from shared.money import Price
from shared.x402.networks import Rail
from tests.each import each


class Other(msgspec.Struct):
    """Another shape of a body."""

    other: int = 0


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


@each(
    "change",
    [
        {"name": "other"},
        {"price": Price.of("0.123")},
        {"category": Category.SECURITY},
        {"flavour": Flavour.WATCH},
        {"rails": (Rail.BASE,)},
        {"summary": "Another summary."},
        {"request": Other, "example": Example(request={}, response=CATALOGUE[0].example.response)},
        {"response": Other, "example": Example(request={}, response={"other": 1})},
        {"failures": ("other",)},
        {"body_optional": False},
        {"listed": False},
    ],
)
def test_every_change_that_discovery_shows_changes_the_digest(change: dict[str, Any]) -> None:
    """Each of them is visible to an indexer."""
    first, *others = CATALOGUE
    assert _digest([replace(first, **change), *others]) != _digest(CATALOGUE)


def test_a_change_behind_the_scenes_keeps_the_digest() -> None:
    """A deadline is no reason to look again."""
    first, *others = CATALOGUE
    assert _digest([replace(first, deadline_s=7), *others]) == _digest(CATALOGUE)
