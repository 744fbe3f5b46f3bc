"""Ordinary pages in a real browser: when they are read, and what is read."""

import concurrent.futures
import hashlib
import os
import signal
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compose.sandbox.upstreams.authority import Authority
from jobs.hosts import public_url
from jobs.ports.browser import MAX_HTML, Area, Screenshot
from shared.outcome import DeadlineExceeded, UpstreamFailed
from tests.time_limits import patience
from tests.workers.browser.conftest import ADDRESS, SITE, Render
from tests.workers.browser.namespaces import renderers
from tests.workers.browser.site import Content, Site
from tests.workers.egress.proxy_server import RealProxy
from workers.adapters.browser import ChromiumBrowser
from workers.browser import render as rendering

ARTICLE = """<!DOCTYPE html><html lang="en-GB"><head><title> A page </title><meta charset="utf-8"></head>
<body class="x"><h1>Grüße &amp; more</h1><p data-a='"'>One&nbsp;two</p></body></html>"""


def failure(rendered: Callable[..., object], *arguments: Any, **options: Any) -> tuple[str | None, bool]:
    """Why a page was not rendered, and whether the call may run again."""
    with pytest.raises(UpstreamFailed) as failed:
        rendered(*arguments, **options)
    return failed.value.reason, failed.value.retryable


def soon() -> float:
    """A deadline."""
    return time.monotonic() + patience(20)


def png(width: int = 4, height: int = 4) -> bytes:
    """A red picture."""
    rows = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_a_static_page(render: Render, site: Site) -> None:
    """Its DOM, its source, and what the browser counted."""
    site.add("/", ARTICLE)
    page = render("/?q=1#part")
    assert page.final_url == f"http://site.example.com:{site.port}/?q=1"
    assert (page.http_status, page.title, page.language) == (200, "A page", "en-GB")
    assert '<h1>Grüße &amp; more</h1><p data-a="&quot;">One&nbsp;two</p>' in page.html
    assert page.html.startswith('<!DOCTYPE html><html lang="en-GB"><head><title>')
    assert page.source == ARTICLE
    assert (page.screenshot, page.requests, page.timed_out) == (None, 1, False)
    assert len(ARTICLE.encode()) < page.received_bytes < len(ARTICLE.encode()) + 500


def test_what_scripts_make_is_there(render: Render, site: Site) -> None:
    """After requests, timers of seconds, a module, and with an open shadow root."""
    site.add(
        "/",
        """<div id=host></div><p id=a></p><script type=module>
        import {text} from "/module.js"; document.querySelector("#a").append(text);
        host.attachShadow({mode: "open"}).innerHTML = "<b>in the shadow</b>";
        const got = await (await fetch("/api")).text();
        setTimeout(() => document.body.append(got + " after four seconds"), 4000);</script>""",
    )
    site.add("/module.js", 'export const text = "from the module"', "text/javascript")
    site.add("/api", "from the API", pause_s=0.3)
    started = time.monotonic()
    page = render()
    assert "from the module" in page.html
    assert "<b>in the shadow</b>" in page.html
    assert "from the API after four seconds" in page.html
    assert not page.timed_out
    assert page.requests == 3
    assert time.monotonic() - started < patience(4), "virtual time does not wait"


@pytest.mark.parametrize("listening", ["fetch('/events')", "new EventSource('/events')"])
def test_a_page_that_only_listens(render: Render, site: Site, listening: str) -> None:
    """Is not waited for as long as it listens, and its timers run."""
    site.add("/", f"<p>text</p><script>{listening}; setTimeout(() => document.body.append('late'), 4000)</script>")
    site.add("/events", b"", "text/event-stream", pause_s=6.0)
    page = render()
    assert "late" in page.html
    assert not page.timed_out


@pytest.mark.parametrize(
    "first",
    [
        '<meta http-equiv=refresh content="0;url=/end">',
        "<script>location = '/end'</script>",
        "<script>location.replace('/end')</script>",
    ],
)
@pytest.mark.parametrize("host", ["site.example.com", "other.example.org"])
def test_a_page_that_leads_to_another(render: Render, site: Site, first: str, host: str) -> None:
    """Is the other one, with its status, also on another host."""
    site.add("/", first.replace("/end", f"http://{host}:{site.port}/end") + "gone")
    site.add(
        "/end",
        "<title>The end</title><script>setTimeout(() => document.body.append('late'), 1000)</script>",
        status=404,
    )
    page = render()
    assert page.final_url == f"http://{host}:{site.port}/end"
    assert (page.http_status, page.title) == (404, "The end")
    assert "late" in page.html
    assert "The end" in page.source


