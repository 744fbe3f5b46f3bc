"""Loads the rules from rules/*.toml, which a person can read and extend; rules/README.md says how."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from jobs.engines.text.linear import Haystack, Pattern, Patterns
from jobs.prompt_injection_scan.folding import fold
from jobs.prompt_injection_scan.labels import AttackCategory, Severity

View = Literal["words", "sentences", "anywhere", "lines", "hidden"]

FOLDER = Path(__file__).parent / "rules"

_FIELDS = {
    *("id", "category", "severity", "match", "patterns", "message", "hint", "examples", "counterexamples"),
    *("except", "unless_near", "unless_before", "unless_written", "followed_by", "imperative", "marks", "confirm"),
}
_WORD = r"[^\s.:#@]"
_EDGE = r"[\s.:#@]"
_LEADING = "please|kindly|now|just|simply|and|then|so|but|immediately|also|you (?:must|will|should|can)|must"
_START = rf"(?:^\s*|[.:\n]\s*|\s(?:{_LEADING})\s+)"
"""The places where a sentence may start with its verb."""
_SUGAR = Pattern(r"\{([a-z_]+|[0-9]-[0-9]|~[0-9]{1,3}|\*)\}")
_PLAIN_WORD = Pattern(r"[a-z]{2,16}")
_MISSPELT = range(6, 15)
"""Lengths of words that are also recognised with shuffled inner letters, or with one of these missing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what to find, and what to report.

    Attributes:
        view: where to search: among the words, at the starts of sentences, or among characters; in the unchanged lines; or with
            jobs/prompt_injection_scan/hidden.py.
        source: one expression; None for hidden characters.
        exceptions: no finding where one of these overlaps it.
        unless_near: no finding where this is around it, in the words view of the original.
        unless_before: no finding where this is anywhere before its end.
        unless_written: no finding where the original has this at the place.
        followed_by: no finding where something else follows it.
        imperative: it starts with a verb, so the sentence may be a report and not an order.
        marks: it finds marks of a chat format, which are usual in a template.
        confirm: it is low in a longer text in which neither another rule nor the statistical layer sees what may be an attack.
    """

    id: str
    category: AttackCategory
    severity: Severity
    view: View
    source: str | None
    exceptions: Pattern | None
    unless_near: Pattern | None
    unless_before: Pattern | None
    unless_written: Pattern | None
    followed_by: Pattern | None
    imperative: bool
    marks: bool
    confirm: bool
    message: str
    hint: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompiledRules:
    """The compiled rules of one view.

    Attributes:
        rules: the worst first.
        patterns: one per rule, in the same order.
    """

    rules: tuple[Rule, ...]
    patterns: Patterns


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules.

    Attributes:
        cues: the lists of expressions over the words view in rules/context.toml, each list as one expression.
        tokens: the lists of single words in rules/context.toml.
        code: matches the text before a string in program code.
        items: matches the text before a string that has its own line in a list in program code.
        vocabulary: the words of the rules.
        misspelt: these words, by their `signature` and by their forms with one letter missing.
    """

    by_id: dict[str, Rule]
    words: CompiledRules
    lines: CompiledRules
    cues: dict[str, Pattern]
    tokens: dict[str, frozenset[str]]
    code: Pattern
    items: Pattern
    vocabulary: frozenset[str] = field(repr=False)
    misspelt: dict[str, str] = field(repr=False)


@cache
def rule_book() -> RuleBook:
    """Read, check and compile the rules. Raises ValueError for an invalid rule."""
    shared = _toml("words.toml")["words"]
    lists = _lists(shared)
    rules: dict[str, Rule] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        content = _toml(path.name)
        own = _lists(shared, content.get("words", {})) if "rule" in content else lists
        for declared in content.get("rule", ()):
            rule = _rule(declared, own)
            if rule.id in rules:
                raise ValueError(f"there are two rules {rule.id}")
            rules[rule.id] = rule
    context = _toml("context.toml")
    vocabulary = frozenset(
        _vocabulary(rule.source for rule in rules.values() if rule.view in ("words", "sentences") and rule.source)
    )
    return RuleBook(
        by_id=rules,
        words=_compiled([rule for rule in rules.values() if rule.view in ("words", "sentences", "anywhere")]),
        lines=_compiled([rule for rule in rules.values() if rule.view == "lines"]),
        cues={name: Pattern("|".join(_expanded(cues, lists))) for name, cues in context["cues"].items()},
        tokens={name: frozenset(map(fold, tokens)) for name, tokens in context["tokens"].items()},
        code=Pattern("|".join(context["raw"]["code"])),
        items=Pattern("|".join(context["raw"]["items"])),
        vocabulary=vocabulary,
        misspelt=dict(_misspellings(word for word in sorted(vocabulary) if len(word) in _MISSPELT)),
    )


def signature(word: str) -> str:
    """The same text for all words with the same first, last and (in any order) inner letters."""
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


