"""faker: makes fake records. The method names are faker-js's; Python Faker and small functions of our own make the values."""

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from jobs.faker.allowlist import METHODS
from jobs.faker.arguments import TAKING, BadArguments, bound
from jobs.faker.closest import closest
from jobs.faker.locales import LOCALES, canonical
from jobs.faker.records import SEEDED_REFERENCE, engine, records
from jobs.faker.records import Call as WithArguments
from jobs.fields import Ok, doc
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price

MANY_VALUES = 200
"""With more values, the work takes some milliseconds: 70 us for each of the dearest values."""
MAX_SEED = 2**256 - 1
"""Limit in both directions, wide enough for a hash. Many JSON clients keep numbers exact only up to 2**53."""

Key = Annotated[str, msgspec.Meta(max_length=100)]
MethodName = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        # In the schema only: an unknown name is refused with suggestions instead.
        extra_json_schema={"pattern": "^[a-z]+\\.[a-zA-Z0-9]+$", "enum": list(METHODS)},
    ),
]


# Generators of clients fail on a list that says nothing of its items.
_ITEM: dict[str, Any] = {"anyOf": [{"type": name} for name in ("string", "number", "boolean", "null", "object")]}
_ITEM["anyOf"].append({"type": "array", "items": {"type": "string"}})


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A method with arguments."""

    method: Annotated[
        str,
        msgspec.Meta(min_length=1, description="The method's name.", extra_json_schema={"enum": list(TAKING)}),
    ]
    args: Annotated[
        dict[str, Any] | Annotated[list[Any], msgspec.Meta(extra_json_schema={"items": _ITEM})],
        msgspec.Meta(description='Its arguments as faker-js has them: `{"min": 1, "max": 6}`, `["a", "b"]`.'),
    ]


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """A template, and how many records to make from it."""

    template: Annotated[
        dict[Key, MethodName | Call],
        msgspec.Meta(
            min_length=1,
            max_length=50,
            description=(
                "Field name to faker-js method name: person.firstName, internet.email, date.past; or to an object with "
                "`method` and `args`: number.int, date.between, helpers.arrayElement."
            ),
            examples=[{"name": "person.fullName", "email": "internet.email"}],
        ),
    ]
    count: Annotated[int, msgspec.Meta(ge=1, le=100, description="How many records.")] = 1
    seed: (
        Annotated[
            int,
            msgspec.Meta(
                description="Makes the records repeatable.",
                extra_json_schema={"minimum": -MAX_SEED, "maximum": MAX_SEED},
            ),
        ]
        | None
    ) = None
    locale: (
        Annotated[
            str,
            msgspec.Meta(
                description="A locale, or its language alone. Also as de-DE, and in any case.",
                # In the schema only, and what is listed: the check below takes other spellings, too.
                extra_json_schema={"enum": [*LOCALES, *dict.fromkeys(locale[:2] for locale in LOCALES)]},
            ),
        ]
        | None
    ) = None

    def __post_init__(self) -> None:
        if self.locale is not None and canonical(self.locale) is None:
            raise InvalidField(f"The locales are {', '.join(LOCALES)}.", field="locale", suggestions=LOCALES)
        if self.seed is not None and abs(self.seed) > MAX_SEED:
            raise InvalidField("The seed has more than 256 bits.", field="seed")
        others: tuple[InvalidField, ...] = ()
        for key, name in reversed(self.template.items()):
            if isinstance(name, Call):
                if fault := _fault(key, name, others):
                    others = (fault, *others)
            elif name not in METHODS:
                found = InvalidField(
                    f'This method needs arguments: {{"method": "{name}", "args": {{{_names_of(name)}: ...}}}}.'
                    if name in TAKING
                    else "This is not the name of a supported method. Most of https://fakerjs.dev/api/ are supported.",
                    field=f"template.{key}",
                    suggestions=closest(name, METHODS),
                    others=others,
                )
                others = (found, *others)
        if others:
            raise others[0]


def _names_of(name: str) -> str:
    return ": ..., ".join(f'"{argument}"' for argument in TAKING[name][0])


def _fault(key: str, call: Call, others: tuple[InvalidField, ...]) -> InvalidField | None:
    """Why a method cannot be called so."""
    if call.method not in TAKING:
        detail = f"This method takes no arguments here. Those that do are {', '.join(TAKING)}."
        suggestions = closest(call.method, TAKING)
        return InvalidField(detail, field=f"template.{key}.method", suggestions=suggestions, others=others)
    try:
        bound(call.method, call.args)
    except BadArguments as wrong:
        return InvalidField(str(wrong), field=f"template.{key}.args", others=others)
    return None


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    """What the records depend on: the same template, seed, locale and engine give the same records."""

    count: Annotated[int, doc("The number of records.")]
    seed: Annotated[int | None, doc("The seed of the request. Null when it had none.")]
    fields: Annotated[list[str], doc("The keys of the template, in its order.")]
    locale: Annotated[str, doc("The locale that was used, such as `en_US`.")]
    engine: Annotated[str, doc("The name and version of the generator. Another version may give other records.")]
    ref_date: Annotated[str, doc("The present time of the records, ISO 8601 in UTC. It is fixed when there is a seed.")]


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Ok
    data: Annotated[
        list[dict[str, str | None]],
        doc("The records, with the keys of the template. Each value has 1 to 2,000 characters."),
    ]
    meta: Meta


def run(request: Request, context: Context) -> Response:
    """Fill the template."""
    now = datetime.now(UTC).replace(microsecond=0) if request.seed is None else SEEDED_REFERENCE
    locale = canonical(request.locale or "") or LOCALES[0]
    template = {
        key: WithArguments(asked.method, asked.args) if isinstance(asked, Call) else asked
        for key, asked in request.template.items()
    }
    data = records(template, request.count, seed=request.seed, now=now, locale=locale)
    meta = Meta(
        count=request.count,
        seed=request.seed,
        fields=list(request.template),
        locale=locale,
        engine=engine(),
        ref_date=now.isoformat().replace("+00:00", "Z"),
    )
    return Response(ok=True, data=data, meta=meta)


def is_long(request: Request) -> bool:
    """Whether the request takes more than some milliseconds. The longest one takes 0.4 s."""
    return request.count * len(request.template) > MANY_VALUES


ENDPOINT = Endpoint(
    name="faker",
    price=Price.of("0.005"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    deadline_s=10,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary="Makes up to 100 realistic fake records from a template of faker-js method names, repeatable by a seed.",
    example=Example(
        request={"template": {"name": "person.fullName", "email": "internet.email"}, "count": 2, "seed": 7},
        response={
            "ok": True,
            "data": [
                {"name": "Elijah Humphrey", "email": "ehumphrey@example.com"},
                {"name": "Jerome Reeves", "email": "jerome_reeves@example.net"},
            ],
            "meta": {
                "count": 2,
                "seed": 7,
                "fields": ["name", "email"],
                "locale": "en_US",
                "engine": "faker 40.54.0",
                "refDate": "2026-01-01T00:00:00Z",
            },
        },
    ),
    run=run,
    child_limit_s=10,
    is_long=is_long,
)
