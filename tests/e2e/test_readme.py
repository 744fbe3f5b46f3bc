"""The README's program is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "README.md"


def test_the_readmes_program_pays_and_prints_the_answer(service: Any) -> None:
    """Beside the folder that scripts/run made, with the official client."""
    found = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert found is not None
    program = found.group(1).replace("var/sandbox.json", str(service.var / "sandbox.json"))
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert answer.stdout == "{'ok': True, 'service': 'coinslot', 'youSent': 'hello'}\n", answer.stderr
