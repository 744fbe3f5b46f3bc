"""Draws the buyer's pictures in docs/pictures: `python -m tests.pages.terminal_pictures var/sandbox.json`.

The commands run on a pseudo-terminal, on the sandbox of that file; what they write is drawn as it is. For the picture of the
status line a scripted server takes the sandbox's place: it says that the payment is settled and the answer not there yet.
"""

import fcntl
import json
import os
import pty
import re
import secrets
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.text import Text

from compose.sandbox.child import ROOT
from tests.client.conftest import Canned, open_shop, packed
from tests.workers.browser.conftest import installed

FOLDER = ROOT / "docs" / "pictures"
COLUMNS, ROWS = 110, 60
_ERASED = re.compile(r"[^\n]*\n\x1b\[\?25h\r\x1b\[1A\x1b\[2K")
"""The status line, and the cursor's way back over it."""
_OVERWRITTEN = re.compile(r"[^\n]*\r\x1b\[2K")
"""An earlier state of the status line."""
TALLEST_PX = 940
PICTURES = {
    "client-call": (
        ("call", "chain/chain-id", '{"chain": "base"}'),
        ("call", "web-dif", "{}"),
        ("call", "web-diff", '{"url": "https://site.example.com:8443/arrivals"}', "--max-price", "0.01"),
        ("spent",),
    ),
    "client-catalogue": (("catalogue",),),
}
WAITING = ("call", "echo", '{"message": "hello"}')


def main(sandbox: str) -> None:
    """Write each picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        copy = Path(folder, "sandbox.json")  # what was spent before is not in the picture
        copy.write_bytes(Path(sandbox).read_bytes())
        browser = playwright.chromium.launch(
            executable_path=installed(), args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        for name, commands in PICTURES.items():
            _draw(browser, name, [(command, _written(copy, command)) for command in commands])
        _draw(browser, "client-waiting", [(WAITING, _waiting(copy))])
        browser.close()


def _draw(browser: Browser, name: str, written: list[tuple[tuple[str, ...], str]]) -> None:
    """Each command with what it has written."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    for command, text in written:
        shown = " ".join(f"'{part}'" if set(part) & set(' {"') else part for part in command)
        console.print(Text(f"$ coinslot {shown}", style="bold"))
        console.print(Text.from_ansi(text), soft_wrap=True)
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.set_content(console.export_svg(title="coinslot"))
    box = page.locator("svg").bounding_box()
    assert box is not None
    page.screenshot(
        path=FOLDER / f"{name}.png",
        clip={"x": box["x"], "y": box["y"], "width": box["width"], "height": min(box["height"], TALLEST_PX)},
        full_page=True,
    )


def _waiting(sandbox: Path) -> str:
    """What stands on the terminal while the same payment waits to be sent again."""
    with open_shop() as shop:
        copy = sandbox.with_name("waiting.json")
        copy.write_text(json.dumps({**json.loads(sandbox.read_text()), "baseUrl": shop.base_url}))
        receipt = {"payment-response": packed(shop.receipt(transaction="0x" + secrets.token_hex(32)))}
        late = shop.problem(504, charged=True, retryWithSamePayment=True, retry_after=5)
        shop.paid = [Canned(late.status, late.body, {**late.headers, **receipt})]
        text = _written(copy, WAITING, until=b"trying again")
    return _OVERWRITTEN.sub("", text)


def _written(sandbox: Path, arguments: tuple[str, ...], *, until: bytes | None = None) -> str:
    """What the command writes to a pseudo-terminal, without the lines that it has erased.

    Args:
        until: the command is ended when it has written this.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    environment |= {"COINSLOT_SANDBOX_FILE": str(sandbox), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environment["COINSLOT_STATE_DIR"] = str(sandbox.with_name("state"))
    written = bytearray()
    with subprocess.Popen(
        [sys.executable, "-m", "coinslot.main", *arguments], env=environment, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        try:
            while part := os.read(ours, 65536):
                written += part
                if until is not None and until in written:
                    process.kill()
                    break
        except OSError:  # all of its writers have ended
            pass
    os.close(ours)
    text = written.decode().replace("\r\n", "\n")
    return _ERASED.sub("", text).rstrip("\n") + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
