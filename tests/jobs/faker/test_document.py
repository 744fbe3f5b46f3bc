"""docs/faker.md."""

from pathlib import Path

from jobs.faker.allowlist import METHODS
from jobs.faker.document import document

_FILE = Path(__file__).parents[3] / "docs" / "faker.md"


def test_document_is_current() -> None:
    """The file is what the code gives; if not: python -m jobs.faker.document > docs/faker.md."""
    assert _FILE.read_text(encoding="utf-8") == document()


def test_every_method_has_a_row() -> None:
    """Each method has one row of three cells, whatever its example contains."""
    rows = [line for line in document().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(METHODS)
    assert all(row.replace("\\|", "").count("|") == 4 for row in rows)
