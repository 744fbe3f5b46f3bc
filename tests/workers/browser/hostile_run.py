"""Renders the hostile pages, three at a time, through the port, and looks at what is left."""

import concurrent.futures
import gc
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path

from jobs.hosts import PublicUrl, public_url
from jobs.ports.browser import MAX_HTML, Area, RenderedPage
from shared.outcome import BlockedAddress, JobFailure
from tests.bench import proc
from tests.sites import on_any_port
from tests.time_limits import CROWD, patience
from tests.workers.browser.hostile_pages import GROUPS, READ, Hostile
from tests.workers.browser.limits import wait_longer
from tests.workers.browser.namespaces import Namespaces, children_of, command
from tests.workers.browser.site import Canaries, Content, Site
from tests.workers.egress.name_server import NameServer
from tests.workers.egress.proxy_server import Scheme, real_proxy
from workers.adapters import browser as adapter
from workers.adapters.browser import ChromiumBrowser
from workers.browser import pool
from workers.browser import render as rendering
from workers.egress.connect import Connector
from workers.egress.exits import Exits
from workers.egress.policy import Policy
from workers.egress.resolver import Resolver

ADDRESS = "127.77.50.3"
HOSTS = {"site.example.com": ADDRESS, "inside.example.com": "127.0.0.1"}
SITE = on_any_port(HOSTS)
AT_ONCE = 3
WAIT_S = patience(20.0)
"""From the call to the deadline. The product's own is 13 seconds (jobs/engines/page/visit.py); a busy machine takes longer."""
MOST_BYTES = 25_000_000
"""That come before the proxy's limit of 20 million, and what is on its way then."""
GROWN_MB = 100
"""What the worker's memory may grow by."""
NEVER_SAID = (
    *("sold", "granted", "root:", "blocked_address", "bad_request:", "too_many_", "connection_refused", "dns_failure:"),
    *("is not public", "all that it may", "is not a request"),
)
"""In no answer: contents that are not the page's, files, and the proxy's refusals."""
IS_STARVED = CROWD > 4
"""Each process has less than a quarter of a core: alone, too, what could be read may end as one of LATE."""
LATE = ("page_crashed", "timeout", "deadline_exceeded", *(("too_large",) if IS_STARVED else ()))
NAMES = ("silent.example.com",)
BUSY = ("scripts", "dialogs", "tampering")
"""Groups of pages that are busy without end."""


@dataclass
class Rendered:
    """How one page ended.

    Attributes:
        end: READ, or the reason of the failure.
        is_early: its time was up before it was at rest.
        is_again: it was rendered again, alone.
    """

    group: str
    name: str
    end: str
    seconds: float
    violations: list[str] = field(default_factory=list)
    is_early: bool = False
    is_again: bool = False


@dataclass
class Report:
    """How all ended, and what was left. `given`: connections that the proxy was asked for."""

    rendered: list[Rendered] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    namespaces: int = 0
    grown_mb: float = 0.0
    seconds: float = 0.0
    given: int = 0

    @property
    def all_violations(self) -> list[str]:
        """Those of pages, and those of the run."""
        of_pages = [f"{each.group}/{each.name}: {text}" for each in self.rendered for text in each.violations]
        return of_pages + self.violations

    def __str__(self) -> str:
        """A table, a line for each page, and the sums."""
        pages: dict[tuple[str, str], list[Rendered]] = {}
        for each in self.rendered:
            pages.setdefault((each.group, each.name), []).append(each)
        lines = [
            f"{group:12} {name:32} {max(each.seconds for each in all_of):6.2f} s  {_ends(all_of)}"
            for (group, name), all_of in pages.items()
        ]
        late = sum(each.seconds > WAIT_S for each in self.rendered)
        slowest = max((each.seconds for each in self.rendered), default=0.0)
        lines += [
            f"{len(pages)} pages, {len(self.rendered)} times rendered in {self.seconds:.0f} s, {AT_ONCE} at once; "
            f"the slowest took {slowest:.1f} s of {WAIT_S:.0f}, {late} took longer",
            f"ends: {_ends(self.rendered)}; {sum(each.is_again for each in self.rendered)} only when rendered again, alone",
            f"{self.namespaces} process namespaces; the worker's memory grew by {self.grown_mb:.0f} MB",
            f"violations: {len(self.all_violations)}",
            *self.all_violations,
        ]
        return "\n".join(lines)


