"""What another version has written is neither lost nor misread: it is left for a version that reads it."""

import time
from pathlib import Path
from typing import Any

import dramatiq
import httpx
import msgspec
import pytest
import redis

from api import __main__ as api_process
from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import NO_REPLY, READ_TIMEOUT_S, ReplyReader
from jobs.catalogue import BY_NAME
from shared.layouts import ANSWERS, MESSAGES, REPLIES
from shared.ledger.keys import in_every_bucket
from shared.outcome import Ok
from shared.queue.replies import Reply, encode_reply
from shared.queue.streams import GROUP, stream_key
from shared.sealing.sealing import Sealer
from shared.servers.queue_start import KEY
from shared.settings.service import InvalidSetting, Settings
from tests.api.paying import Payer, paid_with
from workers.main import create_broker

ECHO = "/v1/cdp/echo"
SOLD = (BY_NAME["echo"],)

pytestmark = pytest.mark.anyio


async def test_an_answer_of_another_version_is_a_503_until_that_version_runs(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    payer: Payer,
    clean_redis: str,
    settings: Settings,
) -> None:
    """A 402 would make the caller pay again. The same payment brings the answer when a version runs that reads it."""
    headers = paid_with(payer.payment())
    first = await shop.post(ECHO, json={"message": "hello"}, headers=headers)
    assert first.status_code == 200
    with redis.Redis.from_url(clean_redis) as ledger:
        (key,) = ledger.keys(in_every_bucket("answer:*"))  # type: ignore[misc]
        kept: Any = ledger.get(key)
        sealer = Sealer(bytes.fromhex(settings.key_file.read_text().strip()), "answers")
        payment_id = key.decode().partition(":answer:")[2]
        newer = Ok(b"{}", layout=ANSWERS.written + 1), ["another form", {}]
        for content in newer:
            ledger.set(key, sealer.seal(msgspec.msgpack.encode(content), f"{payment_id}|echo".encode()))
            answer = await shop.post(ECHO, json={"message": "hello"}, headers=headers)
            problem = answer.json()
            said = (answer.status_code, problem["reason"], problem["charged"], problem["retryWithSamePayment"])
            assert said == (503, "answer_layout", True, True)
        ledger.set(key, kept)
    assert (await shop.post(ECHO, json={"message": "hello"}, headers=headers)).content == first.content


async def test_a_reply_of_another_version_ends_the_wait(clean_redis: str) -> None:
    """The answer is then fetched from the ledger, as after a reply that was lost."""
    queue = Redis(clean_redis, timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S)
    reader = ReplyReader(queue)
    waiting = reader.expect("job")
    reader.start()
    try:
        with redis.Redis.from_url(clean_redis) as client:
            client.rpush(reader.address, encode_reply(Reply("job", b"sealed", layout=REPLIES.written + 1)))
        assert await waiting == NO_REPLY
    finally:
        await reader.stop()
        queue.close()


@pytest.fixture
def environment(clean_redis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> redis.Redis:
    """Of a process that is about to start; the queue."""
    (tmp_path / "coinslot.key").write_text("ab" * 32)
    monkeypatch.setenv("COINSLOT_LEDGER_URL", clean_redis)
    monkeypatch.setenv("COINSLOT_QUEUE_URL", clean_redis)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(tmp_path / "coinslot.key"))
    monkeypatch.setattr("sys.argv", ["test"])
    monkeypatch.setattr(api_process, "serve", lambda *_: None)
    monkeypatch.setattr(api_process, "prepare_forks", lambda: None)
    return redis.Redis.from_url(clean_redis)


def _started(queue: redis.Redis, name: str) -> str:
    """What an API process that starts beside this worker says; empty when it starts."""
    queue.delete(stream_key("micro"))
    queue.xgroup_create(stream_key("micro"), GROUP, mkstream=True)
    queue.xgroup_createconsumer(stream_key("micro"), GROUP, name)
    try:
        api_process.main()
    except InvalidSetting as error:
        return str(error)
    return ""


def test_an_api_does_not_start_beside_workers_that_cannot_read_it(environment: redis.Redis) -> None:
    """Those of the first release have no number in their names. A stream without a group has no workers."""
    written, known = MESSAGES.written, f"host:{32 * 'a'}"
    assert _started(environment, f"{known}:{written - 1}-{written}") == ""
    assert _started(environment, f"{known}:{written}-{written + 1}") == ""
    assert (_started(environment, known) == "") == (written == MESSAGES.unnumbered)
    for oldest in (written - 1, written + 1):
        why = _started(environment, f"{known}:{oldest}-{oldest}")
        assert f"a worker of host reads messages of layout {oldest} to {oldest}" in why
    environment.delete(stream_key("micro"))
    environment.xadd(stream_key("micro"), {"m": b"of an API that was there first"})
    api_process.main()


def test_a_worker_does_not_start_where_the_api_writes_what_it_cannot_read(environment: redis.Redis) -> None:
    """The API that started last has left its number."""
    api_process.main()
    assert environment.get(KEY) == str(MESSAGES.written).encode()
    create_broker(SOLD).close()
    environment.set(KEY, MESSAGES.written + 1)
    with pytest.raises(
        SystemExit, match=r"coinslot worker: the queue at .*: it has layout \d+, and this version reads"
    ):
        create_broker(SOLD)


async def test_a_worker_leaves_messages_of_another_version(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, clean_redis: str
) -> None:
    """While it waits for such a worker to take one, nothing of its pool is sold. What it can run, it runs."""
    with redis.Redis.from_url(clean_redis) as queue:
        kwargs = {"deadline_ms": int(time.time() * 1000) + 60_000}
        message = dramatiq.Message("micro", "echo", (), kwargs, {"layout": MESSAGES.written + 1})
        queue.xadd(stream_key("micro"), {"m": message.encode()})
        headers = paid_with(payer.payment())
        while (answer := await shop.post(ECHO, json={"message": "hello"}, headers=headers)).status_code == 200:
            headers = paid_with(payer.payment())
        problem = answer.json()
        assert (answer.status_code, problem["reason"], problem["charged"]) == (503, "outdated", False)
        assert queue.xlen(stream_key("micro")) == 1
        queue.delete(stream_key("micro"))
