"""The endpoint: what a request may be, and what comes back."""

import json
import re
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from api.admission import invalid_field
from jobs import schemas
from jobs.faker.allowlist import METHODS
from jobs.faker.arguments import TAKING
from jobs.faker.endpoint import ENDPOINT, MANY_VALUES, MAX_SEED, Request, Response, is_long
from jobs.faker.locales import LOCALES
from tests.each import each
from tests.jobs.calls import CONTEXT, answer_to, refusal_of, request_of

_request = partial(request_of, ENDPOINT)
_answer = partial(answer_to, ENDPOINT)
_refusal = partial(refusal_of, ENDPOINT)


def test_example_is_what_the_call_gives() -> None:
    """The example in the catalogue is a real answer."""
    assert _answer(ENDPOINT.example.request) == ENDPOINT.example.response


def test_count_defaults_to_one_and_seed_to_none() -> None:
    """The smallest request gives one record, and null as its seed."""
    answer = _answer({"template": {"a": "string.uuid"}})
    assert len(answer["data"]) == 1
    assert answer["meta"]["count"] == 1
    assert answer["meta"]["seed"] is None


def test_response_is_in_the_order_of_the_template() -> None:
    """Records and meta.fields have the template's keys in its order."""
    keys = ["z", "a", "10", "9", "é", "", "__proto__", "a.b", "💡"]
    answer = _answer({"template": dict.fromkeys(keys, "word.noun"), "count": 3, "seed": 1})
    assert [list(record) for record in answer["data"]] == [keys] * 3
    assert answer["meta"]["fields"] == keys
    assert list(answer) == ["ok", "data", "meta"]
    assert list(answer["meta"]) == ["count", "seed", "fields", "locale", "engine", "refDate"]


def test_a_seed_pins_the_reference_date() -> None:
    """With a seed the reference date is a constant."""
    assert _answer({"template": {"a": "date.past"}, "seed": 0})["meta"]["refDate"] == "2026-01-01T00:00:00Z"


def test_without_a_seed_the_reference_date_is_now() -> None:
    """Without a seed past and future are relative to the call."""
    answer = _answer({"template": {"past": "date.recent", "future": "date.soon"}, "count": 50})
    now = datetime.fromisoformat(answer["meta"]["refDate"])
    assert abs(datetime.now(UTC) - now) < timedelta(seconds=10)
    assert now.microsecond == 0
    assert all(datetime.fromisoformat(r["past"]) < now < datetime.fromisoformat(r["future"]) for r in answer["data"])


@settings(deadline=None, max_examples=50)
@given(
    template=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=100),
        st.sampled_from(sorted(METHODS)),
        min_size=1,
        max_size=50,
    ),
    count=st.integers(1, 100),
    seed=st.integers(-MAX_SEED, MAX_SEED),
)
def test_same_seed_same_answer(template: dict[str, str], count: int, seed: int) -> None:
    """Any valid request with a seed has one answer, of the declared shape, and its seed comes back exact."""
    body = {"template": template, "count": count, "seed": seed}
    first = msgspec.json.encode(ENDPOINT.run(_request(body), CONTEXT))
    assert msgspec.json.encode(ENDPOINT.run(_request(body), CONTEXT)) == first
    answer = msgspec.json.decode(first, type=Response)
    assert len(answer.data) == count
    assert answer.meta.seed == seed
    assert all(isinstance(value, str) and value for record in answer.data for value in record.values())


@each(
    "body",
    [
        {"template": {"a": "person.firstName"}},
        {"template": {"a": "person.firstName"}, "count": 100},
        {"template": {"a": "person.firstName"}, "seed": None},
        {"template": {"a": "person.firstName"}, "seed": MAX_SEED},
        {"template": {"a": "person.firstName"}, "seed": -MAX_SEED},
        *({"template": {"a": "person.firstName"}, "locale": locale} for locale in ("de", "de_DE", None)),
        {"template": {"a": "person.firstName"}, "unknown": {}},
        {"template": {"💡" * 100: "person.firstName"}},
        {"template": {"": "person.firstName"}},
        {"template": {f"key{number}": "person.firstName" for number in range(50)}},
    ],
)
def test_good_requests(body: dict[str, Any]) -> None:
    """Every bound is included; unknown fields are ignored; the declared schema agrees."""
    assert _request(body).template == body["template"]
    assert _schema().is_valid(body)


