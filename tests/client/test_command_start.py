"""The command's start: help, version, and how little of the rest it loads."""

from __future__ import annotations

import re
import subprocess
import sys

from coinslot import errors
from tests.client.conftest import ROOT, Command, Shop


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
