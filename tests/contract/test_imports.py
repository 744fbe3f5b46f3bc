"""What the API process loads, asked of a fresh interpreter."""

import json
import subprocess
import sys
from pathlib import Path

HEAVY = {
    "playwright",
    "web3",
    "eth_account",
    "trafilatura",
    "lxml",
    "xrpl",
    "stellar_sdk",
    "solana",
    "faker",
    "py_mini_racer",
    "phonenumbers",
    "x402",
}


def test_the_shop_front_loads_no_browser_chain_or_extraction_library() -> None:
    """It must start fast and stay small: heavy libraries are imported where they are used."""
    program = "import json, sys, api.app; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, check=True
    )
    assert set(json.loads(answer.stdout)).isdisjoint(HEAVY)


def test_answers_are_opened_in_one_place() -> None:
    """Sealed in the worker that stores them, opened in `PaidCall._answered`: nothing between the two sees an answer."""
    root = Path(__file__).parents[2]
    found = {
        (path.relative_to(root).as_posix(), call)
        for folder in ("api", "workers", "shared", "facilitator", "compose")
        for path in (root / folder).rglob("*.py")
        for line in path.read_text().splitlines()
        for call in ("answers.open", "AnswerSealer(", "outcome.decode(")
        if call in line
    }
    assert found == {
        ("api/app.py", "AnswerSealer("),
        ("api/job_call.py", "answers.open"),
        ("workers/main.py", "AnswerSealer("),
        ("shared/sealing/answers.py", "AnswerSealer("),  # of the previous key
        # What a child process answered, which nobody else sees.
        ("workers/actors.py", "outcome.decode("),
        ("workers/adapters/calculations.py", "outcome.decode("),
        ("shared/sealing/answers.py", "outcome.decode("),
    }
