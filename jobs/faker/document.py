"""Writes docs/faker.md: ``python -m jobs.faker.document > docs/faker.md``. A test fails when the two differ."""

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from string import Template

from jobs.faker.allowlist import METHODS
from jobs.faker.arguments import TAKING
from jobs.faker.locales import LOCALES
from jobs.faker.people import ABOUT
from jobs.faker.records import SEEDED_REFERENCE, engine, records

SEED = 1
_MAX_EXAMPLE_CHARS = 100

_INTRODUCTION = Template(Path(__file__).with_name("introduction.md").read_text(encoding="utf-8"))


def document() -> str:
    """The whole of docs/faker.md."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    reference = SEEDED_REFERENCE.isoformat().replace("+00:00", "Z")
    words = [f"`{locale}`" for locale in LOCALES]
    yield _INTRODUCTION.substitute(
        count=len(METHODS),
        locales=f"{', '.join(words[:-1])} and {words[-1]}",
        taking="\n".join(
            f"- `{name}`: {', '.join(f'`{one}`' for one in names)}" for name, (names, _) in TAKING.items()
        ),
        about=", ".join(f"`{name}`" for name in sorted(ABOUT)),
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
