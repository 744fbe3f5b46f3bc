"""The dashboard of the queues in a browser: what it shows of real jobs, and that nobody's text runs in it."""

import base64
import contextlib
import json
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from playwright.sync_api import Browser, BrowserContext, Page, expect
from werkzeug.serving import make_server

from coinslot.delivery import RetryPolicy
from coinslot.errors import CallFailed
from compose.sandbox.child import claim_port, spawn
from compose.sandbox.redis_server import Role, start_redis
from ops.dashboard import rq_dashboard
from shared.pools import Pool
from shared.queue.mirror import FIELD as REPORT_FIELD
from shared.queue.mirror import REPORTS, Report, Run, encode_report
from shared.queue.streams import FIELD, GROUP, stream_key
from tests.e2e.failing_jobs import FOLDER
from tests.e2e.running import Running, start_failing_worker, until

PASSWORD = "correct horse battery"
FEED = "https://feeds.example.com:8443/news.rss"
LOOKS_S = 20
"""Until a page shows what has happened: a worker reports every half second, the mirror follows every second, and a page asks
every two."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard that runs."""

    url: str
    password: str

    def asked(self, path: str, *, method: str = "GET", password: str | None = None) -> int:
        """The status of one request."""
        user = base64.b64encode(f"coinslot:{self.password if password is None else password}".encode()).decode()
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": f"Basic {user}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return 0

    def wait_until_current(self) -> None:
        """Until it shows the present."""
        give_up_at = time.monotonic() + 60
        while self.asked("/healthz") != 200:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)


def visitor(
    browser: Browser, dashboard: Dashboard, wrong: list[str], width: int = 1280, **options: Any
) -> BrowserContext:
    """Whatever it says in its console, asks in a dialog, or loads from elsewhere, is noted in `wrong`."""
    context = browser.new_context(
        base_url=dashboard.url,
        viewport={"width": width, "height": 900},
        http_credentials={"username": "coinslot", "password": dashboard.password},
        **options,
    )
    context.on("console", lambda message: wrong.append(message.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("dialog", lambda dialog: wrong.append(dialog.message))
    context.on("request", lambda asked: asked.url.startswith(dashboard.url) or wrong.append(f"loads {asked.url}"))
    return context


class Held:
    """The service, with a worker of the `net` pool that runs one job at a time, and holds or fails it when it is told to."""

    def __init__(self, var: Path) -> None:
        self.var = var
        (var / "key").write_text(secrets.token_hex(32))
        (var / "key").chmod(0o600)
        roles: dict[Role, str] = {"queue": "QUEUE_URL", "mirror": "DASHBOARD_REDIS_URL"}
        self.servers = {setting: start_redis(role, var) for role, setting in roles.items()}
        settings = {f"COINSLOT_{setting}": server.url for setting, server in self.servers.items()}
        settings |= {"COINSLOT_KEY_FILE": str(var / "key"), "COINSLOT_LOG": "json"}
        settings |= {"COINSLOT_DASHBOARD_PORT": str(claim_port(0))}
        self.running = Running(var, without=("net",), **settings)
        self.worker: subprocess.Popen[bytes] | None = None
        self.settings = settings

    def start(self) -> Dashboard:
        """All of it, once the ledger is there."""
        give_up_at = time.monotonic() + 60
        while not (self.var / "sandbox.env").exists():
            assert time.monotonic() < give_up_at
            assert self.running.process.poll() is None
            time.sleep(0.05)
        settings = dict(line.split("=", 1) for line in (self.var / "sandbox.env").read_text().splitlines())
        settings |= {**self.settings, FOLDER: str(self.var)}
        self.worker = start_failing_worker("net", self.var / "worker.log", "--threads", "1", **settings)
        self.running.wait_until_serving()
        password = (self.var / "dashboard.password").read_text().strip()
        dashboard = Dashboard(f"http://127.0.0.1:{self.settings['COINSLOT_DASHBOARD_PORT']}", password)
        dashboard.wait_until_current()
        return dashboard

    def buy(self, name: str, **body: str) -> Any:
        """One paid call, once."""
        return self.running.buy(name, body, retry_policy=RetryPolicy(budget_s=0))

    def stop_worker(self) -> None:
        """The one of the `net` pool, which the runner has not started."""
        if self.worker is not None:
            self.worker.terminate()
            self.worker.wait(40)

    def stop(self) -> None:
        """In an order that lets all end well."""
        if self.running.process.poll() is None:
            self.running.end(signal.SIGTERM)
        self.stop_worker()
        for server in self.servers.values():
            server.stop()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Held, Dashboard]]:
    """It takes calls, and its dashboard shows the present."""
    held = Held(tmp_path_factory.mktemp("var"))
    try:
        yield held, held.start()
    finally:
        held.stop()


