"""`coinslot-ops rehearse` beside a running service, whose ledgers it knows no better than foreign ones."""

import dataclasses
import json
import os
import secrets
import time
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from coinslot.blocking_exchange import BlockingExchange
from compose.sandbox import fixtures
from ops.main import main
from ops.rehearsal import plan, purchases
from shared.settings.sandbox_path import ENVIRONMENT
from shared.settings.service import Settings
from shared.x402.networks import Rail
from shared.x402.solana_address import encode_base58
from tests.e2e.test_books import held

RAILS = (Rail.BASE, Rail.SOLANA, Rail.STELLAR, Rail.XRPL_USDC, Rail.XRPL_RLUSD)
STEPS = ["challenge", "payment", "receipt", "finality", "transfer", "balance", "fee"]
Found = dict[str, list[dict[str, Any]]]
Rehearse = Callable[..., tuple[int, Found, str]]


@pytest.fixture
def rehearse(service: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rehearse:
    """Runs it. Returns its exit code, its steps by rail, and what it said on stderr."""
    for name in [name for name in os.environ if name.startswith("COINSLOT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(ENVIRONMENT, str(service.var / "sandbox.json"))
    monkeypatch.setenv("COINSLOT_PORT", service.base_url.rpartition(":")[2])

    def run(*words: str, **settings: str) -> tuple[int, Found, str]:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in settings.items():
                patched.setenv(name, value)
            code = main(["rehearse", "--json", *words])
        said = capsys.readouterr()
        steps: Found = defaultdict(list)
        for line in said.out.splitlines():
            step = json.loads(line)
            steps[step["rail"]].append(step)
        return code, steps, said.err

    return run


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """Of an account on an EVM network that has nothing."""
    path = tmp_path / "wallet.key"
    path.write_text(secrets.token_hex(32))
    path.chmod(0o600)
    return path


@pytest.fixture
def settings(service: Any) -> Settings:
    return Settings.from_env(dict(line.split("=", 1) for line in service.environment))


def test_each_step_on_each_rail_is_right(settings: Settings, rehearse: Rehearse) -> None:
    """The recipients have the prices, as the ledgers themselves say it."""
    before = held(settings)
    code, found, _ = rehearse()
    after = held(settings)

    assert [(step["rail"], step["detail"]) for steps in found.values() for step in steps if step["level"] != "ok"] == []
    assert code == 0
    assert {rail: [step["step"] for step in steps] for rail, steps in found.items()} == dict.fromkeys(RAILS, STEPS)
    atomic = {"base": 1_000, "solana": 1_000, "stellar": 10_000}
    for rail in RAILS:
        seen = {step["step"]: step["seen"] for step in found[rail]}
        assert seen["balance"]["before"] != seen["balance"]["after"]
        assert float(after[rail] - before[rail]) == atomic.get(rail, 0.001)
        assert seen["receipt"]["transaction"]


def test_a_transaction_that_does_not_pay_is_found_out(service: Any, settings: Settings, rehearse: Rehearse) -> None:
    """Whatever a receipt says: the chains do not know it, or it has paid another price."""
    _, found, _ = rehearse("json-repair")
    settings = dataclasses.replace(settings, base_url=service.base_url)
    given = {"key_files": {}, "nodes": {}, "most": Decimal(1), "env": os.environ, "folder": Path()}
    rehearsed_rails = plan.rehearsed_rails(settings, [], **given)
    with BlockingExchange(service.base_url, timeout_s=30) as exchange:
        quotes, _ = plan.quotes(exchange, service.base_url, ["echo"])
    echoes, _ = plan.planned(rehearsed_rails, quotes)
    assert [one.rehearsed.rail for one in echoes] == list(RAILS)
    unknown = {"base": f"0x{'11' * 32}", "solana": encode_base58(bytes([1] * 64)), "stellar": "11" * 32}
    long_ago = time.monotonic() - purchases.FINAL_WITHIN_S
    for echo in echoes:
        seen = {step["step"]: step["seen"] for step in found[echo.rehearsed.rail]}
        for transaction, wrong in (
            (unknown.get(echo.rehearsed.rail, "11" * 32), "finality"),
            (seen["receipt"]["transaction"], "transfer"),
        ):
            *_, last = purchases.on_chain(echo, transaction, long_ago, Decimal(0), Decimal)
            assert (last.level, last.step) == ("fail", wrong)


def test_a_call_that_is_sold_on_other_rails_is_noted(rehearse: Rehearse) -> None:
    """The other one is bought."""
    code, found, _ = rehearse("xrpl-wallet-watch", "echo", "--rail", "base")
    assert [(step["level"], step["step"]) for step in found["base"]] == [
        ("note", "challenge"),
        *(("ok", name) for name in STEPS),
    ]
    assert (code, found["base"][0]["detail"]) == (0, "not offered on it: xrpl-wallet-watch")


def test_what_is_wrong_is_said_and_not_bought(settings: Settings, rehearse: Rehearse, key_file: Path) -> None:
    """Another recipient than the settings', a rail whose node does not answer, one that the service does not offer."""
    before = held(settings)
    code, found, _ = rehearse(
        *("--rail", "base", "--rail", "solana", "--rail", "ethereum", "--key-file", f"ethereum={key_file}"),
        COINSLOT_EVM_PAY_TO=fixtures.BLACKLISTED,
        COINSLOT_SOLANA_RPC_URL="http://127.0.0.1:9",
        COINSLOT_ETHEREUM_PAY_TO=fixtures.BLACKLISTED,
    )
    assert held(settings) == before
    assert code == 1
    [base], [solana], [ethereum] = found["base"], found["solana"], found["ethereum"]
    assert {one["level"] for one in (base, solana, ethereum)} == {"fail"}
    assert f"and COINSLOT_EVM_PAY_TO is {fixtures.BLACKLISTED}: nothing is signed" in base["detail"]
    assert "its node does not say what" in solana["detail"]
    assert ethereum["detail"].startswith("there is no offer on eip155:1: its facilitator is down")


def test_why_it_does_not_start(settings: Settings, rehearse: Rehearse, key_file: Path) -> None:
    """It may not spend enough, the wallet has not enough, the sandbox's wallet is not for others, no such rail or call."""
    own = ("--rail", "base", "--key-file", f"base={key_file}")
    elsewhere = {"COINSLOT_BASE_URL": "http://127.0.0.1:9"}
    before = held(settings)
    for words, changed, why in (
        (("--most", "0.004"), {}, "5 calls cost 0.005, and 0.004 may be spent: nothing was signed"),
        (own, {}, "has 0 USDC, and 0.001 are needed: nothing was signed"),
        ((), elsewhere, "base: the wallet of the sandbox at"),
        (own, elsewhere, "Nothing was signed"),
        (("--rail", "ethereum"), {}, "ethereum is not offered"),
        (("no-such-call",), {}, "Nothing was signed"),
        (("--rail", "stellar", "--key-file", f"stellar={key_file}"), {}, "stellar: "),
    ):
        code, found, said = rehearse(*words, **changed)
        assert (code, dict(found)) == (2, {}), said
        assert why in said
    assert held(settings) == before
