"""Pages that want more than to be read. Each meets its bound, and the next page is rendered as if nothing had been."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.page.browser import MAX_HTML, Area, RenderedPage
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.workers.browser.conftest import PRIVATE, Render
from tests.workers.browser.site import Canaries, Site
from tests.workers.egress.name_server import NameServer
from workers.adapters.browser import ChromiumBrowser
from workers.browser import render as rendering

EATER = "const kept = []; for (;;) { const block = new Uint8Array(32 << 20); block.fill(7); kept.push(block) }"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that never rest are read sooner."""
    monkeypatch.setattr(rendering, "SETTLE_S", 1.5)


@pytest.fixture
def patient(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are to reach another bound first are not."""
    monkeypatch.setattr(rendering, "SETTLE_S", 20.0)


@pytest.fixture(autouse=True)
def still_works(render: Render, site: Site, canaries: Canaries, browser: ChromiumBrowser) -> Iterator[None]:
    """Afterwards, a page is rendered by a browser that works, and nobody inside was called."""
    yield
    site.add("/afterwards", "<p>still here</p>")
    assert "still here" in render("/afterwards").html
    assert browser.unavailable_reason() == ""
    assert canaries.calls == 0


def read_or(reason: str, render: Render, path: str = "/", **options: float) -> RenderedPage | None:
    """The page, or None when it failed for this reason."""
    try:
        return render(path, **options)
    except UpstreamFailed as failure:
        if failure.reason != reason:
            raise
        return None


def refused(render: Render, path: str = "/", **options: float) -> str | None:
    """The reason of the failure."""
    with pytest.raises(UpstreamFailed) as failure:
        render(path, **options)
    return failure.value.reason


@pytest.mark.parametrize(
    "script",
    [
        "while (true);",
        "setTimeout(function f() { for (;;) setTimeout(f, 0) }, 10)",
        "(function f() { Promise.resolve().then(f) })()",
        "setInterval(() => { const end = Date.now() + 1e6; while (Date.now() < end); }, 1)",
        "for (;;) document.body.setAttribute('a', Math.random())",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "requestAnimationFrame(function f() { for (let i = 0; i < 1e9; i++); requestAnimationFrame(f) })",
    ],
)
def test_scripts_without_end(render: Render, site: Site, script: str) -> None:
    """Are terminated; what was there is read."""
    site.add("/", f"<title>T</title><body><p>before</p><script>{script}</script>")
    page = render()
    assert "<p>before</p>" in page.html
    assert page.title == "T"


def test_dialogs(render: Render, site: Site) -> None:
    """Are dismissed, and what comes behind them runs; a hundred of them end the page."""
    site.add(
        "/", "<script>alert(1); document.write(confirm(2), prompt(3)); print(); onbeforeunload = () => 'no'</script>"
    )
    assert "falsenull" in render().html
    site.add("/", "<p>text</p><script>for (;;) alert(1)</script>")
    page = render()
    assert "<p>text</p>" in page.html
    assert page.timed_out


def test_popups(render: Render, site: Site) -> None:
    """Are not opened, and ask nobody."""
    site.add(
        "/",
        """<p>text</p><a id=a target=_blank rel=noopener href=/popup></a><form id=f target=_blank action=/popup></form><script>
        for (let i = 0; i < 100; i++) { open("/popup?" + i, "_blank", i % 2 ? "noopener" : ""); a.click(); f.submit() }
        </script>""",
    )
    page = render()
    assert "<p>text</p>" in page.html
    assert site.count("/popup") == 0


@pytest.mark.parametrize(
    "body",
    [
        "<script>location.reload()</script>",
        "<script>location = '/?' + Math.random()</script>",
        "<meta http-equiv=refresh content=0>",
        "<form id=f><input name=a></form><script>f.submit()</script>",
        "<script>history.pushState(0, '', '/a'); location.reload()</script>",
    ],
)
def test_navigation_without_end(render: Render, site: Site, body: str) -> None:
    """Ends at the tenth."""
    site.add("/", body)
    site.add("/a", body)
    assert refused(render) == "too_many_redirects"
    assert len(site.asked) <= 16


def test_redirects_without_end(render: Render, site: Site) -> None:
    """The same for those of HTTP."""
    site.add("/", b"", status=302, headers={"Location": "/"})
    assert refused(render) == "too_many_redirects"
    assert len(site.asked) <= 16


def test_memory_without_end(render: Render, site: Site, patient: None) -> None:
    """The watchdog kills the page's process, and no other one; the browser is replaced."""
    site.add("/", f"<p>text</p><script>{EATER}</script>")
    assert refused(render) == "page_crashed"


def test_a_page_beside_one_that_crashes(render: Render, site: Site, patient: None) -> None:
    """Is answered as if it were alone."""
    site.add(
        "/", "<script>const k = []; for (;;) { const b = new Uint8Array(32 << 20); b.fill(7); k.push(b) }</script>"
    )
    site.add("/good", "<p>good</p><script>fetch('/slow').then(() => document.body.append('done'))</script>")
    site.add("/slow", "x", pause_s=1.5)
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        good = threads.submit(render, "/good")
        assert refused(render) == "page_crashed"
        assert "<p>good</p>done" in good.result().html.replace("<script></script>", "")


def test_depth_and_size(render: Render, site: Site) -> None:
    """A depth of 100,000, a million elements and 300 MB of text are read in part, or crash; either within the deadline."""
    scripts = {
        "deep": "let e = document.body; for (let i = 0; i < 1e5; i++) e = e.appendChild(document.createElement('div'))",
        "many": "document.body.innerHTML = '<p>text</p>' + '<i></i>'.repeat(1e6)",
        "long": "const t = 'x'.repeat(1 << 20); for (let i = 0; i < 300; i++) document.body.append(t)",
    }
    for name, script in scripts.items():
        site.add(f"/{name}", f"<p>text</p><script>{script}</script>")
        until = time.monotonic() + 25
        page = read_or("page_crashed", render, f"/{name}", wait_s=25)
        if page is not None:
            assert "<p>text</p>" in page.html
            assert len(page.html) <= MAX_HTML
        assert time.monotonic() < until


def test_busy_workers(render: Render, site: Site) -> None:
    """Only a few of 64 run, and not for long."""
    site.add(
        "/",
        """<p>text</p><script>const source = "fetch('/ran'); for (;;);";
        for (let i = 0; i < 64; i++) new Worker(URL.createObjectURL(new Blob([source])))</script>""",
    )
    assert "<p>text</p>" in render().html
    assert site.count("/ran") <= 8


@pytest.mark.parametrize(
    "target",
    [
        "URL.createObjectURL(new Blob(['<h1>sold</h1>'], {type: 'text/html'}))",
        "'data:text/html,<h1>sold</h1>'",
        "'about:blank'",
        "'file:///etc/passwd'",
        "'chrome://version'",
        "'javascript:\"<h1>sold</h1>\"'",
    ],
)
def test_other_schemes_at_the_top(render: Render, site: Site, target: str) -> None:
    """Never replace the page: it is read itself, or refused."""
    site.add("/", f"<p>text</p><script>location = {target}</script>")
    page = read_or("not_a_page", render)
    if page is not None:
        assert page.final_url.startswith("http://site.example.com:")
        assert "root:" not in page.html
        assert "<p>text</p>" in page.html or "javascript" in target


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "data:text/html,sold", "chrome://version", "about:blank", "mailto:a@b.c"]
)
def test_redirects_to_other_schemes(render: Render, site: Site, target: str) -> None:
    """Lead to no page."""
    site.add("/", b"sold", status=302, headers={"Location": target})
    assert refused(render) == "not_a_page"


