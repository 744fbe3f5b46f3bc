"""Draws the pictures in docs/pictures, of a running service: `python -m tests.pages.pictures http://127.0.0.1:4020`.

Those of the dashboard, too, when its address and the file of its password follow. It shows what the service has done by then.
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import Browser, HttpCredentials, sync_playwright

from compose.sandbox.child import ROOT
from tests.workers.browser.conftest import installed

FOLDER = ROOT / "docs" / "pictures"
PICTURES = (("catalogue-1280", 1280, 900, "light"), ("catalogue-390-dark", 390, 844, "dark"))
FAILED_JOBS = "tr[data-role=job] .job_id a"


def main(base_url: str, dashboard_url: str = "", password_file: str = "") -> None:
    """Write each picture."""
    FOLDER.mkdir(exist_ok=True)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=arguments)
        for name, width, height, scheme in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(f"{base_url}/bazaar")
            page.screenshot(path=FOLDER / f"{name}.png")
        if dashboard_url:
            _draw_dashboard(browser, dashboard_url, Path(password_file).read_text().strip())
        browser.close()


def _draw_dashboard(browser: Browser, url: str, password: str) -> None:
    """The queues, wide; and the page of a failed job of the `net` pool, narrow."""
    credentials: HttpCredentials = {"username": "coinslot", "password": password}
    page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 800}, http_credentials=credentials)
    page.goto("/")
    page.locator("#queues [data-role=queue]").first.wait_for()
    page.screenshot(path=FOLDER / "dashboard-1280.png")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/0/view/jobs/net/failed/8/dsc/1")
    page.locator(FAILED_JOBS).first.click()
    page.locator("#job-data .exc_info").wait_for()
    page.screenshot(path=FOLDER / "dashboard-390.png", full_page=True)


if __name__ == "__main__":
    main(*(argument.rstrip("/") for argument in sys.argv[1:]))
