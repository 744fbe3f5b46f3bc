"""The table of attacks names every row, and tests that exist."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
TABLE = ast.get_docstring(ast.parse((HERE / "__init__.py").read_text())) or ""
PROVEN = re.findall(r"^ +([a-z0-9_/]+\.py)::(test_\w+)$", TABLE, re.MULTILINE)


def names_in(path: Path) -> set[str]:
    """Names of a module's tests."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)}
    return {name for name in names if name.startswith("test_")}


def test_every_row_has_its_place() -> None:
    """P1 to P39 in order, each once."""
    rows = [int(number) for number in re.findall(r"^P([0-9]+)", TABLE, re.MULTILINE)]
    assert rows == [*range(1, 40)]


def test_every_test_that_is_named_exists() -> None:
    """Renaming one without the table is noticed."""
    assert len(PROVEN) > 60
    missing = [f"{path}::{name}" for path, name in PROVEN if name not in names_in(TESTS / path)]
    assert missing == []


def test_every_attack_of_these_files_is_in_the_table() -> None:
    """And in the row that its name says."""
    here = [path for path in HERE.glob("test_*.py") if path.name != "test_index.py"]
    numbered = {name for path in [*here, TESTS / "e2e" / "test_attacks.py"] for name in names_in(path)}
    assert numbered <= {name for _, name in PROVEN}
    for row in re.split(r"^P", TABLE, flags=re.MULTILINE)[1:]:
        first = re.search(r"::test_p([0-9]{2})_", row)
        assert first is None or int(first[1]) == int(re.match("[0-9]+", row)[0])  # type: ignore[index]
