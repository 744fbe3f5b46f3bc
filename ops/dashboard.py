"""Run the dashboard of the queues: `python -m ops.dashboard`. It is rq-dashboard, unmodified, over a copy of the queues.

Nothing can be changed from it, by three layers: the copy is in a separate Redis database; rq-dashboard reads it as a Redis
user that may only look (and drop ids without a job from a list, which its pages do); ops/guard.py lets only looking through.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import redis
from granian.constants import HTTPModes, Interfaces
from granian.server import Server
from redis.exceptions import RedisError

from shared.observability.log_redaction import redact_logs
from shared.observability.logs import granian_config
from shared.process.command_line import command_line, run
from shared.process.forked_workers import prepare_forks
from shared.process.setting_names import read_settings
from shared.servers.redis_connection import connect
from shared.settings.secret_files import read_secret
from shared.settings.service import PREFIX, InvalidSetting, Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from werkzeug.wrappers import Response

    from ops.guard import Guard

READER = "coinslot-dashboard"
"""The Redis user of rq-dashboard."""
RULES = ("~rq:*", "+@read", "+lrem", "+srem", "+@connection", "-@dangerous", "+select", "+ping")
"""What it may do. Pages drop ids whose job is gone from a list or a set: without that they would fail."""
THREADS = 4
POLL_MS = 2_000
NO_JOB = "There is no such job here: it began less than two seconds ago, or it ended long ago.\n"
NO_REDIS = "The dashboard's Redis does not answer.\n"
_TEXT = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
_JOBS = "rq_dashboard.jobs_overview"
_OPTIONS = "socket_timeout=3&socket_connect_timeout=1"


class _Plain(json.JSONEncoder):
    """Metadata with its dots as they are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "ensure_ascii": False})


def application() -> Guard:
    """Build the dashboard in granian's worker process, and begin to copy."""
    from ops.guard import Guard
    from ops.projector import Projector

    settings = Settings.from_env(os.environ)
    password = read_password(settings)
    mirror = connect(settings.redis_url(settings.dashboard_redis_url))
    reader_url = allow_reader(mirror, settings.redis_url(settings.dashboard_redis_url), password)
    projector = Projector(
        connect(settings.redis_url(settings.queue_url)), mirror, on_return=lambda: make_reader(mirror, password)
    )
    guard = Guard(rq_dashboard(reader_url), password, projector.is_current)
    redact_logs()
    projector.start()
    return guard


def read_password(settings: Settings) -> str:
    """The dashboard's password. Raises InvalidSetting when there is none, or a short one."""
    from ops.guard import SHORTEST_PASSWORD

    password = read_secret(settings.dashboard_password_file)
    if len(password) < SHORTEST_PASSWORD:
        raise InvalidSetting(
            f"the password in {settings.dashboard_password_file} must have {SHORTEST_PASSWORD} characters or more"
        )
    return password


def allow_reader(mirror: redis.Redis, url: str, password: str) -> str:
    """Make the Redis user that rq-dashboard reads as, and return its URL.

    Raises:
        InvalidSetting: the server does not allow that.
    """
    try:
        secret = make_reader(mirror, password)
    except RedisError as error:
        raise InvalidSetting(
            f"the Redis of {PREFIX}DASHBOARD_REDIS_URL does not let the dashboard make its user: {type(error).__name__}"
        ) from None
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    query = "&".join(part for part in (parts.query, _OPTIONS) if part)
    return urlunsplit((parts.scheme, f"{READER}:{secret}@{place}", parts.path, query, ""))


def make_reader(mirror: redis.Redis, password: str) -> str:
    """Make the Redis user, and return its password. A Redis that starts anew has forgotten it. Raises RedisError."""
    # The same at every start: a second dashboard does not shut out the first.
    secret = hashlib.sha256(f"{READER} {password}".encode()).hexdigest()
    mirror.execute_command("ACL", "SETUSER", READER, "reset", "on", f">{secret}", *RULES)  # type: ignore[no-untyped-call]
    return secret


def rq_dashboard(url: str) -> WSGIApplication:
    """The WSGI application of rq-dashboard, unmodified."""
    from rq.exceptions import NoSuchJobError
    from rq_dashboard.cli import make_flask_app  # type: ignore[import-untyped]
    from rq_dashboard.web import setup_rq_connection  # type: ignore[import-untyped]

    flask = make_flask_app(None, None, None, "")
    flask.config.update(
        RQ_DASHBOARD_REDIS_URL=url,
        RQ_DASHBOARD_DISABLE_DELETE=True,
        RQ_DASHBOARD_POLL_INTERVAL=POLL_MS,
        RQ_DASHBOARD_JSON_ENCODER=_Plain,
        DEPRECATED_OPTIONS=[],
    )
    # rq-dashboard has no page for them: 500 would look like a fault.
    flask.register_error_handler(NoSuchJobError, lambda _: (NO_JOB, 404, _TEXT))
    for lost in (redis.ConnectionError, redis.TimeoutError):
        flask.register_error_handler(lost, lambda _: (NO_REDIS, 503, _TEXT))
    setup_rq_connection(flask)
    flask.before_request(_jobs_of_a_queue)
    flask.url_defaults(_newest_first)
    served: WSGIApplication = flask.wsgi_app
    return served


def _jobs_of_a_queue() -> Response | None:
    """Redirect from a queue that does not exist, such as RQ's `default`, to the queue in which most jobs wait."""
    from flask import current_app, redirect, request, url_for
    from rq import Queue

    if request.endpoint != _JOBS:
        return None
    asked = request.view_args or {}
    queues = sorted(Queue.all(connection=current_app.redis_conn), key=lambda queue: (-queue.count, queue.name))  # type: ignore[attr-defined]
    if not queues or asked["queue_name"] in {queue.name for queue in queues}:
        return None
    return redirect(url_for(_JOBS, **{**asked, "queue_name": queues[0].name}))


def _newest_first(endpoint: str, values: dict[str, Any]) -> None:
    """The list of queues links to jobs that have ended: the last ones first."""
    from flask import request

    is_ended = values.get("registry_name") in ("finished", "failed")
    if endpoint == _JOBS and is_ended and request.endpoint == "rq_dashboard.list_queues":
        values["order"] = "dsc"


def main() -> None:
    """Serve until SIGTERM. Raises InvalidSetting before anything is served."""
    command_line("python -m ops.dashboard", "Show the queues in a browser.").parse_args()
    settings = read_settings(os.environ)
    if not settings.dashboard_redis_url:
        raise InvalidSetting(f"{PREFIX}DASHBOARD_REDIS_URL is not set: there is nothing to show")
    read_password(settings)  # report a mistake before anything is served
    prepare_forks()
    Server(
        "ops.dashboard:application",
        factory=True,
        address=settings.dashboard_host,
        port=settings.dashboard_port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        blocking_threads=THREADS,
        websockets=False,
        log_dictconfig=granian_config(settings.log),
        workers_kill_timeout=5,
    ).serve()


if __name__ == "__main__":
    run("coinslot dashboard", main)
