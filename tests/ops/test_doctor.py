"""What the operator's command says where no service has to run. Beside one it is tried in tests/e2e/test_doctor.py."""

import dataclasses
import os
from pathlib import Path

import pytest
import redis

from jobs import price_list
from ops import doctor, price_checks
from ops.main import main
from shared.ledger.keys import SELLERS
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


def test_proxies_are_counted_and_not_shown(tmp_path: Path) -> None:
    """How many each pool has, and when they are used; a wrong file fails with its sentence."""
    path = tmp_path / "proxies.toml"
    path.write_text(
        '[youtube]\nuse = "after_refusal"\nproxies = ["socks5://me:hunter2@192.0.2.1:1080", "http://192.0.2.2:3128"]\n'
        '[net]\nuse = "always"\nproxies = ["http://me:hunter2@192.0.2.2:3128"]\n'
    )
    path.chmod(0o600)
    found = doctor._egress_proxies(str(path))
    assert (found.level, found.about) == ("ok", "egress proxies")
    assert found.detail == f"2 for youtube, after a refusal; 1 for net, always. {path} is readable for its owner alone"
    path.chmod(0o644)
    assert "chmod 600" in doctor._egress_proxies(str(path)).detail
    path.write_text("[whois]")
    assert doctor._egress_proxies(str(path)).level == "fail"


def test_what_the_api_sells_at_is_held_against_the_price_list(clean_redis: str, tmp_path: Path) -> None:
    """A list that cannot be sold at fails; a process that sells at another one is named, by its newest word."""
    prices = tmp_path / "prices.toml"
    settings = dataclasses.replace(Settings(), ledger_url=clean_redis, prices_file=str(prices))
    prices.write_text('ecko = "0.1"')
    environment = {**os.environ, "COINSLOT_PRICES_FILE": str(prices)}
    ((level, detail),) = price_checks.examine(settings, environment)
    assert (level, "'ecko' is no call: did you mean echo?" in detail) == ("fail", True)

    prices.write_text('echo = "0.1"')
    version = price_list.read(settings).version
    with redis.Redis.from_url(clean_redis) as client:
        now = client.time()[0] * 1000
        sellers = {f"here:1 {version}": now, "here:1 old": now - 1, "here:2 old": now, "there:3 gone": now - 60_000}
        client.zadd(SELLERS, sellers)
    found = list(price_checks.examine(settings, environment))
    assert [level for level, _ in found] == ["ok", "warn"]
    assert found[0][1] == f"29 calls are sold, at the prices of version {version}"
    assert found[1][1].startswith(
        "the API process here:2 sells at the prices of version old: `coinslot-ops reload` there"
    )
