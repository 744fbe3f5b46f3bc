"""An endpoint has all that it needs beside its declaration. What is forgotten is reported, with what to do."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import pytest

from jobs.catalogue import CATALOGUE
from jobs.reasons import REASONS
from tests.contract import forgotten
from tests.contract.endpoints import ENDPOINTS

ROOT = Path(__file__).parents[2]


def test_nothing_is_forgotten() -> None:
    """A module that nothing names is sold nowhere. Callers and metrics know only declared reasons; those of ports are checked
    when they happen (workers/execute.py)."""
    sentences = [
        *forgotten.unsold(ROOT),
        *forgotten.without_row(CATALOGUE, ENDPOINTS),
        *forgotten.untested(ROOT),
        *forgotten.without_words(CATALOGUE, REASONS),
    ]
    for module in forgotten.declarations(ROOT):
        failures = importlib.import_module(module).ENDPOINT.failures
        sentences += forgotten.undeclared(ROOT, module, failures)
    if sentences:
        pytest.fail("\n".join(sentences), pytrace=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with three endpoints: one file, one with an engine, and one of jobs/chain."""
    sources = {
        "jobs/slug.py": "from jobs.words import split\nENDPOINT = 1",
        "jobs/words.py": "def split(): raise UpstreamFailed('No.', reason='no_words')",
        "jobs/feed/endpoint.py": "from jobs.ports import Context\nENDPOINT: int = 1",
        "jobs/ports.py": "from jobs.words import split",
        "jobs/chain/block.py": "ENDPOINT = 1",
        "jobs/chain/endpoints.py": "ENDPOINTS = ()",
        "jobs/catalogue.py": "CATALOGUE = ()",
    }
    for name, source in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return tmp_path


def test_a_module_that_nothing_names_is_reported(root: Path) -> None:
    """With the line to write."""
    block, feed, slug = forgotten.unsold(root)
    said = "jobs/slug.py declares an endpoint that is not sold. Write into jobs/catalogue.py `from jobs import slug`"
    assert slug == f"{said}, and its ENDPOINT into CATALOGUE."
    assert "`from jobs.feed import endpoint as feed`, and its ENDPOINT into CATALOGUE." in feed
    assert "into jobs/chain/endpoints.py `from jobs.chain import block`, and its ENDPOINT into ENDPOINTS." in block
    imports = (
        "from jobs import slug\nfrom jobs.feed import endpoint as feed\nfrom jobs.chain import endpoints as chain\n"
    )
    (root / "jobs/catalogue.py").write_text(imports + "CATALOGUE = (slug.ENDPOINT, feed.ENDPOINT, *chain.ENDPOINTS)")
    (root / "jobs/chain/endpoints.py").write_text("from jobs.chain import block\nENDPOINTS = (block.ENDPOINT,)")
    assert list(forgotten.unsold(root)) == []


def test_missing_tests_are_reported(root: Path) -> None:
    """One file is enough, or a folder with one."""
    (root / "tests/jobs/feed").mkdir(parents=True)
    (root / "tests/jobs/test_slug.py").touch()
    block, feed = forgotten.untested(root)
    assert block.startswith("jobs/chain/block.py has no test.")
    assert feed.startswith(
        "jobs/feed/endpoint.py has no test. Write tests/jobs/test_feed.py, or tests/jobs/feed/ for several"
    )
    (root / "tests/jobs/feed/test_endpoint.py").touch()
    assert list(forgotten.untested(root)) == [block]


def test_a_missing_row_is_reported() -> None:
    """And a row of what is not sold."""
    sold, rows = CATALOGUE[:2], ENDPOINTS[1:2]
    (sentence,) = forgotten.without_row(sold, rows)
    assert sentence.startswith(f"{sold[0].name} is sold and has no row. Write one by hand into ADDED")
    (sentence,) = forgotten.without_row((), rows)
    assert f"has a row for {rows[0].name}, which jobs/catalogue.py does not name" in sentence


def test_an_undeclared_reason_is_reported_where_it_is_raised(root: Path) -> None:
    """Also in an engine that the endpoint imports, and not in what only a port's declaration leads to."""
    (sentence,) = forgotten.undeclared(root, "jobs.slug", ())
    assert sentence.startswith(
        "jobs/words.py:1 raises UpstreamFailed(reason='no_words'), which jobs.slug does not declare"
    )
    assert list(forgotten.undeclared(root, "jobs.slug", ("no_words",))) == []
    assert list(forgotten.undeclared(root, "jobs.feed.endpoint", ())) == []


def test_a_reason_without_words_is_reported() -> None:
    """The pages need a sentence for each."""
    (sentence,) = forgotten.without_words([dataclasses.replace(CATALOGUE[0], failures=("no_words",))], REASONS)
    assert sentence == "echo declares the reason 'no_words': add a sentence to REASONS in jobs/reasons.py."
