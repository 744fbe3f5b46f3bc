"""What a refused body's problem says: in JSON's words, with what would be accepted, and never with the caller's value."""

import json
from typing import Any

import dramatiq
import httpx
import pytest

from api.admission import Admission, Judgement
from api.unknown_fields import header
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.endpoint import Endpoint
from tests.api.paying import Payer
from tests.each import each
from tests.sites import PUBLIC

pytestmark = pytest.mark.anyio

ECHO = "/v1/cdp/echo"


def judged(name: str, body: Any) -> Judgement:
    anything: Any = None
    return Admission(BY_NAME[name], anything, anything, PUBLIC).judged(json.dumps(body).encode())


def like(name: str, **more: Any) -> dict[str, Any]:
    return {**BY_NAME[name].example.request, **more}


@each(
    ("name", "body", "detail"),
    [
        ("echo", {"message": 5}, "Expected `string` or `null`, got `integer`."),
        ("echo", [], "Expected `object`, got `array`."),
        ("echo", {"message": "x" * 501}, "Expected `string` of length <= 500."),
        ("faker", like("faker", count=0), "Expected `integer` >= 1."),
        ("faker", like("faker", count=True), "Expected `integer`, got `boolean`."),
        (
            "faker",
            like("faker", seed=1.5),
            "Expected `integer` or `null`, got `number` with a fraction.",
        ),
        ("faker", like("faker", count=2.25), "Expected `integer`, got `number` with a fraction."),
        ("jwt-verify", like("jwt-verify", issuer=5), "Expected `string` or `array` or `null`, got `integer`."),
        ("chain/chain-id", {"chain": "hunter2"}, "Expected one of `base`, `ethereum`."),
        ("render-pro", like("render-pro", extract="hunter2"), "Expected one of `article`, `full`, `text`."),
        ("json-repair", {"schema": {}}, "The field `malformed` is missing."),
    ],
)
def test_types_are_jsons(name: str, body: Any, detail: str) -> None:
    problem = judged(name, body).problem
    assert problem is not None
    assert (problem.code, problem.detail) == ("invalid_body", detail)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("echo", rb'{"message": "\ud83d"}'),
        ("llm-tool-validate", rb'{"schema": {"type": "string"}, "data": "a \\ \ud83d\ude00 \ud83d"}'),
        ("json-repair", rb'{"malformed": "\\\ud83d\ud83d\ude00"}'),
    ],
)
def test_a_lone_surrogate_is_named(name: str, body: bytes) -> None:
    """Half of a character cannot be answered, nor sent on: the refusal says which escape it is."""
    anything: Any = None
    problem = Admission(BY_NAME[name], anything, anything, PUBLIC).judged(body).problem
    assert problem is not None
    assert "\\ud83d, a lone surrogate" in problem.detail


def test_a_list_names_the_words_that_it_may_have() -> None:
    problem = judged("pii-redact", {"text": "a", "patterns": ["hunter2"]}).problem
    assert problem is not None
    assert (problem.field, problem.detail[:24]) == ("patterns[0]", "Expected one of `credit_")
    assert "hunter2" not in str(problem.details)


@each(
    ("schema", "says"),
    [
        ({"type": "strng"}, "At /type: this is not one of array, boolean, integer, null, number, object, string."),
        ({"type": ["string", 5]}, "At /type/1: this is not one of array, boolean, "),
        ({"type": ["string", "string"]}, "At /type: value has non-unique elements"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": 5}}},
            'At /properties/a/items: value is not of types "boolean", "object"',
        ),
    ],
)
def test_the_branch_that_was_meant_is_told(schema: Any, says: str) -> None:
    """Not that no branch of the meta-schema fits."""
    problem = judged("llm-tool-validate", {"schema": schema, "data": 1}).problem
    assert problem is not None
    assert (problem.code, problem.detail[: len(says)]) == ("invalid_schema", says)


@each(
    ("name", "body", "field", "nearest"),
    [
        ("echo", {"massage": "a"}, "massage", "message"),
        ("echo", {"message": "a", "massage": "b"}, "massage", "message"),
        ("echo", {"Message": "a"}, "Message", "message"),
        ("echo", {"foo": 1}, "foo", "message"),
        ("json-repair", {"malfromed": "{}"}, "malfromed", "malformed"),
        ("dns", {"domain": "example.com", "record_type": "A"}, "record_type", "recordType"),
        ("faker", {"template": {"a": "person.firstName"}, "conut": 3}, "conut", "count"),
        ("regex-test", {"regex": "a", "text": "b"}, "regex", "input"),
        ("echo", {'a"\r\nb: c': 1}, "a%22%0D%0Ab%3A%20c", "message"),
    ],
)
def test_a_slip_is_refused_with_the_nearest_name(name: str, body: Any, field: str, nearest: str) -> None:
    """Because the call would be charged for what its caller did not mean."""
    problem = judged(name, body).problem
    assert problem is not None
    assert (problem.code, problem.kind.status, problem.field, problem.charged) == ("unknown_field", 400, field, False)
    assert nearest in problem.details[0]["suggestions"]
    assert f"`{nearest}`" in problem.detail


