"""Memory that was freed is used again, instead of being given back and asked for anew."""

import subprocess
import sys

import pytest

FAULTS = """
import resource
from shared.process.tuning import keep_freed_memory
if %r:
    keep_freed_memory()
for _ in range(20):
    bytes(2_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    bytes(2_000_000).replace(b"x", b"y")
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux")
def test_a_large_copy_costs_no_new_pages() -> None:
    """Page faults of two hundred copies of 2 MB, with it and without it."""
    kept, given_back = (
        int(subprocess.run([sys.executable, "-c", FAULTS % keeps], capture_output=True, text=True, check=True).stdout)
        for keeps in (True, False)
    )
    assert kept < 1_000
    assert kept < given_back or given_back < 1_000  # a C library that learns by itself
