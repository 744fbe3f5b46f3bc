"""Finds out which changes of type make a value fit a schema.

The validator is the only judge of what applies where: a value is changed where a rule of the schema says that its type is
wrong, and nowhere else. So references, combinations, conditions and every draft mean here what they mean to it.

1. A value that fits is not touched.
2. Where `type` is broken, the value becomes what `lossless.converted` makes of it, of the types that all broken rules of that
   place allow. A scalar is put into an array when it then fits as the item.
3. Where `enum` or `const` is broken, it becomes the one listed value that it is in another type.
4. Where `anyOf` or `oneOf` is broken because no branch fits, it becomes what fits a branch, in that branch's own terms: the one
   with the fewest new arrays, then the fewest changes, then the first. `oneOf` must then have one that fits.
   `unevaluatedProperties` is such a branch.
5. Changes may bring other rules into force (`if`), or values into sight (those of a text that was parsed). So it goes on
   until nothing can be changed any more.
6. Where rules contradict each other, one asking for a type that another does not allow, the value is left as it was. A
   condition may have been the reason that was gone in the end, so all this is done again with what came out.

Not looked into: `not`, `contains`, `propertyNames` and `unevaluatedItems`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jsonschema_rs import ValidationErrorKind

from jobs.llm_tool_validate.document import UNIONS, Part
from jobs.llm_tool_validate.lossless import ALL_TYPES, Listed, converted, is_wrappable, widened
from jobs.llm_tool_validate.places import Place, copy, get, put
from jobs.llm_tool_validate.texts import NOTHING
from jobs.llm_tool_validate.violations import Violation

MAX_LEVELS = 128
"""Of a value, with all that was parsed in it."""
MAX_REPEATS = 4
MAX_NESTED_BRANCHES = 48
"""How many branches within branches are tried. Each takes six frames of Python's stack."""

Demands = dict[Place, frozenset[str]]
"""The types that a value at a place may have."""

_HOPELESS = ("additionalItems", "additionalProperties", "dependentRequired", "falseSchema", "required")
"""Keywords that no change of a type satisfies."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value that became another.

    Attributes:
        before: as it was.
        after: as it became, before anything within it was changed.
        wraps: whether `after` is an array made for it.
    """

    place: Place
    before: Any
    after: Any
    wraps: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """What became of a value.

    Attributes:
        changes: in the order in which they have to be made.
        violations: the rules that it breaks all the same.
    """

    value: Any
    changes: list[Change]
    violations: list[Violation]


def solve(part: Part, value: Any) -> Solution:
    """The value that comes closest to fitting. `value` itself stays as it is. May take exponential time."""
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
    """What is to fit what.

    Attributes:
        part: the schema.
        level: how deep the value is in the whole one.
        branches: in how many branches the schema is. In one, a value that does not fit is of no use.
        is_new_item: whether the value is the item of an array that was made for it.
    """

    part: Part
    level: int = 0
    branches: int = 0
    is_new_item: bool = False


def _solve(task: _Task, value: Any) -> Solution | None:
    """None when it is for a branch that the value cannot be made to fit."""
    left: set[Place] = set()
    while True:
        attempt = _Attempt(task, copy(value), left)
        if not attempt.run():
            return None
        wrong = attempt.contradictions or attempt.useless_arrays()
        if not wrong:
            return Solution(attempt.value, list(attempt.changes.values()), attempt.violations)
        # From the start, because what was changed there may have led to other changes.
        left |= wrong


class _Attempt:
    """The changes, given the places that are to be left as they are."""

    def __init__(self, task: _Task, value: Any, left: set[Place]) -> None:
        self.value = value
        self.changes: dict[Place, Change] = {}
        self.violations: list[Violation] = []
        self.contradictions: set[Place] = set()
        self._task = task
        self._left = left

    def run(self) -> bool:
        """Change all that can be changed. False when it is for a branch and does not fit."""
        while True:
            self.violations = self._task.part.violations(self.value)
            demands = _demands(self.violations)
            self.contradictions.update(self.changes.keys() & demands.keys())
            if not self.contradictions and self._task.branches and not self._is_hopeful(self.violations, demands):
                return False
            count = len(self.changes)
            for change_more in (self._convert, self._choose, self._resolve, self._evaluate):
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
        """Change what has a wrong type."""
        for place, types in demands.items():
            self._make(self._converted(place, types))

    def _choose(self, demands: Demands) -> None:
        """Change what is not one of the values that are listed."""
        for violation in self.violations:
            self._make(self._listed(violation, demands))

    def _resolve(self, demands: Demands) -> None:
        """Change what fits no branch."""
        for violation in self.violations:
            if violation.keyword in UNIONS:
                self._adopt_best(violation.place, self._in_branches(violation))

    def _in_branches(self, violation: Violation) -> list[Solution]:
        """How the value can be made to fit each of the branches. It may fit by now, because of another change."""
        branches = self._task.part.document.branches(violation.location)
        value = get(self.value, violation.place)
        if any(branch.is_valid(value) for branch in branches):
            return []
        found = [solution for branch in branches if (solution := self._in_branch(branch, violation.place))]
        if violation.keyword == "oneOf":
            return [it for it in found if sum(branch.is_valid(it.value) for branch in branches) == 1]
        return found

    def _evaluate(self, demands: Demands) -> None:
        """Change properties that nothing else in the schema speaks of."""
        for violation in self.violations:
            if not isinstance(violation.kind, ValidationErrorKind.UnevaluatedProperties):
                continue
            part = self._task.part.document.part(violation.location)
            for name in violation.kind.unexpected:
                place = (*violation.place, name)
                solution = self._in_branch(part, place) if part else None
                self._adopt_best(place, [solution] if solution else [])

    def _in_branch(self, part: Part, place: Place) -> Solution | None:
        """How the value at a place can be made to fit."""
        if self._task.branches == MAX_NESTED_BRANCHES:
            return None
        task = _Task(part, self._task.level + len(place), self._task.branches + 1, self._is_new_item(place))
        return _solve(task, get(self.value, place))

    def _adopt_best(self, place: Place, solutions: list[Solution]) -> None:
        """Adopt the best one that only changes what may be changed. If there is none, something has been changed wrongly."""
        for solution in sorted(solutions, key=lambda it: (sum(change.wraps for change in it.changes), len(it.changes))):
            changes = [replace(change, place=(*place, *change.place)) for change in solution.changes]
            if all(self._is_free(change.place) for change in changes):
                for change in changes:
                    self._make(change)
                return
        places = {(*place, *change.place) for solution in solutions for change in solution.changes}
        self.contradictions |= places & self.changes.keys()

    def _is_hopeful(self, violations: Sequence[Violation], demands: Demands) -> bool:
        """Whether changes of type could do away with these violations."""
        for violation in violations:
            keyword = violation.keyword
            is_listed = keyword in ("enum", "const") and violation.place not in demands
            if keyword in _HOPELESS or (is_listed and self._listed(violation, demands) is None):
                return False
        return all(self._converted(place, types) is not None for place, types in demands.items())

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
        """The one listed value that the value is in another type."""
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
    """Where `type` is broken, and which types all of those rules allow."""
    demands: Demands = {}
    for violation in violations:
        if isinstance(violation.kind, ValidationErrorKind.Type):
            place = violation.place
            demands[place] = demands.get(place, ALL_TYPES) & widened(violation.kind.types)
    return demands