def test_redirects_and_push_state(render: Render, site: Site) -> None:
    """The URL is the one that the page shows."""
    site.add("/", b"", status=302, headers={"Location": "/there"})
    site.add("/there", "<script>history.pushState(0, '', '/pushed#x')</script>there")
    page = render()
    assert page.final_url == f"http://site.example.com:{site.port}/pushed"
    assert page.requests == 2


def test_elements_that_hide_what_is_read(render: Render, site: Site) -> None:
    """Names of elements are properties of the document and of forms. And pages may change every function of theirs."""
    site.add(
        "/",
        """<html><head><title>True</title><script>
        Node.prototype.__defineGetter__("firstChild", () => null); Element.prototype.getAttribute = () => "false";
        document.__defineGetter__("title", () => "false"); Array.prototype.push = () => { throw 1 };
        </script></head><body><img name=documentElement><form name=title><input name=firstChild><input name=attributes>
        <p>seen</p></form><img name=URL></body></html>""",
    )
    page = render()
    assert page.title == "True"
    assert "<p>seen</p>" in page.html
    assert page.final_url.endswith(f":{site.port}/")


def test_what_is_not_shown_is_left_out(render: Render, site: Site) -> None:
    """But not data about the page."""
    site.add(
        "/",
        """<style>.s{}</style><script type="application/ld+json">{"@type": "Article"}</script><noscript>no scripts</noscript>
        <!-- comment --><template>later</template><iframe srcdoc="framed"></iframe><svg><text>drawn</text></svg>
        <img src="data:image/gif;base64,AAAA" alt="one"><p>seen""",
    )
    html = render().html
    assert '<script type="application/ld+json">{"@type": "Article"}</script>' in html
    assert '<img alt="one"><p>seen' in html
    for hidden in (".s{}", "no scripts", "comment", "later", "framed<", "drawn", "base64"):
        assert hidden not in html


def test_images_are_loaded_for_a_picture_only(render: Render, site: Site) -> None:
    """Neither images nor fonts nor media otherwise."""
    site.add(
        "/",
        "<style>@font-face{font-family:f;src:url(/f.woff2)}p{font-family:f}body{background:url(/b.png)}</style><p>text"
        "<img src=/a.png><video src=/v.mp4></video><audio src=/a.mp3 preload=auto></audio>",
    )
    site.add("/a.png", png(), "image/png")
    assert render().requests == 1
    assert site.asked == ["/"]
    page = render(screenshot=Area.VIEWPORT)
    assert {"/a.png", "/b.png", "/f.woff2"} <= set(site.asked)
    assert page.requests > 3


def test_pictures(render: Render, site: Site) -> None:
    """Of the viewport, or of the whole page up to 4,000 pixels; equal for equal pages."""
    site.add("/", "<body style='margin:0;background:#0f0'><div style='height:9000px'>tall</div>")
    viewport = render(screenshot=Area.VIEWPORT).screenshot
    assert isinstance(viewport, Screenshot)
    assert (viewport.format, viewport.width, viewport.height) == ("png", 1280, 800)
    assert viewport.data.startswith(b"\x89PNG")
    assert struct.unpack(">II", viewport.data[16:24]) == (1280, 800)
    full = render(screenshot=Area.FULL_PAGE).screenshot
    assert isinstance(full, Screenshot)
    assert struct.unpack(">II", full.data[16:24]) == (full.width, full.height) == (1280, 4000)
    again = render(screenshot=Area.VIEWPORT).screenshot
    assert isinstance(again, Screenshot)
    assert hashlib.sha256(again.data).digest() == hashlib.sha256(viewport.data).digest()


