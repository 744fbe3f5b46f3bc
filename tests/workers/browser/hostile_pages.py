"""Hostile pages, each with the ends that it may have.

`python -m tests.workers.browser.hostile_pages 3` renders all of them three times, with `socks5` or `http` behind it through a
real proxy.

Each page is a small site under a path of its own: links are relative. In its texts, CANARY is the port of sockets on 127.0.0.1
and ::1 that nobody may call, and SITE is the site's own port. Names under `silent.example.com` may not even be resolved.
"""

# ruff: noqa: E501  # a script is read more easily on one line

import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tests.time_limits import patience
from tests.workers.browser.site import HTML, Content

SEEN = "<p>text</p>"
"""In every page that may be read, and so in its answer."""
READ = "read"
"""The end of a page that is sold. The other ends are reasons of failures, and `blocked_address`."""
EITHER = (READ, "page_crashed")


@dataclass(frozen=True)
class Hostile:
    """One page, and what it may lead to.

    Attributes:
        pages: contents by relative path; "" is what is rendered.
        ends: READ, or reasons of the failure.
        most: how often a relative path may be asked for, each time the page is opened.
        has_picture: whether a screenshot is asked for: only then images and fonts are loaded.
        says: of an answer that is sold.
    """

    pages: Mapping[str, Content]
    ends: tuple[str, ...] = (READ,)
    most: Mapping[str, int] = field(default_factory=dict)
    has_picture: bool = False
    says: str = SEEN


def _page(body: str, *ends: str, **more: Content) -> Hostile:
    """A page of HTML, and other paths."""
    return Hostile({"": _text(SEEN + body), **more}, ends or (READ,))


def _script(script: str, *ends: str, **more: Content) -> Hostile:
    return _page(f"<script>{script}</script>", *ends, **more)


def _text(body: str, kind: str = HTML) -> Content:
    return Content(body.encode(), kind)


def _only(content: Content, *ends: str) -> Hostile:
    return Hostile({"": content}, ends or (READ,))


def _redirect(target: str, *ends: str) -> Hostile:
    return _only(Content(b"sold", status=302, headers={"Location": target}), *ends)


SCRIPTS = {
    "loop": _script("while (true);"),
    "loop-that-writes": _script("for (;;) document.body.setAttribute('a', Math.random())"),
    "timeouts": _script("setTimeout(function f() { for (;;) setTimeout(f, 0) }, 10)", *EITHER),
    "timeouts-of-0": _script("(function f() { document.title = Math.random(); setTimeout(f, 0); setTimeout(f, 0) })()"),
    "intervals": _script("setInterval(() => { const end = Date.now() + 1e6; while (Date.now() < end); }, 1)"),
    "microtasks": _script("(function f() { Promise.resolve().then(f) })()"),
    "animation-frames": _script(
        "requestAnimationFrame(function f() { for (let i = 0; i < 1e9; i++); requestAnimationFrame(f) })"
    ),
    "generators": _script("function* g() { for (;;) yield* [1, 2] } for (const x of g()) globalThis.x = x"),
    "backtracking": _script("/(a+)+$/.test('a'.repeat(40) + 'b')"),
    "deep-json": _script(
        "for (;;) try { JSON.parse('['.repeat(1e7)) } catch { let a = []; for (let i = 0; i < 1e6; i++) a = [a];"
        "try { JSON.stringify(a) } catch {} }",
        *EITHER,
    ),
    "wasm": _script(
        "new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0,"
        "3, 2, 1, 0, 8, 1, 0, 10, 9, 1, 7, 0, 3, 64, 12, 0, 11, 11])))"
    ),
    "sort": _script("Array.from({length: 1e6}, Math.random).sort(() => { for (;;) Math.random() })"),
    "big-integers": _script("for (let n = 3n; ; n **= 3n) n.toString()", *EITHER),
    "waits-for-an-answer": _script(
        "const x = new XMLHttpRequest(); x.open('GET', 'slow', false); x.send()",
        slow=replace(_text("late"), pause_s=patience(60.0)),
    ),
    "observers": _script(
        "new MutationObserver(() => document.body.append('x')).observe(document, {childList: true, subtree: true});"
        "document.body.append('x')",
        *EITHER,
    ),
}

