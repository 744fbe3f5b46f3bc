"""The browser as a port that lives as long as its worker."""

import concurrent.futures
import os
import signal
import time
from collections.abc import Iterable, Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from jobs.hosts import PublicUrl, public_url
from shared.outcome import DeadlineExceeded
from shared.pools import Pool
from shared.settings.service import InvalidSetting, Settings
from tests.bench import proc
from tests.time_limits import patience
from tests.workers.browser.conftest import ADDRESS, HOSTS, SITE
from tests.workers.browser.namespaces import children_of, command, renderers
from tests.workers.browser.site import Site
from tests.workers.until import until
from workers.adapters import browser as adapter
from workers.adapters.browser import NO_BROWSER, NOT_STARTED, ChromiumBrowser
from workers.browser import instance
from workers.browser import page as pages
from workers.browser import program as programs
from workers.browser.page import Page
from workers.browser.pool import pages_at_once
from workers.browser.render import RESERVED_S
from workers.children import ChildPool
from workers.egress.connect import Connector
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver
from workers.ports import WorkerPorts


@pytest.fixture
def connector() -> Connector:
    """A way to the site."""
    policy = Policy(allowed=[ip_network(f"{ADDRESS}/32")])
    return Connector(policy, Resolver(policy, server=("127.0.0.1", 9), overrides=HOSTS))


@pytest.fixture
def own(program: Path, connector: Connector) -> Iterator[ChromiumBrowser]:
    """A browser of the test's own."""
    running = ChromiumBrowser(connector, SITE, configured="", agent="test", pages=2)
    running.start()
    yield running
    running.close()


@pytest.fixture
def url(site: Site) -> PublicUrl:
    """Of a page that takes two seconds."""
    site.add("/", "<p>text</p><script>fetch('/slow').then(() => document.body.append('done'))</script>")
    site.add("/slow", "x", pause_s=2.0)
    return public_url(f"http://site.example.com:{site.port}/", SITE)


def launchers() -> set[int]:
    """Those that this process has started: one for each browser."""
    return {pid for pid in children_of(os.getpid()) if "browser/launcher.py" in command(pid)}


def first_process() -> int:
    """The first process of the one namespace that this test's browser has."""
    (launcher,) = launchers() - _BEFORE
    (first,) = children_of(launcher)
    return first


def stop(pids: Iterable[int]) -> None:
    """Until they are killed."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


_BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def remember_others() -> None:
    """The session's browser may be running, too."""
    _BEFORE.clear()
    _BEFORE.update(launchers())


