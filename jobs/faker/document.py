"""Writes docs/faker.md: ``python -m jobs.faker.document > docs/faker.md``. A test fails when the two differ."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

from jobs.faker.allowlist import METHODS
from jobs.faker.locales import LOCALES
from jobs.faker.records import SEEDED_REFERENCE, engine, records

SEED = 1
_MAX_EXAMPLE_CHARS = 100

_INTRODUCTION = """\
# faker

`POST /v1/cdp/faker` makes records from a template: field name to method.

```json
{{"template": {{"name": "person.fullName", "email": "internet.email"}}, "count": 2, "seed": 7}}
```

The {count} methods below are those of faker-js (`@faker-js/faker` 10) that need no argument, by the same names and in the
same formats. Other names are refused before payment, all at once, with suggestions for each. Not offered: `helpers.*`,
`date.between`, `date.betweens` and `string.fromCharacters`, which only work on arguments.

- **Values are text**, at most 2000 code points. Numbers and booleans are written as JavaScript writes them, dates as
  ISO-8601 in UTC, and what faker-js gives as an object or an array as its JSON text.
- **`locale`** is one of {locales};
  `en_US` unless it is given. `de_DE`, `de-DE` and `de` are the same; a language alone is its first locale in this list. These
  methods follow it, the others are the same in all:
{following}.
- **A seed repeats.** The same template, seed and locale give the same records on any day, as long as the service's release is
  the same; a new release may give others. A column depends on the seed, its key, its method and the locale alone: other columns
  may come and go, and a larger `count` only adds records. Without a seed every call differs.
- **Names of works are invented**: of books, albums and songs, and of those who made them.
- **`meta.refDate`** is what past and future are relative to: {reference} when there is a seed, otherwise the
  time of the call.
- **Columns know nothing of each other**: an e-mail address does not match the name beside it.
- **Nothing reaches anyone.** Mail addresses, domains and URLs are at example.com, example.net and example.org; IP addresses
  are those reserved for documentation and benchmarks; telephone numbers are 555-0100 to 555-0199, in `en_GB`,
  `de_DE` and `fr_FR` of the ranges that their regulators keep for fiction. Numbers with a check digit have the right one,
  except blockchain addresses, whose checksums are random so that nothing can be sent to them.

The example is what the method gives for `{{"template": {{"<method>": "<method>"}}, "seed": {seed}}}` with {engine}.
"""


def document() -> str:
    """The whole of docs/faker.md."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    reference = SEEDED_REFERENCE.isoformat().replace("+00:00", "Z")
    words = [f"`{locale}`" for locale in LOCALES]
    yield _INTRODUCTION.format(
        count=len(METHODS),
        locales=f"{', '.join(words[:-1])} and {words[-1]}",
        following=textwrap.indent(textwrap.fill(", ".join(f"`{name}`" for name in following()), 126), "  "),
        reference=reference,
        seed=SEED,
        engine=engine(),
    ).rstrip()
    [examples] = records({name: name for name in METHODS}, 1, seed=SEED, now=SEEDED_REFERENCE)
    module = ""
    for name, method in METHODS.items():
        if name.partition(".")[0] != module:
            module = name.partition(".")[0]
            yield f"\n## {module}\n\n| method | gives | example |\n|---|---|---|"
        gives = " ".join((method.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
        yield f"| `{name}` | {_cell(gives)} | {_code(examples[name] or '')} |"


def following() -> list[str]:
    """The methods whose values depend on the locale."""
    every = {name: name for name in METHODS}
    made = [records(every, 30, seed=SEED, now=SEEDED_REFERENCE, locale=locale) for locale in LOCALES]
    return [
        name for name in METHODS if any([row[name] for row in rows] != [row[name] for row in made[0]] for rows in made)
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _code(value: str) -> str:
    """A code span, in which line ends are shown as escapes. More backticks around than the value has inside."""
    text = value.replace("\r", "\\r").replace("\n", "\\n")
    if len(text) > _MAX_EXAMPLE_CHARS:
        text = text[: _MAX_EXAMPLE_CHARS - 1] + "…"
    fence, space = ("``", " ") if "`" in text else ("`", "")
    return f"{fence}{space}{_cell(text)}{space}{fence}"


if __name__ == "__main__":
    sys.stdout.write(document())
