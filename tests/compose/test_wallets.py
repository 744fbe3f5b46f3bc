"""The sandbox's keys are random, private and the same at every start."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eth_account import Account

from compose.sandbox.evm import load_wallets


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