def test_a_locale_may_be_spelled_in_other_ways() -> None:
    """The schema lists one way each; requests that were written before may have another."""
    for locale in ("de-de", "de-DE", "DE_DE", "De"):
        body = {"template": {"a": "person.firstName"}, "locale": locale}
        assert ENDPOINT.run(_request(body), CONTEXT).meta.locale == "de_DE"


@each(
    "body",
    [
        b"",
        b"null",
        b"{}",
        {"template": None},
        {"template": []},
        {"template": {}},
        {"template": {f"key{number}": "person.firstName" for number in range(51)}},
        {"template": {"a": ""}},
        {"template": {"a": ["person.firstName"]}},
        {"template": {"a" * 101: "person.firstName"}},
        {"template": {"💡" * 101: "person.firstName"}},
        {"template": {"a": "person.firstName"}, "count": 0},
        {"template": {"a": "person.firstName"}, "count": 101},
        {"template": {"a": "person.firstName"}, "seed": MAX_SEED + 1},
        {"template": {"a": "person.firstName"}, "locale": "German"},
        {"template": {"a": "person.firstName"}, "locale": ""},
        {"template": {"a": "person.firstName"}, "seed": -MAX_SEED - 1},
        b'{"template": {"a": "person.firstName"}, "seed": NaN}',
        b'{"template": {"a": "person.firstName"}, "seed": 1e400}',
        b'{"template": {"a": "person.firstName"}, "seed": ' + b"9" * 5000 + b"}",
        b'{"template": {"\\ud83d": "person.firstName"}}',
    ],
)
def test_bad_requests(body: Any) -> None:
    """Each is refused while it is decoded, which is before any payment."""
    with pytest.raises(msgspec.DecodeError):
        _request(body)
    if isinstance(body, dict):
        assert not _schema().is_valid(body)


def _schema() -> Draft202012Validator:
    return Draft202012Validator(msgspec.json.schema(Request))


def test_a_wide_seed_is_refused_by_name() -> None:
    """The refusal says which field it is."""
    assert _refusal({"template": {"a": "git.branch"}, "seed": MAX_SEED + 1}).field == "seed"


def test_every_unknown_method_is_refused_with_suggestions() -> None:
    """The refusal names all wrong fields and what may have been meant, without repeating the values."""
    template = {"good": "git.branch", "my.key": "person.firstname", "c": "zzz.qqq", "d": "location.zip"}
    refusal = _refusal({"template": template})
    faults = (refusal, *refusal.others)
    assert [fault.field for fault in faults] == ["template.my.key", "template.c", "template.d"]
    assert {fault.code for fault in faults} == {"invalid_body"}
    assert [fault.suggestions[:1] for fault in faults] == [("person.firstName",), (), ("location.zipCode",)]
    assert all(len(fault.suggestions) <= 5 for fault in faults)
    assert "firstname" not in refusal.detail
    details = invalid_field(refusal).details
    assert [fault["field"] for fault in details] == [fault.field for fault in faults]


def test_fifty_unknown_methods_cost_little() -> None:
    """They are judged before any payment, in the API's event loop."""
    body = {"template": {f"key{number}": f"{'aeiounrst' * 8}{number}" for number in range(50)}}
    started = time.process_time()
    assert len(_refusal(body).others) == 49
    assert time.process_time() - started < 1


@each(
    ("locale", "meant"),
    [
        *(
            ("en", "en_US"),
            ("en-GB", "en_GB"),
            ("EN_gb", "en_GB"),
            ("de", "de_DE"),
            ("pt", "pt_BR"),
            ("zh-cn", "zh_CN"),
        ),
        *((locale, locale) for locale in LOCALES),
        (None, "en_US"),
    ],
)
def test_locales(locale: str | None, meant: str) -> None:
    """A locale may be spelled in several ways, and the answer says which it was."""
    body = {"template": {"a": "person.fullName", "b": "location.country"}, "seed": 1, "count": 3}
    answer = _answer({**body, "locale": locale})
    assert answer["meta"]["locale"] == meant
    assert answer == _answer({**body, "locale": meant})
    assert (answer["data"] == _answer(body)["data"]) == (meant == "en_US")


