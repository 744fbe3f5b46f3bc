"""A payment whose outcome is unknown: kept on disk, and sent again with --resume."""

from __future__ import annotations

import base64
import json
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coinslot.delivery import RetryPolicy
from shared.layouts import SAVED_PAYMENTS

if TYPE_CHECKING:
    from tests.client.conftest import Canned, Command, Run, Shop


BODY = '{"secret": "canary-in-body"}'


@pytest.fixture(autouse=True)
def no_patience(sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt for each run: what is tested here begins where patience ends."""
    monkeypatch.setattr("coinslot.buyer.RetryPolicy", lambda: RetryPolicy(budget_s=0))


@pytest.fixture
def lost(command: Command, shop: Shop, drop: Canned) -> tuple[Run, Path]:
    """A call whose answer was lost: the run and the file."""
    shop.paid = [drop, shop.sell]
    run = command("call", "echo", BODY)
    return run, Path(re.search(r"--resume (\S+)", run.err)[1])


def test_an_unknown_outcome_is_kept_in_a_private_file(lost: tuple[Run, Path], shop: Shop, sandbox: Path) -> None:
    """Beside the sandbox file, for its owner only, with the body that resume sends; and the message says what to do."""
    run, path = lost
    assert run.code == 5
    assert "It is not known whether 0.001 USDC was spent. Do not pay again" in run.err
    assert path.parent == sandbox.parent
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    saved = json.loads(path.read_text())
    assert saved["paymentSignature"] == shop.payments[0]
    assert base64.b64decode(saved["body"]).decode() == BODY


def test_resume_sends_the_same_payment_and_removes_the_file(
    lost: tuple[Run, Path], command: Command, shop: Shop
) -> None:
    """The very same header and body, no new challenge, no new signature, no wallet."""
    _, path = lost
    run = command("call", "echo", BODY, "--resume", str(path), "--json")
    assert (run.code, run.json["answer"]) == (0, {"ok": True, "youSent": "hi"})
    assert run.json["price"] == {"amount": "0.001", "asset": "USDC", "network": "eip155:8453"}
    assert len(shop.seen) == 3
    assert len(set(shop.payments)) == 1
    assert {seen.body for seen in shop.seen} == {BODY.encode()}
    assert not path.exists()


def test_resume_needs_no_wallet(lost: tuple[Run, Path], command: Command, sandbox: Path) -> None:
    """The payment is signed already."""
    _, path = lost
    sandbox.unlink()
    assert command("call", "echo", BODY, "--resume", str(path)).code == 0


def test_a_resume_that_fails_again_keeps_its_file(
    lost: tuple[Run, Path], command: Command, shop: Shop, drop: Canned
) -> None:
    """And names the same one."""
    _, path = lost
    shop.paid = [drop]
    run = command("call", "echo", BODY, "--resume", str(path), "--json")
    assert (run.code, run.json["charged"], run.json["resume"]) == (5, "unknown", str(path))
    assert path.exists()
    assert len(list(path.parent.glob("payment-*"))) == 1


def test_a_402_to_a_resumed_payment_leaves_the_outcome_open(
    lost: tuple[Run, Path], command: Command, shop: Shop
) -> None:
    """It was sent before, and may have been charged then."""
    _, path = lost
    shop.paid = [shop.demand({**shop.challenge(), "error": "payment_already_used"})]
    run = command("call", "echo", BODY, "--resume", str(path), "--json")
    assert (run.code, run.json["charged"]) == (4, "unknown")
    assert path.exists()


@pytest.mark.parametrize("arguments", [("echo",), ("echo", '{"other": 1}'), ("web-diff", BODY)])
def test_resume_is_for_the_same_call_only(
    lost: tuple[Run, Path], command: Command, shop: Shop, arguments: tuple[str, ...]
) -> None:
    """Another body or another name is refused before it is sent."""
    _, path = lost
    run = command("call", *arguments, "--resume", str(path))
    assert run.code == 2
    assert len(shop.seen) == 2
    assert path.exists()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"\xff", b'{"url":"x","bodySha256":null,"price":"1","asset":"U"}']
)
def test_a_file_that_is_no_saved_payment(command: Command, shop: Shop, tmp_path: Path, content: bytes) -> None:
    """It is refused by name."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    run = command("call", "echo", "--resume", str(path))
    assert run.code == 2
    assert "not a saved payment" in run.err
    assert command("call", "echo", "--resume", str(tmp_path / "none")).code == 2
    assert shop.seen == []


def test_a_payment_that_cannot_be_saved_is_not_made(
    command: Command, shop: Shop, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3, and nothing is sent that a crash could lose."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("COINSLOT_STATE_DIR", str(tmp_path / "file" / "state"))
    run = command("call", "echo", "--url", shop.base_url, "--key-file", str(key_file), "--max-price", "1", "--json")
    assert (run.code, run.json["error"], run.json["charged"]) == (3, "payment_not_saved", False)
    assert "COINSLOT_STATE_DIR" in run.json["hint"]
    assert shop.payments == []


def test_an_answer_still_in_the_making_is_kept(command: Command, shop: Shop) -> None:
    """504: charged, and the same payment collects the answer later."""
    shop.paid = [shop.problem(504, charged=True, retryWithSamePayment=True, detail="too slow")]
    run = command("call", "echo", "--json")
    assert (run.code, run.json["charged"]) == (5, True)
    assert Path(run.json["resume"]).exists()


@pytest.mark.parametrize("answer", ["402", "400"])
def test_a_definite_refusal_is_not_kept(command: Command, shop: Shop, sandbox: Path, answer: str) -> None:
    """There is nothing to come back for."""
    shop.paid = [shop.demand(shop.challenge()) if answer == "402" else shop.problem(400)]
    assert command("call", "echo", "--json").json["resume"] is None
    assert [path.name for path in sandbox.parent.iterdir()] == ["sandbox.json"]


def test_ctrl_c_after_paying_keeps_the_payment(
    command: Command, shop: Shop, sandbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 130, and one line that says how to get the answer."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coinslot.delivery.answer_of", interrupt)
    run = command("call", "echo")
    assert run.code == 130
    assert "--resume" in run.err
    [kept] = sandbox.parent.glob("payment-*.json")
    assert json.loads(kept.read_text())["paymentSignature"] == shop.payments[0]


def test_a_payment_that_a_newer_version_saved_is_kept_for_it(lost: tuple[Run, Path], command: Command) -> None:
    """It may say what this version does not know. Files of the first release have no number."""
    _, path = lost
    saved = json.loads(path.read_bytes())
    assert saved.pop("layout") == SAVED_PAYMENTS.written
    path.write_text(json.dumps({**saved, "layout": SAVED_PAYMENTS.written + 1}))
    run = command("call", "echo", BODY, "--resume", str(path))
    assert run.code == 2
    assert "newer version" in run.err
    path.write_text(json.dumps(saved))
    assert command("call", "echo", BODY, "--resume", str(path)).code == 0
