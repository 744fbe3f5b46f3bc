"""Draws the buyer's pictures in docs/pictures: `python -m tests.pages.terminal_pictures var/sandbox.json`.

The commands run on a pseudo-terminal, on the sandbox of that file; what they write is drawn as it is.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from compose.sandbox.child import ROOT
from tests.workers.browser.conftest import installed

FOLDER = ROOT / "docs" / "pictures"
COLUMNS, ROWS = 110, 60
_ERASED = re.compile(r"[^\n]*\n\x1b\[\?25h\r\x1b\[1A\x1b\[2K")
"""The status line, and the cursor's way back over it."""
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


def main(sandbox: str) -> None:
    """Write each picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        copy = Path(folder, "sandbox.json")  # what was spent before is not in the picture
        copy.write_bytes(Path(sandbox).read_bytes())
        browser = playwright.chromium.launch(
            executable_path=installed(), args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        for name, commands in PICTURES.items():
            console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
            for command in commands:
                shown = " ".join(f"'{part}'" if set(part) & set(' {"') else part for part in command)
                console.print(Text(f"$ coinslot {shown}", style="bold"))
                console.print(Text.from_ansi(_written(copy, command)), soft_wrap=True)
            page = browser.new_page(viewport={"width": 1000, "height": 900})
            page.set_content(console.export_svg(title="coinslot"))
            box = page.locator("svg").bounding_box()
            assert box is not None
            page.screenshot(
                path=FOLDER / f"{name}.png",
                clip={"x": box["x"], "y": box["y"], "width": box["width"], "height": min(box["height"], TALLEST_PX)},
                full_page=True,
            )
        browser.close()


def _written(sandbox: Path, arguments: tuple[str, ...]) -> str:
    """What the command writes to a pseudo-terminal, without the lines that it has erased."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
    environment |= {"COINSLOT_SANDBOX_FILE": str(sandbox), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environment["COINSLOT_STATE_DIR"] = str(sandbox.with_name("state"))
    written = bytearray()
    with subprocess.Popen(
        [sys.executable, "-m", "coinslot.main", *arguments], env=environment, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        try:
            while part := os.read(ours, 65536):
                written += part
        except OSError:  # all of its writers have ended
            pass
    os.close(ours)
    text = written.decode().replace("\r\n", "\n")
    return _ERASED.sub("", text).rstrip("\n") + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