def count(page: Page, queue: str, state: str) -> Any:
    """The number of a queue's jobs in a state, as the first page shows it."""
    columns = ("queue", "queued", "deferred", "scheduled", "started", "finished", "failed", "canceled")
    row = page.locator("#queues tr[data-role=queue]", has=page.locator(f"td:first-child:text-is('{queue}')"))
    return row.locator("td").nth(columns.index(state))


def test_a_job_is_seen_queued_running_finished_and_failed(held: tuple[Held, Dashboard], browser: Browser) -> None:
    """Given a worker for one job at a time, when it is held, then the next job waits; when it goes on, both finish; and one
    that fails has its cause. The log's line leads to its page, and the page back to the call."""
    service, dashboard = held
    assert f"dashboard      {dashboard.url}/\n" in service.running.told
    assert any(str(service.var / "dashboard.password") in line for line in service.running.told)
    wrong: list[str] = []
    context = visitor(browser, dashboard, wrong)
    expect.set_options(timeout=LOOKS_S * 1000)
    with ThreadPoolExecutor(2) as callers:
        first = callers.submit(service.buy, "rss", url=f"{FEED}?please-hold-1")
        page = context.new_page()
        page.goto("/")
        assert page.title() == "RQ dashboard"
        expect(count(page, "net", "started")).to_have_text("1")
        second = callers.submit(service.buy, "rss", url=FEED)
        expect(count(page, "net", "queued")).to_have_text("1")
        _is_held(page, context)
        (service.var / "released-1").touch()
        assert first.result(60)["ok"]
        assert second.result(60)["ok"]
    page.goto("/")
    expect(count(page, "net", "finished")).to_have_text("2")
    expect(count(page, "net", "started")).to_have_text("0")
    expect(count(page, "net", "queued")).to_have_text("0")

    with pytest.raises(CallFailed) as failed:
        service.buy("rss", url=f"{FEED}?please-fail=%3Csvg/onload=alert(1)%3E&secret-of-mine")
    request_id = (failed.value.problem or {})["requestId"]
    line = _logged(service.running, request_id)
    assert line["cause"] == "internal_error"
    give_up_at = time.monotonic() + LOOKS_S
    while (answer := page.goto(f"/0/view/job/{line['job']}")) is None or answer.status == 404:  # not copied yet
        assert time.monotonic() < give_up_at
    shown = page.locator("#job-data")
    expect(shown).to_contain_text("failed")
    for text in (f"request={request_id}", "cause=internal_error", "endpoint=rss", "net"):
        expect(shown).to_contain_text(text)
    expect(shown).to_contain_text(line["payment"].rpartition(":")[2])  # the part that no other payment has
    payer = line["payment"].split(":")[3]
    assert payer not in shown.inner_text().lower()
    assert "secret-of-mine" not in page.content()
    assert page.locator("button:visible, .btn:visible").count() == 0
    page.goto("/")
    expect(count(page, "net", "failed")).to_have_text("1")
    context.close()
    assert [text for text in wrong if "status of 404" not in text] == []


def _is_held(page: Page, context: BrowserContext) -> None:
    """The pages of a running job: its worker, and what it is."""
    page.goto("/0/view/workers")
    row = page.locator("tr[data-role=worker]", has=page.locator("td:text-is('net')"))
    expect(row.locator("a")).to_have_text("rss()")
    row.locator("a").click()
    shown = page.locator("#job-data")
    expect(shown).to_contain_text("started")
    expect(shown).to_contain_text("request=")
    expect(shown).to_contain_text('"worker": "net.')
    page.goto("/0/view/jobs/net/started/8/asc/1")
    expect(page.locator("tr[data-role=job]")).to_have_count(1)
    page.goto("/0/view/jobs/net/queued/8/asc/1")
    expect(page.locator("tr[data-role=job] .description")).to_have_text("rss")
    assert page.locator(".btn:visible").count() == 0
    page.goto("/")


