"""A payment is on the disk before it is sent. It goes when its answer was taken, and is sent again with --resume."""

import base64
import json
import os
import re
import stat
from pathlib import Path

import pytest

from coinslot import Buyer, PaymentFolder, Wallet
from coinslot.payment_folder import claim
from shared.layouts import SAVED_PAYMENTS
from tests.client.conftest import DROP, KEY, Command, Run, Shop
from tests.each import each

pytestmark = pytest.mark.usefixtures("sandbox", "one_attempt")


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


BODY = '{"secret": "canary-in-body"}'


@pytest.fixture
def lost(command: Command, shop: Shop) -> tuple[Run, Path]:
    """A call whose answer was lost: the run and the file."""
    shop.paid = [DROP, shop.sell]
    run = command("call", "echo", BODY)
    return run, Path(re.search(r"--resume (\S+)", run.err)[1])


def test_an_unknown_outcome_is_kept_in_a_private_file(lost: tuple[Run, Path], shop: Shop, sandbox: Path) -> None:
    """Beside the sandbox file, for its owner only, with the body that resume sends; and the message says what to do."""
    run, path = lost
    assert run.code == 5
    assert "It is not known whether 0.001 USDC was spent. Do not pay again" in run.err
    assert (path.parent, stat.S_IMODE(path.stat().st_mode)) == (sandbox.parent, 0o600)
    saved = json.loads(path.read_text())
    assert saved["paymentSignature"] == shop.payments[0]
    assert base64.b64decode(saved["body"]).decode() == BODY


def test_resume_sends_the_same_payment_and_removes_the_file(
    lost: tuple[Run, Path], command: Command, shop: Shop, sandbox: Path
) -> None:
    """The very same header and body, no new challenge, no new signature, no wallet."""
    _, path = lost
    sandbox.unlink()
    run = command("call", "echo", BODY, "--resume", str(path), "--json")
    assert (run.code, run.json["answer"]) == (0, {"ok": True, "youSent": "hi"})
    assert run.json["price"] == {"amount": "0.001", "asset": "USDC", "network": "eip155:8453"}
    assert (len(shop.seen), len(set(shop.payments)), path.exists()) == (3, 1, False)
    assert {seen.body for seen in shop.seen} == {BODY.encode()}


def test_a_resume_that_fails_again_keeps_its_file(lost: tuple[Run, Path], command: Command, shop: Shop) -> None:
    """And names the same one. It was sent before, and may have been charged then: a 402 leaves that open."""
    _, path = lost
    refused = shop.demand({**shop.challenge(), "error": "payment_already_used"})
    in_the_making = shop.problem(504, charged=True, retryWithSamePayment=True, detail="too slow")
    for step, code, charged in ((DROP, 5, "unknown"), (refused, 4, "unknown"), (in_the_making, 5, True)):
        shop.paid = [step]
        run = command("call", "echo", BODY, "--resume", str(path), "--json")
        assert (run.code, run.json["charged"], run.json["resume"]) == (code, charged, str(path))
        assert list(path.parent.glob("payment-*")) == [path]


def test_resume_is_for_the_same_call_only(lost: tuple[Run, Path], command: Command, shop: Shop) -> None:
    """Another body or another name is refused before it is sent."""
    _, path = lost
    for arguments in (("echo",), ("echo", '{"other": 1}'), ("web-diff", BODY)):
        assert command("call", *arguments, "--resume", str(path)).code == 2
    assert (len(shop.seen), path.exists()) == (2, True)


@each("content", [b"", b"{}", b"[]", b"\xff", b'{"url":"x","bodySha256":null,"price":"1","asset":"U"}'])
def test_a_file_that_is_no_saved_payment(command: Command, shop: Shop, tmp_path: Path, content: bytes) -> None:
    """It is refused by name."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    run = command("call", "echo", "--resume", str(path))
    assert (run.code, "not a saved payment" in run.err) == (2, True)
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


def test_a_definite_refusal_is_not_kept(command: Command, shop: Shop, sandbox: Path) -> None:
    """There is nothing to come back for."""
    for step in (shop.demand({**shop.challenge(), "error": "insufficient_funds"}), shop.problem(400)):
        shop.paid = [step]
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
