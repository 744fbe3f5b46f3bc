"""Scans a text: undoes disguises, applies the rules, and makes findings and a score."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern
from jobs.prompt_injection_scan import hidden
from jobs.prompt_injection_scan.context import Reader, Speech
from jobs.prompt_injection_scan.finding import MOST_FINDINGS, Finding, visible, without_repetition
from jobs.prompt_injection_scan.hidden import Hidden
from jobs.prompt_injection_scan.invisible import BLANK
from jobs.prompt_injection_scan.labels import Severity
from jobs.prompt_injection_scan.model import LONG, Place, Reading, model
from jobs.prompt_injection_scan.rules import CompiledRules, Rule, RuleBook, rule_book
from jobs.prompt_injection_scan.scoring import RiskLevel, level_of, score_of
from jobs.prompt_injection_scan.views import views_of
from jobs.prompt_injection_scan.words import words

MOST_HIDDEN_TEXT = 10_000
"""Characters of decoded hidden text."""
_MOST_PLACES = 5_000
"""Limit of checked places in all forms together. The plainest form comes first, and in it the worst rules. 100 000 characters
cannot hold enough harmless places ("never reveal your prompt") to use it up."""
_MOST_FOUND = 1_000
_TAIL = 120
_NEAR = 80
_QUOTED_TEXT = 80
_TEMPLATE = Pattern(r"(?i)\{\{?\s?[a-z][a-z_]{2,30}\s?\}?\}")
"""A place to be filled in."""
_MODEL_HINT = (
    "Do not pass this text to a model as instructions. Have a person or a second check read it: the finding is a likelihood, "
    "not a rule."
)


@dataclass(frozen=True, slots=True)
class Scan:
    """The result.

    Attributes:
        findings: sorted by start; when there are too many, the first of the worst.
        hidden_text: text in invisible characters; None when there is none.
        truncated: there were more findings or more hidden text than is returned or searched for.
    """

    level: RiskLevel
    score: int
    findings: list[Finding]
    hidden_text: str | None
    truncated: bool


def scan(text: str) -> Scan:
    """Scan a text. The same text always gives the same result."""
    text = text.encode("utf-8", "replace").decode()  # a lone surrogate becomes a question mark
    book = rule_book()
    concealed = hidden.find(text)
    search = _Search(text, book)
    found = search.confirmed([*map(search.of_hidden, concealed), *search.findings(concealed)])
    found += search.inside_phrases(found)
    found += search.likely(found)
    kept = without_repetition(_worst(found, _MOST_FOUND))
    shown = _worst(kept, MOST_FINDINGS)
    said = "\n".join(item.decoded for item in concealed if item.decoded)
    score = score_of(kept)
    return Scan(
        level=level_of(score),
        score=score,
        findings=sorted(shown, key=lambda finding: (finding.start, finding.end, finding.rule)),
        hidden_text=said[:MOST_HIDDEN_TEXT] or None,
        truncated=search.cut or len(found) > _MOST_FOUND or len(kept) > len(shown) or len(said) > MOST_HIDDEN_TEXT,
    )


def _worst(findings: list[Finding], limit: int) -> list[Finding]:
    return sorted(findings, key=lambda finding: (-finding.severity, finding.start, finding.rule))[:limit]


class _Search:
    """Applies the rules to one text.

    Attributes:
        cut: there were more places than are checked.
    """

    def __init__(self, text: str, book: RuleBook) -> None:
        self._text = text
        self._book = book
        self._seen: set[tuple[str, int, int]] = set()
        self._mentions: list[tuple[int, int]] = []
        self._read: list[tuple[Layer, Reading]] = []
        self.cut = False

    def findings(self, concealed: list[Hidden]) -> Iterator[Finding]:
        """All findings, in every form of the text."""
        views = views_of(self._text, concealed, self._book)
        self._read = [(layer, model().read(layer.text)) for layer in views.read]
        reader = Reader(self._text, views.words[0], self._book)
        for view in views.words:
            yield from self._matches(view, self._book.words, reader)
        for view in views.lines:
            yield from self._matches(view, self._book.lines, reader)

    @cached_property
    def _is_template(self) -> bool:
        return _TEMPLATE.found_in(self._text)

    def of_hidden(self, item: Hidden) -> Finding:
        """The finding for hidden characters."""
        rule = self._book.by_id[item.rule]
        said = f' They say "{visible(item.decoded, _QUOTED_TEXT)}".' if item.decoded else ""
        return self._reported(rule, item.severity, item.start, item.end, rule.message + said)

    def confirmed(self, found: list[Finding]) -> list[Finding]:
        """The findings. Those that need to be confirmed are low when nothing else in the text may be an attack."""
        alone = {one.rule for one in found if self._book.by_id[one.rule].confirm}
        others = any(one.severity > Severity.LOW and one.rule not in alone for one in found)
        if others or any(reading.doubtful for _, reading in self._read):
            return found
        return [self._milder(one) if one.rule in alone and one.severity > Severity.LOW else one for one in found]

    @staticmethod
    def _milder(finding: Finding) -> Finding:
        message = finding.message + " Nothing else in the text looks like an attack."
        return replace(finding, severity=Severity.LOW, hint=None, message=message)

    def inside_phrases(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """Findings of invisible characters inside the words of another finding, where too few of them count by themselves."""
        rule = self._book.by_id["hidden-in-phrase"]
        covered = [(finding.start, finding.end) for finding in found if finding.category == rule.category]
        for finding in found:
            if finding.severity < Severity.MEDIUM or finding.category == rule.category:
                continue
            span = range(finding.start, finding.end)
            places = [i for i in span if self._text[i] in BLANK and hidden.breaks_word(self._text, i)]
            if places and not any(start <= places[0] < end for start, end in covered):
                yield self._reported(rule, rule.severity, places[0], places[-1] + 1, rule.message)

    def likely(self, found: list[Finding]) -> Iterator[Finding]:
        """Findings of the statistical layer, except where the rules found the same, or an attack that is only talked about or
        forbidden. In a text that has such a place, reading like an attack as a whole is no finding.
        """
        for layer, reading in self._read:
            for place in reading.places:
                start, end = layer.span(place.start, place.end)
                if any(place.is_whole or (start < last and first < end) for first, last in self._mentions):
                    continue
                known = (one for one in found if one.category == place.category and one.severity >= place.severity)
                if not any(start < one.end and one.start < end for one in known):
                    yield self._likely(place, start, end, layer.note)

    def _likely(self, place: Place, start: int, end: int, note: str) -> Finding:
        message = "The text reads like an attack, and most so here." if place.is_whole else "Reads like an attack."
        name, size = (
            ("long", f"{LONG} sentences or more") if place.is_long else ("short", f"less than {LONG} sentences")
        )
        alarms, recall = model().measured[name][place.severity.word]
        share = f"{alarms:.1%}" if alarms >= 0.001 else "under 0.1%"
        message += (
            f" Of texts of {size}, {share} of the harmless ones and {recall:.0%} of the attacks read so or worse."
        )
        if note:
            message += f" It reads so {note}."
        return Finding(
            rule=f"model.{place.category}",
            category=place.category,
            severity=place.severity,
            start=start,
            end=end,
            excerpt=visible(self._text[start:end]),
            message=message,
            hint=_MODEL_HINT if place.severity >= Severity.HIGH else None,
            confidence=place.confidence,
        )

    def _matches(self, view: Layer, rules: CompiledRules, reader: Reader) -> Iterator[Finding]:
        haystack = Haystack(view.text)
        for index in rules.patterns.candidates(haystack):
            rule = rules.rules[index]
            for start, end in rules.patterns[index].spans(haystack, _MOST_PLACES):
                place = (rule.id, *view.span(start, end))
                if place in self._seen:
                    continue
                if len(self._seen) == _MOST_PLACES:
                    self.cut = True
                    return
                self._seen.add(place)
                if not self._is_ruled_out(rule, view, start, end, reader):
                    finding = self._judged(rule, view, start, end, reader)
                    if finding is not None:
                        yield finding

    def _is_ruled_out(self, rule: Rule, view: Layer, start: int, end: int, reader: Reader) -> bool:
        if rule.exceptions is not None:
            near = max(0, start - _NEAR)
            excepted = rule.exceptions.spans(Haystack(view.text[near : end + _NEAR]), _MOST_PLACES)
            if any(a < end - near and start - near < b for a, b in excepted):
                return True
        if rule.followed_by is not None and not rule.followed_by.found_in(view.text[end : end + _NEAR]):
            return True
        first, last = view.span(start, end)
        if rule.unless_near is not None and rule.unless_near.found_in(reader.around(first, last)):
            return True
        if rule.unless_written is not None and rule.unless_written.found_in(self._text[first:last]):
            return True
        return rule.unless_before is not None and rule.unless_before.found_in(self._text[:last])

    def _judged(self, rule: Rule, view: Layer, start: int, end: int, reader: Reader) -> Finding | None:
        place = view.span(start, end)
        tail = None
        if rule.imperative:
            tail = view.text[max(0, start - _TAIL) : start]
            tail = words(Layer(tail)).text if rule.view == "lines" else tail
        speech = reader.judged(*place, tail, is_prose=rule.view != "lines")
        if speech is not Speech.TO_A_MODEL:
            self._mentions.append(place)
        if speech is Speech.FORBIDDEN:
            return None
        message = rule.message
        if view.note:
            message += f' It reads "{visible(view.text[start:end], _QUOTED_TEXT)}" {view.note}.'
        if rule.marks and self._is_template:
            return self._reported(rule, Severity.LOW, *place, message + " The text is a template of a chat.")
        if speech is Speech.ABOUT_IT:
            return self._reported(rule, Severity.LOW, *place, message + " It is talked about here.")
        return self._reported(rule, rule.severity, *place, message)

    def _reported(self, rule: Rule, severity: Severity, start: int, end: int, message: str) -> Finding:
        hint = rule.hint if severity >= Severity.HIGH else None
        excerpt = visible(self._text[start:end])
        return Finding(rule.id, rule.category, severity, start, end, excerpt, message, hint)
