"""Finds the changes of type that make a value fit a schema.

The validator alone decides which rules apply where: a value is changed only where a rule of the schema reports a wrong type.
So references, combinations, conditions and every draft have exactly the validator's meaning.

1. A value that fits is not changed.
2. Where `type` is broken, `lossless.converted` converts the value, to a type that all broken rules of that place allow. A
   scalar is put into an array when it then fits as the item.
3. Where `enum` or `const` is broken, the value becomes the one listed value that equals it in another type.
4. Where `anyOf` or `oneOf` is broken because no branch fits, the value is changed to fit one branch by these same rules: the
   branch with the fewest new arrays, then the fewest changes, then the first. For `oneOf`, exactly one branch must then
   fit. `unevaluatedProperties` counts as such a branch.
5. Where nothing else helps, a null in an object is left out, unless the object must have the property: models write null for
   what they do not want to say. A null in a map (`additionalProperties`) stays, because its key says something.
6. A change may make other rules apply (`if`), or reveal values (those of a parsed text). So this repeats until no change is
   possible.
7. Where rules contradict each other, because one requires a type that another forbids, the value is left unchanged. The
   cause may be a condition that a later change made false, so everything is repeated with the result.

`not`, `contains`, `propertyNames` and `unevaluatedItems` cause no changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jsonschema_rs import ValidationErrorKind

from jobs.llm_tool_validate.document import UNIONS, Part
from jobs.llm_tool_validate.lossless import ALL_TYPES, Listed, converted, is_wrappable, widened
from jobs.llm_tool_validate.places import NOTHING, Place, copy, get, put
from jobs.llm_tool_validate.violations import Violation

MAX_LEVELS = 128
"""Limit of a value, together with everything that is parsed in it."""
MAX_REPEATS = 4
MAX_NESTED_BRANCHES = 48
"""How deeply branches within branches are tried. Each takes six frames of Python's stack."""

Demands = dict[Place, frozenset[str]]
"""The types that the rules allow for the value at each place."""

_HOPELESS = ("additionalItems", "additionalProperties", "dependentRequired", "falseSchema", "required")
"""Keywords that no change of type can satisfy."""

