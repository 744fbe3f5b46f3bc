"""A wrong declaration is refused when it is declared."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from jobs.echo import ENDPOINT
from shared.endpoint import Endpoint, Example
from shared.pools import POOLS
from shared.x402.networks import Rail
from tests.each import each


def redeclared(**changes: Any) -> Endpoint:
    return dataclasses.replace(ENDPOINT, **changes)


@each(
    "changes",
    [
        {"name": "Echo"},
        {"name": "echo/"},
        {"name": "other/echo"},
        {"name": "../echo"},
        {"deadline_s": 0},
        {"deadline_s": 26},
        {"summary": ""},
        {"summary": "x" * 501},
        {"rails": ()},
        {"rails": (Rail.BASE, Rail.BASE)},
        {"failures": ("Not Snake",)},
        {"example": Example(request={"message": 5}, response=ENDPOINT.example.response)},
        {"example": Example(request={}, response={"ok": True})},
    ],
)
def test_a_wrong_declaration_is_refused(changes: dict[str, Any]) -> None:
    """Names, limits, rails, reasons and examples are checked at once."""
    with pytest.raises(ValueError):  # noqa: PT011  # msgspec's ValidationError is one too; the texts differ by field
        redeclared(**changes)


def test_what_runs_in_a_child_needs_a_pool_with_children() -> None:
    """Its workers would have none to run it in."""
    for pool, policy in POOLS.items():
        for option in ("exhausted", "is_long"):
            if policy.needs_children:
                redeclared(**{"pool": pool, option: bool})
            else:
                with pytest.raises(ValueError, match=f"workers of the pool {pool} start no children"):
                    redeclared(**{"pool": pool, option: bool})


def test_an_unknown_option_is_refused() -> None:
    """A misspelt option is an error, not a silent default."""
    with pytest.raises(TypeError):
        redeclared(prize="1")


def test_names_are_derived() -> None:
    """Path and operation id come from the name."""
    endpoint = redeclared(name="chain/erc20-balance")
    assert (endpoint.path, endpoint.operation_id) == ("/v1/cdp/chain/erc20-balance", "chainErc20Balance")
