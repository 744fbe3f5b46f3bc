"""What the operator's command says where no service has to run. Beside one it is tried in tests/e2e/test_doctor.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ops import doctor
from ops.main import main
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from tests.each import each


@each("command", ["payments", "top", "doctor"])
def test_a_server_that_does_not_answer_is_named(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its address, without its password, and with what to set."""
    monkeypatch.setenv("COINSLOT_LEDGER_URL", "redis://user:secret@127.0.0.1:1/0")
    monkeypatch.setenv("COINSLOT_QUEUE_URL", "unix:///nowhere/queue.sock")

    assert main([command]) == (1 if command == "doctor" else 3)

    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert "cannot read 127.0.0.1:1 (COINSLOT_LEDGER_URL)" in said
    assert ("/nowhere/queue.sock (COINSLOT_QUEUE_URL)" in said) == (command != "payments")
    assert "set COINSLOT_VAR to the folder of scripts/run" in said
    assert "secret" not in said


def test_no_service_to_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With the socket that was tried."""
    monkeypatch.setenv("COINSLOT_VAR", str(tmp_path))

    assert main(["restart"]) == main(["scale", "api=2"]) == 3

    assert (
        f"no service takes commands at {tmp_path}/control.sock (No such file or directory)" in capsys.readouterr().err
    )


def test_production_without_tls_is_reported() -> None:
    """Payments and answers would be read on their way."""

    def warnings(**settings: object) -> list[str]:
        found = doctor._names(dataclasses.replace(Settings(), **settings), {})
        return [detail for level, _, detail in found if level == "warn"]

    assert warnings(production=True, base_url="https://api.example.com") == []
    (only,) = warnings(production=True, base_url="http://api.example.com")
    assert only.startswith("COINSLOT_BASE_URL is http://api.example.com: without TLS")


def test_a_facilitator_without_a_journal_is_reported(tmp_path: Path) -> None:
    """It makes the file when it starts, so one that is not there could not be made."""
    rail = EvmRailSettings(settler_key_file=tmp_path / "settler.key")
    missing = doctor._journal("evm", rail)
    (tmp_path / "settler.key.8453.journal").touch()

    assert missing.level == "warn"
    assert missing.detail.startswith(f"there is no {tmp_path}/settler.key.8453.journal: ")
    assert "COINSLOT_EVM_JOURNAL_FILE" in missing.detail
    assert doctor._journal("evm", rail).level == "ok"


@each(
    ("mode", "is_exposed"),
    [(0o600, False), (0o400, False), (0o440, False), (0o640, False), (0o644, True), (0o660, True)],
)
def test_a_key_that_others_can_read_fails(mode: int, is_exposed: bool, tmp_path: Path) -> None:
    """A group may read what is root's."""
    key = tmp_path / "key"
    key.touch()
    key.chmod(mode)
    if key.stat().st_uid == 0 or not mode & 0o077:
        assert (doctor._private("key", key).level == "fail") == is_exposed