def test_a_machine_without_a_browser(
    connector: Connector, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The port says so, and nothing waits."""
    monkeypatch.setattr(programs, "_KNOWN", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    port = ChromiumBrowser(connector, SITE, configured="", agent="test")
    port.start()
    assert port.unavailable_reason() == NO_BROWSER == "no_browser"
    with pytest.raises(DeadlineExceeded):
        port.render(public_url("http://site.example.com/", SITE), screenshot=None, deadline=time.monotonic() + 5)
    port.close()


def test_a_program_that_does_not_work(connector: Connector) -> None:
    """Has another reason, and is not started again at once."""
    port = ChromiumBrowser(connector, SITE, configured="/bin/true", agent="test")
    port.start()
    before = launchers()
    assert port.unavailable_reason() == NOT_STARTED
    assert launchers() == before
    port.close()


def test_a_program_that_does_not_exist(connector: Connector) -> None:
    """Is an invalid setting."""
    with pytest.raises(InvalidSetting, match="COINSLOT_CHROMIUM"):
        ChromiumBrowser(connector, SITE, configured="/no/such/browser", agent="test")


def test_only_the_render_pool_has_it() -> None:
    """And the handlers' port is the same object."""
    ports = WorkerPorts(Settings(), ChildPool())
    assert ports.browser in ports.live_ports(Pool.RENDER)
    assert not [pool for pool in Pool if pool is not Pool.RENDER and ports.browser in ports.live_ports(pool)]


def test_how_many_pages_at_once() -> None:
    """One to four, by the machine's memory."""
    counts = [pages_at_once(gigabytes << 30) for gigabytes in (0, 1, 2, 4, 8, 64)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 4)


def test_a_browser_that_starts_too_late(program: Path, connector: Connector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not there for now, and is looked for again."""
    monkeypatch.setattr(adapter, "START_S", 0.0)
    monkeypatch.setattr(adapter, "START_AGAIN_S", 0.0)
    port = ChromiumBrowser(connector, SITE, configured=str(program), agent="test", pages=1)
    port.start()
    assert port.unavailable_reason() == NOT_STARTED
    monkeypatch.undo()
    assert port.unavailable_reason() == ""
    port.close()


def test_a_browser_that_is_killed_during_a_job(own: ChromiumBrowser, site: Site, url: PublicUrl) -> None:
    """The job is done by the next one, within its deadline."""
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        running = threads.submit(own.render, url, screenshot=None, deadline=time.monotonic() + patience(25))
        until(lambda: site.count("/slow") == 1)
        os.kill(first_process(), signal.SIGKILL)
        assert "done" in running.result().html
    assert site.count("/") == 2
    assert own.unavailable_reason() == ""
    assert len(launchers() - _BEFORE) == 1


def test_a_browser_that_is_killed_between_jobs(own: ChromiumBrowser, site: Site, url: PublicUrl) -> None:
    """Is replaced when the port is looked at, and also when it is not."""
    for look in (True, False):
        os.kill(first_process(), signal.SIGKILL)
        if look:
            assert own.unavailable_reason() == ""
        assert "done" in own.render(url, screenshot=None, deadline=time.monotonic() + patience(25)).html


def test_a_browser_is_replaced_after_its_jobs(
    own: ChromiumBrowser, site: Site, url: PublicUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a page of the old one is shown to its end."""
    monkeypatch.setattr(instance, "MAX_JOBS", 2)
    site.add("/slow", "x", pause_s=0.2)
    first = launchers()
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        jobs = [
            threads.submit(own.render, url, screenshot=None, deadline=time.monotonic() + patience(25)) for _ in range(5)
        ]
        assert all("done" in job.result().html for job in jobs)
    assert own.unavailable_reason() == ""
    until(lambda: len(launchers() - _BEFORE) == 1)
    assert launchers() != first


def test_the_end(own: ChromiumBrowser, site: Site, url: PublicUrl) -> None:
    """Nothing is left, also in the middle of a job, whose caller is told."""
    threads_before = len(os.listdir("/proc/self/task"))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        running = threads.submit(own.render, url, screenshot=None, deadline=time.monotonic() + patience(9))
        until(lambda: site.count("/slow") == 1)
        own.close()
        assert running.exception() is not None
    assert launchers() == _BEFORE
    # The site's threads are of this process, too, and end after their connections.
    until(lambda: len(os.listdir("/proc/self/task")) <= threads_before)
    own.close()


def test_a_page_whose_process_dies_before_it_asks(
    own: ChromiumBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is opened again: no site has done that, and its caller need not wait for the deadline."""
    site.add("/", "<p>text</p>")
    set_up, killed = Page._set_up, []

    def killing(page: Page, session: str, kind: str) -> object:
        if not killed:
            until(lambda: bool(renderers()))
            killed.extend(renderers())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return set_up(page, session, kind)

    monkeypatch.setattr(Page, "_set_up", killing)
    began = time.monotonic()
    page = own.render(
        public_url(f"http://site.example.com:{site.port}/", SITE),
        screenshot=None,
        deadline=time.monotonic() + patience(40),
    )
    assert killed
    assert "<p>text</p>" in page.html
    assert time.monotonic() - began < patience(20)


def test_a_browser_that_opens_no_page_is_replaced(
    own: ChromiumBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the time suffices, the next one shows the page."""
    site.add("/", "<p>text</p>")
    monkeypatch.setattr(pages, "OPEN_S", patience(2))
    set_up, stopped = Page._set_up, []

    def stopping(page: Page, session: str, kind: str) -> object:
        if not stopped:
            until(lambda: bool(renderers(page.browser.pid)))
            stopped.extend(renderers(page.browser.pid))
            stop(stopped)
        return set_up(page, session, kind)

    monkeypatch.setattr(Page, "_set_up", stopping)
    url = public_url(f"http://site.example.com:{site.port}/", SITE)
    page = own.render(url, screenshot=None, deadline=time.monotonic() + patience(40))
    assert stopped
    assert "<p>text</p>" in page.html
    assert site.count("/") == 1


@pytest.mark.parametrize("when", ["before it opens the page", "before it navigates"])
def test_a_site_that_is_not_called_is_not_blamed(
    own: ChromiumBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Given a browser that stands still, until there is no time for another one, then the failure is the service's own."""
    site.add("/", "<p>text</p>")
    open_page = Page.open

    async def stopping(page: Page, proxy: str) -> None:
        if when == "before it navigates":
            await open_page(page, proxy)
        stop(proc.family(page.browser.pid)[1:])
        if when == "before it opens the page":
            await open_page(page, proxy)

    monkeypatch.setattr(Page, "open", stopping)
    url = public_url(f"http://site.example.com:{site.port}/", SITE)
    with pytest.raises(DeadlineExceeded, match="did not call the site"):
        own.render(url, screenshot=None, deadline=time.monotonic() + RESERVED_S + patience(2))
    assert site.count("/") == 0
