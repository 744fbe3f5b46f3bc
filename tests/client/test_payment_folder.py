"""A payment is on the disk before it is sent, and goes when its answer has been taken."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from coinslot import Buyer, PaymentFolder, Wallet
from coinslot.payment_folder import claim
from tests.client.conftest import KEY, Shop


def test_file_and_folder_are_synced_before_the_payment_is_sent(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order: the whole file, its name, the request; and only its owner can read it."""
    steps: list[str] = []
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    folder = PaymentFolder(tmp_path / "state")

    def sell(seen: object) -> object:
        [path] = folder.files()
        steps.append(f"sent with {stat.S_IMODE(path.stat().st_mode):o} in {stat.S_IMODE(path.parent.stat().st_mode):o}")
        return shop.sell(seen)

    shop.paid = [sell]
    with Buyer(shop.base_url, Wallet.evm(KEY), max_price=None, payments=folder) as buyer:
        buyer.call("echo", {"message": "hi"})
    assert steps == ["file", "folder", "sent with 600 in 700", "file"]  # the last is the log
    assert folder.files() == []


def test_a_kept_answer_leaves_the_file_to_the_caller(shop: Shop, tmp_path: Path) -> None:
    """Until then nobody else can claim the payment."""
    folder = PaymentFolder(tmp_path)
    with Buyer(shop.base_url, Wallet.evm(KEY), max_price=None, payments=folder) as buyer:
        answer = buyer.call("echo", keep=True)
        assert folder.files() == [answer.saved.path]
        answer.saved.release()
        again = buyer.resume(claim(answer.saved.path))
    assert (again.body, folder.files()) == (answer.body, [])
    assert len(set(shop.payments)) == 1
