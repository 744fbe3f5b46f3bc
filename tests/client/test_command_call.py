"""`coinslot call`: what it prints, and the code that it ends with."""

import json
from pathlib import Path
from typing import Any

import pytest

from coinslot.errors import Charged
from coinslot.evm_signer import EvmSigner
from tests.client.conftest import KEY, TRANSACTION, Canned, Command, Shop
from tests.each import each

ANSWER = '{\n  "ok": true,\n  "youSent": "hi"\n}\n'


pytestmark = pytest.mark.usefixtures("sandbox")  # which pays, unless a test gives another key


def test_the_answer_goes_to_stdout_and_the_receipt_to_stderr(command: Command, shop: Shop) -> None:
    """So the output can be piped, and the payer sees what was paid."""
    run = command("call", "echo", '{"message": "hi"}')
    assert (run.code, run.out) == (0, ANSWER)
    for part in ("0.001 USDC", "eip155:8453", EvmSigner(KEY).address, TRANSACTION, "req-1"):
        assert part in run.err
    assert run.err.count("\n") == 1
    assert shop.seen[1].body == b'{"message": "hi"}'


def test_json_of_an_answer(command: Command) -> None:
    """One object with everything, and nothing on standard error."""
    run = command("call", "echo", "--json")
    assert (run.code, run.err, run.out.count("\n")) == (0, "", 1)
    assert run.json == {
        "ok": True,
        "status": 200,
        "price": {"amount": "0.001", "asset": "USDC", "network": "eip155:8453"},
        "receipt": {
            "success": True,
            "transaction": TRANSACTION,
            "network": "eip155:8453",
            "payer": EvmSigner(KEY).address,
        },
        "answer": {"ok": True, "youSent": "hi"},
        "requestId": "req-1",
    }


def test_json_of_a_failure(command: Command, shop: Shop) -> None:
    """The same members for every failure; the server's own document is among them."""
    shop.paid = [shop.problem(429, retry_after=7, reason="burst")]
    run = command("call", "echo", "--json")
    assert (run.code, run.err) == (5, "")
    problem = run.json.pop("problem")
    assert (problem["code"], problem["reason"]) == ("some_code", "burst")
    shown = run.json
    shown.pop("problem")
    assert shown == {
        "ok": False,
        "status": 429,
        "error": "rate_limited",
        "detail": "it failed",
        "hint": None,
        "charged": False,
        "price": {"amount": "0.001", "asset": "USDC", "network": "eip155:8453"},
        "requestId": "req-1",
        "retryAfterSeconds": 7.0,
        "resume": None,
    }


def test_a_free_answer(command: Command, shop: Shop) -> None:
    """No price and no receipt."""
    shop.unpaid = [Canned(200, b'{"free": true}')]
    assert "free" in command("call", "echo").err
    shown = command("call", "echo", "--json").json
    assert (shown["price"], shown["receipt"], shown["answer"]) == (None, None, {"free": True})


def test_numbers_and_escapes_come_out_as_they_came_in(command: Command, shop: Shop) -> None:
    """Printing does not round, and does not unescape."""
    raw = '{"n": 123456789012345678901234567890, "f": 1.10, "e": 1e5, "s": "\\u00e9 é 日本 😀"}'
    shop.unpaid = [Canned(200, raw.encode())]
    human = command("call", "echo").out
    for part in ("123456789012345678901234567890", "1.10", "1e5", "\\u00e9 é 日本 😀"):
        assert part in human
    machine = command("call", "echo", "--json")
    assert machine.out.isascii()
    assert '"n":123456789012345678901234567890,"f":1.10,"e":1e5' in machine.out
    assert machine.json["answer"]["s"] == "é é 日本 😀"


def test_a_server_cannot_steer_the_terminal(command: Command, shop: Shop) -> None:
    """Control characters and invisible marks are escaped, in answers and in errors; an answer stays the same JSON."""
    text = "a\x7f\x9b31m\u202eb\u200bc"
    shop.unpaid = [
        Canned(200, json.dumps({"t": text}, ensure_ascii=False).encode()),
        shop.problem(500, detail="\x1b[2J\nCoins: all yours\u202e"),
    ]
    out = command("call", "echo").out
    assert json.loads(out) == {"t": text}
    assert out.replace("\n", "").isprintable()
    err = command("call", "echo").err
    assert (err.count("\n"), err.strip().isprintable()) == (1, True)