def _misspellings(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        yield signature(word), word
        if len(word) > _MISSPELT.start:
            for i in range(1, len(word) - 1):
                yield signature(word[:i] + word[i + 1 :]), word


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def _rule(declared: dict[str, Any], lists: dict[str, str]) -> Rule:
    name = declared["id"]
    if unknown := declared.keys() - _FIELDS:
        raise ValueError(f"rule {name}: unknown {', '.join(sorted(unknown))}")
    if declared["category"] not in get_args(AttackCategory) or declared["match"] not in get_args(View):
        raise ValueError(f"rule {name}: unknown category or match")
    view: View = declared["match"]
    if (view == "hidden") == bool(declared.get("patterns")):
        raise ValueError(f"rule {name}: patterns are for rules that match something other than hidden")
    source = None
    if view == "lines":
        source = "|".join(f"(?:{pattern})" for pattern in declared["patterns"])  # flags end with their group
    elif view != "hidden":
        inner = "|".join(_expanded(declared["patterns"], lists))
        before = {"words": f"(?:^|{_EDGE})", "sentences": _START, "anywhere": ""}[view]
        source = f"{before}({inner})" + ("" if view == "anywhere" else f"(?:$|{_EDGE})")
    return Rule(
        id=name,
        category=declared["category"],
        severity=Severity[declared["severity"].upper()],
        view=view,
        source=source,
        exceptions=_optional(declared.get("except"), lists, as_is=view == "lines"),
        unless_near=_optional(declared.get("unless_near"), lists, as_is=False),
        unless_before=_optional(declared.get("unless_before"), lists, as_is=True),
        unless_written=_optional(declared.get("unless_written"), lists, as_is=True),
        followed_by=_optional(declared.get("followed_by"), lists, as_is=False),
        imperative=declared.get("imperative", False),
        marks=declared.get("marks", False),
        confirm=declared.get("confirm", False),
        message=declared["message"],
        hint=declared["hint"],
        examples=tuple(declared["examples"]),
        counterexamples=tuple(declared["counterexamples"]),
    )


def _optional(patterns: list[str] | None, lists: dict[str, str], *, as_is: bool) -> Pattern | None:
    if patterns is None:
        return None
    return Pattern("|".join(f"(?:{pattern})" for pattern in (patterns if as_is else _expanded(patterns, lists))))


def _compiled(rules: Sequence[Rule]) -> CompiledRules:
    rules = sorted(rules, key=lambda rule: -rule.severity)
    sources = [rule.source for rule in rules if rule.source is not None]
    return CompiledRules(tuple(rules), Patterns(sources))


def _lists(*declared: dict[str, list[str]]) -> dict[str, str]:
    """Each list as one expression. A list may use the lists before it."""
    lists: dict[str, str] = {}
    for declaration in declared:
        for name, words in declaration.items():
            lists[name] = f"(?:{'|'.join(_expanded(words, lists))})"
    return lists


def _expanded(patterns: Iterable[str], lists: dict[str, str]) -> Iterator[str]:
    """Each pattern in full: blanks and apostrophes as in the words view, and lists and gaps inserted."""
    for pattern in patterns:
        written = _blanks(fold(pattern))
        parts: list[str] = []
        done = 0
        for start, end in _SUGAR.spans(Haystack(written), len(written)):
            parts += (written[done : start - 1], _meaning(written[start:end], lists))
            done = end + 1
        parts.append(written[done:])
        yield "".join(parts)


def _meaning(sugar: str, lists: dict[str, str]) -> str:
    if sugar == "*":
        return f"{_WORD}*"
    if sugar.startswith("~"):
        return f"[^.]{{0,{sugar[1:]}}}"
    if sugar[0].isdigit():
        return f"(?:[^\\s.:]+\\s+){{{sugar.replace('-', ',')}}}"
    if sugar not in lists:
        raise ValueError(f"there is no list {sugar}")
    return lists[sugar]


def _blanks(pattern: str) -> str:
    """Replace blanks: one is any number of blanks, or none beside `:` and before `?` and `*`. An apostrophe may be one. Classes
    stay as they are."""
    parts: list[str] = []
    inside = False
    for i, sign in enumerate(pattern):
        before, after = pattern[i - 1 : i], pattern[i + 1 : i + 2]
        if sign in "[]" and before != "\\":
            inside = sign == "["
        if inside or sign not in " '":
            parts.append("" if not inside and before == " " and sign in "?*" else sign)
        else:
            behind_colon = before == ":" and pattern[i - 3 : i] != "(?:"
            parts.append(r"\s*" if sign == "'" or behind_colon or after in (":", "?", "*") else r"\s+")
    return "".join(parts)


def _vocabulary(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        haystack = Haystack(source)
        for start, end in _PLAIN_WORD.spans(haystack, len(source)):
            yield source[start:end]
            if source[end : end + 1] == "?":
                yield source[start : end - 1]
