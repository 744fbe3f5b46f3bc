"""The process of the command: how little it loads, and that a payment survives however it is stopped."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from coinslot import errors
from tests.client.conftest import ROOT, Canned, Command, Seen, Shop, process

pytestmark = pytest.mark.usefixtures("sandbox")  # which pays, unless a test gives another key


def test_help_documents_every_exit_code(command: Command) -> None:
    """Each code that an error can have is in the text of --help. --version names the installed one."""
    for arguments in (("--help",), ("call", "--help")):
        run = command(*arguments)
        assert run.code == 0
        documented = {int(code) for code in re.findall(r"^    (\d+) ", run.out, re.MULTILINE)}
        assert documented == {0, 1, 2, 3, 4, 5, 6, 130, 141, 143}
    run = command("--version")
    assert (run.code, bool(re.fullmatch(r"coinslot \S.*\n", run.out))) == (0, True)


def test_every_error_has_a_code_of_its_own_and_a_documented_exit_code() -> None:
    """No two kinds of failure look the same to a program."""
    kinds, found = [errors.CoinslotError], []
    while kinds:
        kind = kinds.pop()
        found.append(kind)
        kinds += kind.__subclasses__()
    assert len({kind.code for kind in found}) == len(found)
    assert {kind.exit_code for kind in found} == {1, 2, 3, 4, 5, 6}
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__)
    assert sorted(drawn) == sorted(kind.__name__ for kind in found if kind is not errors.CoinslotError)


def test_help_loads_nothing_heavy() -> None:
    """Help comes at once: no HTTP client, no signing library, no codec is imported for it."""
    program = (
        "import sys, contextlib, io\n"
        "from coinslot.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['call', '--help'])\n"
        "print(*{'httpcore', 'coincurve', 'msgspec', 'Crypto', 'ssl'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_a_closed_stdout_buys_nothing(shop: Shop) -> None:
    """`coinslot call echo >&-` has nowhere to put the answer."""
    program = f"{sys.executable} -m coinslot.main call echo --url {shop.base_url} >&-"
    assert subprocess.run(["sh", "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 1
    assert shop.seen == []


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