DIALOGS = {
    "alerts": _script("for (;;) alert(1)"),
    "questions": _script("for (;;) { confirm(1); prompt(2) }"),
    "prints": _script("for (;;) print()"),
    "before-unload": _script(
        "onbeforeunload = () => 'no'; for (;;) location = 'next'", *EITHER, "too_many_redirects", next=_text(SEEN)
    ),
}

_CLICKS = "<a id=a target=_blank rel=noopener href=popup></a><form id=f target=_blank action=popup></form>"

POPUPS = {
    name: replace(_page(f"{_CLICKS}<script>for (let i = 0; i < 100; i++) {{ {script} }}</script>"), most={"popup": 0})
    for name, script in {
        "windows": "open('popup?' + i, '_blank')",
        "windows-without-opener": "open('popup?' + i, '_blank', 'noopener')",
        "clicks": "a.click()",
        "forms": "f.submit()",
        "popunders": "const w = open('popup', 'n' + i, 'popup,width=1'); w?.blur(); focus(); if (w) w.location = 'popup'",
    }.items()
}

_LOOPED = ("too_many_redirects",)
_NAVIGATIONS = {
    "reloads": "<script>location.reload()</script>",
    "locations": "<script>location = '?' + Math.random()</script>",
    "refreshes": "<meta http-equiv=refresh content=0>",
    "forms-of-its-own": "<form id=f><input name=a></form><script>f.submit()</script>",
    "pushed-states": "<script>history.pushState(0, '', 'again'); location.reload()</script>",
}

NAVIGATION = {
    name: replace(_page(body, *_LOOPED, again=_text(body)),
                  most={"": 16, "again": 16})
    for name, body in _NAVIGATIONS.items()
} | {
    "frames-that-navigate-the-top": _page(
        "<iframe src=frame></iframe>", READ, *_LOOPED, frame=_text("<script>top.location = './?' + Math.random()</script>")
    ),
    "redirects": replace(_redirect("?", *_LOOPED), most={"": 16}),
    "states": _script("for (let i = 0; ; i++) history.pushState(0, '', '?' + i)"),
    "hashes": _script("onhashchange = () => location.hash = Math.random(); location.hash = 1", READ, "too_many_redirects"),
    "back-and-forth": _script("onpageshow = () => setTimeout(() => history.length > 1 ? history.back() : location = 'next', 0)",
                              READ, "too_many_redirects", "not_a_page", next=_text(SEEN + "<script>history.back()</script>")),
    "events": _script("for (let i = 0; i < 1e6; i++) { fetch('data:,' + i); history.replaceState(0, '', './?' + i) }", *EITHER),
    "requests": replace(_script("for (let i = 0; i < 1000; i++) fetch('r?' + i).catch(() => 0)", r=_text("x")), most={"r": 200}),
}  # fmt: skip

_ALL = "const k = []; for (;;)"

MEMORY = {
    "arrays": _script(f"{_ALL} k.push(new Array(1e6).fill(Math.random()))", *EITHER),
    "strings": _script(f"{_ALL} k.push(Array.from({{length: 1e5}}, Math.random).join())", *EITHER),
    "buffers": _script(f"{_ALL} {{ const b = new Uint8Array(32 << 20); b.fill(7); k.push(b) }}", *EITHER),
    "blobs": _script(
        f"const b = new Uint8Array(8 << 20).fill(7); {_ALL} k.push(new Blob([b, Math.random()]))", *EITHER
    ),
    "canvases": _script(
        f"{_ALL} {{ const c = document.createElement('canvas'); c.width = c.height = 4096;"
        "const d = c.getContext('2d'); d.fillRect(0, 0, 4096, 4096); d.getImageData(0, 0, 1, 1); k.push(c) }",
        *EITHER,
    ),
    "elements": _script("for (;;) document.body.append(document.createElement('i'))", *EITHER),
    "workers-that-eat": _script(
        "const s = 'const k = []; for (;;) k.push(new Uint8Array(16 << 20).fill(7))';"
        "for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob([s])))",
        *EITHER,
    ),
    "wasm-memory": _script(
        f"{_ALL} {{ const m = new WebAssembly.Memory({{initial: 1000}}); new Uint8Array(m.buffer).fill(7); k.push(m) }}",
        *EITHER,
    ),
}


