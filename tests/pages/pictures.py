"""Draws the pictures of the catalogue in docs/pictures: `python -m tests.pages.pictures http://127.0.0.1:4020`."""

from __future__ import annotations

import os
import sys

from playwright.sync_api import sync_playwright

from compose.sandbox.child import ROOT
from tests.workers.browser.conftest import installed

FOLDER = ROOT / "docs" / "pictures"
PICTURES = (("catalogue-1280", 1280, 900, "light"), ("catalogue-390-dark", 390, 844, "dark"))


def main(base_url: str) -> None:
    """Write each picture of a running service's catalogue."""
    FOLDER.mkdir(exist_ok=True)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=arguments)
        for name, width, height, scheme in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{base_url}/bazaar")
            page.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
