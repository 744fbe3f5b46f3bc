"""Two checkouts are timed with their own code, and a row is a call that is answered."""

import json
from pathlib import Path

import pytest

from jobs.catalogue import BY_NAME
from shared.outcome import Ok
from tests.bench import main
from tests.bench.calculation_rows import LONG, Row, rows
from tests.bench.measure import calculations
from tests.bench.results import Effort, Table
from tests.jobs.calls import CONTEXT
from workers.execute import execute

ONE_PAIR = Effort("one pair", rounds=1, idle_calls=1, idle_s=0, seconds=1, pairs=1, trials=1)
ECHO = Row("json-repair", "a value", {"malformed": "[1,]"})
SLOW = """
import time

class Ok: ...

def execute(endpoint, body, context):
    started = time.process_time()
    while time.process_time() < started + 0.03: ...
    return Ok()
"""


def _checkout(folder: Path, execute: str) -> Path:
    """A checkout with nothing but one endpoint that is run by this text."""
    modules = {
        "jobs/__init__.py": "",
        "jobs/ports.py": "class Context:\n    def __init__(self, payer): ...",
        "jobs/json_repair/endpoint.py": "ENDPOINT = None",
        "workers/execute.py": execute,
    }
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _measured(monkeypatch: pytest.MonkeyPatch, against: Path) -> Table:
    monkeypatch.setattr(calculations, "rows", lambda: [ECHO])
    monkeypatch.setattr(calculations, "TURNS", 1)
    return calculations.measure(ONE_PAIR, against)


def test_another_checkout_is_timed_with_its_own_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its call burns 30 ms, and ours far less."""
    cells = _measured(monkeypatch, _checkout(tmp_path, SLOW)).cells["json-repair", "a value"]
    assert cells["other_us"][0] >= 30_000 > cells["us"][0] > 0
    assert cells["ratio"] == [cells["us"][0] / cells["other_us"][0]]


def test_a_call_that_fails_has_no_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A refusal is fast, and would look like a gain."""
    refusing = _checkout(tmp_path, "def execute(endpoint, body, context): return None")
    with pytest.raises(RuntimeError, match="json-repair, a value"):
        _measured(monkeypatch, refusing)


def test_rows_are_answered_and_as_long_as_they_say() -> None:
    """A row that is refused could not be timed in any checkout."""
    for row in rows():
        (text,) = row.request.values()
        assert isinstance(text, str)
        assert (LONG <= len(text) < 1.4 * LONG) if row.text.startswith("6 KB") else len(text) < 300, row.text
        assert isinstance(execute(BY_NAME[row.endpoint], json.dumps(row.request).encode(), CONTEXT), Ok), row.text


def test_against_names_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without the project is refused before anything is measured."""
    with pytest.raises(SystemExit):
        main.main(["--only", "calculations", "--against", str(tmp_path)])
    assert "is no checkout" in capsys.readouterr().err
