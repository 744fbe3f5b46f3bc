"""A schema and its parts, and checks of values against them that avoid needless work.

For a broken `anyOf` or `oneOf` the library reports all errors of every branch, and so on inwards. Here a branch is checked only
when it is needed. So the schema that finds errors has both keywords replaced by keywords that only report that they are
broken. For a tree of five levels whose nodes may be of five kinds, the library's own takes 5000 times as long; for six levels,
ten times as long again.
"""

from functools import cached_property
from typing import Any

import jsonschema_rs
from jsonschema_rs import Validator

from jobs.engines.json_schema.check import Schema, pointer, refuse, validator_for
from jobs.llm_tool_validate.lossless import Listed
from jobs.llm_tool_validate.violations import Violation, violations_of

UNIONS = {
    "anyOf": "value is not valid under any of the schemas listed in the 'anyOf' keyword",
    "oneOf": "value is not valid under any of the schemas listed in the 'oneOf' keyword",
}
"""Keywords with branches, and the message for a value that fits none."""
SEVERAL_FIT = "value is valid under more than one of the schemas listed in the 'oneOf' keyword"

_BASE = "schema:///"
"""The URI of a document without an `$id`."""


class Document:
    """The caller's schema. A `location` is the absolute URI of a place in it, as in the library's errors."""

    def __init__(self, schema: Schema) -> None:
        self._content = schema.content
        self._dialect = schema.dialect
        self._assert_format = schema.assert_format
        self._parts: dict[str, Part | None] = {}
        self._branches: dict[str, list[Part]] = {}
        self._listed: dict[str, Listed] = {}

    @cached_property
    def root(self) -> "Part":
        """The whole schema."""
        return Part(self, self._content, base_uri=_BASE)

    def part(self, location: str) -> "Part | None":
        """The schema at a location, or None when there is none. This may take as long as compiling the whole schema."""
        if location not in self._parts:
            try:
                self._parts[location] = Part(self, {"$ref": location}, registry=self._registry)
            except ValueError:
                self._parts[location] = None
        return self._parts[location]

    def branches(self, location: str) -> "list[Part]":
        """The parts of an `anyOf` or `oneOf`. Empty unless all are found."""
        if location not in self._branches:
            rule = self.rule(location)
            parts = [self.part(f"{location}/{index}") for index in range(len(rule) if isinstance(rule, list) else 0)]
            self._branches[location] = [part for part in parts if part] if all(parts) else []
        return self._branches[location]

    def listed(self, location: str) -> Listed:
        """The values of an `enum`."""
        if location not in self._listed:
            rule = self.rule(location)
            self._listed[location] = Listed(rule if isinstance(rule, list) else [])
        return self._listed[location]

    def rule(self, location: str) -> Any:
        """The JSON value at a location. None also when there is nothing."""
        try:
            return self._registry.resolver(_BASE).lookup(location).contents
        except jsonschema_rs.ReferencingError:
            return None

    def validator_for(self, schema: Any, **options: Any) -> Validator:
        """A validator that reads `schema` by the document's dialect."""
        if isinstance(schema, dict):
            schema = {"$schema": self._dialect} | schema
        return validator_for(schema, assert_format=self._assert_format, **options)

    @cached_property
    def keywords(self) -> dict[str, Any]:
        """The replacements of `anyOf` and `oneOf`."""
        document = self

        class Union:
            """One `anyOf` or `oneOf`. Impossible in a subschema with its own `$id`, which hides the location."""

            def __init__(self, parent: dict[str, Any], listed: Any, path: list[str | int]) -> None:
                location, keyword = f"{_BASE}#{pointer(path)}", str(path[-1])
                if document.rule(location) != listed:
                    raise ValueError("it is elsewhere")
                branches = [{"$ref": f"{location}/{index}"} for index in range(len(listed))]
                self._judge = document.validator_for({keyword: branches}, registry=document._registry)
                self._message = UNIONS[keyword]

            def validate(self, value: Any) -> None:
                if not self._judge.is_valid(value):
                    raise ValueError(self._message)

        return dict.fromkeys(UNIONS, Union)

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        return jsonschema_rs.Registry([(_BASE, self._content)], retriever=refuse)


class Part:
    """A schema in a document.

    Args:
        options: the library's options for compiling it.
    """

    def __init__(self, document: Document, schema: Any, **options: Any) -> None:
        self.document = document
        self._schema = schema
        self._options = options
        self._validator = document.validator_for(schema, **options)

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits. May take exponential time."""
        return self._validator.is_valid(value)

    def violations(self, value: Any) -> list[Violation]:
        """All rules that a value of at most 255 levels breaks. May take exponential time."""
        return [] if self._validator.is_valid(value) else violations_of(value, self._finder.iter_errors(value))

    @cached_property
    def _finder(self) -> Validator:
        try:
            return self.document.validator_for(self._schema, **self._options, keywords=self.document.keywords)
        except ValueError:
            return self._validator
