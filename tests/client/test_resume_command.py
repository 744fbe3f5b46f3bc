"""`coinslot resume`: every open payment brings its answer, and `coinslot spent` counts it once."""

import json
import os
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest

from coinslot import resuming
from coinslot.buyer import ignore
from coinslot.capped_buyer import CappedBuyer
from coinslot.errors import CallFailed
from coinslot.payment_folder import PaymentFolder, claim
from coinslot.spending_caps import Caps
from coinslot.spending_journal import MAY_SETTLE_S, Ended, SpendingJournal
from tests.client.conftest import DROP, Command, Shop, configured

pytestmark = pytest.mark.usefixtures("sandbox", "one_attempt")


@pytest.fixture
def lost(command: Command, shop: Shop) -> list[str]:
    """The files of two calls whose answers were lost, one with a body and one without."""
    shop.paid = [DROP, DROP, shop.sell]
    return [command("call", *call, "--json").json["resume"] for call in (("echo", '{"n": 1}'), ("chain/chain-id",))]


def aged(path: Path, seconds: int, **members: str) -> None:
    """As if the payment was signed that long ago."""
    saved = json.loads(path.read_text())
    path.write_text(json.dumps({**saved, "signedAt": saved["signedAt"] - seconds, **members}))


def test_all_that_is_open_is_fetched(command: Command, shop: Shop, lost: list[str], sandbox: Path) -> None:
    """Without names or bodies: the same two payments with the same bodies, and no third."""
    run = command("resume")
    assert (run.code, run.out.count('"ok": true')) == (0, 2)
    assert "the answer to echo" in run.err
    assert "no payment is open" not in run.err
    assert [seen.body for seen in shop.seen if seen.payment] == [b'{"n": 1}', b"", b'{"n": 1}', b""]
    assert len(set(shop.payments)) == 2
    assert not any(Path(path).exists() for path in lost)
    unfinished = sandbox.with_name(".payment-x.json")  # its process died before the payment could be sent
    unfinished.write_text('{"url": "http')
    assert "no payment is open" in command("resume").err
    os.utime(unfinished, (0, 0))
    assert "no payment is open" in command("resume").err
    assert not unfinished.exists()


def test_files_may_be_named(command: Command, lost: list[str]) -> None:
    """Then the others stay; with --json everything is one object."""
    run = command("resume", lost[1], "--json")
    assert (run.code, run.err) == (0, "")
    assert [(one["call"], one["ok"], one["answer"]["ok"]) for one in run.json["resumed"]] == [
        ("chain/chain-id", True, True)
    ]
    assert [Path(path).exists() for path in lost] == [True, False]
    assert command("resume", lost[1]).code == 2


def test_one_that_fails_does_not_stop_the_others(command: Command, shop: Shop, lost: list[str]) -> None:
    """The exit code is the failure's, and its file is named on standard output."""
    shop.paid = [DROP, shop.sell]
    Path(lost[0]).with_name("payment-0.json").write_text("no payment")
    run = command("resume", "--json")
    assert (run.code, run.json["ok"]) == (2, False)
    assert [one.get("resume") for one in run.json["resumed"]] == [None, lost[0], None]
    assert [one["ok"] for one in run.json["resumed"]] == [False, False, True]


def test_a_payment_whose_answer_is_awaited_is_left_alone(command: Command, shop: Shop, lost: list[str]) -> None:
    """Another process holds its lock, until it dies."""
    awaited = claim(Path(lost[0]))
    assert command("resume", lost[0], "--json").json["resumed"][0]["error"] == "payment_in_use"
    run = command("resume")
    assert (run.code, run.out.count('"ok": true')) == (0, 1)
    assert "another process waits" in run.err
    awaited.release()
    assert command("resume").out.count('"ok": true') == 1


def test_a_402_long_after_the_payment_has_expired_ends_it(command: Command, shop: Shop, lost: list[str]) -> None:
    """Nothing can charge it any more, and the server would know its answer. A 402 before that leaves it open."""
    shop.paid = [lambda seen: shop.demand({**shop.challenge(seen.path), "error": "expired"})]
    for path, age_s in zip(lost, (1000, 100), strict=True):
        aged(Path(path), age_s)
    run = command("resume", "--json")
    assert [(one["charged"], one["resume"]) for one in run.json["resumed"]] == [(False, None), ("unknown", lost[1])]
    assert [Path(path).exists() for path in lost] == [False, True]


