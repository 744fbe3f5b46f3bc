"""llm-tool-validate in a real child: whatever a schema costs, the child ends in time, and the next call is answered."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from jobs.llm_tool_validate.endpoint import ENDPOINT, exhausted
from jobs.ports import NO_PORTS
from shared import outcome
from shared.outcome import Ok
from shared.pools import Pool
from tests.each import each
from tests.time_limits import patience
from tests.workers.warm_pool import warm_pool
from workers.child import Work
from workers.children import ChildPool, Exhausted
from workers.execute import decode_request

PATIENCE_S = patience(60.0)


@pytest.fixture(scope="module")
def pool() -> Iterator[ChildPool]:
    """One child."""
    pool = warm_pool(1, Pool.FAST)
    yield pool
    pool.close()


def body(schema: Any, data: Any) -> bytes:
    return msgspec.json.encode({"schema": schema, "data": data, "coerce": True})


def answer(pool: ChildPool, request: bytes, *, limit_s: float = PATIENCE_S) -> dict[str, Any]:
    result = outcome.decode(pool.call(Work(ENDPOINT.name, "0x1", request), limit_s=limit_s, wait_s=PATIENCE_S))
    assert isinstance(result, Ok)
    decoded: dict[str, Any] = msgspec.json.decode(result.body)
    return decoded


def doubling(keyword: str, levels: int) -> dict[str, Any]:
    """Each definition asks for the next one twice."""
    definitions: dict[str, Any] = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (doubling("allOf", 40), "1"),
        (doubling("allOf", 40), 1),
        (doubling("anyOf", 40), "x"),
        (doubling("oneOf", 40), "1"),
        ({"additionalProperties": {"items": {"type": "integer"}}}, {'"]' * 10_000: ["1"] * 20_000, "": []}),
    ],
    ids=["allOf", "allOf-valid", "anyOf", "oneOf", "key"],
)
def test_what_takes_for_ever_is_killed(pool: ChildPool, schema: Any, data: Any) -> None:
    """Given a call that would take longer than the universe has, or minutes, then its child is killed and another answers."""
    request = body(schema, data)

    with pytest.raises(Exhausted):
        answer(pool, request, limit_s=0.5)

    assert answer(pool, body({"type": "integer"}, "1"))["data"] == 1
    said = exhausted(decode_request(ENDPOINT, request, NO_PORTS))  # type: ignore[arg-type]
    assert (said.ok, said.valid, said.error, said.data) == (False, None, "too_complex", data)


def tree(levels: int) -> Any:
    if not levels:
        return "7"
    return {"kind": "abcde"[levels % 5], "left": tree(levels - 1), "right": tree(levels - 1)}


@each(
    ("schema", "data", "coercions"),
    [
        (
            {
                "$ref": "#/$defs/node",
                "$defs": {
                    "node": {
                        "anyOf": [
                            {"type": "integer"},
                            *(
                                {
                                    "type": "object",
                                    "properties": {
                                        "kind": {"const": kind},
                                        "left": {"$ref": "#/$defs/node"},
                                        "right": {"$ref": "#/$defs/node"},
                                    },
                                    "required": ["kind", "left", "right"],
                                }
                                for kind in "abcde"
                            ),
                        ]
                    }
                },
            },
            tree(7),
            128,
        ),
        ({"items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}, ["12"] * 10_000, 10_000),
        ({"items": {"type": "integer"}}, ["1"] * 60_000, 60_000),
        ({"items": {"enum": list(range(5000))}}, ["4999"] * 5_000, 5_000),
        ({"type": "array", "items": {"$ref": "#"}}, "1", 0),
        ({"type": "array"}, "[" + "1," * 120_000 + "1]", 1),
        ({"pattern": "^(a+)+$", "type": "integer"}, "a" * 200_000 + "!", 0),
    ],
    ids=["tree", "unions", "integers", "enum", "endless", "text", "pattern"],
)
def test_what_is_large_is_answered(pool: ChildPool, schema: Any, data: Any, coercions: int) -> None:
    """Data up to its bound, trees of unions, recursion without end, and patterns that other engines hang on."""
    said = answer(pool, body(schema, data))

    assert said["ok"] is True
    assert said["coercionCount"] == coercions
    assert said["valid"] is (coercions > 0)
