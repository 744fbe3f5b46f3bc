"""What a person sees: drawn on a terminal, plain elsewhere."""

import contextlib
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from coinslot.payment import SignedPayment
from coinslot.progress import Quoted, Sending, Waiting
from coinslot.terminal import Terminal
from shared.money import Price
from shared.x402.evm import offers
from shared.x402.networks import EVM_USDC
from tests.client.conftest import Canned, Shop, packed, process

PRICE = Price.of("0.001")


@pytest.fixture
def console() -> Console:
    """A terminal of 60 columns without colours."""
    return Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None, highlight=False)


def shown(console: Console) -> str:
    """What was written to it."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_price_and_the_waiting(console: Console) -> None:
    """Price and rail first; then a status line with the transaction, the pause and what comes next."""
    offer = offers(EVM_USDC["eip155:8453"], PRICE, "0x" + "11" * 20)[0]
    payment = SignedPayment(url="u", body=None, header="h", offer=offer, price=PRICE, asset="USDC")
    terminal = Terminal(sys.stderr, console)
    terminal.progress(Quoted(PRICE, "USDC", "eip155:8453", "0xabc"), is_sandbox=False)
    assert shown(console) == "price 0.001 USDC on Base from 0xabc\n"
    terminal.progress(Sending(payment, None), is_sandbox=False)
    assert "sent 0.001 USDC on Base · waiting for the answer" in " ".join(shown(console).split())
    terminal.progress(Waiting(payment, 5.0, "too slow", "0x" + "12" * 32), is_sandbox=False)
    terminal.end_progress()
    text = " ".join(shown(console).split())
    assert "paid 0.001 USDC on Base · tx 0x12121212… · waiting 5 s · trying again" in text


def test_a_table_wraps_in_its_last_column(console: Console) -> None:
    """Names and prices stay whole."""
    Terminal(sys.stdout, console).table(("NAME", "USDC", "SUMMARY"), [("chain/chain-id", "0.001", "word " * 30)])
    lines = shown(console).splitlines()
    assert max(map(len, lines)) <= 60
    assert sum("word" in line for line in lines) > 3
    assert any("chain/chain-id" in line and "0.001" in line for line in lines)


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What the command writes to a pseudo-terminal."""
    ours, theirs = pty.openpty()
    env = {"TERM": "xterm", "COLUMNS": "100"}
    with process(folder, *arguments, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs):
        os.close(theirs)
        written = bytearray()
        with contextlib.suppress(OSError):  # all of its writers have ended
            while part := os.read(ours, 65536):
                written += part
    os.close(ours)
    return written.decode()


def test_a_call_on_a_terminal(shop: Shop, sandbox: Path, tmp_path: Path) -> None:
    """Price, answer and receipt; a server's words cannot steer the terminal; and errors name the next step."""
    text = on_a_terminal(tmp_path, "call", "echo")
    for part in ("0.001 USDC on Base (sandbox, test money)", '"youSent"', "0xabab", "req-1"):
        assert part in text
    shop.paid = [Canned(200, b"{}", {"payment-response": packed(shop.receipt(transaction="\x1b]0;owned\x07\npaid"))})]
    text = on_a_terminal(tmp_path, "call", "echo")
    assert "\\u001b]0;owned\\u0007 paid" in text
    shop.unpaid = [shop.problem(500, detail="\x1b]0;owned\x07 [bold]it failed[/bold]")]
    text = on_a_terminal(tmp_path, "call", "echo")
    assert "\\u001b]0;owned\\u0007 [bold]it failed[/bold]" in text
    assert "Nothing was spent." in text
    assert "Call again later" in text
    shop.unpaid = [shop.problem(400)]
    assert "Correct the body" in on_a_terminal(tmp_path, "call", "echo")
