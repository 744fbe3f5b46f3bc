"""What `scripts/run` does while it serves."""

import subprocess
from pathlib import Path

import pytest

from compose import serve
from compose.embedded import Embedded
from compose.sandbox.child import Child
from shared.settings.service import Settings


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


def test_servers_without_a_password_are_reported_in_production() -> None:
    """With the settings that name others."""

    def notices(made: dict[str, str], *, production: bool = True) -> list[str]:
        return serve._not_for_production(Embedded(Settings(production=production), made, None, "", False))

    made = {"COINSLOT_LEDGER_URL": "redis://127.0.0.1:1", "COINSLOT_PORT": "1"}
    (only,) = notices(made)
    assert "the servers that were started for COINSLOT_LEDGER_URL. Set these" in only
    assert notices(made, production=False) == notices({"COINSLOT_PORT": "1"}) == []
