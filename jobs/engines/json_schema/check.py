"""Checks values against JSON Schemas that callers wrote. Nothing is ever fetched, from the network or from disk.

The API compiles a schema before the payment, so that a bad one is refused free of charge (`compile_schema` raises
InvalidField). The worker compiles it again. The limits keep this cheap: 0.06 s at worst, with 64 patterns, eight of them
large (measured). A check can still take exponential time (`allOf` of two `$ref`s, 30 levels deep), so call `errors` in a
child process that can be killed.

`pattern` runs on a linear-time engine. One with look-around or back-references runs in V8 instead, as regex-test's patterns do
(backtracking_patterns.py). A key of `patternProperties` cannot have these.
`format` is asserted in every draft, unless the caller wants the annotation that it is from 2019-09 on: a tool's schema says
`{"format": "date"}` because it wants a date.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any

import jsonschema_rs
import msgspec

from jobs.engines.json_schema import backtracking_patterns
from jobs.engines.json_schema.dialects import dialect_of, with_known_dialect
from jobs.fields import doc
from shared.endpoint import InvalidField

MAX_BYTES = 64 * 1024
"""Size limit of the schema as JSON."""
MAX_DEPTH = 64
MAX_NODES = 2000
"""Objects and arrays in the schema, its root included."""
MAX_PATTERNS = 64
"""Values of `pattern` and keys of `patternProperties`."""
MAX_LARGE_PATTERNS = 8
"""Limit of patterns that have a Unicode property, or more than MAX_REPETITIONS: such a pattern takes up to 5 ms to compile, any
other 0.3 ms."""
MAX_REPETITIONS = 64
"""Limit of the sum of all counts in a pattern, where those of groups count eight times: `^(ab){2}[0-9]{4}$` has 20."""
MAX_ERRORS = 50
MAX_MESSAGE = 200
"""Characters. A message names the rule. It never quotes the value, which may be huge or secret."""
MASK = "value"
"""The word that stands for the value in a message."""

_REGEX_BYTES = 1024 * 1024
"""Size limit of a compiled pattern. It is enough for `^.{1,1000}$`."""

_GROUP_WEIGHT = 8
_REPETITION = re.compile(r"(\)?)\{([0-9]+)(?:,([0-9]*))?\}")

_APPLIED_TO_MANY = ("additionalProperties", "additionalItems", "items", "propertyNames")
"""Keywords. When one of them is `false` and stands alone, the library reports it as a false schema."""


class SchemaError(msgspec.Struct, frozen=True, rename="camel"):
    """One rule that a value breaks."""

    path: Annotated[str, doc("JSON Pointer to the value that breaks the rule. Empty for the whole value.")]
    keyword: Annotated[str, doc("The schema keyword that is broken; `falseSchema` where the schema is `false`.")]
    message: Annotated[str, doc("What is wrong, in at most 200 characters. It never quotes the value.")]


class Schema:
    """A compiled schema.

    Attributes:
        content: the JSON from which it was compiled.
        dialect: the URI of its draft.
        assert_format: whether a value that breaks a `format` is invalid.
    """

    def __init__(
        self, validator: jsonschema_rs.Validator, content: dict[str, Any] | bool, *, assert_format: bool = True
    ) -> None:
        self.content = content
        self.dialect = dialect_of(content)
        self.assert_format = assert_format
        self._validator = validator

    def errors(self, value: Any) -> list[SchemaError]:
        """The first 50 rules that a value breaks; empty when the value is valid. This may take exponential time.

        For a value of more than 255 levels there may be one error without a path, because the library cannot describe it.

        Raises:
            TooComplex: a pattern with look-around takes too long.
        """
        with backtracking_patterns.limited():
            try:
                if self._validator.is_valid(value):
                    return []
                return [_error(error) for error in islice(self._validator.iter_errors(value), MAX_ERRORS)]
            except ValueError:
                return [SchemaError("", "", "The value does not fit the schema, or is too deep to be compared.")]


def compile_schema(schema: Any, *, field: str = "schema", assert_format: bool = True) -> Schema:
    """Compile a JSON Schema. `$schema` names its draft; the default is 2020-12. `true` and `false` are schemas.

    Raises:
        InvalidField: for `field`. The code is `remote_ref_not_allowed` when the schema refers to anything outside itself,
            except the published meta-schemas, even where the reference is never used. It is `unknown_dialect` when
            `$schema` names no draft from 4 on, and `invalid_schema` when this is not a schema, or exceeds a limit.
    """
    if not isinstance(schema, dict | bool):
        raise _invalid("A JSON Schema is an object or a boolean.", field)
    _check_bounds(schema, field)
    try:
        schema = backtracking_patterns.moved(with_known_dialect(schema))
    except backtracking_patterns.NotAPattern as error:
        raise _invalid(cut(f"At {pointer(error.path)}: this is not a regular expression."), field) from None
    except LookupError:
        detail = "`$schema` names none of the drafts 4, 6, 7, 2019-09 and 2020-12."
        raise InvalidField(detail, field=field, code="unknown_dialect") from None
    asked: list[str] = []

    def record(uri: str) -> Any:
        asked.append(uri)
        return refuse(uri)

    try:
        validator = validator_for(schema, retriever=record, assert_format=assert_format)
    except jsonschema_rs.ValidationError as error:
        if asked or _is_remote(error):
            raise _remote(field) from None
        raise _invalid(_why(error), field) from None
    except ValueError:
        raise _invalid("This is not a JSON Schema.", field) from None
    if asked:
        raise _remote(field)
    return Schema(validator, schema, assert_format=assert_format)


def refuse(uri: str) -> Any:
    """Refuse to fetch a URI."""
    raise LookupError("nothing is fetched")


def validator_for(
    schema: dict[str, Any] | bool,
    *,
    retriever: Callable[[str], Any] = refuse,
    assert_format: bool,
    keywords: dict[str, Any] | None = None,
    **options: Any,
) -> jsonschema_rs.Validator:
    """Make a validator with the settings that all our validators share."""
    return jsonschema_rs.validator_for(
        schema,
        retriever=retriever,
        mask=MASK,
        validate_formats=assert_format,
        keywords=backtracking_patterns.KEYWORDS | (keywords or {}),
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES),
        **options,
    )


def _check_bounds(schema: dict[str, Any] | bool, field: str) -> None:
    depth = nodes = 0
    patterns: list[str] = []
    level: list[Any] = [schema] if isinstance(schema, dict) else []
    while level:
        depth += 1
        nodes += len(level)
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise _invalid(f"The schema has more than {MAX_DEPTH} levels or {MAX_NODES} objects and arrays.", field)
        patterns += (pattern for node in level for pattern in _patterns(node))
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
    if len(patterns) > MAX_PATTERNS or sum(_is_large(pattern) for pattern in patterns) > MAX_LARGE_PATTERNS:
        detail = f"The schema has more than {MAX_PATTERNS} patterns, or more than {MAX_LARGE_PATTERNS} large ones."
        raise _invalid(detail, field)
    try:
        size = len(msgspec.json.encode(schema))
    except (TypeError, ValueError):
        raise _invalid("The schema cannot be written as JSON.", field) from None
    if size > MAX_BYTES:
        raise _invalid(f"The schema has more than {MAX_BYTES} bytes.", field)


def _children(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def _patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(pattern := node.get("pattern"), str):
            yield pattern
        if isinstance(properties := node.get("patternProperties"), dict):
            yield from properties


def _is_large(pattern: str) -> bool:
    if "\\p" in pattern or "\\P" in pattern:
        return True
    repeated = 0
    for of_group, least, most in _REPETITION.findall(pattern):
        repeated += int((most or least)[:9]) * (_GROUP_WEIGHT if of_group else 1)
    return repeated > MAX_REPETITIONS


def _is_remote(error: jsonschema_rs.ValidationError) -> bool:
    """Whether a reference leads out of the schema. Otherwise it leads to a place in the schema that does not exist."""
    return error.kind.name == "$ref" and error.message.startswith(("Resource ", "Unknown meta-schema"))


def _why(error: jsonschema_rs.ValidationError) -> str:
    """A sentence that says why, and at which place, a schema is invalid."""
    error = _inner(error)
    where = pointer(error.instance_path) or "the root"
    if error.kind.name == "enum":
        options: Iterable[Any] = getattr(error.kind, "options", ())
        return cut(f"At {where}: this is not one of {', '.join(map(str, options))}.")
    if error.kind.name == "format" and where.endswith(("/pattern", "/patternProperties")):
        return cut(f"At {where}: this is not a regular expression, or a key of patternProperties with look-around.")
    return cut(f"At {where}: {error.message}")


def _inner(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """What is wrong in the branch of an `anyOf` or `oneOf` that the value was meant for: not one for another type of value."""
    branches = [branch for branch in getattr(error.kind, "context", ()) if branch]
    if not branches:
        return error
    meant = [
        branch[0]
        for branch in branches
        if branch[0].kind.name != "type" or branch[0].instance_path != error.instance_path
    ]
    return _inner(max(meant or [branches[0][0]], key=lambda each: (len(each.instance_path), each.kind.name != "enum")))


def _error(error: jsonschema_rs.ValidationError) -> SchemaError:
    return SchemaError(pointer(error.instance_path), keyword_of(error), cut(error.message))


def keyword_of(error: jsonschema_rs.ValidationError) -> str:
    """The keyword that a value breaks, as it stands in the schema, or `falseSchema`."""
    keyword = error.kind.name
    if keyword == "falseSchema" and error.schema_path and error.schema_path[-1] in _APPLIED_TO_MANY:
        return str(error.schema_path[-1])
    return "pattern" if keyword == backtracking_patterns.KEYWORD else keyword


def pointer(path: Sequence[str | int]) -> str:
    """Write a path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def cut(message: str) -> str:
    """Cut a message to 200 characters."""
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "\u2026"


def _invalid(detail: str, field: str) -> InvalidField:
    return InvalidField(detail, field=field, code="invalid_schema")


def _remote(field: str) -> InvalidField:
    detail = "The schema refers to something outside itself; nothing is fetched."
    return InvalidField(detail, field=field, code="remote_ref_not_allowed")
