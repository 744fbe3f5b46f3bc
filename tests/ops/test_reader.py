"""rq-dashboard reads the mirror as a Redis user that can change nothing: every page works, and every button would fail."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import NoPermissionError, ResponseError

from ops.dashboard import READER, allow_reader, make_reader, read_password, rq_dashboard
from ops.projector import Projector
from ops.rq_keys import WORKERS
from shared.pools import Pool
from shared.queue.streams import stream_key
from shared.settings.service import InvalidSetting, Settings
from tests.ops.conftest import a_run, answered, enqueue, failed, fetch, report

PASSWORD = "correct horse battery"


@pytest.fixture
def reader(mirror: redis.Redis, mirror_url: str) -> redis.Redis:
    """rq-dashboard's connection."""
    return redis.Redis.from_url(allow_reader(mirror, mirror_url, PASSWORD))


Get = Callable[[str], Any]


@pytest.fixture
def get(mirror: redis.Redis, mirror_url: str) -> Get:
    """Asks rq-dashboard itself, without the guard."""
    application = rq_dashboard(allow_reader(mirror, mirror_url, PASSWORD))
    client = application.__self__.test_client()  # type: ignore[attr-defined]  # the Flask application

    def get(path: str) -> Any:
        answer = client.get(path, follow_redirects=True)
        answer.get_data()
        answer.close()
        return answer

    return get


def fill(queue: redis.Redis, mirror: redis.Redis) -> None:
    """Jobs in every state, and a worker."""
    for number in range(203):
        enqueue(queue, f"job-{number}")
    fetch(queue, 3)
    report(mirror, running=[a_run("job-0")], ended=[answered("a"), failed("b")])
    projector = Projector(queue, mirror)
    projector.tick()
    projector.tick()


PAGES = (
    *("/", "/0/view/queues", "/0/view/workers", "/0/view/jobs", "/0/view/job/job-0", "/0/data/queues.json"),
    *("/0/data/workers.json", "/0/data/job/job-0.json", "/0/data/job/b.json", "/0/data/job/job-50.json"),
    *(f"/0/data/jobs/fast/{registry}/8/asc/1.json" for registry in ("queued", "started", "finished", "failed")),
    "/0/data/jobs/fast/queued/8/dsc/20.json",
    "/static/css/main.css",
)


def test_every_page_works(queue: redis.Redis, mirror: redis.Redis, get: Get) -> None:
    """The last page of a long list among them."""
    fill(queue, mirror)
    assert {path: get(path).status_code for path in PAGES} == dict.fromkeys(PAGES, 200)
    states = {row["name"]: row for row in get("/0/data/queues.json").json["queues"]}
    assert states["fast"]["count"] == 200
    assert states["fast"]["started_job_registry_count"] == 3
    assert states["fast"]["finished_job_registry_count"] == 1
    assert states["fast"]["failed_job_registry_count"] == 1
    (shown,) = get("/0/data/jobs/fast/failed/8/asc/1.json").json["jobs"]
    assert shown["exc_info"].startswith("cause=timeout\n")
    assert "0x3056…da2f" in get("/0/data/job/b.json").json["metadata"]
    (worker,) = get("/0/data/workers.json").json["workers"]
    assert worker["current_job"]["job_id"] == "job-0"


def test_jobs_open_where_most_wait(queue: redis.Redis, mirror: redis.Redis, get: Get) -> None:
    """RQ's own queue `default` is none of ours, and a name that somebody has typed may be none. Without any queue nothing is
    opened."""
    assert get("/0/view/jobs").history == ()
    for number in range(2):
        enqueue(queue, f"waits-{number}", pool=Pool.NET)
    Projector(queue, mirror).tick()
    for path, opened in (
        ("/0/view/jobs", "/0/view/jobs/net/queued/8/asc/1"),
        ("/0/view/jobs/default/failed/20/dsc/1", "/0/view/jobs/net/failed/20/dsc/1"),
        ("/0/view/jobs/fast/queued/8/asc/1", "/0/view/jobs/fast/queued/8/asc/1"),
    ):
        assert get(path).request.path == opened


def test_ended_jobs_are_listed_the_last_one_first(queue: redis.Redis, mirror: redis.Redis, get: Get) -> None:
    """By the links of the first page; a list that is asked for in the other order has links in that order."""
    fill(queue, mirror)
    (fast,) = [row for row in get("/0/data/queues.json").json["queues"] if row["name"] == "fast"]
    orders = {name: fast[f"{name}_url"].split("/")[-2] for name in ("queued", "started", "finished", "failed")}
    assert orders == {"queued": "asc", "started": "asc", "finished": "dsc", "failed": "dsc"}
    assert "/failed/8/asc/" in get("/0/data/jobs/fast/failed/8/asc/1.json").json["pagination"]["first_page"]["url"]


