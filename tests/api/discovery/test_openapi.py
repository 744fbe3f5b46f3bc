"""/openapi.json is valid OpenAPI 3.1.0, and says what the specification and its readers want said."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from api.discovery import openapi, problem
from api.discovery.listing import Listing
from api.errors import ERROR_KINDS, Problem
from shared.endpoint import Endpoint
from shared.x402.wire import Challenge, Settlement
from shared.x402.wire import Resource as WireResource
from tests.each import each


@pytest.fixture(scope="module")
def document(shop: tuple[Listing, ...], base_url: str) -> dict[str, Any]:
    """The document of the whole made-up shop, as a reader decodes it."""
    decoded: dict[str, Any] = json.loads(msgspec.json.encode(openapi.document(shop, base_url)))
    return decoded


def _validator(document: dict[str, Any], *path: str) -> Draft202012Validator:
    """Validates instances of the schema at a path of the document, references included."""
    registry: Registry[Any] = Registry().with_resource(
        "urn:document", Resource(contents=document, specification=DRAFT202012)
    )
    pointer = "/".join(key.replace("~", "~0").replace("/", "~1") for key in path)
    return Draft202012Validator({"$ref": f"urn:document#/{pointer}"}, registry=registry)


def _operation(document: dict[str, Any], name: str) -> dict[str, Any]:
    operation: dict[str, Any] = document["paths"][f"/v1/cdp/{name}"]["post"]
    return operation


def test_it_is_valid_openapi(document: dict[str, Any]) -> None:
    """openapi-spec-validator finds nothing wrong with the document of the full table, nor with an empty one."""
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    assert list(OpenAPIV31SpecValidator(openapi.document((), "https://coinslot.example")).iter_errors()) == []


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ("", {"url": "https://coinslot.example"}),
        ("https://shop.example/about", {"url": "https://shop.example/about"}),
        ("mailto:shop@example.com", {"email": "shop@example.com"}),
    ],
)
def test_it_says_whom_to_write_to(base_url: str, contact: str, shown: dict[str, str]) -> None:
    """A mail address or a page of the operator's; without one, the service itself."""
    assert openapi.document((), base_url, contact)["info"]["contact"] == {"name": "Coinslot"} | shown


def _schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in a part of the document, examples too."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _schemas(inner)


def test_no_schema_is_one_that_generators_refuse(document: dict[str, Any]) -> None:
    """openapi-python-client fails on `items: false`, drops an enum of several types, takes a `oneOf` for the whole, and parses
    nothing beside a `const` in one. openapi-typescript takes an object of which nothing is said for one that is empty."""
    for schema in _schemas(document["components"]["schemas"]):
        assert schema.get("items") is not False
        assert "prefixItems" not in schema or isinstance(schema["items"], dict)
        assert not any("const" in one for one in schema.get("oneOf", ()))
        assert schema.get("type") != "object" or {"properties", "additionalProperties"} & set(schema)
        if isinstance(choices := schema.get("enum"), list):
            assert len({type(choice) for choice in choices if choice is not None}) == 1
        assert not ("oneOf" in schema and "properties" in schema)


def test_no_component_is_unused(document: dict[str, Any]) -> None:
    """Something refers to each, an operation in the end."""
    used = {part["$ref"] for part in _schemas(document) if isinstance(part.get("$ref"), str)}
    made = {f"#/components/{kind}/{name}" for kind, named in document["components"].items() for name in named}
    assert used == made


def test_guidance_is_short_enough_to_be_read_whole(document: dict[str, Any]) -> None:
    """Readers of the discovery profile cut guidance off above 4000 characters."""
    assert 0 < len(document["info"]["x-guidance"]) <= 4000


def test_names_do_not_collide(document: dict[str, Any]) -> None:
    """Operation ids are distinct, and so are the component names of all bodies, in any case."""
    ids = [item["post"]["operationId"] for item in document["paths"].values()]
    names = list(document["components"]["schemas"])
    assert len(set(ids)) == 28
    assert len({name.lower() for name in names}) == len(names)
    of_all = {"PaymentRequired", "SettlementResponse", "ProblemDetails", *problem.COMPONENTS.values()}
    assert len(names) == 2 * 28 + 1 + len(of_all)
    own = {"EchoRequest", "ChainErc20BalanceResponse", "X402DiscoverRequest", "YoutubeUpstreamProblem"}
    assert of_all | own <= set(names)


def test_every_operation_is_complete(document: dict[str, Any]) -> None:
    """Each operation has the fields that x402scan and AgentCash ask of a paid one, and asks for nothing but payment."""
    assert document["security"] == []
    assert "securitySchemes" not in document["components"]
    used = {tag["name"] for tag in document["tags"]}
    for item in document["paths"].values():
        operation = item["post"]
        assert operation["description"] == operation["summary"] != ""
        assert set(operation["tags"]) <= used
        assert operation["x-payment-info"]["protocols"]
        assert "x-coinslot-pricing" in operation
        # With any parameter, the profile's readers no longer see the body schema as the input.
        assert "parameters" not in operation
        assert "security" not in operation
        assert {"200", "400", "402", "413", "415", "500", "503", "504"} <= set(operation["responses"])


