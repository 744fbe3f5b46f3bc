"""The sandbox's keys are random, private and the same at every start."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from compose.sandbox.child import LocalLedger
from compose.sandbox.evm import load_wallets
from compose.sandbox.solana import start_solana
from compose.sandbox.stellar import start_stellar
from compose.sandbox.xrpl import start_xrpl


def test_keys_are_made_once(tmp_path: Path) -> None:
    """The second start finds what the first made; another machine has other keys."""
    first = load_wallets(tmp_path / "one")

    assert load_wallets(tmp_path / "one") == first
    other = load_wallets(tmp_path / "two")
    keys = {first.payer_key, first.settler_key, first.pay_to_key, other.payer_key, other.settler_key, other.pay_to_key}
    assert len(keys) == 6
    assert Account.from_key(first.payer_key).address == first.payer
    assert Account.from_key(first.pay_to_key).address == first.pay_to


def test_the_file_is_private(tmp_path: Path) -> None:
    """Only its owner may read it, even if it was made readable."""
    load_wallets(tmp_path)
    path = tmp_path / "sandbox" / "wallets.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    path.chmod(0o644)
    load_wallets(tmp_path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["wallets.json"]


def test_two_starts_agree(tmp_path: Path) -> None:
    """Given several first starts at the same time, then all use the keys of one of them."""
    with ThreadPoolExecutor(8) as starts:
        loaded = set(starts.map(lambda _: load_wallets(tmp_path), range(8)))

    assert len(loaded) == 1


def test_keys_are_never_printed(tmp_path: Path, desk: Any) -> None:
    """repr() of what holds keys shows addresses only."""
    wallets = load_wallets(tmp_path)

    for key in (wallets.payer_key, wallets.settler_key, wallets.pay_to_key):
        assert key[2:] not in repr(wallets)
    for key in (desk.sandbox.payer_key, desk.sandbox.settler_key):
        assert key[2:] not in repr(desk.sandbox)
    assert desk.sandbox.payer in repr(desk.sandbox)


@pytest.mark.parametrize("start", [start_solana, start_stellar, start_xrpl])
def test_a_ledger_starts_with_this_machines_accounts(tmp_path: Path, start: Callable[[Path], LocalLedger]) -> None:
    """Each time, and their secrets are neither shown nor readable for others."""
    first, second = start(tmp_path), start(tmp_path)
    for one in (first, second):
        one.stop()
    assert (first.payer, first.pay_to, first.settler) == (second.payer, second.pay_to, second.settler)
    assert first.payer_secret == second.payer_secret
    assert first.payer_secret not in repr(first)
    assert not first.settler_key or first.settler_key not in repr(first)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "sandbox").glob("*.json")] == [0o600]