def test_every_page_works_when_jobs_have_vanished(queue: redis.Redis, mirror: redis.Redis, get: Get) -> None:
    """rq-dashboard then drops their ids from the list, which its user may; the next tick repairs the list."""
    fill(queue, mirror)
    mirror.delete(*mirror.scan_iter("rq:job:job-*"), *mirror.scan_iter("rq:worker:*"))
    assert mirror.scard(WORKERS) == 1
    pages = [path for path in PAGES if "/job/" not in path]
    assert {path: get(path).status_code for path in pages} == dict.fromkeys(pages, 200)
    assert mirror.scard(WORKERS) == 0
    Projector(queue, mirror).tick()
    assert mirror.llen("rq:queue:fast") == 200
    assert queue.xlen(stream_key(Pool.FAST)) == 203


def test_a_job_that_is_not_there_is_no_fault(get: Get) -> None:
    """A log's line may be older than what is kept."""
    for path in ("/0/view/job/nothing", "/0/data/job/nothing.json"):
        assert get(path).status_code == 404


def test_a_redis_that_is_gone_is_no_fault() -> None:
    """503, on every page that asks it."""
    client = rq_dashboard("redis://127.0.0.1:1/0").__self__.test_client()  # type: ignore[attr-defined]
    for path in ("/0/view/workers", "/0/data/queues.json", "/0/view/job/nothing"):
        assert client.get(path).status_code == 503


def test_the_user_can_change_nothing(mirror: redis.Redis, reader: redis.Redis) -> None:
    """Neither RQ's keys nor any other, and it sees no other."""
    mirror.set("coinslot:queue:fast", "kept")
    mirror.hset("rq:job:a", "status", "failed")
    mirror.zadd("rq:failed:fast", {"a": 1})
    mirror.rpush("rq:queue:fast", "a")
    for command in (
        *(
            "GET coinslot:queue:fast",
            "SET rq:queue:fast x",
            "DEL rq:job:a",
            "ZREM rq:failed:fast a",
            "RPUSH rq:queue:fast b",
        ),
        *(
            "HSET rq:job:a status x",
            "EXPIRE rq:job:a 1",
            "FLUSHDB",
            "KEYS *",
            "CONFIG GET *",
            "ACL LIST",
            "XADD rq:x * a b",
        ),
        *("EVAL return{} 0", "LREM coinslot:queue:fast 0 a", "UNLINK rq:job:a", "RENAME rq:job:a rq:job:b", "SHUTDOWN"),
    ):
        with pytest.raises((NoPermissionError, ResponseError), match=r"(?i)permission"):
            reader.execute_command(*command.split())  # type: ignore[no-untyped-call]
    assert reader.hget("rq:job:a", "status") == b"failed"


def test_a_redis_that_makes_no_users_is_refused(mirror: redis.Redis, mirror_url: str) -> None:
    """The dashboard does not start with more rights than it needs."""
    mirror.execute_command("ACL", "SETUSER", "poor", "reset", "on", "nopass", "~*", "+@all", "-acl")  # type: ignore[no-untyped-call]
    poor = redis.Redis.from_url(mirror_url.replace("redis://", "redis://poor:x@"))
    with pytest.raises(InvalidSetting, match="does not let the dashboard make its user: NoPermissionError"):
        allow_reader(poor, mirror_url, PASSWORD)


def test_a_missing_or_short_password_is_refused(tmp_path: Path, password_file: Path) -> None:
    """Before anything is served."""
    assert read_password(Settings(dashboard_password_file=password_file)) == PASSWORD
    password_file.write_text("short")
    with pytest.raises(InvalidSetting, match="12 characters or more"):
        read_password(Settings(dashboard_password_file=password_file))
    with pytest.raises(InvalidSetting, match="there is no such file"):
        read_password(Settings(dashboard_password_file=tmp_path / "nothing"))


def test_the_user_comes_back_with_its_redis(mirror: redis.Redis, reader: redis.Redis) -> None:
    """With the same password, so the dashboard's connections work again."""
    assert reader.ping()
    mirror.execute_command("ACL", "DELUSER", READER)  # type: ignore[no-untyped-call]
    reader.connection_pool.disconnect()
    with pytest.raises(redis.AuthenticationError):
        reader.ping()
    make_reader(mirror, PASSWORD)
    assert reader.ping()