@each("locale", ["xx", "pt_PT", "de_AT", "en_", "_US", "d", "de_DE.UTF-8", "../de", "\u0434\u0435"])
def test_an_unknown_locale_is_refused_with_the_ten(locale: str) -> None:
    """The sentence names all of them."""
    refusal = _refusal({"template": {"a": "person.firstName"}, "locale": locale})
    assert refusal.field == "locale"
    assert all(known in refusal.detail for known in LOCALES)


def test_the_schema_lists_the_methods_and_a_challenge_does_not() -> None:
    """The OpenAPI document has room for the allowlist; the headers of a 402 do not."""
    name, call = schemas.of(Request)["properties"]["template"]["additionalProperties"]["anyOf"]
    assert (name["enum"], call["properties"]["method"]["enum"]) == (list(METHODS), list(TAKING))
    assert "person.zodiacSign" not in json.dumps(schemas.brief(Request))


@each(
    ("method", "args", "pattern"),
    [
        ("number.int", {"min": 1, "max": 6}, "[1-6]"),
        ("number.int", [{"min": -3, "max": -3}], "-3"),
        ("number.int", {"min": 1, "max": 20, "multipleOf": 10}, "10|20"),
        ("number.float", {"min": 1, "max": 2, "fractionDigits": 1}, r"1(\.\d)?|2"),
        ("helpers.arrayElement", ["S", 1, None], "S|1|null"),
        ("helpers.arrayElement", [["S", "M"]], "S|M"),
        ("helpers.arrayElement", {"array": ["S"]}, "S"),
        ("date.between", {"from": "2026-02-01", "to": "2026-02-01T23:59:59Z"}, r"2026-02-01T\d\d:\d\d:\d\d\.\d{3}Z"),
        ("date.past", {"years": 1}, "2025-.*"),
        ("date.soon", {"days": 2}, "2026-01-0[123]T.*"),
        ("string.alphanumeric", {"length": 8}, "[A-Za-z0-9]{8}"),
        ("commerce.price", {"min": 5, "max": 5, "dec": 3}, r"5\.000"),
        ("datatype.boolean", {"probability": 1}, "true"),
        ("number.int", {}, r"\d+"),
        ("number.int", [], r"\d+"),
        ("number.int", [6], "[0-6]"),
        ("number.float", [0.5], r"0(\.[0-4]\d*|\.5)?|\d(\.\d+)?e-\d+"),
        ("string.alpha", [5], "[A-Za-z]{5}"),
        ("datatype.boolean", [0], "false"),
    ],
)
def test_methods_with_arguments(method: str, args: Any, pattern: str) -> None:
    """As faker-js has them; values are texts, and a seed repeats."""
    body = {"template": {"a": {"method": method, "args": args}, "b": "person.firstName"}, "count": 30, "seed": 5}
    answer = _answer(body)
    assert all(re.fullmatch(pattern, record["a"]) for record in answer["data"])
    assert _answer(body) == answer
    assert _schema().is_valid(body)


@each(
    ("method", "args", "field"),
    [
        ("person.firstName", {}, "method"),
        ("number.integer", {}, "method"),
        ("__class__", {}, "method"),
        ("number.int", {"minimum": 1}, "args"),
        ("number.int", {"min": 2, "max": 1}, "args"),
        ("number.int", {"min": "1"}, "args"),
        ("number.int", {"min": True}, "args"),
        ("number.int", [1, 6], "args"),
        ("number.int", [True], "args"),
        ("date.past", [1], "args"),
        ("number.int", {"max": 10**400}, "args"),
        ("number.float", {"fractionDigits": 99}, "args"),
        ("helpers.arrayElement", [], "args"),
        ("helpers.arrayElement", [[]], "args"),
        ("helpers.arrayElement", ["x"] * 101, "args"),
        ("helpers.arrayElement", ["x" * 201], "args"),
        ("date.between", {"from": "2026-02-01"}, "args"),
        ("date.between", {"from": "2026-02-02", "to": "2026-02-01"}, "args"),
        ("date.between", {"from": "0001-01-01T00:00:00+14:00", "to": "2026"}, "args"),
        ("date.past", {"years": 10**9}, "args"),
        ("string.alpha", {"length": 1001}, "args"),
        ("string.alpha", {"length": 0}, "args"),
    ],
)
def test_wrong_arguments_are_refused(method: str, args: Any, field: str) -> None:
    """Before any payment, by the field's name."""
    assert _refusal({"template": {"a": {"method": method, "args": args}}}).field == f"template.a.{field}"


