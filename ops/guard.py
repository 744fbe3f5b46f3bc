"""Protects rq-dashboard: asks for the password, limits wrong ones, lets only requests through that read, and keeps foreign
scripts from running.

rq-dashboard has buttons that change the queue, one of them by GET (``/requeue/<queue>``). What is shown here is a copy: no
button could do what it says.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ops import pages
from ops.attempts import Attempts

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

USER = "coinslot"
SHORTEST_PASSWORD = 12
MOST_REQUEST_CHARS = 2_000
_LOOKING = re.compile(r"/(favicon\.ico|static/[\w./-]+|0/(view(/[\w./-]*)?|data/[\w./-]+)?)?", re.ASCII)
"""Every path that only shows something. `0` is the only Redis instance."""
Headers = list[tuple[str, str]]


class Guard:
    """A WSGI application around another.

    Args:
        is_current: whether what is shown is the present, for /healthz.
        attempts: the wrong passwords so far.

    Raises:
        ValueError: the password is missing or short.
    """

    def __init__(
        self,
        application: WSGIApplication,
        password: str,
        is_current: Callable[[], bool],
        attempts: Attempts | None = None,
    ) -> None:
        if len(password) < SHORTEST_PASSWORD:
            raise ValueError(f"the dashboard's password must have {SHORTEST_PASSWORD} characters or more")
        self._application = application
        self._credentials = _digest(f"{USER}:{password}".encode())
        self._is_current = is_current
        self._attempts = attempts or Attempts()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if path == "/healthz" and method in ("GET", "HEAD"):
            return self._health(start_response)
        given, address = environ.get("HTTP_AUTHORIZATION", ""), environ.get("REMOTE_ADDR", "")
        if given and (wait_s := self._attempts.wait_s(address)):
            return _refuse(start_response, "429 Too Many Requests", [("Retry-After", str(wait_s))])
        if not self._is_right(given):
            if given:
                self._attempts.count_wrong(address)
            return _refuse(
                start_response,
                "401 Unauthorized",
                [("WWW-Authenticate", 'Basic realm="Coinslot dashboard", charset="UTF-8"')],
            )
        if method not in ("GET", "HEAD"):
            return _refuse(start_response, "405 Method Not Allowed", [("Allow", "GET, HEAD")])
        if len(path) > MOST_REQUEST_CHARS or _LOOKING.fullmatch(path) is None:
            return _refuse(start_response, "403 Forbidden", [])
        return self._pass_on(environ, start_response)

    def _is_right(self, authorization: str) -> bool:
        scheme, _, encoded = authorization.partition(" ")
        try:
            given = base64.b64decode(encoded.strip(), validate=True) if scheme.lower() == "basic" else b""
        except (binascii.Error, ValueError):
            given = b""
        # Digests are compared, so that the time does not show the length either.
        return hmac.compare_digest(_digest(given), self._credentials)

    def _health(self, start_response: StartResponse) -> Iterable[bytes]:
        is_current = self._is_current()
        body = json.dumps({"ok": is_current}).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *_headers("")]
        start_response("200 OK" if is_current else "503 Service Unavailable", headers)
        return [body]

    def _pass_on(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        nonce = secrets.token_urlsafe(16)
        answered: list[tuple[str, Headers]] = []

        def start(status: str, headers: Headers, exc_info: object = None) -> Callable[[bytes], object]:
            answered[:] = [(status, headers)]
            return lambda _: None

        body = _read(self._application(environ, start))
        ((status, headers),) = answered
        kind = next((value for name, value in headers if name.lower() == "content-type"), "")
        if kind.startswith("text/html"):
            body = pages.changed(body, nonce)
        kept = [(name, value) for name, value in headers if name.lower() not in ("content-length", "set-cookie")]
        if environ["REQUEST_METHOD"] == "GET":
            kept.append(("Content-Length", str(len(body))))
        start_response(status, [*kept, *_headers(nonce)])
        return [body]


def _headers(nonce: str) -> Headers:
    # underscore.js compiles the page's templates, which is an eval.
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]


def _refuse(start_response: StartResponse, status: str, headers: Sequence[tuple[str, str]]) -> Iterable[bytes]:
    body = f"{status}\n".encode()
    plain = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start_response(status, [*plain, *headers, *_headers("")])
    return [body]


def _read(chunks: Iterable[bytes]) -> bytes:
    try:
        return b"".join(chunks)
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