def _ends(rendered: list[Rendered]) -> str:
    return ", ".join(f"{end} {count}" for end, count in Counter(each.end for each in rendered).most_common())


class Run:
    """A browser, a site with all pages, and canaries."""

    def __init__(self, names: NameServer, canaries: Canaries, site: Site, exits: Exits) -> None:
        self._names, self._canaries, self._site = names, canaries, site
        names.addresses("private.example.com", "127.0.0.1")
        names.addresses("mixed.example.com", ADDRESS, "127.0.0.1")
        policy = Policy(allowed=[ip_network(f"{ADDRESS}/32")])
        connector = Connector(policy, Resolver(policy, server=names.server, overrides=HOSTS), exits)
        self._browser = ChromiumBrowser(connector, SITE, configured="", agent="test", pages=AT_ONCE)
        self._before = _children()
        self._namespaces = Namespaces()
        self._exits = exits
        self.report = Report()
        site.add("/ordinary", "<p>still here</p>")
        for group, pages in GROUPS.items():
            for name, page in pages.items():
                for path, content in page.pages.items():
                    site.pages[f"/{group}/{name}/{path}".replace(" ", "-")] = _with_port(content, canaries.port)

    def run(self, times: int, settle_s: float, busy_s: float) -> Report:
        """Render all of them so many times, and look at what is left. The seconds are those of the function below."""
        report = self.report
        self._browser.start()
        try:
            self._check_ordinary()
            memory, began = _resident(), time.monotonic()
            todo = [(group, name) for _ in range(times) for group, pages in GROUPS.items() for name in pages]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
                for is_busy, seconds in ((True, busy_s), (False, settle_s)):
                    if not is_busy and self._exits.pool and self._exits.has_direct:
                        self._exits.keep("site.example.com", 1)
                    with _settling(seconds):
                        those = [named for named in todo if _is_busy(*named) is is_busy]
                        report.rendered += threads.map(lambda named: self._render(*named), those)
            with _settling(settle_s):
                report.rendered[:] = [self._again_alone(each) for each in report.rendered]
            report.seconds = time.monotonic() - began
            self._check_ordinary()
            report.grown_mb = (_resident() - memory) / 1e6
        finally:
            self._browser.close()
        report.namespaces = len(self._namespaces)
        report.violations += [f"process {pid} is left: {command(pid)}" for pid in _children() - self._before]
        report.violations += self._namespaces.left()
        self._namespaces.close()
        if report.grown_mb > GROWN_MB:
            report.violations.append(f"the worker's memory grew by {report.grown_mb:.0f} MB")
        if calls := self._canaries.calls:
            report.violations.append(f"the canaries were called: {', '.join(calls[:5])}")
        asked = {question.name for question in self._names.questions if question.name.endswith(NAMES)}
        if asked:
            report.violations.append(f"{asked} were resolved")
        return report

    def _render(self, group: str, name: str, *, alone: bool = False) -> Rendered:
        page = GROUPS[group][name]
        place = f"/{group}/{name}/".replace(" ", "-")
        counted = {path: self._site.count(place + path) for path in ("", *page.most)}
        began = time.monotonic()
        result = Rendered(group, name, "", 0.0)
        try:
            answer = self._ask(place, has_picture=page.has_picture)
        except BlockedAddress:
            result.end = "blocked_address"
        except JobFailure as failure:
            result.end = failure.reason or failure.code
        except Exception as error:
            result.end = f"{type(error).__name__}: {error}"
        else:
            result.end = READ
            result.is_early = answer.timed_out
            result.violations += _wrong(answer, page, f"http://site.example.com:{self._site.port}{place}")
        result.seconds = time.monotonic() - began
        is_too_late = alone and IS_STARVED and READ in page.ends and result.end in LATE
        if result.end not in page.ends and not is_too_late:
            result.violations.append(f"ended with {result.end}, not with {' or '.join(page.ends)}")
        if result.seconds > WAIT_S + adapter.LATE_S:
            result.violations.append(f"took {result.seconds:.1f} s")
        # A page is opened again when another one has ended its browser.
        opened = 1 if "" in page.most else min(pool.TRIES, self._site.count(place) - counted[""])
        for path, most in page.most.items():
            if (asked := self._site.count(place + path) - counted[path]) > opened * most:
                result.violations.append(f"asked for {path or 'itself'} {asked} times")
        for child in _children() - self._before:
            self._namespaces.note(proc.family(child))
        return result

    def _again_alone(self, result: Rendered) -> Rendered:
        """What the machine was too busy for, or a neighbour has crashed, is rendered again without neighbours."""
        is_slow = result.end in LATE or result.is_early
        if (
            not is_slow
            or any(not text.startswith(("ended with", "took")) for text in result.violations)
            or not result.violations
        ):
            return result
        return replace(self._render(result.group, result.name, alone=True), is_again=True)

    def _ask(self, path: str, *, has_picture: bool = False) -> RenderedPage:
        url: PublicUrl = public_url(f"http://site.example.com:{self._site.port}{path}", SITE)
        area = Area.VIEWPORT if has_picture else None
        return self._browser.render(url, screenshot=area, deadline=time.monotonic() + WAIT_S)

    def _check_ordinary(self) -> None:
        reason = self._browser.unavailable_reason()
        if reason or "still here" not in self._ask("/ordinary").html:
            self.report.violations.append(f"an ordinary page was not rendered; {reason}")


