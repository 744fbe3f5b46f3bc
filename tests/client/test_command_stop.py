"""Ways in which `coinslot call` is stopped: the payment survives all of them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import Canned, Command, Seen, Shop, process

pytestmark = pytest.mark.usefixtures("sandbox")  # which pays, unless a test gives another key


def test_ctrl_c_before_paying_is_quiet(command: Command, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 130 and not a word."""
    monkeypatch.setattr("coinslot.challenge.read", lambda reply: (_ for _ in ()).throw(KeyboardInterrupt))
    run = command("call", "echo")
    assert (run.code, run.out, run.err) == (130, "", "")


def call(shop: Shop, folder: Path, **streams: Any) -> subprocess.Popen[bytes]:
    return process(folder, "call", "echo", "--url", shop.base_url, stderr=subprocess.PIPE, **streams)


def test_a_reader_that_goes_away_is_no_error(shop: Shop, tmp_path: Path) -> None:
    """`coinslot call … | head -0`: exit 141, no traceback."""
    reader, writer = os.pipe()
    os.close(reader)
    run = call(shop, tmp_path, stdout=writer)
    os.close(writer)
    _, err = run.communicate(timeout=20)
    assert (run.returncode, err) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_kept(shop: Shop, tmp_path: Path) -> None:
    """A full disk after paying: exit 1, and the payment is saved so that the answer can be fetched again."""
    with open("/dev/full", "wb") as full:
        run = call(shop, tmp_path, stdout=full)
        _, err = run.communicate(timeout=20)
    assert run.returncode == 1
    assert b"--resume" in err
    assert b"Traceback" not in err
    [kept] = (tmp_path / "var").glob("payment-*.json")
    assert kept.stat().st_mode & 0o777 == 0o600


def test_sigterm_after_paying_keeps_the_payment(shop: Shop, tmp_path: Path) -> None:
    """A tool's time limit ends the command: exit 143, and the payment is saved."""
    arrived, done = threading.Event(), threading.Event()

    def hang(seen: Seen) -> Canned:
        arrived.set()
        done.wait(20)
        return shop.sell(seen)

    shop.paid = [hang]
    run = call(shop, tmp_path, stdout=subprocess.PIPE)
    assert arrived.wait(20)
    run.terminate()
    out, err = run.communicate(timeout=20)
    done.set()
    assert (run.returncode, out) == (143, b"")
    assert b"--resume" in err
    [kept] = (tmp_path / "var").glob("payment-*.json")
    assert json.loads(kept.read_text())["paymentSignature"] == shop.payments[0]
