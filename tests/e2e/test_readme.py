"""The programs in the README and in docs/client.md are run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def printed_by(document: str, service: Any) -> str:
    """What the first program of a document prints, beside the folder that scripts/run made."""
    found = re.search(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert found is not None
    program = found.group(1).replace("var/sandbox.json", str(service.var / "sandbox.json"))
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    return answer.stdout


def test_the_readmes_program_pays_and_prints_the_answer(service: Any) -> None:
    """With the official client."""
    assert printed_by("README.md", service) == "{'ok': True, 'service': 'coinslot', 'youSent': 'hello'}\n"


def test_the_buyers_program_pays_and_prints_answer_price_and_transaction(service: Any) -> None:
    """With our own library."""
    said = r"\{'ok': True, 'service': 'coinslot', 'youSent': 'hello'\} 0\.001 0x[0-9a-f]{64}\n"
    assert re.fullmatch(said, printed_by("docs/client.md", service))
