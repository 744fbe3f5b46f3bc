"""The command's start: help, version, and how little of the rest it loads."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from coinslot import errors
from tests.client.conftest import Command, Shop
from tests.each import each
from tests.time_limits import patience

ROOT = Path(__file__).parents[2]


def test_help_documents_every_exit_code(command: Command) -> None:
    """Each code that an error can have is in the text of --help."""
    for arguments in (("--help",), ("call", "--help")):
        run = command(*arguments)
        assert run.code == 0
        documented = {int(code) for code in re.findall(r"^    (\d+) ", run.out, re.MULTILINE)}
        assert documented == {0, 1, 2, 3, 4, 5, 6, 130, 141, 143}


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


def test_version(command: Command) -> None:
    """A name and something behind it."""
    run = command("--version")
    assert run.code == 0
    assert re.fullmatch(r"coinslot \S.*\n", run.out)


@each("module", ["httpcore", "coincurve", "msgspec", "Crypto", "ssl"])
def test_help_loads_nothing_heavy(module: str) -> None:
    """Help comes at once: no HTTP client, no signing library, no codec is imported for it."""
    program = (
        "import sys, contextlib, io\n"
        "from coinslot.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['call', '--help'])\n"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_help_comes_quickly() -> None:
    """Under 0.3 s, Python included; the best of five, as the machine may be busy."""
    durations = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "coinslot.main", "--help"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True
        )
        durations.append(time.perf_counter() - started)
    assert min(durations) < patience(0.3)


def test_a_closed_stdout_buys_nothing(shop: Shop) -> None:
    """`coinslot call echo >&-` has nowhere to put the answer."""
    program = f"{sys.executable} -m coinslot.main call echo --url {shop.base_url} >&-"
    assert subprocess.run(["sh", "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 1
    assert shop.seen == []