@each(
    ("name", "unknown", "nearest"),
    [
        ("jwt-verify", {"aud": "OTHER", "iss": "OTHER"}, "audience"),
        ("jwt-verify", {"iss": "OTHER"}, "issuer"),
        ("jwt-verify", {"algorithms": ["RS256"]}, "`audience`"),
        ("webhook-sig-verify", {"maxAgeOfMine": 5}, "`toleranceSeconds`"),
    ],
)
def test_a_check_that_would_not_be_made_is_refused(name: str, unknown: dict[str, Any], nearest: str) -> None:
    """An audience under another name would be charged and dropped, and the token called valid."""
    problem = judged(name, like(name, **unknown)).problem
    assert problem is not None
    assert (problem.code, problem.field, problem.charged) == ("unknown_field", next(iter(unknown)), False)
    assert nearest in (problem.details[0]["suggestions"][0], *problem.detail.replace(",", "").replace(".", "").split())


@each("endpoint", [one for one in CATALOGUE if not one.request.__struct_config__.forbid_unknown_fields])
def test_any_other_field_is_ignored(endpoint: Endpoint) -> None:
    """A newer client may send it. It is no excuse for a fault elsewhere, and a body of nothing else is refused."""
    good = endpoint.example.request
    assert judged(endpoint.name, good) == (None, ())
    assert judged(endpoint.name, {**good, "traceparent_of_mine": 1}) == (None, ("traceparent_of_mine",))
    alone = judged(endpoint.name, {"traceparent_of_mine": 1}).problem
    assert alone is not None
    assert alone.code == "unknown_field"


def test_a_longer_name_beside_the_known_one_is_another_field() -> None:
    """One call's body may be sent to another call: `tokenId` is two letters from `token`."""
    body = like("chain/erc20-balance", tokenId="1")
    assert judged("chain/erc20-balance", body) == (None, ("tokenId",))
    del body["token"]
    problem = judged("chain/erc20-balance", body).problem
    assert problem is not None
    assert (problem.code, problem.field) == ("unknown_field", "tokenId")


def test_a_fault_beside_an_ignored_field_is_told() -> None:
    problem = judged("echo", {"message": 5, "traceparent": 1}).problem
    assert problem is not None
    assert (problem.code, problem.field) == ("invalid_body", "message")


def test_of_a_long_body_the_first_unknown_field_is_named() -> None:
    """Because reading all names of a megabyte takes the event loop milliseconds."""
    body = like("json-repair", malformed="x" * 40_000, one_more=1, two_more=2)
    assert judged("json-repair", body) == (None, ("one_more",))


def test_the_header_holds_nothing_but_ascii_names() -> None:
    """At most eight, and none that could end the header."""
    ((name, value),) = header(['x\r\ny: "', "é", *(f"n{number}" for number in range(20))])
    assert name == b"warnings"
    assert value.startswith(
        b'unknown_field;name="x%0D%0Ay%3A%20%22", unknown_field;name="%C3%A9", unknown_field;name="n0"'
    )
    assert value.count(b"unknown_field") == 8
    assert header([]) == ()


async def test_an_answer_names_what_was_ignored(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, facilitator: Any
) -> None:
    """Every copy of it, a problem too, and no answer to a body that is known whole."""
    paid = payer.headers()
    for _ in range(2):
        answer = await shop.post(ECHO, json={"message": "a", "trace_of_mine": 1}, headers=paid)
        assert (answer.status_code, answer.json()["youSent"]) == (200, "a")
        assert answer.headers["warnings"] == 'unknown_field;name="trace_of_mine"'
    assert "warnings" in answer.headers["access-control-expose-headers"].lower()
    paid = payer.headers()
    refused = await shop.post(ECHO, json={"message": 5, "trace_of_mine": 1}, headers=paid)
    assert (refused.status_code, "warnings" in refused.headers) == (400, False)
    whole = await shop.post(ECHO, json={"message": "a"}, headers=paid)
    assert (whole.status_code, "warnings" in whole.headers) == (200, False)