def test_examples_validate(document: dict[str, Any]) -> None:
    """Every request and response example is an instance of the schema beside it."""
    for path, item in document["paths"].items():
        for place in (("requestBody",), ("responses", "200")):
            content = item["post"]
            for key in place:
                content = content[key]
            validator = _validator(document, "paths", path, "post", *place, "content", "application/json", "schema")
            validator.validate(content["content"]["application/json"]["example"])


def test_a_body_is_optional_only_where_it_is(document: dict[str, Any]) -> None:
    """An empty body is allowed on the endpoint that declares it and on no other."""
    optional = [path for path, item in document["paths"].items() if not item["post"]["requestBody"]["required"]]
    assert optional == ["/v1/cdp/echo"]


def test_502_is_there_with_its_reasons_and_only_then(document: dict[str, Any]) -> None:
    """An endpoint documents 502 exactly when it documents reasons, and the schema lists them."""
    assert [path for path, item in document["paths"].items() if "502" in item["post"]["responses"]] == [
        "/v1/cdp/youtube"
    ]
    media_type = ("content", "application/problem+json", "schema")
    validator = _validator(document, "paths", "/v1/cdp/youtube", "post", "responses", "502", *media_type)
    body = json.loads(
        Problem(code="upstream_failed", detail="It failed.", charged=True, reason="no_captions").body(
            instance="/v1/cdp/youtube", request_id="1"
        )
    )
    validator.validate(body)
    assert not validator.is_valid(body | {"reason": "bad_mood"})
    assert not validator.is_valid(body | {"status": 503})


@pytest.mark.parametrize(
    ("name", "challenge", "payment"),
    [
        ("echo", {"PAYMENT-REQUIRED"}, "PAYMENT-SIGNATURE"),
        ("ssl-info", {"PAYMENT-REQUIRED", "WWW-Authenticate"}, "X-PAYMENT or PAYMENT-SIGNATURE"),
        ("xrpl-wallet-watch", {"PAYMENT-REQUIRED", "WWW-Authenticate"}, "PAYMENT-SIGNATURE"),
    ],
)
def test_headers_follow_the_flavour(document: dict[str, Any], name: str, challenge: set[str], payment: str) -> None:
    """Each flavour documents the headers of its challenge, and in words the header of the payment. The second header of the
    receipt comes with X-PAYMENT on any call."""
    receipt = {"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"}
    responses = _operation(document, name)["responses"]
    assert set(responses["402"]["headers"]) == challenge | receipt
    assert responses["402"]["description"].endswith(f"the header {payment}.")
    assert set(responses["200"]["headers"]) == receipt | {"RateLimit-Policy", "RateLimit"}


def test_our_challenge_is_an_instance_of_its_schema(document: dict[str, Any], shop: tuple[Listing, ...]) -> None:
    """What a 402 sends validates, and a challenge without offers, error or version does not."""
    media_type = ("content", "application/json", "schema")
    validator = _validator(document, "paths", "/v1/cdp/echo", "post", "responses", "402", *media_type)
    sent = json.loads(
        msgspec.json.encode(
            Challenge(error="payment_required", resource=WireResource(url=shop[0].url), accepts=shop[0].offers)
        )
    )
    validator.validate(sent)
    assert not validator.is_valid(sent | {"accepts": []})
    assert not validator.is_valid(sent | {"x402Version": 1})
    for name in ("x402Version", "error", "accepts"):
        assert not validator.is_valid({key: value for key, value in sent.items() if key != name})


def test_our_receipt_is_an_instance_of_its_schema(document: dict[str, Any]) -> None:
    """What PAYMENT-RESPONSE holds validates against the schema that its description names."""
    assert "SettlementResponse" in document["components"]["headers"]["PAYMENT-RESPONSE"]["description"]
    receipt = json.loads(msgspec.json.encode(Settlement(success=True, transaction="0x01", network="eip155:8453")))
    _validator(document, "components", "schemas", "SettlementResponse").validate(receipt)


@each("charged", [True, False, "unknown"])
@each("code", ERROR_KINDS)
def test_every_problem_is_an_instance_of_its_schema(document: dict[str, Any], code: str, charged: bool | str) -> None:
    """Every failure that the API can write validates against the shared schema and, where documented, its response."""
    kind = ERROR_KINDS[code]
    failed = Problem(code=code, detail="So.", charged=charged, field="a.b", details=({"field": "a"},), retry_after_s=3)
    body = json.loads(failed.body(instance="/v1/cdp/echo", request_id="1"))
    _validator(document, "components", "schemas", "ProblemDetails").validate(body)
    assert set(body) == set(document["components"]["schemas"]["ProblemDetails"]["properties"])
    for name, response in document["components"]["responses"].items():
        reference = response["content"]["application/problem+json"]["schema"]["$ref"]
        known = document["components"]["schemas"][reference.rpartition("/")[2]]["allOf"][1]["properties"]
        validator = _validator(
            document, "components", "responses", name, "content", "application/problem+json", "schema"
        )
        assert validator.is_valid(body) is (known["status"]["enum"] == [kind.status])


def test_two_calls_with_one_operation_id_are_refused(
    endpoint_of: Callable[..., Endpoint], listing_of: Callable[[Endpoint], Listing], base_url: str
) -> None:
    """chain/call and chain-call would share their component names, so the shop does not open."""
    twins = [listing_of(endpoint_of(name)) for name in ("chain/call", "chain-call")]
    with pytest.raises(ValueError, match="operation id used twice: chainCall"):
        openapi.document(twins, base_url)
