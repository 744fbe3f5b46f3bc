"""A site of its own, for browsers: ordinary pages of four kinds, and pages that want more than to be read.

It answers on one loopback address, and each request as late as a near server of a content network does.
"""

from __future__ import annotations

import json
import random
import struct
import threading
import time
import zlib
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.bench.roles import play, port

ADDRESS = "127.77.60.2"
"""Of the site. Nothing else uses it, and it is the only one that our browser is allowed."""
HOST = "site.example.com"
"""Its name, for ours: a caller's URL may not name an address."""
LAST = "So the harbour closed its books for the year and hung the keys beside the door."
"""The last sentence of every ordinary page's article."""
ORDINARY = ("/static", "/scripted", "/illustrated", "/long")
ANSWER_S = 0.05
"""Until any answer: the way there and back, and the server's work. Most sites take longer."""
DATA_S = 0.12
"""The same for the data of the scripted page."""

ENDLESS, EATER, WORKERS, POPUPS, DIALOGS = "/endless", "/eater", "/workers", "/popups", "/dialogs"
MANY = 100
"""Popups that a page tries to open."""

_VOCABULARY = (
    "the a harbour boat council wall water summer engineer bell gate keeper town stone north coast winter ship market "
    "letter captain bridge repair money story morning evening people street tide found asked carried opened measured "
    "of and in over under before after with without nobody everybody slowly again"
)
_WORDS = _VOCABULARY.split()
_CHROME = (
    "<header><a href=/static>The Tidal Post</a><nav><ul><li><a href=/static>News</a><li><a href=/long>Archive</a></ul>"
    "</nav></header>{}<aside><h3>Most read</h3><ul><li><a href=/1>Storm closes the school</a><li><a href=/2>Ten recipes"
    "</a></ul></aside><footer><p>Copyright 2026 The Tidal Post. All rights reserved.</p></footer>"
)


class Content(NamedTuple):
    """What is answered."""

    body: bytes
    kind: str = "text/html; charset=utf-8"


def _paragraphs(count: int, words: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(_WORDS, k=words)).capitalize() + "." for _ in range(count)]
    return [*texts, LAST]


def _page(title: str, article: str, head: str = "") -> bytes:
    body = _CHROME.format(f"<main><article><h1>{title}</h1>{article}</article></main>")
    return f"<!doctype html><html lang=en><title>{title}</title>{head}<body>{body}</body></html>".encode()


def _html(paragraphs: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in paragraphs)


def _linked(paragraphs: list[str]) -> str:
    """As an encyclopedia has them: with links, notes and sections."""
    parts = []
    for number, text in enumerate(paragraphs[:-1]):
        first, *words = text.split()
        links = (
            f'<a href="/wiki/{word}_of_the_{first}" class="link" title="{word.capitalize()} of the {first}">{word}</a>'
            for word in words[::8]
        )
        note = f'<sup id="ref-{number}" class="reference"><a href="#note-{number}">[{number}]</a></sup>'
        linked = " ".join([first, *(word if at % 8 else next(links) for at, word in enumerate(words))])
        parts.append(f"<p>{linked}{note}</p>" if number % 12 else f"<h2 id=part-{number}>{first}</h2><p>{linked}</p>")
    return "".join([*parts, f"<p>{paragraphs[-1]}</p>"])


def _picture(seed: int, width: int = 160, height: int = 100) -> bytes:
    """A PNG of noise: 48 KB, as a small photograph is."""
    rows = random.Random(seed)
    raw = b"".join(b"\0" + rows.randbytes(3 * width) for _ in range(height))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(raw)),
        (b"IEND", b""),
    )
    parts = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


_SCRIPTED = """<script>
fetch('/data').then(response => response.json()).then(found => {
  const article = document.createElement('article');
  for (const text of found) { const p = document.createElement('p'); p.textContent = text; article.append(p) }
  document.getElementById('root').append(article);
})</script>"""
_STYLE = "".join(f".part{n} p {{ margin: {n % 20}px; color: #{n % 999:03} }}\n" for n in range(600))
_FONT = "@font-face { font-family: Post; src: url(/font) } body { font-family: Post, serif; max-width: 40em }\n"
_EATING = "const kept = []; for (;;) { const block = new Uint8Array(32 << 20); block.fill(7); kept.push(block) }"
_BUSY = "for (let i = 0; i < 64; i++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])))"
_OPENING = f"for (let i = 0; i < {MANY}; i++) open('/popup?' + i, '_blank', i % 2 ? 'noopener' : '')"


@cache
def pages() -> dict[str, Content]:
    """What is answered, by path."""
    short, long = _html(_paragraphs(25, 60, 1)), _linked(_paragraphs(150, 60, 2))
    state = f"<script>state = {json.dumps({f'key{n}': _WORDS for n in range(105)})}</script>"
    figures = "".join(f"<figure><img src=/picture{n}.png width=640 height=400></figure>" for n in range(8))
    fonts = sorted(Path("/usr/share/fonts/truetype").glob("*/*Sans.ttf"))

    data = json.dumps(_paragraphs(25, 60, 3)).encode()
    return {
        "/data": Content(data, "application/json"),
        "/static": Content(_page("How the harbour found its way", short)),
        "/scripted": Content(_page("The scripted page", f"<div id=root></div>{_SCRIPTED}")),
        "/illustrated": Content(_page("The illustrated page", figures + short, "<link rel=stylesheet href=/style>")),
        "/long": Content(_page("The long page", long, state)),
        "/style": Content((_FONT + _STYLE).encode(), "text/css"),
        "/font": Content(fonts[0].read_bytes() if fonts else b"", "font/ttf"),
        ENDLESS: Content(_page("Endless", f"<p>{LAST}</p><script>for (;;);</script>")),
        EATER: Content(_page("Eater", f"<p>{LAST}</p><script>{_EATING}</script>")),
        WORKERS: Content(_page("Workers", f"<p>{LAST}</p><script>{_BUSY}</script>")),
        POPUPS: Content(_page("Popups", f"<p>{LAST}</p><script>{_OPENING}</script>")),
        "/popup": Content(b"<p>popup"),
        DIALOGS: Content(_page("Dialogs", f"<p>{LAST}</p><script>for (;;) alert(1)</script>")),
        **{f"/picture{n}.png": Content(_picture(n), "image/png") for n in range(8)},
    }


class Handler(BaseHTTPRequestHandler):
    """Answers. `/count` says how many popups have asked so far."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    popups = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        """Any request."""
        path = self.path.partition("?")[0]
        if path == "/popup":
            with Handler.lock:
                Handler.popups += 1
        time.sleep(DATA_S if path == "/data" else ANSWER_S)
        known = pages() | {"/count": Content(str(Handler.popups).encode(), "text/plain")}
        content = known.get(path, Content(b"nothing here", "text/plain"))
        self.send_response(200 if path in known else 404)
        self.send_header("Content-Type", content.kind)
        self.send_header("Content-Length", str(len(content.body)))
        self.end_headers()
        self.wfile.write(content.body)

    def handle(self) -> None:
        """A browser may leave at any time."""
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def serve() -> None:
    """On BENCH_PORT."""
    pages()
    server = ThreadingHTTPServer((ADDRESS, port()), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    play({"serve": serve})