def _wrong(answer: RenderedPage, page: Hostile, url: str) -> Iterator[str]:
    if page.says not in answer.html:
        yield f"does not say what it says: {answer.html[:200]}"
    if len(answer.html) > MAX_HTML or answer.received_bytes > MOST_BYTES:
        yield f"has {len(answer.html)} characters of {answer.received_bytes} bytes"
    if not answer.final_url.startswith(url):
        yield f"was answered with {answer.final_url}"
    # Not in the source: a page's own scripts may name what it must not say.
    yield from (f"says {word}" for word in NEVER_SAID if word in answer.html)


def _with_port(content: Content, port: int) -> Content:
    """The content with the port of the canaries."""
    headers = {name: value.replace("CANARY", str(port)) for name, value in content.headers.items()}
    return replace(content, body=content.body.replace(b"CANARY", str(port).encode()), headers=headers)


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _children() -> set[int]:
    """Another test's browser may be one of them."""
    return children_of(os.getpid())


@contextmanager
def _settling(settle_s: float) -> Iterator[None]:
    kept, rendering.SETTLE_S = rendering.SETTLE_S, settle_s
    try:
        yield
    finally:
        rendering.SETTLE_S = kept


def _is_busy(group: str, name: str) -> bool:
    """Whether a page's script is busy from the first moment on, with nothing that grows, and is to be read all the same."""
    return group in BUSY and GROUPS[group][name].ends == (READ,)


def run(times: int = 1, *, settle_s: float, busy_s: float, scheme: Scheme | None, is_always: bool = False) -> Report:
    """Render all pages.

    Args:
        settle_s: seconds until a page is read that does not rest.
        busy_s: the same for those of which no more is seen later: they only take processor time.
        scheme: of a real proxy, through which all other pages are called. It could call everybody, and is given the site's
            address alone. None: there is no proxy.
        is_always: all pages are called through the proxy.
    """
    canaries, site = Canaries(), Site(ADDRESS)
    try:
        with NameServer() as names, real_proxy() as proxy:
            exits = Exits()
            if scheme:
                proxies = proxy.always(scheme) if is_always else proxy.after_refusal(scheme)
                exits = Exits("render", proxies, lambda: 0.0)
            report = Run(names, canaries, site, exits).run(times, settle_s, busy_s)
            given = set(proxy.asked)
            report.given = len(proxy.asked)
        if given != ({(ADDRESS, site.port)} if scheme else set()):
            report.violations.append(f"the proxy was given {given}")
        return report
    finally:
        site.close()
        canaries.close()


def main(times: int, scheme: Scheme | None = None) -> int:
    """Print the report. Returns the exit code."""
    wait_longer()
    report = run(times, settle_s=rendering.SETTLE_S, busy_s=rendering.SETTLE_S, scheme=scheme)
    print(report)
    return 1 if report.all_violations else 0