def _logged(running: Running, request_id: str) -> dict[str, Any]:
    """The API's line about a call."""
    lines = [json.loads(line) for line in running.log().splitlines() if line.startswith("{")]
    (line,) = (
        line for line in lines if line.get("request") == request_id and line["message"] == "paid call not answered"
    )
    return dict(line)


def test_only_looking_is_let_through(held: tuple[Held, Dashboard]) -> None:
    """And only with the password."""
    _, dashboard = held
    assert dashboard.asked("/", password="wrong") == 401
    assert dashboard.asked("/0/data/queues.json", password="") == 401
    assert dashboard.asked("/0/data/queues.json") == 200
    assert dashboard.asked("/static/js/jquery-3.5.1.min.js") == 200
    assert dashboard.asked("/requeue/fast") == 403
    assert dashboard.asked("/requeue/fast", method="HEAD") == 403
    for path in ("/requeue/fast", "/queue/fast/failed/empty", "/job/x/delete"):
        assert dashboard.asked(path, method="POST") == 405


def test_the_password_is_its_owners(held: tuple[Held, Dashboard]) -> None:
    """Nobody else can read the file."""
    service, _ = held
    assert (service.var / "dashboard.password").stat().st_mode & 0o777 == 0o600


def test_no_paid_call_notices_what_the_mirror_does(held: tuple[Held, Dashboard]) -> None:
    """Full, stuck for longer than any call may take, dead: each call is answered at the first try. When the mirror is there
    again, so is the dashboard, although that Redis had forgotten everything."""
    service, dashboard = held
    mirror = service.servers["DASHBOARD_REDIS_URL"]
    with redis.Redis.from_url(mirror.url) as client:
        client.config_set("maxmemory", 1)
        _buy_some(service)
        client.config_set("maxmemory", 0)
        client.execute_command("CLIENT", "PAUSE", 60_000, "ALL")  # type: ignore[no-untyped-call]
        _buy_some(service)
    mirror.process.kill()  # it would wait for its clients
    mirror.process.wait()
    _buy_some(service)
    until(lambda: dashboard.asked("/0/data/queues.json") == 503)
    until(lambda: dashboard.asked("/healthz") == 503)

    port = int(mirror.url.rpartition(":")[2].partition("/")[0])
    service.servers["DASHBOARD_REDIS_URL"] = start_redis("mirror", service.var, port)
    until(lambda: dashboard.asked("/healthz") == 200)
    until(lambda: dashboard.asked("/0/data/queues.json") == 200)
    with redis.Redis.from_url(mirror.url) as client:
        _buy_some(service)
        until(lambda: client.zcard("rq:finished:micro") >= 1)
    reports = "no jobs are reported to the dashboard", "jobs are reported to the dashboard again"
    for said in (*reports, "shows the present again"):
        assert said in service.running.log()


def test_nothing_outlives_a_runner_that_is_killed(held: tuple[Held, Dashboard]) -> None:
    """SIGKILL lets it stop nothing: the kernel tells those that it started. It belongs to tests/e2e/test_processes.py, and is
    here because the service is there and this is its last test."""
    service, _ = held
    service.stop_worker()
    assert len(service.running.kept()) > 3

    service.running.end(signal.SIGKILL)

    until(lambda: service.running.processes() == [])


def _buy_some(service: Held) -> None:
    for _ in range(3):
        assert service.buy("echo", message="hello")["youSent"] == "hello"


