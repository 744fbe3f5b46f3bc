"""Dashboard and alert rules ask for series that there are, with labels that these have."""

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from compose.sandbox.child import ROOT
from tests.each import each
from tests.ops.series import documented, documented_samples

FOLDER = ROOT / "compose" / "grafana"
ALERTS = FOLDER / "alerts.yaml"
PROMTOOL = shutil.which("promtool")


def names_in(path: Path) -> set[str]:
    """The names of series that a module gives."""
    constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return {name for name in constants if isinstance(name, str) and re.fullmatch(r"coinslot_[a-z_]+", name)}


def rules() -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """The alert or panel, and its expression."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def test_the_table_in_the_docs_has_every_series() -> None:
    """What the code names is documented, and nothing else is."""
    counted = {
        f"{name}_total" if documented().get(f"{name}_total") else name
        for name in names_in(ROOT / "shared/observability/metrics.py")
    }
    read = names_in(ROOT / "ops/gauges.py") | names_in(ROOT / "ops/exporter.py")
    assert counted | read == set(documented())


@each(("where", "expression"), list(expressions()))
def test_an_expression_names_what_there_is(where: str, expression: str) -> None:
    """Every series, and every label in braces and in `by`."""
    known = documented_samples()
    asked = re.findall(r"(coinslot_\w+)(?:\{(.*?)\})?", expression)
    assert asked
    labels: set[str] = set()
    for name, matchers in asked:
        assert name in known, f"{where} asks for {name}"
        assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= known[name]
        labels |= known[name]
    for grouped in re.findall(r"\bby \((.*?)\)", expression):
        assert {label.strip() for label in grouped.split(",")} <= labels


def test_counters_are_not_shown_as_they_are() -> None:
    """They start again at 0 with a new folder: only their growth means something."""
    kinds = documented()
    for where, expression in expressions():
        for name in re.findall(r"coinslot_\w+", expression):
            kind = kinds.get(name) or kinds.get(re.sub("_(sum|count|bucket)$", "", name))
            if kind is not None and kind.type != "gauge":
                assert re.search(rf"(rate|increase)\({name}[^)]*\[", expression), where


def test_rules_say_who_has_to_act_and_what_to_do() -> None:
    """Every alert the issue wants is there, with its severity and its sentences."""
    alerts = {rule["alert"]: rule for rule in rules()}
    assert len(alerts) == len(rules())
    for rule in alerts.values():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "action"}
    for name in (
        "RailDown",
        "SettlementsUnknown",
        "QueueOld",
        "CallsFail",
        "NoCallAnswered",
        "SettlerBalanceLow",
        "Refundable",
        "ClaimerAway",
        "ChannelsUnclaimed",
        "WithdrawalUnanswered",
    ):
        assert f"Coinslot{name}" in alerts


def test_the_dashboard_can_be_imported() -> None:
    """It asks for its data source, no two panels have one id or one place, and every panel has something to show."""
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    (variable,) = dashboard["templating"]["list"]
    assert (variable["name"], variable["type"], variable["query"]) == ("datasource", "datasource", "prometheus")
    rows = [panel["title"] for panel in panels() if panel["type"] == "row"]
    assert rows == ["Calls and money", "Rails", "Queues and workers", "Browser and egress", "Payment channels"]
    assert len({panel["id"] for panel in panels()}) == len(panels())
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not taken & cells
        taken |= cells
        if panel["type"] != "row":
            assert panel["title"]
            assert panel["targets"]
            sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            assert sources == [{"type": "prometheus", "uid": "${datasource}"}] * len(sources)


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_promtool_takes_all_rules_and_expressions_and_the_alerts_fire(tmp_path: Path) -> None:
    """The dashboard's expressions are checked as rules, with Grafana's variables replaced. compose/grafana/alerts_test.yaml has
    series that make each alert fire, and series that do not."""
    assert PROMTOOL is not None
    asked = [expression for panel in panels() for expression in (t["expr"] for t in panel.get("targets", ()))]
    recorded = [
        {"record": f"panel:{number}", "expr": re.sub(r"\$__\w+", "5m", expression)}
        for number, expression in enumerate(asked)
    ]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}))
    for command in (
        ("check", "rules", str(ALERTS)),
        ("check", "rules", str(file)),
        ("test", "rules", "alerts_test.yaml"),
    ):
        found = subprocess.run(
            [PROMTOOL, *command], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60, check=False
        )
        assert found.returncode == 0, found.stdout + found.stderr
