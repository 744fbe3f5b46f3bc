"""What a page may do beside another, and what looks hostile and is not. Hostile pages are in hostile_pages.py."""

import concurrent.futures
import time

import pytest

from jobs.ports.browser import Area
from shared.outcome import UpstreamFailed
from tests.time_limits import patience
from tests.workers.browser.conftest import Render
from tests.workers.browser.site import Site
from workers.browser import render as rendering

EATER = "const kept = []; for (;;) { const block = new Uint8Array(32 << 20); block.fill(7); kept.push(block) }"


def test_dialogs(render: Render, site: Site) -> None:
    """Are dismissed, and what comes behind them runs."""
    site.add(
        "/", "<script>alert(1); document.write(confirm(2), prompt(3)); print(); onbeforeunload = () => 'no'</script>"
    )
    assert "falsenull" in render().html


def test_a_page_beside_one_that_crashes(render: Render, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watchdog kills the process of the page that takes too much memory. The other one is answered as if it were alone."""
    monkeypatch.setattr(rendering, "SETTLE_S", patience(20.0))  # so that it is killed before it is read
    site.add("/", f"<p>text</p><script>{EATER}</script>")
    site.add("/good", "<p>good</p><script>fetch('/slow').then(() => document.body.append('done'))</script>")
    site.add("/slow", "x", pause_s=1.5)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        good = threads.submit(render, "/good")
        with pytest.raises(UpstreamFailed) as failure:
            render()
        assert failure.value.reason == "page_crashed"
        assert "<p>good</p>done" in good.result().html.replace("<script></script>", "")


def test_a_page_that_cannot_be_read(render: Render, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails before the deadline, however late it was there: no script can be terminated inside a number of 100 MB."""
    monkeypatch.setattr(rendering, "SETTLE_S", 5.0)  # of a longer deadline, more is left to fail in
    site.add("/", "<p>text</p><script>for (let n = 3n; ; n **= 3n) n.toString()</script>")
    began = time.monotonic()
    with pytest.raises(UpstreamFailed) as failure:
        render(wait_s=patience(6))
    assert failure.value.reason == "page_crashed"
    assert time.monotonic() - began < patience(6)


def test_the_proxys_refusal_in_a_frame_or_of_one_request(render: Render, site: Site) -> None:
    """Does not refuse the page."""
    site.add("/", "<p>text</p><iframe src=http://inside.example.com/></iframe><img src=http://127.0.0.1/>")
    assert "<p>text</p>" in render(screenshot=Area.VIEWPORT).html


def test_a_page_that_looks_like_a_refusal(render: Render, site: Site) -> None:
    """Is a page when nothing was refused."""
    site.add("/", "blocked_address: the site's own words", "text/plain", status=403)
    page = render()
    assert (page.http_status, "own words" in page.html) == (403, True)