def test_what_was_not_bought_has_its_exit_code(command: Command, shop: Shop) -> None:
    """4 for a rejected payment, with the reason and what to do; 3 for a challenge that is garbage or for another token."""
    shop.paid = [lambda seen: shop.demand({**shop.challenge(), "error": "invalid_exact_evm_insufficient_balance"})]
    run = command("call", "echo")
    assert (run.code, run.out, len(shop.payments)) == (4, "", 1)
    assert "invalid_exact_evm_insufficient_balance. Nothing was spent. The wallet needs more" in run.err
    for challenge in (shop.demand({}, header="garbage"), shop.demand(shop.challenge(asset="0x" + "11" * 20))):
        shop.unpaid = [challenge]
        assert command("call", "echo").code == 3
    assert len(shop.payments) == 1


@each(
    ("charged", "sentence"),
    [
        (False, "Nothing was spent."),
        (True, "0.001 USDC was spent."),
        ("unknown", "It is not known whether 0.001 USDC was spent."),
    ],
)
def test_a_failed_call_says_whether_it_was_charged(
    command: Command, shop: Shop, charged: Charged, sentence: str
) -> None:
    """Exit 5, in so many words."""
    shop.paid = [shop.problem(502, charged=charged, detail="the upstream failed")]
    run = command("call", "echo")
    assert (run.code, run.out) == (5, "")
    assert run.err.startswith("coinslot: the upstream failed. " + sentence)


@each(
    ("status", "members", "again"),
    [
        (503, {"retryable": True}, "Nothing was spent. Call again later"),
        (503, {"retryable": True, "retryAfterSeconds": 7}, "Nothing was spent. Wait 7 s and call again"),
        (429, {}, "Nothing was spent. Call again later"),
        (502, {"charged": True, "retryable": True}, "0.001 USDC was spent. Call again later"),
        (502, {"charged": True, "retryable": False}, ""),
        (500, {"charged": True, "retryable": False, "retryAfterSeconds": 7}, ""),
        (409, {}, ""),
        (405, {"retryable": False}, ""),
    ],
)
def test_only_what_may_pass_is_to_be_called_again(
    command: Command, shop: Shop, status: int, members: dict[str, Any], again: str
) -> None:
    """After a final failure the same call fails again, and may be charged again."""
    shop.paid = [shop.problem(status, **members)]
    run = command("call", "echo")
    assert again in run.err
    assert bool(again) == ("call again" in run.err.lower())
    assert "sk the server's operator with the request's id" in run.err


def test_no_hint_is_said_twice(command: Command, shop: Shop) -> None:
    """What the server's sentence says is not repeated: the field and its nearest name, and not to pay again."""
    near = {"field": "massage", "message": "", "suggestions": ["message"]}
    unknown = {"field": "massage", "details": [near]}
    shop.unpaid = [shop.problem(400, detail="There is no field `massage` here: did you mean `message`?", **unknown)]
    run = command("call", "echo")
    assert (run.err.count("massage"), run.err.count("did you mean")) == (1, 1)
    shop.unpaid = [shop.problem(400, detail="There is a slip.", **unknown)]
    assert "There is a slip (field massage; did you mean message?)." in command("call", "echo").err
    shop.unpaid = [lambda seen: shop.demand(shop.challenge(seen.path))]
    shop.paid = [shop.problem(500, charged="unknown", detail="It is not known yet. Do not pay again.")]
    run = command("call", "echo")
    assert run.err.count("Do not pay again") == 1
    assert "Run `coinslot resume`, or the same command with --resume" in run.err


def test_a_mistyped_name_gets_suggestions(command: Command, shop: Shop) -> None:
    """404 makes the command look the name up in the catalogue."""
    shop.unpaid = [shop.problem(404)]
    items = [{"resource": f"{shop.base_url}/v1/cdp/{name}"} for name in ("chain/chain-id", "echo", "whois")]
    shop.documents["/bazaar.json"] = Canned(200, json.dumps({"items": items}).encode())
    assert "Did you mean chain/chain-id?" in command("call", "chain/chainid").err
    assert "coinslot catalogue" in command("call", "zzzzzzz").err
    del shop.documents["/bazaar.json"]
    assert command("call", "ecko").code == 5


def test_show_challenge_prints_and_does_not_pay(
    command: Command, shop: Shop, monkeypatch: pytest.MonkeyPatch, sandbox: Path
) -> None:
    """The 402 as it came, without a wallet. A challenge for another address is shown with a remark."""
    sandbox.unlink()
    monkeypatch.setenv("COINSLOT_URL", shop.base_url)
    run = command("call", "echo", "--show-challenge")
    assert (run.code, run.err, json.loads(run.out)) == (0, "", shop.challenge())
    shown = {"ok": True, "status": 402, "challenge": shop.challenge()}
    assert command("call", "echo", "--show-challenge", "--json").json == shown
    shop.unpaid = [shop.demand({**shop.challenge(), "resource": {"url": "https://other.example/v1/cdp/echo"}})]
    run = command("call", "echo", "--show-challenge")
    assert (run.code, "would not be paid" in run.err, shop.payments) == (0, True, [])
