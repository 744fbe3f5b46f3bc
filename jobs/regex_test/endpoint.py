"""regex-test: runs a JavaScript regular expression on a text, in V8.

- Offsets and lengths are in UTF-16 units, as in JavaScript. A match may begin or end inside a surrogate pair, as it often
  does without the flag u. The half pair is written as U+FFFD, and the offsets still give the exact position.
- An invalid pattern is refused before the payment. jobs/regex_test/syntax.py decides this without V8, which the API does
  not load.
- Compiling and matching may take 50 ms of CPU time together. Waiting for a busy machine does not count. A pattern that
  takes more, or more than V8's 64 MB backtracking stack, gets the answer `regex_timeout`.
- The matches of an answer have at most 1 MiB as JSON. `matchCount` always counts all of them.
"""

from typing import Annotated, Literal

import msgspec

from jobs.fields import doc
from jobs.ports import Context
from jobs.regex_test.hints import hint
from jobs.regex_test.matching import LIMIT_S, Exhausted, Match, find
from jobs.regex_test.syntax import PatternError, check
from shared.endpoint import Category, Endpoint, Example, Flavour, InvalidField, Pool
from shared.money import Price
from shared.outcome import InvalidInput

MAX_PATTERN = 5_000
MAX_INPUT = 100_000
"""Unicode code points, as for MAX_PATTERN."""
FLAGS = "dgimsuy"

ENGINE = "V8 14.4.258.23"


class RegexSyntax(InvalidInput):
    """V8 refuses a pattern that the check before the payment accepted."""

    code = "regex_syntax"


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pattern: Annotated[
        str, msgspec.Meta(max_length=MAX_PATTERN, description="JavaScript regular expression, without slashes.")
    ]
    flags: Annotated[
        str,
        msgspec.Meta(
            description="JavaScript flags: any of d, g, i, m, s, u and y, each at most once.",
            # In the schema only: the check below gives a better message.
            extra_json_schema={
                "pattern": f"^[{FLAGS}]*$",
                "maxLength": len(FLAGS),
                "not": {"pattern": "|".join(f"{flag}.*{flag}" for flag in FLAGS)},
            },
        ),
    ] = ""
    input: Annotated[str, msgspec.Meta(max_length=MAX_INPUT, description="Text to match.")]
    capture_limit: Annotated[
        int, msgspec.Meta(ge=1, le=1000, description="How many matches to return; all are counted.")
    ] = 100

    def __post_init__(self) -> None:
        if len(self.flags) > len(FLAGS) or len(set(self.flags).intersection(FLAGS)) < len(self.flags):
            raise InvalidField("Flags are letters of dgimsuy, each at most once.", field="flags")
        try:
            check(self.pattern, self.flags)
        except PatternError as error:
            advice = hint(self.pattern, self.flags, matched=False)
            detail = f"{error.message}, at index {error.index}." + (f" {advice}" if advice else "")
            raise InvalidField(detail, field="pattern", code="regex_syntax") from None


class Response(msgspec.Struct, frozen=True, rename="camel"):
    ok: Annotated[bool, doc("Whether the pattern finished in time. When false, `error` says why.")]
    matched: Annotated[bool | None, doc("Whether there is a match. Null when the pattern took too long.")]
    match_count: Annotated[
        int | None, doc("The number of all matches; 0 or 1 without the flag g. Null when the pattern took too long.")
    ]
    matches: Annotated[list[Match], doc("The matches in their order, up to `captureLimit` and 1 MiB.")]
    truncated: Annotated[bool, doc("Whether there are more matches than `matches` has.")]
    flags: Annotated[str, doc("The flags of the request, in JavaScript's order.")]
    engine: Annotated[str, doc("The name and version of the JavaScript engine.")]
    elapsed_ms: Annotated[float, doc("CPU time for compiling and matching, in milliseconds.")]
    error: Annotated[
        Literal["regex_timeout"] | None,
        doc("`regex_timeout` when the pattern took more than 50 ms of CPU time. Else null."),
    ]
    hint: Annotated[
        str | None,
        doc(
            "What to write instead, for a pattern in a literal's slashes or with doubled backslashes that does not match, or "
            "with the syntax of Python or PCRE. Else null."
        ),
    ]


def run(request: Request, context: Context) -> Response:
    """Find and count the matches."""
    try:
        matches = find(request.pattern, request.flags, request.input, limit=request.capture_limit)
    except PatternError as error:
        raise RegexSyntax(f"{error.message}.") from None
    except Exhausted as spent:
        return exhausted(request, spent.cpu_s)
    return Response(
        ok=True,
        matched=matches.count > 0,
        match_count=matches.count,
        matches=matches.first,
        truncated=matches.count > len(matches.first),
        flags=_in_order(request.flags),
        engine=ENGINE,
        elapsed_ms=_ms(matches.cpu_s),
        error=None,
        hint=hint(request.pattern, request.flags, matched=matches.count > 0),
    )


def exhausted(request: Request, cpu_s: float = LIMIT_S) -> Response:
    """The answer when the pattern took too long, or the child process had to be killed."""
    return Response(
        ok=False,
        matched=None,
        match_count=None,
        matches=[],
        truncated=False,
        flags=_in_order(request.flags),
        engine=ENGINE,
        elapsed_ms=_ms(cpu_s),
        error="regex_timeout",
        hint=hint(request.pattern, request.flags, matched=None),
    )


def _in_order(flags: str) -> str:
    """Sort flags alphabetically, as `RegExp.prototype.flags` does."""
    return "".join(sorted(flags))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


ENDPOINT = Endpoint(
    name="regex-test",
    price=Price.of("0.005"),
    category=Category.UTILITY,
    pool=Pool.FAST,
    # The other requests in the pool may be as hostile: 200 patterns that run to their limit take two cores 6 s.
    deadline_s=20,
    flavour=Flavour.NEWER,
    request=Request,
    response=Response,
    summary=(
        "Matches a JavaScript regular expression against a text in V8, within 50 ms of CPU time: every match with index, "
        "length, captures and named groups. Catastrophic backtracking is answered with regex_timeout."
    ),
    example=Example(
        request={"pattern": "(?<user>\\w+)@(\\w+\\.com)", "flags": "g", "input": "ann@example.com, bob@example.org"},
        response={
            "ok": True,
            "matched": True,
            "matchCount": 1,
            "matches": [
                {
                    "match": "ann@example.com",
                    "index": 0,
                    "length": 15,
                    "groups": ["ann", "example.com"],
                    "namedGroups": {"user": "ann"},
                    "indices": None,
                    "namedIndices": None,
                }
            ],
            "truncated": False,
            "flags": "g",
            "engine": ENGINE,
            "elapsedMs": 0.21,
            "error": None,
            "hint": None,
        },
    ),
    run=run,
    max_body_bytes=1_500_000,
    exhausted=exhausted,
    child_limit_s=5,
)