class Killed(BaseException):
    """The process ends here."""


def _kill(*_: Any, **__: Any) -> NoReturn:
    raise Killed


_END = SpendingJournal.end


def _end_and_kill(journal: SpendingJournal, reservation: str, state: Ended, *, now: int) -> NoReturn:
    _END(journal, reservation, state, now=now)
    raise Killed


STEPS = {
    "nowhere": None,
    "before the journal's line": (SpendingJournal, "_append", _kill),
    "after it": (SpendingJournal, "end", _end_and_kill),
    "before the file goes": (Path, "unlink", _kill),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_was_never_charged_is_given_back_once(
    command: Command, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Any
) -> None:
    """To the caps that it was reserved under, wherever an earlier `coinslot resume` was killed."""
    folder = PaymentFolder(tmp_path / "state")
    found = configured(shop.base_url, folder.path)
    caps = Caps(Decimal("0.01"), Decimal("0.003"), Decimal(1), {})
    shop.paid = [
        shop.problem(500, charged="unknown"),
        lambda seen: shop.demand({**shop.challenge(seen.path), "error": "expired"}),
    ]

    async def lose() -> None:
        buyer = CappedBuyer(found, caps, timeout_s=5)
        with pytest.raises(CallFailed):
            await buyer.call("echo", {"message": "hi"})
        assert (await buyer.left()).today == Decimal("0.002")
        await buyer.aclose()

    anyio.run(lose)
    (path,) = folder.files()
    aged(path, 1000)
    if step:
        claimed = claim(path)
        with monkeypatch.context() as patched:
            patched.setattr(*step)
            with pytest.raises(Killed):
                resuming.resume(claimed, folder, timeout_s=5, on_progress=ignore)
        claimed.release()
    assert command("resume", "--json").json["resumed"][0]["charged"] is False
    journal = SpendingJournal(folder.path / "reservations.jsonl")
    assert journal.left(caps, now=int(time.time()) + MAY_SETTLE_S + 1).total == Decimal(1)
    assert [json.loads(line)["state"] for line in journal.path.read_bytes().splitlines()] == ["reserved", "refused"]
    assert folder.files() == []


def test_a_journal_that_cannot_be_written_keeps_the_payment(
    command: Command, shop: Shop, lost: list[str], sandbox: Path
) -> None:
    """So that a later resume can give the sum back."""
    shop.paid = [lambda seen: shop.demand({**shop.challenge(seen.path), "error": "expired"})]
    path = Path(lost[0])
    aged(path, 1000, reservation="0123456789abcdef")
    journal = sandbox.with_name("reservations.jsonl")
    journal.write_text("no journal\n")
    run = command("resume", str(path), "--json")
    assert (run.json["resumed"][0]["charged"], path.exists()) == (False, True)
    journal.unlink()
    command("resume", str(path))
    assert not path.exists()


def test_what_was_spent(command: Command, shop: Shop, lost: list[str], key_file: Path) -> None:
    """Each charged payment once, though one is fetched twice; test money apart; and what is open."""
    copy = Path(lost[0]).read_bytes()
    command("resume", lost[0])
    Path(lost[0]).write_bytes(copy)
    command("resume", lost[0])
    command("call", "echo", "--url", shop.base_url, "--key-file", str(key_file), "--max-price", "0.001")
    spent = command("spent", "--json").json
    assert sorted((one["sandbox"], one["amount"], one["answered"]) for one in spent["payments"]) == [
        (False, "0.001", True),
        (True, "0.001", True),
    ]
    assert sorted((one["sandbox"], one["amount"]) for one in spent["totals"]) == [(False, "0.001"), (True, "0.001")]
    assert spent["open"] == [lost[1]]
    run = command("spent")
    assert re.search(r"echo +0\.001 USDC +Base \(sandbox\) +0xabab", run.out)
    assert "spent 0.001 USDC on Base in all" in run.err


def test_a_line_that_a_crash_has_cut_off_spoils_no_other(command: Command, sandbox: Path) -> None:
    """The log is written line by line."""
    log = PaymentFolder(sandbox.parent).spending
    log.path.write_text('{"payment": "cut o')
    command("call", "echo")
    assert [one.amount for one in log.read()] == ["0.001"]
