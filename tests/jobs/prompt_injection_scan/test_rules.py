"""The files that people read and extend: every rule is whole, and does what it says."""

import string
from pathlib import Path

import pytest

from jobs.prompt_injection_scan import Severity, scan
from jobs.prompt_injection_scan import rules as rules_module
from jobs.prompt_injection_scan.rules import FOLDER, Rule, rule_book
from tests.each import each


def rules() -> list[Rule]:
    """All of them. They are read and compiled when a test runs."""
    return list(rule_book().by_id.values())


def test_every_category_has_rules() -> None:
    """All five kinds of attack, and the sixteen languages."""
    assert {rule.category for rule in rules()} == {
        "system_override",
        "jailbreak_persona",
        "tool_injection",
        "credential_exfiltration",
        "hidden_unicode",
    }
    names = rule_book().by_id
    for language in ("es", "fr", "de", "pt", "it", "nl", "ru", "uk", "pl", "tr", "zh", "ja", "ko", "ar", "hi"):
        assert f"override-{language}" in names
        assert f"reveal-{language}" in names
        assert f"persona-{language}" in names


@each("rule", rules)
def test_every_rule_is_complete(rule: Rule) -> None:
    """It has a name, a message, examples of both kinds, and a hint exactly when it may be high."""
    assert set(rule.id) <= set(string.ascii_lowercase + "-")
    assert rule.message.endswith(".")
    assert rule.examples
    assert rule.counterexamples
    may_be_high = rule.severity >= Severity.HIGH or rule.category == "hidden_unicode"
    assert rule.hint.endswith(".") if may_be_high else not rule.hint


@each("rule", rules)
def test_examples_are_found(rule: Rule) -> None:
    """By their rule, or by another one of its category that is at least as bad and wins where both match. One is found by the
    rule itself, so that no rule is dead."""
    ids = set()
    for text in rule.examples:
        found = scan(text).findings
        ids |= {finding.rule for finding in found}
        assert any(finding.category == rule.category and finding.severity >= rule.severity for finding in found), text
    assert rule.id in ids


@each("rule", rules)
def test_counterexamples_are_not_found(rule: Rule) -> None:
    """Not by their rule, and by no other one above low."""
    for text in rule.counterexamples:
        found = scan(text).findings
        assert rule.id not in {finding.rule for finding in found}, text
        assert all(finding.severity is Severity.LOW for finding in found), text


def test_every_field_is_explained() -> None:
    """The README of the rules names every field and every view."""
    text = (FOLDER / "README.md").read_text()
    for field in rules_module._FIELDS:
        assert f"`{field}`" in text
    for view in ("words", "sentences", "anywhere", "lines", "hidden"):
        assert f"- `{view}`" in text


WHOLE = """
[[rule]]
id = "a"
category = "tool_injection"
severity = "low"
match = "words"
patterns = ["a"]
message = "A."
hint = ""
examples = ["a"]
counterexamples = ["b"]
"""


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (WHOLE + WHOLE, "two rules a"),
        (WHOLE.replace('"tool_injection"', '"tools"'), "unknown category"),
        (WHOLE.replace('"words"', '"word"'), "unknown category or match"),
        (WHOLE + 'patern = ["b"]', "unknown patern"),
        (WHOLE.replace('["a"]\nmessage', '["{nothing}"]\nmessage'), "there is no list nothing"),
        (WHOLE.replace('["a"]\nmessage', '["(a)"]\nmessage'), "at most one group"),
        (WHOLE.replace('["a"]\nmessage', '["(?=a)"]\nmessage'), "pattern"),
        (WHOLE.replace('["a"]\nmessage', "[]\nmessage"), "patterns are for rules"),
        (WHOLE.replace('"words"', '"lines"').replace('["a"]\nmessage', '["a*"]\nmessage'), "finds nothing everywhere"),
        (WHOLE.replace('"words"', '"hidden"'), "patterns are for rules"),
    ],
)
def test_wrong_rules_are_refused(content: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When they are read, by name."""
    for name in ("words.toml", "context.toml"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    (tmp_path / "rules.toml").write_text(content)
    monkeypatch.setattr(rules_module, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=complaint):
        rule_book.__wrapped__()