def test_a_picture_has_its_share_of_the_time(render: Render, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that never rests is read earlier when a picture is ordered, and one that takes too long to draw says so."""
    left: list[float] = []
    take = rendering.take_screenshot

    async def noted(page: Any, area: Area, *, until: float) -> Any:
        left.append(until - time.monotonic())
        return await take(page, area, until=until if len(left) == 1 else 0.0)

    monkeypatch.setattr(rendering, "take_screenshot", noted)
    site.add("/", "<p>text</p><script>setTimeout(() => { for (;;); }, 50)</script>")
    drawn = render(screenshot=Area.VIEWPORT, wait_s=9.0)
    assert isinstance(drawn.screenshot, Screenshot)
    assert drawn.timed_out
    assert left[0] >= rendering.PICTURE_S
    site.add("/still", "<p>text</p>")
    assert render("/still", screenshot=Area.VIEWPORT).screenshot == "timeout"


def test_a_picture_that_would_be_too_large(render: Render, site: Site) -> None:
    """Is a WebP."""
    site.add(
        "/",
        """<body style=margin:0><canvas id=c width=1280 height=800></canvas><script>
        const g = c.getContext("2d"), d = g.createImageData(1280, 800);
        for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 == 3 ? 255 : Math.random() * 256;
        g.putImageData(d, 0, 0)</script>""",
    )
    picture = render(screenshot=Area.VIEWPORT).screenshot
    assert isinstance(picture, Screenshot)
    assert picture.format == "webp"
    assert picture.data[8:12] == b"WEBP"
    assert len(picture.data) <= 1_500_000


def test_a_new_context_for_each_job(render: Render, site: Site) -> None:
    """Cookies, storage and caches of one are not the next one's."""
    site.add(
        "/",
        """<body><script>document.body.append("had:" + document.cookie + localStorage.getItem("a"));
        localStorage.setItem("a", "stored"); document.cookie = "c=stored"</script>""",
        headers={"Cache-Control": "max-age=1000", "Set-Cookie": "s=stored; HttpOnly"},
    )
    for _ in range(2):
        assert "had:null" in render().html
    assert site.count("/") == 2


def test_two_at_once(render: Render, site: Site) -> None:
    """Each has its own proxy, and its own counts. A third one waits."""
    site.add("/", "<p>one</p><script>fetch('/slow')</script>")
    site.add("/slow", "x" * 1000, pause_s=0.5)
    site.add("/other", "<p>two</p>")
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        one, two, three = threads.map(render, ["/", "/other", "/"])
    assert ("<p>one</p>" in one.html, "<p>two</p>" in two.html, "<p>one</p>" in three.html) == (True, True, True)
    assert one.received_bytes == three.received_bytes > 1000 > two.received_bytes
    assert (one.requests, two.requests, three.requests) == (2, 1, 2)


def test_no_browser_is_free_in_time(browser: ChromiumBrowser, site: Site) -> None:
    """Nothing was asked of the site."""
    url = public_url(f"http://site.example.com:{site.port}/", SITE)
    with pytest.raises(DeadlineExceeded):
        browser.render(url, screenshot=None, deadline=time.monotonic())
    assert site.asked == []


@pytest.mark.parametrize(("kind", "body", "status"), [("application/pdf", b"%PDF-1.4", 200), ("text/html", b"", 204)])
def test_only_a_page_that_is_none_is_final(render: Render, site: Site, kind: str, body: bytes, status: int) -> None:
    """A response without a body is an aborted navigation, which may have other causes."""
    site.add("/", body, kind, status=status)
    assert failure(render) == ("not_a_page", status == 204)


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/xml", "application/xhtml+xml"])
def test_other_texts_are_pages(render: Render, site: Site, kind: str) -> None:
    """As the browser shows them."""
    bodies = {
        "application/xml": "<a>words</a>",
        "application/xhtml+xml": "<html xmlns='http://www.w3.org/1999/xhtml'><body>words</body></html>",
    }
    site.add("/", bodies.get(kind, '"words"'), kind)
    assert "words" in render().html


def test_a_host_without_an_address_and_one_that_refuses(render: Render, browser: ChromiumBrowser, site: Site) -> None:
    """The reasons are the proxy's."""
    assert failure(render, host="unknown.example.com") == ("dns_failure", False)
    with socket.socket() as silent:
        silent.bind((ADDRESS, 0))  # and does not listen
        urls = [f"{scheme}://site.example.com:{silent.getsockname()[1]}/" for scheme in ("http", "https")]
        for url in (public_url(text, SITE) for text in urls):
            assert failure(browser.render, url, screenshot=None, deadline=soon()) == ("connection_refused", True)


def test_a_site_that_speaks_no_tls(browser: ChromiumBrowser, site: Site) -> None:
    """The tunnel is there, but nothing that can be read in it."""
    url = public_url(f"https://site.example.com:{site.port}/", SITE)
    assert failure(browser.render, url, screenshot=None, deadline=soon()) == ("tls_failure", True)


def test_certificates(browser: ChromiumBrowser, site: Site, authority: Authority) -> None:
    """Are verified, also by an authority of the operator's; the source is there, too."""
    context = authority.identity("site.example.com").server_context()
    secure = Site(ADDRESS, context)
    try:
        secure.add("/", "<p>secured</p>")
        url = public_url(f"https://site.example.com:{secure.port}/", SITE)
        page = browser.render(url, screenshot=None, deadline=soon())
        assert ("<p>secured</p>" in page.html, page.source, page.requests) == (True, "<p>secured</p>", 1)
        other = public_url(f"https://other.example.org:{secure.port}/", SITE)
        assert failure(browser.render, other, screenshot=None, deadline=soon()) == ("tls_failure", True)
    finally:
        secure.close()


@pytest.mark.parametrize(
    "answer", [b"", b"no HTTP", b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20]
)
def test_a_site_that_does_not_speak_http(render: Render, site: Site, answer: bytes) -> None:
    """The proxy says so, and what it says is not taken for a page."""
    site.pages["/"] = Content(b"", raw=lambda: [answer])
    assert failure(render) == ("bad_content", True)


@pytest.mark.parametrize("begun", ["<head><title>wait", "<script src=/never></script><p>text", "<body>", ""])
def test_a_page_that_has_no_body_in_time(
    render: Render, site: Site, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text is not there, which is not the same as no text."""
    monkeypatch.setattr(rendering, "SETTLE_S", patience(1.5))
    is_over = threading.Event()

    def answer() -> Iterator[bytes]:
        head = "Content-Type: text/html\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 99"
        yield f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n{begun}".encode()
        is_over.wait(patience(30))

    site.pages["/"] = Content(b"", raw=answer)
    site.add("/never", "", "text/javascript", pause_s=patience(30.0))
    try:
        with pytest.raises(UpstreamFailed) as failure:
            render()
    finally:
        is_over.set()
    assert failure.value.reason == "timeout"


@pytest.mark.parametrize(
    "half", [b"Content-Length: 99\r\n\r\n<p>half</p>", b"Transfer-Encoding: chunked\r\n\r\nb\r\n<p>half</p>\r\n"]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_half_a_page(browser: ChromiumBrowser, site: Site, authority: Authority, scheme: str, half: bytes) -> None:
    """Is not taken for the page: compared with the last call, it would have lost its end."""
    trust = authority.identity("site.example.com").server_context() if scheme == "https" else None
    serving = Site(ADDRESS, trust)
    try:
        serving.pages["/"] = Content(b"", raw=lambda: [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + half])
        url = public_url(f"{scheme}://site.example.com:{serving.port}/", SITE)
        assert failure(browser.render, url, screenshot=None, deadline=soon()) == ("bad_content", True)
    finally:
        serving.close()


def test_a_page_that_stops_loading_itself(render: Render, site: Site) -> None:
    """Is a page: it wanted no more."""
    parts = [b"<p>begun</p><script>stop()</script>", *[b"<p>more</p>" * 10_000] * 20]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    site.pages["/"] = Content(b"", raw=lambda: [head, *parts])
    assert "<p>begun</p>" in render().html


def test_a_page_whose_document_comes_late(render: Render, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renderer that gets no processor time after the response has come is waited for: the empty page is not the answer."""
    monkeypatch.setattr(rendering, "SETTLE_S", patience(0.3))

    def answer() -> Iterator[bytes]:
        stopped = renderers()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        threading.Timer(patience(0.8), lambda: [os.kill(pid, signal.SIGCONT) for pid in stopped]).start()
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>text</p>"

    site.pages["/"] = Content(b"", raw=answer)
    assert "<p>text</p>" in render().html


def test_a_page_whose_process_is_killed_while_its_response_comes(render: Render, site: Site) -> None:
    """The browser answers that the navigation was aborted, as for a response without a body."""

    def answer() -> Iterator[bytes]:
        for pid in renderers():
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)  # until the browser knows, which nobody outside can see
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>text</p>"

    site.pages["/"] = Content(b"", raw=answer)
    for _ in range(3):  # the order of the browser's messages varies
        assert failure(render) == ("page_crashed", True)


def test_a_site_that_is_silent(render: Render, site: Site) -> None:
    """Until the deadline, less what reading would take."""
    site.add("/", "late", pause_s=8)
    assert failure(render, wait_s=6) == ("timeout", True)


def test_who_asks(render: Render, site: Site) -> None:
    """The browser says what it is, and for whom."""
    site.add("/", "<script>document.write(navigator.userAgent)</script>")
    html = render().html
    assert "Chrome/" in html
    assert "coinslot (+https://coinslot.example.com)" in html
    assert "Headless" not in html


def test_a_page_that_is_too_long_to_hand_over(render: Render, site: Site) -> None:
    """Is cut."""
    site.add("/", "<p>" + "long words " * 200_000)
    page = render()
    assert MAX_HTML - 20 <= len(page.html) <= MAX_HTML
    assert len(page.source) == MAX_HTML


def test_a_site_that_refuses_us_is_called_through_the_proxy(
    browser: ChromiumBrowser, render: Render, site: Site, proxy: RealProxy
) -> None:
    """With everything that the page loads, from whatever host, and until it refuses that, too."""
    url = public_url(f"http://site.example.com:{site.port}/", SITE)
    site.add("/", f"<p>text</p><script src=http://other.example.org:{site.port}/script></script>")
    site.add("/script", "document.body.append('loaded')", "text/javascript")
    proxy.asked.clear()
    direct = render()
    assert (direct.exit, proxy.asked) == (0, [])
    assert browser.refused(url, direct)
    through = render()
    assert "loaded" in through.html
    assert (through.exit, set(proxy.asked)) == (1, {(ADDRESS, site.port)})
    assert len(proxy.asked) >= 2
    assert browser.refused(url, through)
    assert render().exit == 0
