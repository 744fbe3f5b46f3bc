"""How well the main text is found, on pages of each kind, written here. `python -m tests.quality.test_extraction` prints it."""

import re
from collections import Counter
from statistics import mean
from typing import NamedTuple

from jobs.engines.page.read_page import read
from jobs.engines.page.reading import Asked, Reading
from tests.each import each
from tests.quality.layouts import LAYOUTS, Layout

LEAST_MEAN = 0.97
LEAST_EACH = 0.85
LEAST_ARTICLES = 0.99
LEAST_KINDS = 0.9
_TOKEN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|\w+")
_SYNTAX = re.compile(r"^[ ]*(?:\d+\. |[-|]+$)", re.MULTILINE)


class Score(NamedTuple):
    """Shares of words, counted with repetitions."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def reading(layout: Layout) -> Reading:
    """The article that the engine finds."""
    return read(Asked(html=layout.html, source="", url="https://example.com/", extract="article", query=None))


def score(layout: Layout) -> Score:
    """Compare the words of the article with those that a reader would call the article."""
    found = Counter(_TOKEN.findall(_SYNTAX.sub("", reading(layout).markdown).lower()))
    wanted = Counter(_TOKEN.findall(layout.article.lower()))
    common = (found & wanted).total()
    return Score(common / max(1, found.total()), common / wanted.total())


@each("layout", LAYOUTS)
def test_each_layout_gives_its_article(layout: Layout) -> None:
    """Nearly all of it, and little else."""
    assert score(layout).f1 >= LEAST_EACH


def test_the_mean_is_that_of_the_docs() -> None:
    """Printed with `pytest -s`."""
    print(f"\n{table()}")
    assert mean(score(layout).f1 for layout in LAYOUTS) >= LEAST_MEAN


def test_articles_are_found_as_well_as_by_trafilatura() -> None:
    """Other kinds have another way to their text, which must not cost articles anything."""
    assert mean(score(layout).f1 for layout in LAYOUTS if layout.kind == "article") >= LEAST_ARTICLES


def test_kinds_are_recognised() -> None:
    """Nearly all."""
    assert mean(reading(layout).kind == layout.kind for layout in LAYOUTS) >= LEAST_KINDS


@each("layout", LAYOUTS)
def test_a_page_whose_text_is_all_in_what_is_left_out_is_not_empty(layout: Layout) -> None:
    """The answer has what the page shows when nothing of it looks like main text."""
    html = re.sub(r"<body>(.*)</body>", r"<body><nav>\1</nav></body>", layout.html, flags=re.DOTALL)
    assert reading(layout._replace(html=html)).markdown


def test_the_text_in_tables_keeps_its_rows() -> None:
    """A table is Markdown's, with a head."""
    layout = next(layout for layout in LAYOUTS if layout.name == "prices in a table")
    assert "| up to 8 metres | 21.00 | 12.50 |" in reading(layout).markdown


def table() -> str:
    """The scores as Markdown."""
    rows = [(layout.kind, layout.name, reading(layout).method, score(layout)) for layout in LAYOUTS]
    lines = ["| kind | layout | found by | precision | recall | F1 |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {kind} | {name} | {method} | {s.precision:.2f} | {s.recall:.2f} | {s.f1:.2f} |"
        for kind, name, method, s in rows
    ]
    return "\n".join([*lines, f"| mean | | | | | {mean(s.f1 for *_, s in rows):.3f} |"])


if __name__ == "__main__":
    print(table())
