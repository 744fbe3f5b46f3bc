"""A wrong declaration is refused when it is declared."""

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
        {"name": "other/more/echo"},
        {"pool": "acme"},
        {"name": "../echo"},
        {"deadline_s": 0},
        {"deadline_s": 26},
        {"summary": ""},
        {"summary": "x" * 501},
        {"rails": ()},
        {"rails": (Rail.BASE, Rail.BASE)},
        {"failures": ("Not Snake",)},
        {"failures": ("timeout",), "target_failures": ("timeout", "dns_failure")},
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


@each(
    ("code", "reason", "fault"),
    [
        ("upstream_failed", "dns_failure", "caller"),
        *(("upstream_failed", reason, "ours") for reason in ("rate_limited", None)),
        *((code, None, "ours") for code in ("internal_error", "deadline_exceeded", "unavailable")),
        *((code, None, "caller") for code in ("invalid_body", "blocked_address", "not_a_contract")),
    ],
)
def test_a_failure_is_the_callers_when_what_he_named_is_its_cause(code: str, reason: str | None, fault: str) -> None:
    """A reason that is not declared so is ours: then somebody looks."""
    failures = ("dns_failure", "rate_limited")
    endpoint = dataclasses.replace(ENDPOINT, failures=failures, target_failures=("dns_failure",))
    assert endpoint.fault_of(code, reason) == fault