def test_a_method_that_needs_arguments_is_not_called_unknown() -> None:
    """The refusal shows how it is called."""
    for name in ("helpers.arrayElement", "date.between"):
        refusal = _refusal({"template": {"a": name}})
        assert refusal.field == "template.a"
        assert f'{{"method": "{name}", "args": ' in refusal.detail


def test_each_record_is_one_person() -> None:
    """User name, address and first name come from the name; a second column of a method is about somebody else."""
    template = {
        "sex": "person.sex",
        "name": "person.fullName",
        "first": "person.firstName",
        "last": "person.lastName",
        "email": "internet.email",
        "login": "internet.username",
        "other": "person.firstName",
        "otherEmail": "internet.email",
    }
    for locale in ("en_US", "de_DE", "ru_RU", "ja_JP", "es_ES"):
        records = _answer({"template": template, "count": 60, "seed": 3, "locale": locale})["data"]
        for record in records:
            assert record["first"] in record["name"]
            assert record["last"] in record["name"]
            assert record["email"].partition("@")[0] == record["login"]
            if locale == "en_US":
                first, last = (re.sub("[^a-z]", "", record[key].lower()) for key in ("first", "last"))
                assert first in record["login"] or last in record["login"]
        assert sum(record["first"] != record["other"] for record in records) > 40
        assert sum(record["email"] != record["otherEmail"] for record in records) > 40
    for record in _answer({"template": template, "count": 60, "seed": 3})["data"]:
        assert record["name"].split()[0] not in (["Mr."] if record["sex"] == "female" else ["Mrs.", "Ms.", "Miss"])


@each(
    "name",
    [
        *("__class__", "__init__.__globals__", "person.__init__", "person.__class__", "__builtins__.eval"),
        *("faker.providers", "faker.Faker", "fake.first_name", "first_name", "name", "profile", "binary", "zip", "csv"),
        *("misc.binary", "person.first_name", "person.firstName.upper", "person.firstName()", "person..firstName"),
        *(".firstName", "person.", ".", "person", "firstName", "person/firstName", "person['firstName']"),
        *(" person.firstName", "person.firstName ", "person.firstName\n", "person.firstName\x00", "\tperson.firstName"),
        *("PERSON.FIRSTNAME", "Person.firstName", "person.FirstName", "person.firstname"),
        *("pers\u043en.firstName", "\uff50erson.firstName", "person\u2024firstName", "person\uff0efirstName"),
        *("person.firstName\u200b", "person.\u200bfirstName", "perso\u0301n.firstName", "per\u017fon.firstName"),
        *("helpers.fake", "helpers.fromRegExp", "helpers.arrayElement", "date.between", "date.betweens"),
        *("{{person.firstName}}", "string.fromCharacters", "location.state(abbreviated)", "x" * 40_000, "\ud7ff"),
    ],
)
def test_only_exact_names_dispatch(name: str) -> None:
    """Attribute paths, look-alikes, other cases, spaces and templates are no method names."""
    refusal = _refusal({"template": {"a": name}})
    assert refusal.field == "template.a"
    assert set(refusal.suggestions) <= METHODS.keys()


def test_the_largest_request_fits_the_body_limit() -> None:
    """Fifty keys of a hundred escaped astral characters and the longest name are below the endpoint's body limit."""
    longest = max(METHODS, key=len)
    template = {"\U0001f4a1" * 98 + f"{number:02}": longest for number in range(50)}
    body = json.dumps({"template": template, "count": 100, "seed": MAX_SEED}).encode()
    assert _request(body).template == template
    assert len(body) <= ENDPOINT.max_body_bytes


def test_many_values_are_long() -> None:
    """Whatever they are: no method takes more than a fraction of a millisecond."""
    template = {f"f{n}": "person.firstName" for n in range(4)}
    assert not is_long(Request(template, count=MANY_VALUES // 4))
    assert is_long(Request(template, count=MANY_VALUES // 4 + 1))