def _endless(head: bytes, part: bytes) -> Content:
    """A response that goes on until nobody reads it, 1 GB at most."""

    def sent() -> Iterator[bytes]:
        yield head
        for _ in range((1 << 30) // len(part)):
            yield part

    return Content(b"", raw=sent)


def _bomb() -> Content:
    """2 GB of text as 2 MB of gzip. A block that ends with a full flush needs nothing before it, and so may be repeated."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = packing.compress(SEEN.encode()) + packing.flush(zlib.Z_FULL_FLUSH)
    block = packing.compress(b"x" * (16 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    body = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + start + block * 128
    return Content(body, headers={"Content-Encoding": "gzip"})


def _picture(side: int) -> Content:
    """A white PNG of one bit per pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\xff" * (side // 8)) * side)
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return Content(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""), "image/png"
    )


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_LAUGHS = "".join(f"<g id=l{i}>{f'<use href=#l{i - 1} />' * 10}</g>" for i in range(1, 10))
_ENTITIES = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 10))

SIZE = {
    "a-million-elements": _script("document.body.innerHTML = '<p>text</p>' + '<i></i>'.repeat(1e6)", *EITHER),
    "a-depth-of-100000": _script("let e = document.body; for (let i = 0; i < 1e5; i++) e = e.appendChild(document.createElement('b'))",
                                 *EITHER),
    "a-depth-of-50000-in-the-markup": _page("<b>" * 50_000, *EITHER),
    "300-mb-of-text": _script("const t = 'x'.repeat(1 << 20); for (let i = 0; i < 300; i++) document.body.append(t)", *EITHER),
    "attributes-of-50-mb": _script("for (let i = 0; i < 8; i++) document.body.setAttribute('a' + i, 'x'.repeat(50 << 20))", *EITHER),
    "a-million-attributes": _script("for (let i = 0; i < 1e5; i++) document.body.setAttribute('a' + i, i)", *EITHER),
    "a-large-document": _only(_endless(_OK + b"Content-Length: 30000000\r\n\r\n" + SEEN.encode(), b"<!--" + b"x" * 65536), "too_large"),
    "an-endless-body": _only(_endless(_OK + b"\r\n" + SEEN.encode(), b"<i>x</i>" * 8192), "too_large", *EITHER),
    "an-endless-header": _only(_endless(_OK, b"X-Header: " + b"x" * 1000 + b"\r\n"), "bad_content"),
    "endless-trailers": _only(_endless(_CHUNKED + b"b\r\n" + SEEN.encode() + b"\r\n0\r\n", b"X-Trailer: x\r\n"), "bad_content"),
    "an-endless-extension": _only(_endless(_CHUNKED + b"b;a=", b"x" * 1000), "bad_content"),
    "endless-announcements": _only(_endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), "bad_content"),
    "a-gzip-bomb": _only(_bomb(), *EITHER, "too_large"),
    "more-bytes-than-allowed": _script("for (let i = 0; i < 8; i++) fetch('big?' + i).then((r) => r.text()).catch(() => 0)",
                                       big=Content(b"x" * 5_000_000)),
    "large-pictures": replace(_page("<img src=a><img src=b><div style='background:url(c)'>x</div>", *EITHER, a=_picture(20_000),
                                    b=_picture(16_000), c=_picture(8_000)), has_picture=True),
    "svg-laughs": replace(_page(f"<svg><g id=l0><rect width=9 height=9 /></g>{_LAUGHS}</svg>", *EITHER), has_picture=True),
    "xml-laughs": Hostile({"": _text(f"<!DOCTYPE a [<!ENTITY e0 'ha'>{_ENTITIES}]><a>&e9;</a>", "application/xml")}, EITHER, says=""),
}  # fmt: skip

