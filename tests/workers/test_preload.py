"""A worker of the chain pool loads what its first calls need, and no other worker does."""

import subprocess
import sys

from tests.each import each

URL = "('http://127.0.0.1:9',)"
PROGRAM = """
import sys
from shared.pools import Pool
from shared.settings.rails import XrplRailSettings
from shared.settings.service import Settings
from workers.preload import preload
preload(Settings(rpc_base_urls={base}, xrpl=XrplRailSettings(read_urls={xrpl})), [Pool.{pool}]).join()
print([name in sys.modules for name in ("jobs.tx_explain.answer", "workers.adapters.chains", "xrpl.utils")])
"""


@each(
    ("pool", "base", "xrpl", "loaded"),
    [
        ("CHAIN", URL, URL, [True, True, True]),
        ("CHAIN", URL, "()", [True, True, False]),
        ("CHAIN", "()", "()", [False, False, False]),
        ("NET", URL, URL, [False, False, False]),
    ],
)
def test_what_is_loaded(pool: str, base: str, xrpl: str, loaded: list[bool]) -> None:
    """By pool, and by what can be read here."""
    program = PROGRAM.format(pool=pool, base=base, xrpl=xrpl)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout.strip() == str(loaded), run.stderr
