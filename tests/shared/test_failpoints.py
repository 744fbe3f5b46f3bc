"""A failpoint kills the process where the setting says, and does nothing otherwise."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shared.failpoints import API, NAMES, OBSERVED, WORKER, parse
from tests.each import each

ROOT = Path(__file__).parents[2]
PROGRAM = """
from shared.failpoints import reach
for _ in range(3):
    reach("settled")
    print("alive", flush=True)
"""


def run(failpoint: str) -> tuple[int, int]:
    """How a process that comes to a place three times ends, and how often it went on from there."""
    environment = {**os.environ, "COINSLOT_FAILPOINT": failpoint}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True)
    return ended.returncode, ended.stdout.count("alive")


@each(
    ("failpoint", "end"),
    [
        ("", (0, 3)),
        ("settled", (-signal.SIGKILL, 0)),
        ("settled@2", (-signal.SIGKILL, 1)),
        ("settled@9", (0, 3)),
        ("claimed", (0, 3)),
    ],
)
def test_the_process_ends_at_the_named_visit(failpoint: str, end: tuple[int, int]) -> None:
    """By SIGKILL of itself; at other places it continues."""
    assert run(failpoint) == end


@each("text", ["", "nowhere", "settled@", "settled@0", "settled@x", "settled@10000", " settled"])
def test_an_unknown_place_is_refused(text: str) -> None:
    """With what there is to choose from."""
    with pytest.raises(ValueError, match=r"answer-stored, .*with @N"):
        parse(text)


def test_every_place_is_in_the_code_of_its_process() -> None:
    """And none is there that has no name."""

    def reached(*folders: str) -> set[str]:
        sources = (path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py"))
        return {name for source in sources for name in re.findall(r'\breach\("([a-z-]+)"\)', source)}

    assert reached("api") == set(API)
    assert reached("workers", "shared") - {"settled"} == set(WORKER + OBSERVED)
    assert set(API + WORKER + OBSERVED) == NAMES