_BUSY = "fetch('ran'); for (;;);"

WORKERS = {
    "busy-workers": replace(_script("const u = URL.createObjectURL(new Blob([\"fetch(new URL('ran', '\" + location + \"')); for (;;);\"]));"
                                    "for (let i = 0; i < 64; i++) new Worker(u)"), most={"ran": 8}),
    "nested-workers": replace(_script("new Worker('nest.js')", **{"nest.js": _text(
        "fetch('ran'); for (let i = 0; i < 8; i++) new Worker('nest.js')", "text/javascript")}), most={"ran": 8}),
    "shared-workers": replace(_script("for (let i = 0; i < 16; i++) new SharedWorker('w.js?' + i)",
                                      **{"w.js": _text(_BUSY, "text/javascript")}), most={"ran": 0}),
    "service-workers": replace(_script("navigator.serviceWorker?.register('w.js')",
                                       **{"w.js": _text("fetch('ran'); onfetch = (e) => e.respondWith(new Response('sold'))",
                                                        "text/javascript")}), most={"ran": 0}),
}  # fmt: skip

_NO_PAGE = ("not_a_page",)
_FILE = {"Content-Disposition": "attachment; filename=a.html"}
_PARTS = b"--p\r\nContent-Type: text/html\r\n\r\n<h1>sold</h1>\r\n"

