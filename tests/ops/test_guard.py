"""The guard lets looking through, for who knows the password, and nothing else."""

import base64
import io
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ops.attempts import MOST_ADDRESSES, WRONG, Attempts
from ops.guard import Guard
from tests.each import each

PASSWORD = "correct horse battery"
PAGE = b"""<html><head></head><script type="text/javascript">1</script></html>"""


def basic(user: str = "coinslot", password: str = PASSWORD) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Behind:
    """The application behind the guard. It notes what reaches it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.closed = 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Set-Cookie", "a=b")])
        behind = self

        class Body:
            def __iter__(self) -> Any:
                return iter((PAGE[:10], PAGE[10:]))

            def close(self) -> None:
                behind.closed += 1

        return Body()


class Asked:
    """One answer."""

    def __init__(
        self, guard: Guard, method: str, path: str, authorization: str | None, address: str = "192.0.2.1"
    ) -> None:
        environ: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, "wsgi.input": io.BytesIO()}
        environ["REMOTE_ADDR"] = address
        if authorization is not None:
            environ["HTTP_AUTHORIZATION"] = authorization
        self.body = b"".join(guard(environ, self._start))

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self.headers = dict(headers)
        return lambda _: None


@pytest.fixture
def behind() -> Behind:
    return Behind()


@pytest.fixture
def guard(behind: Behind) -> Guard:
    return Guard(behind, PASSWORD, lambda: True)  # type: ignore[arg-type]


@pytest.mark.parametrize("password", ["", "short"])
def test_without_a_password_there_is_no_guard(password: str, behind: Behind) -> None:
    """Nor with a short one."""
    with pytest.raises(ValueError, match="password must have 12 characters"):
        Guard(behind, password, lambda: True)  # type: ignore[arg-type]


@each(
    "authorization",
    [
        *(None, "", "Basic", "Basic ", "Basic !", "Basic \xe9", "Bearer x", f"Bearer {basic()[6:]}"),
        *(basic(password=""), basic(password=PASSWORD + "x"), basic(user="admin"), basic(user="coinslot:x")),
    ],
)
def test_others_see_nothing(behind: Behind, authorization: str | None) -> None:
    """Whatever they ask for: 401, and it goes no further."""
    guard = Guard(behind, PASSWORD, lambda: True)  # type: ignore[arg-type]
    for path in ("/", "/0/data/queues.json", "/static/css/main.css", "/requeue/micro", "/nothing"):
        answer = Asked(guard, "GET", path, authorization)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic realm=")
    assert behind.seen == []


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/favicon.ico", "/static/js/jquery-3.5.1.min.js", "/0/", "/0/view", "/0/view/queues", "/0/view/workers"),
        *("/0/view/jobs/micro/failed/8/asc/1", "/0/view/job/abc-1_2", "/0/data/jobs/micro/failed/8/asc/1.json"),
        "/0/data/queues.json",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_looking_is_let_through(guard: Guard, behind: Behind, method: str, path: str) -> None:
    """With the head that keeps foreign scripts out."""
    answer = Asked(guard, method, path, basic())
    assert answer.status == 200
    assert behind.seen == [(method, path)]
    assert behind.closed == 1
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "X"])
def test_nothing_else_is_let_through(guard: Guard, behind: Behind, method: str) -> None:
    """Whatever the path."""
    for path in ("/", "/requeue/micro", "/job/a/requeue", "/job/a/delete", "/queue/micro/failed/empty", "/healthz"):
        assert Asked(guard, method, path, basic()).status == 405
    assert behind.seen == []


@each("method", ["GET", "HEAD"])
@each(
    "path",
    [
        *("/requeue/micro", "//requeue/micro", "/./requeue/micro", "/requeue", "/0/../requeue/micro"),
        *("/0/view/ /x", "/0/view/<", "/1/view/queues", "/job/a/requeue", "/queue/micro/compact"),
        *("/0/view/%2e", "/0/view/a\n", "/static/", "/0/view/" + "a" * 3_000, "", "*", "/0/datax"),
    ],
)
def test_what_changes_by_get_is_refused(guard: Guard, behind: Behind, method: str, path: str) -> None:
    """And every path that is not known to show something only."""
    assert Asked(guard, method, path, basic()).status == 403
    assert behind.seen == []


def test_a_page_has_no_buttons_and_a_nonce_of_its_own(guard: Guard) -> None:
    """Its own scripts run by it, and nobody else's can know it."""
    answers = [Asked(guard, "GET", "/", basic()) for _ in range(2)]
    nonces = [answer.headers["Content-Security-Policy"].partition("'nonce-")[2].partition("'")[0] for answer in answers]
    assert len(set(nonces)) == 2
    for answer, nonce in zip(answers, nonces, strict=True):
        assert f'<script nonce="{nonce}">1</script>'.encode() in answer.body
        assert b"#requeue-all-btn" in answer.body.partition(b"</head>")[0]
        assert answer.headers["Content-Length"] == str(len(answer.body))


def test_health_needs_no_password_and_tells_nothing_else(behind: Behind) -> None:
    """503 when what is shown is old."""
    for is_current, status, body in ((True, 200, b'{"ok": true}'), (False, 503, b'{"ok": false}')):
        answer = Asked(Guard(behind, PASSWORD, lambda is_current=is_current: is_current), "GET", "/healthz", None)  # type: ignore[arg-type,misc]
        assert (answer.status, answer.body) == (status, body)
    assert behind.seen == []


class Clock:
    """Monotonic seconds that a test moves."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_after_some_wrong_passwords_an_address_is_not_compared_until_the_minute_is_over(behind: Behind) -> None:
    """Not even with the right one, or the answer would say which it was. From another address the right one is let through, and
    requests without a password are not counted."""
    clock = Clock()
    guard = Guard(behind, PASSWORD, lambda: True, Attempts(clock))  # type: ignore[arg-type]

    def status(password: str, address: str) -> int:
        return Asked(guard, "GET", "/", basic(password=password), address).status

    for _ in range(2 * WRONG):
        assert Asked(guard, "GET", "/", None).status == 401
    assert [status("wrong", "192.0.2.1") for _ in range(WRONG)] == [401] * WRONG
    clock.now += 20
    refused = Asked(guard, "GET", "/", basic(), "192.0.2.1")
    assert (refused.status, refused.headers["Retry-After"]) == (429, "40")
    assert "WWW-Authenticate" not in refused.headers
    assert status(PASSWORD, "192.0.2.2") == 200
    clock.now += 40
    assert status(PASSWORD, "192.0.2.1") == 200


def test_one_network_of_ipv6_is_one_address() -> None:
    """Who has a network has 2**64 addresses. IPv4 in the form of IPv6 has no such network."""
    attempts = Attempts(Clock())
    for number in range(WRONG):
        attempts.count_wrong(f"2001:db8:0:1::{number}")
        attempts.count_wrong(f"::ffff:192.0.2.{number}")
    assert attempts.wait_s("2001:db8:0:1:ffff::1") == 60
    assert attempts.wait_s("2001:db8:0:2::1") == 0
    assert attempts.wait_s("::ffff:192.0.2.1") == 0


def test_many_addresses_take_no_more_memory_and_no_more_attempts() -> None:
    """Those that are not counted apart share one count. Those that are keep theirs."""
    attempts = Attempts(Clock())
    for number in range(10 * MOST_ADDRESSES):
        attempts.count_wrong(f"10.{number >> 8}.{number & 255}.1")
    assert len(attempts._wrong) == MOST_ADDRESSES + 1
    assert attempts.wait_s("198.51.100.1") == 60
    assert attempts.wait_s("10.0.1.1") == 0
