"""An endpoint has all that it needs beside its declaration. What is forgotten is reported, with what to do."""

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