NO_PAGES = {
    "an-attachment": _only(Content(b"sold", headers=_FILE), *_NO_PAGE),
    "octets": _only(Content(b"\0sold", "application/octet-stream"), *_NO_PAGE),
    "a-pdf": _only(Content(b"%PDF-1.7\n", "application/pdf"), *_NO_PAGE),
    "a-video": _only(Content(b"\0\0\0\x18ftypmp42", "video/mp4"), *_NO_PAGE),
    "a-picture": _only(_picture(64), *_NO_PAGE),
    "a-drawing": _only(_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"), *_NO_PAGE),
    "nothing": _only(Content(b"", status=204), *_NO_PAGE),
    "parts-without-end": _only(
        _endless(b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=p\r\n\r\n", _PARTS),
        *_NO_PAGE,
        "too_large",
    ),
    "events-without-end": Hostile(
        {"": _endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: x\n\n" * 1000)},
        (*_NO_PAGE, "too_large", *EITHER),
        says="",
    ),
    "no-answer": _only(Content(b"", pause_s=patience(60.0)), "timeout"),
    "downloads-of-its-own": _page(
        "<a id=a download href=file></a><script>a.click(); location = 'file'</script>",
        file=Content(b"\0", "application/octet-stream"),
    ),
}

_TOPS = {
    "blob": "URL.createObjectURL(new Blob(['<h1>sold</h1>'], {type: 'text/html'}))",
    "data": "'data:text/html,<h1>sold</h1>'",
    "about": "'about:blank'",
    "file": "'file:///etc/passwd'",
    "chrome": "'chrome://version'",
    "devtools": "'devtools://devtools/bundled/inspector.html'",
    "view-source": "'view-source:' + location",
    "filesystem": "'filesystem:http://site.example.com/temporary/a.html'",
}

SCHEMES = {
    **{f"script-to-{scheme}": _script(f"location = {target}", READ, *_NO_PAGE) for scheme, target in _TOPS.items()},
    **{
        f"redirect-to-{target.partition(':')[0]}": _redirect(target, *_NO_PAGE)
        for target in ("file:///etc/passwd", "data:text/html,sold", "chrome://version", "about:blank", "mailto:a@b.c",
                       "javascript:'sold'", "blob:http://site.example.com/1", "view-source:http://site.example.com/")
    },
}  # fmt: skip

_HOSTS = (
    *("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "0177.0.0.1", "2130706433", "127.1"),
    "0.0.0.0",
    *("inside.example.com", "private.example.com", "mixed.example.com"),
)
"""Names of this machine. The last two are in the test's DNS: a private address, and that beside the site's."""
_EACH = f"for (const h of {[f'{host}:CANARY' for host in _HOSTS]!r}) try {{ %s }} catch {{}}"


def _tags(*tags: str) -> Hostile:
    """A page with tags for each host, HOST in them."""
    each = "".join(tag.replace("HOST", f"{host}:CANARY") for host in _HOSTS for tag in tags)
    return replace(_page(each), has_picture=True)


def _headers(**headers: str) -> Hostile:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _only(Content(f"{SEEN}<img src=//192.0.2.1/>".encode(), headers=named))


_BLOCKED = ("blocked_address",)
_REPORT = '{"group":"a","max_age":99,"endpoints":[{"url":"http://127.0.0.1:CANARY/"}]}'

NETWORK = {
    "fetches": _script(_EACH % "fetch('http://' + h, {mode: 'no-cors'}).catch(() => 0); fetch('https://' + h).catch(() => 0)"),
    "posts": _script(_EACH % "fetch('http://' + h, {method: 'POST', mode: 'no-cors', body: 'x', keepalive: true}).catch(() => 0)"),
    "synchronous-requests": _script(_EACH % "const x = new XMLHttpRequest(); x.open('GET', 'http://' + h, false); x.send()"),
    "beacons": _script(_EACH % "navigator.sendBeacon('http://' + h, 'x')"),
    "web-sockets": _script(_EACH % "new WebSocket('ws://' + h); new WebSocket('wss://' + h)"),
    "event-sources": _script(_EACH % "new EventSource('http://' + h)"),
    "web-transports": _script(_EACH % "new WebTransport('https://' + h).ready.catch(() => 0)"),
    "peers": _script(_EACH % """for (const kind of ['stun:', 'turn:']) for (const how of ['udp', 'tcp']) {
        const c = new RTCPeerConnection({iceServers: [{urls: 'stun:' + h}, {urls: 'stun:a.silent.example.com:CANARY'},
          {urls: kind + h + '?transport=' + how, username: 'a', credential: 'b'}]});
        c.createDataChannel('x'); c.createOffer().then((offer) => c.setLocalDescription(offer)).catch(() => 0) }"""),
    "prefetched-names": _page("<link rel=dns-prefetch href=//b.silent.example.com><link rel=dns-prefetch href=//c.silent.example.com>"),
    "preconnections": _tags("<link rel=preconnect href=//HOST><link rel=preconnect href=https://HOST crossorigin>"),
    "links": _tags("<link rel=prefetch href=//HOST><link rel=prerender href=//HOST><link rel=preload as=script href=//HOST>"
                   "<link rel=modulepreload href=//HOST><link rel=icon href=//HOST><link rel=manifest href=//HOST>"),
    "speculation-rules": _page('<script type=speculationrules>{"prefetch": [{"urls": ["http://127.0.0.1:CANARY/", "next"]}], "prerender":'
                               ' [{"urls": ["http://localhost:CANARY/", "next"]}]}</script>', next=_text("sold")),
    "style-sheets": _tags("<style>@import '//HOST/a.css'; @font-face { font-family: f; src: url(//HOST/f) }"
                          "* { font-family: f; background: url(//HOST/b) }</style><link rel=stylesheet href=//HOST/c.css>"),
    "frames": _tags("<iframe src=http://HOST/></iframe><object data=http://HOST/></object><embed src=http://HOST/>"),
    "media": _tags("<img src=http://HOST/><video src=http://HOST/ autoplay></video><audio src=http://HOST/></audio>"
                   "<video><track default src=http://HOST/></video><svg><image href=http://HOST/ /></svg>"),
    "scripts": _tags("<script src=http://HOST/></script><script type=module src=http://HOST/></script>"),
    "forms-in-frames": _script(_EACH % """const i = document.body.appendChild(document.createElement('iframe')); i.name = h;
        const f = document.body.appendChild(document.createElement('form')); f.method = 'post'; f.target = h; f.action = 'http://' + h;
        f.submit()"""),
    "pings": _page("<a id=p href=#x ping='http://127.0.0.1:CANARY http://localhost:CANARY'></a><script>p.click()</script>"),
    "security-reports": _headers(Content_Security_Policy="img-src 'none'; report-uri http://127.0.0.1:CANARY/; report-to a",
                                 Reporting_Endpoints='a="http://127.0.0.1:CANARY/"', Report_To=_REPORT,
                                 NEL='{"report_to":"a","max_age":99,"success_fraction":1}'),
    "other-services": _headers(Alt_Svc='h3="127.0.0.1:CANARY"; ma=99, h2="127.0.0.1:CANARY"; ma=99',
                               Link="<http://127.0.0.1:CANARY/>; rel=preload; as=script, <//d.silent.example.com>; rel=dns-prefetch"),
    "workers-that-ask": _script("new Worker(URL.createObjectURL(new Blob([`try { importScripts('http://127.0.0.1:CANARY/') } catch {}"
                                "fetch('http://localhost:CANARY/'); new WebSocket('ws://127.0.0.1:CANARY')`])))"),
    "redirected-requests": replace(_page("<img src=in><iframe src=in></iframe><script src=in></script><script>fetch('in')</script>",
                                         **{"in": Content(b"", status=307, headers={"Location": "http://127.0.0.1:CANARY/"})}),
                                   has_picture=True),
    "the-proxies": _script("for (let p = 3128; p < 3132; p++) { fetch('http://127.0.0.1:' + p).catch(() => 0);"
                           "fetch('https://127.0.0.1:' + p).catch(() => 0); new WebSocket('ws://127.0.0.1:' + p);"
                           "const c = new RTCPeerConnection({iceServers: [{urls: `turn:127.0.0.1:${p}?transport=tcp`, username: 'GET /',"
                           "credential: 'b'}]}); c.createDataChannel('x'); c.createOffer().then((o) => c.setLocalDescription(o)) }"),
    "redirect": _redirect("http://inside.example.com:CANARY/", *_BLOCKED),
    "redirect-to-https": _redirect("https://inside.example.com:CANARY/", *_BLOCKED),
    "redirect-to-an-address": _redirect("http://127.0.0.1:CANARY/", *_BLOCKED),
    "redirect-to-metadata": _redirect("http://169.254.169.254/latest/meta-data/", *_BLOCKED),
    "redirect-to-ipv6": _redirect("http://[::1]:CANARY/", *_BLOCKED),
    "redirect-to-a-private-name": _redirect("http://private.example.com:CANARY/", *_BLOCKED),
    "redirect-to-the-proxy": _redirect("http://127.0.0.1:3128/", *_BLOCKED),
    "refresh-header": _only(Content(SEEN.encode(), headers={"Refresh": "0; url=http://127.0.0.1:CANARY/"}), *_BLOCKED),
    "refresh": _page("<meta http-equiv=refresh content='0;url=http://inside.example.com:CANARY/'>", *_BLOCKED),
    "location": _script("location = 'http://inside.example.com:CANARY/'", *_BLOCKED),
    "location-https": _script("location = 'https://inside.example.com:CANARY/'", *_BLOCKED),
    "form": _page("<form id=f method=post action=http://0x7f.1:CANARY/></form><script>f.submit()</script>", *_BLOCKED),
}  # fmt: skip

PERMISSIONS = {
    "permissions": _script("""const say = (t) => document.body.append(t + ';');
        Notification.requestPermission().then(say);
        navigator.geolocation?.getCurrentPosition(() => say('granted'), () => 0);
        navigator.mediaDevices?.getUserMedia({audio: true, video: true}).then(() => say('granted'), () => 0);
        navigator.mediaDevices?.getDisplayMedia().then(() => say('granted'), () => 0);
        navigator.clipboard?.readText().then(() => say('granted'), () => 0);
        navigator.requestMIDIAccess?.({sysex: true}).then(() => say('granted'), () => 0);
        for (const name of ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi', 'persistent-storage'])
          navigator.permissions.query({name}).then((found) => say(found.state), () => 0)"""),
    "full-screen": _script("for (let i = 0; i < 1e4; i++) { document.body.requestFullscreen?.().catch(() => 0);"
                           "document.body.requestPointerLock?.(); navigator.keyboard?.lock?.().catch(() => 0) }"),
    "files": _page("<input type=file id=f><script>f.click(); f.showPicker?.()</script>"),
}  # fmt: skip

_FAKE = "<html><p>sold</p></html>"

TAMPERING = {
    "document-element": _script(f"Object.defineProperty(document, 'documentElement', {{get: () => ({{outerHTML: '{_FAKE}'}})}});"
                                f"Object.defineProperty(Document.prototype, 'documentElement', {{get() {{ for (;;); }}}})"),
    "getters": _script("for (const p of [Node, Element, HTMLElement, Document, CharacterData]) for (const n of"
                       " Object.getOwnPropertyNames(p.prototype)) try { Object.defineProperty(p.prototype, n, {get() { for (;;); }}) } catch {}"),
    "built-ins": _script("Array.prototype.push = Array.prototype.join = String.prototype.replace = Set.prototype.has = JSON.stringify = "
                         "Object.prototype.toString = Function.prototype.call = function () { for (;;); }"),
    "proxies": _script("Object.setPrototypeOf(HTMLElement.prototype, new Proxy({}, {get() { for (;;); }, has() { for (;;); }}))"),
    "clobbering": _page("<form name=documentElement><input name=firstChild></form><form name=title><input name=attributes>"
                        "<input name=nodeType><input name=localName></form><img name=createElement>"),
    "removes-itself": Hostile({"": _text(f"{SEEN}<script>document.documentElement.remove()</script>")}, EITHER, says=""),
    "writes-itself-again": _script(f"(function f() {{ document.open(); document.write('{SEEN}'); document.close(); setTimeout(f, 0) }})()",
                                   READ, "too_many_redirects"),
    "closes-itself": _script("close()", *EITHER),
    "shadow-roots": _script("let e = document.body; for (let i = 0; i < 1e4; i++) { const c = document.createElement('div');"
                            "(i ? e.shadowRoot : e).append(c); c.attachShadow({mode: 'open'}); e = c }", *EITHER),
    "changes-while-it-is-read": _script("new PerformanceObserver(() => 0); addEventListener('blur', () => document.body.remove());"
                                        "setInterval(() => { document.body.innerHTML = '<p>text</p>' + Math.random() }, 0)"),
}  # fmt: skip

GROUPS: Mapping[str, Mapping[str, Hostile]] = {
    "scripts": SCRIPTS,
    "dialogs": DIALOGS,
    "popups": POPUPS,
    "navigation": NAVIGATION,
    "memory": MEMORY,
    "size": SIZE,
    "workers": WORKERS,
    "no pages": NO_PAGES,
    "schemes": SCHEMES,
    "network": NETWORK,
    "permissions": PERMISSIONS,
    "tampering": TAMPERING,
}
"""All of them, by group and name."""


if __name__ == "__main__":
    from tests.workers.browser.hostile_run import main

    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1, *sys.argv[2:]))
