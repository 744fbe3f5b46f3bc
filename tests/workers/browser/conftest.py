"""One real browser for all tests of a process, a site, and the way to it.

The tests are skipped where no browser is installed. `scripts/setup` installs one where it may, and the report of a run says
which tests were skipped, and why (pytest -ra). With the environment's CI=true they fail instead.
"""

import os
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
import pytest_socket
from cryptography.hazmat.primitives.serialization import Encoding

from compose.sandbox.upstreams.authority import Authority
from jobs.hosts import public_url
from jobs.ports.browser import Area, RenderedPage
from tests.sites import on_any_port
from tests.time_limits import patience
from tests.workers.browser.limits import wait_longer
from tests.workers.browser.site import Site
from tests.workers.egress.name_server import NameServer
from tests.workers.egress.proxy_server import RealProxy, real_proxy
from workers.adapters.browser import ChromiumBrowser
from workers.browser.program import find_program
from workers.egress.connect import Connector
from workers.egress.exits import Exits
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver

ADDRESS = "127.77.50.2"
"""Of the site: the only address that is allowed."""
PRIVATE = "127.0.0.1"
HOSTS = {"site.example.com": ADDRESS, "other.example.org": ADDRESS, "inside.example.com": PRIVATE}
SITE = on_any_port(HOSTS)

Render = Callable[..., RenderedPage]


def installed() -> Path:
    """The browser of this machine. Without one, the test is skipped; in CI it fails."""
    found = find_program("")
    if found is not None:
        return found
    reason = "no browser is installed: scripts/setup installs one as root"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(autouse=True, scope="session")
def patient() -> None:
    """Pages have more time on a busy machine."""
    wait_longer()


@pytest.fixture(scope="session")
def program() -> Path:
    """The browser of this machine."""
    return installed()


@pytest.fixture(scope="session")
def authority() -> Authority:
    """That the browser trusts, as COINSLOT_CA_FILE says."""
    return Authority()


@pytest.fixture(scope="session")
def names() -> Iterator[NameServer]:
    """Knows no name, and remembers which it was asked for."""
    pytest_socket.enable_socket()
    with NameServer() as server:
        yield server


@pytest.fixture(scope="session")
def proxy() -> Iterator[RealProxy]:
    """Of the operator's, which pages are called through after a refusal."""
    pytest_socket.enable_socket()
    with real_proxy() as running:
        yield running


@pytest.fixture(scope="session")
def browser(
    program: Path, names: NameServer, authority: Authority, proxy: RealProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChromiumBrowser]:
    """A running browser that shows two pages at once."""
    policy = Policy(allowed=[ip_network(f"{ADDRESS}/32")])
    exits = Exits("render", proxy.after_refusal("socks5"))
    connector = Connector(policy, Resolver(policy, server=names.server, overrides=HOSTS), exits)
    authority_file = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority_file.write_bytes(authority.root.public_bytes(Encoding.PEM))
    agent = "coinslot (+https://coinslot.example.com)"
    running = ChromiumBrowser(connector, SITE, configured="", agent=agent, ca_file=authority_file, pages=2)
    running.start()
    assert running.unavailable_reason() == ""
    yield running
    running.close()


@pytest.fixture
def site() -> Iterator[Site]:
    """Serves what a test adds to it."""
    serving = Site(ADDRESS)
    yield serving
    serving.close()


@pytest.fixture
def render(browser: ChromiumBrowser, site: Site) -> Render:
    """Render a path of the site."""

    def rendered(
        path: str = "/",
        *,
        host: str = "site.example.com",
        screenshot: Area | None = None,
        wait_s: float = patience(25.0),
    ) -> RenderedPage:
        url = public_url(f"http://{host}:{site.port}{path}", SITE)
        return browser.render(url, screenshot=screenshot, deadline=time.monotonic() + wait_s)

    return rendered
