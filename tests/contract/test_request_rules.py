"""What requests demand of several fields together stands in their schemas: both refuse the same."""

from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from jobs import schemas
from jobs.catalogue import BY_NAME, CATALOGUE
from jobs.site import SiteRequest
from shared.endpoint import EXTRA_JSON_SCHEMA, Endpoint, InvalidField
from tests.each import each
from tests.sites import decoded

WALLET = "0x" + "1a" * 20
HOOK = {"payload": "{}", "signature": "x", "secret": "s"}
GAS = {"chain": "base"}

RULES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "jwt-verify": (
        [
            {"token": "a.b.c", "sharedSecret": "s"},
            {"token": "a.b.c", "sharedSecret": "s", "publicKey": None},
        ],
        [
            {"token": "a.b.c"},
            {"token": "a.b.c", "sharedSecret": None},
            {"token": "a.b.c", "sharedSecret": None, "publicKey": None},
            {"token": "a.b.c", "sharedSecret": "s", "publicKey": "k"},
        ],
    ),
    "ssl-info": (
        [
            {"hostname": "a.example.com"},
            {"host": "a.example.com"},
            {"host": "a.example.com", "hostname": None},
            {"host": "a.example.com", "hostname": "a.example.com"},
        ],
        [{}, {"port": 443}, {"hostname": None}, {"hostname": None, "host": None}],
    ),
    "wallet-doctor": (
        [{"address": WALLET}, {"wallet": WALLET}, {"wallet": WALLET, "address": WALLET}],
        [{}, {"chain": "base"}, {"address": None, "wallet": None}],
    ),
    "webhook-sig-verify": (
        [
            {**HOOK, "provider": "github"},
            {**HOOK, "provider": "slack", "timestamp": "1"},
            {**HOOK, "provider": "slack", "timestamp": 1},
        ],
        [{**HOOK, "provider": "slack"}, {**HOOK, "provider": "slack", "timestamp": None}],
    ),
    "chain/estimate-gas": (
        [{**GAS, "to": WALLET}, {**GAS, "data": "0x00"}, {**GAS, "to": None, "data": "0x00"}],
        [GAS, {**GAS, "to": None}, {**GAS, "data": "0x"}],
    ),
}


def _decodes(name: str, body: dict[str, Any]) -> bool:
    try:
        decoded(BY_NAME[name].request, body)
    except (msgspec.ValidationError, InvalidField):
        return False
    return True


def test_every_rule_is_tested() -> None:
    """A new one needs a row above."""
    assert {name for name, one in BY_NAME.items() if hasattr(one.request, EXTRA_JSON_SCHEMA)} == set(RULES)


@each("name", RULES)
def test_schema_and_request_agree(name: str) -> None:
    """On what is enough and on what is missing or too much."""
    schema = schemas.of(BY_NAME[name].request)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    good, bad = RULES[name]
    for body in good:
        assert (validator.is_valid(body), _decodes(name, body)) == (True, True), body
    for body in bad:
        assert (validator.is_valid(body), _decodes(name, body)) == (False, False), body


@each(
    ("name", "good", "bad"),
    [
        (
            "faker",
            [{"locale": word} for word in ("de_DE", "zh", None)],
            [{"locale": word} for word in ("xx", "xx_YY", "de_US", "")],
        ),
        (
            "regex-test",
            [{"flags": word} for word in ("", "g", "yusmigd")],
            [{"flags": word} for word in ("gg", "gig", "x", "v")],
        ),
        (
            "json-repair",
            [{"schema": one} for one in ({}, True, False, None)],
            [{"schema": one} for one in (5, "{}", [])],
        ),
    ],
)
def test_schema_and_request_agree_on_a_field(name: str, good: list[dict[str, Any]], bad: list[dict[str, Any]]) -> None:
    """Where the field's type alone says less than the request checks."""
    validator = Draft202012Validator(schemas.of(BY_NAME[name].request))
    for bodies, is_good in ((good, True), (bad, False)):
        for changed in bodies:
            body = {**BY_NAME[name].example.request, **changed}
            assert (validator.is_valid(body), _decodes(name, body)) == (is_good, is_good), body


def test_what_needs_a_site_is_a_site_request() -> None:
    """The API and the workers call `check` of no other request. A child has no Site to check it with."""
    checked = [one for one in CATALOGUE if hasattr(one.request, "check")]
    assert not [one.name for one in checked if not issubclass(one.request, SiteRequest)]
    assert not [one.name for one in checked if one.isolated or one.is_long]


@each("endpoint", CATALOGUE)
def test_the_example_passes_its_rules(endpoint: Endpoint) -> None:
    """Wherever it is sold."""
    decoded(endpoint.request, endpoint.example.request)
