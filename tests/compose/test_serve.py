"""What `scripts/run` does while it serves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compose import serve
from compose.sandbox.child import Child


def test_a_local_ledger_that_ends_ends_the_service() -> None:
    """With its name: a new one would know nothing of what was paid there."""
    with (
        subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as services,
        subprocess.Popen(["sleep", "60"]) as ledger,
    ):
        ledger.kill()
        try:
            with pytest.raises(
                serve.CannotServe, match=r"the local ledger solana ended \(status -9\)\. It had its state"
            ):
                serve._wait(services, [Child("solana", ledger, Path("solana.log"))])
        finally:
            services.kill()