@pytest.mark.parametrize("way", ["http", "https", "script", "script-https", "meta", "address", "metadata"])
def test_ways_to_addresses_inside(render: Render, site: Site, canaries: Canaries, way: str) -> None:
    """Are refused, and the refusal, which the browser shows as a document, is not sold."""
    inside = f"inside.example.com:{canaries.port}/"
    match way:
        case "http" | "https":
            site.add("/", b"", status=302, headers={"Location": f"{way}://{inside}"})
        case "script":
            site.add("/", f"<script>location = 'http://{inside}'</script>")
        case "script-https":
            site.add("/", f"<script>location = 'https://{inside}'</script>")
        case "meta":
            site.add("/", f"<meta http-equiv=refresh content='0;url=http://{inside}'>")
        case "address":
            site.add("/", b"", status=302, headers={"Location": f"http://{PRIVATE}:{canaries.port}/"})
        case "metadata":
            site.add("/", b"", status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"})
    with pytest.raises(BlockedAddress):
        render()


def test_requests_to_addresses_inside(render: Render, site: Site, canaries: Canaries, names: NameServer) -> None:
    """By everything that a page has: none arrives, and no name is asked for but through the proxy."""
    port = canaries.port
    hosts = (
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        f"[::1]:{port}",
        f"2130706433:{port}",
        f"inside.example.com:{port}",
    )
    tags = "".join(
        f"<link rel=preconnect href=//{host}><link rel=dns-prefetch href=//{host}><link rel=prefetch href=//{host}>"
        f"<link rel=stylesheet href=//{host}/a.css><script src=//{host}/a.js></script><img src=http://{host}/a.png>"
        f"<iframe src=http://{host}/></iframe><object data=http://{host}/></object><embed src=http://{host}/>"
        for host in hosts
    )
    site.add(
        "/",
        f"""<link rel=dns-prefetch href=//prefetched.canary.example.com><p>text</p>{tags}<script>
        for (const host of {list(hosts)!r}) {{
          fetch("http://" + host, {{mode: "no-cors"}}).catch(() => 0); navigator.sendBeacon("http://" + host, "x");
          try {{ new WebSocket("ws://" + host) }} catch {{}} try {{ new EventSource("http://" + host) }} catch {{}}
          try {{ new WebTransport("https://" + host) }} catch {{}}
          for (const kind of ["stun:", "turn:"]) for (const how of ["udp", "tcp"]) try {{
            const login = {{username: "a", credential: "b"}};
            const servers = [{{urls: kind + host + "?transport=" + how, ...login}}, {{urls: "stun:" + host}}];
            const c = new RTCPeerConnection({{iceServers: servers}});
            c.createDataChannel("x"); c.createOffer().then((offer) => c.setLocalDescription(offer)).catch(() => 0);
          }} catch {{}}
        }}
        </script><a ping=http://127.0.0.1:{port} href="#x" id=p></a><script>p.click()</script>""",
    )
    page = render(screenshot=Area.VIEWPORT)
    assert "<p>text</p>" in page.html
    assert canaries.calls == 0
    assert names.asked("prefetched.canary.example.com") == []


def test_the_proxys_refusal_in_a_frame_or_of_one_request(render: Render, site: Site) -> None:
    """Does not refuse the page."""
    site.add("/", "<p>text</p><iframe src=http://inside.example.com/></iframe><img src=http://127.0.0.1/>")
    assert "<p>text</p>" in render(screenshot=Area.VIEWPORT).html


def test_a_page_that_looks_like_a_refusal(render: Render, site: Site) -> None:
    """Is a page when nothing was refused."""
    site.add("/", "blocked_address: the site's own words", "text/plain", status=403)
    page = render()
    assert (page.http_status, "own words" in page.html) == (403, True)


def test_more_requests_than_a_page_may_make(render: Render, site: Site) -> None:
    """Fail, and the page is still the page although its host was refused something."""
    site.add("/", "<p>text</p><script>for (let i = 0; i < 1000; i++) fetch('/r?' + i).catch(() => 0)</script>")
    site.add("/r", "x")
    page = render()
    assert "<p>text</p>" in page.html
    assert site.count("/r") <= 200


def test_more_bytes_than_a_page_may_load(render: Render, site: Site, patient: None) -> None:
    """The main document alone may not be so large; the page is there without what was too much."""
    site.add(
        "/",
        "<p>text</p><script>for (let i = 0; i < 8; i++) fetch('/big?' + i).then((r) => r.text()).catch(() => 0)</script>",
    )
    site.add("/big", b"x" * 5_000_000)
    page = render()
    assert "<p>text</p>" in page.html
    assert page.received_bytes < 25_000_000
    site.add("/", b"<p>text<!--" + b"x" * 30_000_000 + b"-->")
    assert refused(render) == "too_large"


def test_service_workers_and_permissions(render: Render, site: Site) -> None:
    """No service worker runs, no permission is asked for or given, and nothing waits for an answer."""
    site.add(
        "/",
        """<p id=p></p><script>const say = (t) => p.append(t + ";");
        navigator.serviceWorker?.register("/sw.js").then(() => say("registered"), () => say("sw-refused"));
        Notification.requestPermission().then(say);
        navigator.geolocation?.getCurrentPosition(() => say("located"), () => say("geo-refused"));
        navigator.mediaDevices?.getUserMedia({audio: true}).then(() => say("heard"), () => say("media-refused"));
        </script>""",
    )
    site.add("/sw.js", "fetch('/from-the-service-worker')", "text/javascript")
    html = render().html
    assert "located" not in html
    assert "heard" not in html
    assert "granted" not in html
    assert site.count("/from-the-service-worker") == 0


def test_downloads_that_a_page_starts(render: Render, site: Site) -> None:
    """Are denied; the page is read."""
    site.add("/", "<p>text</p><a id=a download href=/file></a><script>a.click(); location = '/file'</script>")
    site.add("/file", b"\0", "application/octet-stream")
    assert "<p>text</p>" in render().html


def test_a_page_that_closes_itself(render: Render, site: Site) -> None:
    """Is either read or crashed, at once."""
    site.add("/", "<p>text</p><script>close()</script>")
    page = read_or("page_crashed", render)
    assert page is None or "<p>text</p>" in page.html


def test_more_events_than_a_page_makes(render: Render, site: Site) -> None:
    """Cost the worker a bounded time."""
    flood = "for (let i = 0; i < 1e6; i++) { fetch('data:,' + i); history.replaceState(0, '', '/?' + i) }"
    site.add("/", f"<p>text</p><script>{flood}</script>")
    page = read_or("page_crashed", render)
    assert page is None or "<p>text</p>" in page.html


def test_nothing_is_left_behind(browser: ChromiumBrowser, render: Render, site: Site) -> None:
    """All those pages have left two browsers at most: the one that works, and one that is about to end."""
    site.add("/", "text")
    render()
    launchers = [
        name.name
        for name in Path("/proc").iterdir()
        if name.name.isdigit() and b"browser/launcher.py" in _command(name)
    ]
    assert len(launchers) <= 8


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