RUN = "document.title='run';alert(1)"
PAYLOADS = (
    f'<img src=x onerror="{RUN}">',
    f'<svg onload="{RUN}">',
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><img src=x onerror='{RUN.replace(chr(39), '`')}'>",
    f'<a href="javascript:{RUN}" id=x autofocus onfocus="{RUN}">x</a>',
    f"<%= (function(){{{RUN}}})() %>",
    f"<% {RUN} %>",
    f"${{{RUN}}}",
    f"{{{{ {RUN} }}}}",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    "<style>@import '//127.0.0.1:9/x'</style><img src='//127.0.0.1:9/x'>",
    f'<details open ontoggle="{RUN}">',
    f'&lt;img src=x onerror="{RUN}"&gt;',
    f"\\u003cimg src=x onerror=\\u0022{RUN}\\u0022\\u003e",
    f'\u202e<input autofocus onfocus="{RUN}">',
    f'<form action=//127.0.0.1:9><button autofocus onfocus="{RUN}">',
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dashboard, list[str]]]:
    """The dashboard over a queue and reports in which every text is a payload; and the ids of its jobs."""
    var = tmp_path_factory.mktemp("hostile")
    (var / "password").write_text(PASSWORD)
    with contextlib.ExitStack() as stack:
        urls = {}
        roles: tuple[Role, ...] = ("queue", "mirror")
        for role in roles:
            server = start_redis(role, var)
            stack.callback(server.stop)
            urls[role] = server.url
        with redis.Redis.from_url(urls["queue"]) as queue, redis.Redis.from_url(urls["mirror"]) as mirror:
            _be_hostile(queue, mirror)
            dashboard = Dashboard(f"http://127.0.0.1:{claim_port(0)}", PASSWORD)
            settings = {
                "COINSLOT_QUEUE_URL": urls["queue"],
                "COINSLOT_DASHBOARD_REDIS_URL": urls["mirror"],
                "COINSLOT_DASHBOARD_PORT": dashboard.url.rpartition(":")[2],
                "COINSLOT_DASHBOARD_PASSWORD_FILE": str(var / "password"),
            }
            command = ["env", *(f"{name}={value}" for name, value in settings.items())]
            child = spawn("dashboard", [*command, sys.executable, "-m", "ops.dashboard"], var)
            stack.callback(child.stop)
            dashboard.wait_until_current()
            repeated = threading.Event()
            stack.callback(repeated.set)
            threading.Thread(target=_keep_alive, args=(mirror, repeated), daemon=True).start()
            yield dashboard, [key.decode().removeprefix("rq:job:") for key in mirror.scan_iter("rq:job:*")]
            repeated.set()


def _be_hostile(queue: redis.Redis, mirror: redis.Redis) -> None:
    for number, payload in enumerate(PAYLOADS):
        for stream, name in ((Pool.FAST, f"q{number}"), (Pool.NET, payload)):
            message = {"actor_name": payload, "message_id": name, "message_timestamp": 1, "kwargs": {"body": payload}}
            queue.xadd(stream_key(stream), {FIELD: json.dumps(message)})
    queue.xgroup_create(stream_key(Pool.FAST), GROUP, "0")
    queue.xreadgroup(GROUP, PAYLOADS[0], {stream_key(Pool.FAST): ">"}, count=6)
    mirror.xadd(REPORTS, {REPORT_FIELD: encode_report(_report(_ended(), []))})


def _ended() -> list[Run]:
    now = time.time()
    return [
        Run(f"{state}{number}" if odd else payload, payload, "fast", payload, payload, payload, now, now, *cause)
        for number, payload in enumerate(PAYLOADS)
        for odd in (0, 1)
        for state, cause in (("a", ("", "")), ("f", (payload, payload)))
    ]


def _report(ended: list[Run], running: list[Run], worker: str = PAYLOADS[0]) -> Report:
    return Report(worker, [worker, "fast"], 1, worker, time.time(), running, ended)


def _keep_alive(mirror: redis.Redis, over: threading.Event) -> None:
    """Workers with hostile names go on to run jobs with hostile names."""
    while not over.wait(0.5):
        for number, payload in enumerate(PAYLOADS):
            run = Run(f"r{number}", payload, payload, payload, payload, payload, time.time())
            mirror.xadd(REPORTS, {REPORT_FIELD: encode_report(_report([], [run], f"{number}{payload}"))})


def test_no_text_runs(hostile: tuple[Dashboard, list[str]], browser: Browser) -> None:
    """On no page, whoever wrote it: titles stay, no dialog opens, nothing is loaded from elsewhere, and no policy of the
    browser had to step in."""
    dashboard, ids = hostile
    assert len(ids) > 3 * len(PAYLOADS)
    wrong: list[str] = []
    context = visitor(browser, dashboard, wrong)
    page = context.new_page()
    states = ("queued", "started", "finished", "failed")
    lists = [f"/0/view/jobs/{queue}/{state}/200/asc/1" for queue in ("fast", "net") for state in states]
    # A failed job's page has all fields that those of finished, started, queued and running jobs have: of these, one each.
    others = {"a0", "q0", "q9", "r0"}
    jobs = [job_id for job_id in ids if job_id in others or not re.fullmatch("[aqr][0-9]+", job_id)]
    assert {*(others - {"r0"}), *(f"f{number}" for number in range(len(PAYLOADS)))} < set(jobs)
    seen = 0
    for path in ("/", "/0/view/workers", *lists, *(f"/0/view/job/{job_id}" for job_id in jobs)):
        page.goto(path)
        filled = (
            "#queues [data-role=queue]",
            "#workers [data-role=worker]",
            "#jobs tbody td:not([colspan])",
            "#job-data > *",
        )
        page.locator(", ".join((*filled, "#jobs td:text-is('No jobs.')"))).first.wait_for(timeout=LOOKS_S * 1000)
        assert page.title() == "RQ dashboard"
        assert (
            page.locator("#job-data img, #job-data script, table img, table script, table iframe, table form").count()
            == 0
        )
        seen += "alert_1_" in page.content()
    context.close()
    assert wrong == []
    assert seen > len(PAYLOADS)  # the texts were there, made harmless


@pytest.mark.parametrize("width", [1280, 390])
def test_lists_fit_the_screen_and_have_times_of_day(
    hostile: tuple[Dashboard, list[str]], browser: Browser, width: int
) -> None:
    """However long their texts are, no column is beyond the edge. Times are in UTC, wherever the browser is."""
    dashboard, _ = hostile
    wrong: list[str] = []
    context = visitor(browser, dashboard, wrong, width, timezone_id="Asia/Tokyo")
    page = context.new_page()
    lists = ("/0/view/jobs/fast/started/8/asc/1", "/0/view/jobs/fast/failed/8/dsc/1")
    for path in ("/", "/0/view/workers", *lists):
        page.goto(path)
        page.locator("tr[data-role]:not([data-role=loading-placeholder])").first.wait_for(timeout=LOOKS_S * 1000)
        table = page.locator("[class^=table-responsive]")
        assert table.evaluate("table => table.scrollWidth - table.clientWidth") == 0, path
    shown = [text.inner_text().removeprefix("Failed ") for text in page.locator(".creation_date, .end_date").all()]
    assert shown
    now = datetime.now(UTC)
    for text in shown:
        at = datetime.strptime(text.partition(",")[0], "%Y-%m-%d %H:%M:%SZ").replace(tzinfo=UTC)
        assert abs((now - at).total_seconds()) < 600
    context.close()
    assert wrong == []


def test_these_texts_would_run(hostile: tuple[Dashboard, list[str]], browser: Browser, tmp_path: Path) -> None:
    """rq-dashboard alone, over a job whose description is as it came: so the test above sees what it looks for."""
    server = start_redis("mirror", tmp_path)
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        with redis.Redis.from_url(server.url) as mirror:
            data = {"origin": "fast", "status": "queued", "data": b"", "created_at": "2026-01-01T00:00:00.000000Z"}
            mirror.hset("rq:job:one", mapping={**data, "description": PAYLOADS[0]})
        alone = stack.enter_context(_served(rq_dashboard(server.url)))
        context = browser.new_context()
        stack.callback(context.close)
        page = context.new_page()
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.accept()))
        page.goto(f"{alone}/0/view/job/one")
        page.wait_for_function("document.title === 'run'", timeout=LOOKS_S * 1000)
        assert dialogs


@contextlib.contextmanager
def _served(application: Callable[..., Any]) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        server.server_close()