_ABOUT_VALUES = ("type", "enum", "const", *UNIONS)
"""Keywords that a null may break."""
_OF_MAPS = ("additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True, slots=True)
class Change:
    """One changed value.

    Attributes:
        before: the old value.
        after: the new value, before anything inside it was changed; NOTHING for a null that was left out.
        wraps: whether `after` is an array that was made for the old value.
    """

    place: Place
    before: Any
    after: Any
    wraps: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """The result for a value.

    Attributes:
        changes: in the order in which they must be made.
        violations: the rules that it still breaks.
    """

    value: Any
    changes: list[Change]
    violations: list[Violation]


def solve(part: Part, value: Any) -> Solution:
    """The value that comes closest to fitting. `value` itself is not modified. May take exponential time."""
    solution = _whole(part, value)
    for _ in range(MAX_REPEATS):
        if not solution.changes or not solution.violations:
            break
        more = _whole(part, solution.value)
        if not more.changes:
            break
        solution = Solution(more.value, solution.changes + more.changes, more.violations)
    return solution


def _whole(part: Part, value: Any) -> Solution:
    solution = _solve(_Task(part), value)
    assert solution is not None
    return solution


@dataclass(frozen=True, slots=True)
class _Task:
    """A part of the schema, and the situation in which a value must fit it.

    Attributes:
        part: the schema.
        level: the depth of the value in the whole value.
        branches: in how many branches this schema is. Inside a branch, a value that does not fit is useless.
        is_new_item: whether the value is the item of an array that was made for it.
    """

    part: Part
    level: int = 0
    branches: int = 0
    is_new_item: bool = False


def _solve(task: _Task, value: Any) -> Solution | None:
    """The result, or None when it is for a branch and the value cannot be made to fit."""
    left: set[Place] = set()
    while True:
        attempt = _Attempt(task, copy(value), left)
        if not attempt.run():
            return None
        wrong = attempt.contradictions or attempt.useless_arrays()
        if not wrong:
            return Solution(attempt.value, list(attempt.changes.values()), attempt.violations)
        # Start again, because a change that is now undone may have caused other changes.
        left |= wrong


class _Attempt:
    """One try to make the changes, except at the places that must stay unchanged."""

    def __init__(self, task: _Task, value: Any, left: set[Place]) -> None:
        self.value = value
        self.changes: dict[Place, Change] = {}
        self.violations: list[Violation] = []
        self.contradictions: set[Place] = set()
        self._task = task
        self._left = left

    def run(self) -> bool:
        """Make all possible changes. False when it is for a branch and the value does not fit."""
        while True:
            self.violations = self._task.part.violations(self.value)
            demands = _demands(self.violations)
            self.contradictions.update(self.changes.keys() & demands.keys(), self._missed())
            if not self.contradictions and self._task.branches and not self._is_hopeful(self.violations, demands):
                return False
            count = len(self.changes)
            for change_more in (self._convert, self._choose, self._resolve, self._evaluate, self._omit):
                if len(self.changes) == count and not self.contradictions:
                    change_more(demands)
            if self.contradictions:
                return True
            if len(self.changes) == count:
                return not (self._task.branches and self.violations)

    def useless_arrays(self) -> set[Place]:
        """The places of arrays that were made for an item which does not fit."""
        arrays = {change.place for change in self.changes.values() if change.wraps}
        if not arrays:
            return arrays
        places = (violation.place for violation in self.violations)
        return arrays & {place[:length] for place in places for length in range(len(place))}

    def _convert(self, demands: Demands) -> None:
        """Change values of a wrong type."""
        for place, types in demands.items():
            self._make(self._converted(place, types))

    def _choose(self, demands: Demands) -> None:
        """Change values that are not among the listed ones."""
        for violation in self.violations:
            self._make(self._listed(violation, demands))

    def _resolve(self, demands: Demands) -> None:
        """Change values that fit no branch."""
        for violation in self.violations:
            if violation.keyword in UNIONS:
                self._adopt_best(violation.place, self._in_branches(violation))

    def _in_branches(self, violation: Violation) -> list[Solution]:
        """The ways to make the value fit each of the branches. Another change may already have made it fit."""
        branches = self._task.part.document.branches(violation.location)
        value = get(self.value, violation.place)
        if any(branch.is_valid(value) for branch in branches):
            return []
        found = [solution for branch in branches if (solution := self._in_branch(branch, violation.place))]
        if violation.keyword == "oneOf":
            return [it for it in found if sum(branch.is_valid(it.value) for branch in branches) == 1]
        return found

    def _evaluate(self, demands: Demands) -> None:
        """Change properties that no other rule of the schema covers."""
        for violation in self.violations:
            if not isinstance(violation.kind, ValidationErrorKind.UnevaluatedProperties):
                continue
            part = self._task.part.document.part(violation.location)
            for name in violation.kind.unexpected:
                place = (*violation.place, name)
                solution = self._in_branch(part, place) if part else None
                self._adopt_best(place, [solution] if solution else [])

    def _omit(self, demands: Demands) -> None:
        """Leave out nulls that nothing could make fit."""
        for violation in self.violations:
            if self._is_omissible(violation):
                self._make(Change(violation.place, None, NOTHING, wraps=False))

    def _is_omissible(self, violation: Violation) -> bool:
        place, rule = violation.place, violation.location.rsplit("/", 3)[-3:]
        of_map = len(rule) == 3 and (
            rule[0] == "patternProperties" or (rule[1] in _OF_MAPS and rule[0] != "properties")
        )
        return (
            bool(place)
            and violation.keyword in _ABOUT_VALUES
            and not of_map
            and self._is_free(place)
            and isinstance(place[-1], str)
            and get(self.value, place) is None
        )

    def _missed(self) -> set[Place]:
        """The places that were left out and that the object must have."""
        omitted = {place for place, change in self.changes.items() if change.after is NOTHING}
        if not omitted:
            return omitted
        missed = set()
        for violation in self.violations:
            if isinstance(violation.kind, ValidationErrorKind.Required):
                missed.add((*violation.place, violation.kind.property))
            elif violation.keyword == "minProperties":
                missed |= {place for place in omitted if place[:-1] == violation.place}
        return missed & omitted

    def _in_branch(self, part: Part, place: Place) -> Solution | None:
        """The way to make the value at a place fit."""
        if self._task.branches == MAX_NESTED_BRANCHES:
            return None
        task = _Task(part, self._task.level + len(place), self._task.branches + 1, self._is_new_item(place))
        return _solve(task, get(self.value, place))

    def _adopt_best(self, place: Place, solutions: list[Solution]) -> None:
        """Adopt the best solution that changes only what may be changed. If there is none, an earlier change was wrong."""
        for solution in sorted(solutions, key=lambda it: (sum(change.wraps for change in it.changes), len(it.changes))):
            changes = [replace(change, place=(*place, *change.place)) for change in solution.changes]
            if all(self._is_free(change.place) for change in changes):
                for change in changes:
                    self._make(change)
                return
        places = {(*place, *change.place) for solution in solutions for change in solution.changes}
        self.contradictions |= places & self.changes.keys()

    def _is_hopeful(self, violations: Sequence[Violation], demands: Demands) -> bool:
        """Whether changes of type could remove these violations."""
        omissible: set[Place] = set()
        for violation in violations:
            if self._is_omissible(violation):
                omissible.add(violation.place)
                continue
            keyword = violation.keyword
            is_listed = keyword in ("enum", "const") and violation.place not in demands
            if keyword in _HOPELESS or (is_listed and self._listed(violation, demands) is None):
                return False
        return all(
            self._converted(place, types) is not None for place, types in demands.items() if place not in omissible
        )

    def _converted(self, place: Place, types: frozenset[str]) -> Change | None:
        if not self._is_free(place):
            return None
        value = get(self.value, place)
        found = converted(value, types, max_levels=MAX_LEVELS - self._task.level - len(place))
        if found is not NOTHING:
            return Change(place, value, found, wraps=False)
        if "array" in types and is_wrappable(value) and not self._is_new_item(place):
            return Change(place, value, [value], wraps=True)
        return None

    def _listed(self, violation: Violation, demands: Demands) -> Change | None:
        """The change to the one listed value that equals the value in another type."""
        place = violation.place
        if violation.keyword == "enum":
            listed = self._task.part.document.listed(violation.location)
        elif isinstance(violation.kind, ValidationErrorKind.Constant):
            listed = Listed([violation.kind.expected_value])
        else:
            return None
        found = listed.same(get(self.value, place))
        if found is NOTHING or place in demands or place in self._left:
            return None
        if place in self.changes:
            self.contradictions.add(place)
            return None
        return Change(place, get(self.value, place), found, wraps=False)

    def _make(self, change: Change | None) -> None:
        if change is not None:
            self.changes[change.place] = change
            self.value = put(self.value, change.place, copy(change.after))

    def _is_free(self, place: Place) -> bool:
        return place not in self.changes and place not in self._left

    def _is_new_item(self, place: Place) -> bool:
        if not place:
            return self._task.is_new_item
        parent = self.changes.get(place[:-1])
        return parent is not None and parent.wraps


def _demands(violations: Sequence[Violation]) -> Demands:
    """The places where `type` is broken, and the types that all of the broken rules allow."""
    demands: Demands = {}
    for violation in violations:
        if isinstance(violation.kind, ValidationErrorKind.Type):
            place = violation.place
            demands[place] = demands.get(place, ALL_TYPES) & widened(violation.kind.types)
    return demands
