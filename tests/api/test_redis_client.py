"""The RESP client against a real Redis, and against servers that fail on purpose."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from api.redis_client import Redis, RedisBroken, RedisLost, RedisRefused, Script, _open
from compose.sandbox.child import ROOT
from compose.sandbox.redis_server import start_redis
from shared.ledger.layout import ALL, checked
from shared.lua_script import LuaScript, read
from tests.each import each
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
async def closed_connections() -> AsyncIterator[None]:
    """A connection that was given up is closed by the loop a moment later: the test waits for that."""
    yield
    await asyncio.sleep(0.05)


@pytest.fixture
async def client(clean_redis: str) -> AsyncIterator[Redis]:
    client = Redis(clean_redis)
    yield client
    client.close()


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server that does what the handler does, at a URL."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_answers_come_in_the_order_of_the_commands(client: Redis) -> None:
    """A thousand callers share one connection and each gets its own answer."""
    answers = await asyncio.gather(*(client.call("ECHO", f"{number}") for number in range(1_000)))
    assert answers == [f"{number}".encode() for number in range(1_000)]


async def test_every_kind_of_answer_is_read(client: Redis) -> None:
    """Status, integer, bytes, nothing, and lists of them; arguments may be text, bytes and numbers."""
    assert await client.call("SET", "a", b"\x00\xff") == b"OK"
    assert await client.call("GET", "a") == b"\x00\xff"
    assert await client.call("GET", "b") is None
    assert await client.call("RPUSH", "c", 1, 2.5, "x") == 3
    assert await client.call("LRANGE", "c", 0, -1) == [b"1", b"2.5", b"x"]


async def test_an_error_is_for_its_caller_alone(client: Redis) -> None:
    """The commands before and behind it are answered."""
    first, refused, last = await asyncio.gather(
        client.call("SET", "a", "1"), client.call("LPUSH", "a", "1"), client.call("GET", "a"), return_exceptions=True
    )
    assert (first, last) == (b"OK", b"1")
    assert isinstance(refused, RedisRefused)
    assert str(refused).startswith("WRONGTYPE")


async def test_a_script_is_sent_once_by_its_text(client: Redis) -> None:
    """Also after Redis forgot it."""
    script = Script(client, LuaScript("local key = unpack(KEYS)\nlocal number = unpack(ARGV)\nreturn {key, number}"))
    for _ in range(2):
        assert await script(key="k", number=5) == [b"k", b"5"]
        assert await script(key="k", number=6) == [b"k", b"6"]
        await client.call("SCRIPT", "FLUSH")


@each("file", sorted(file for folder in ("api", "shared", "workers") for file in (ROOT / folder).rglob("*.lua")))
async def test_each_file_is_lua(client: Redis, file: Path) -> None:
    """Also before its constants have values: they are names until then."""
    assert await client.call("SCRIPT", "LOAD", read(file))


async def test_a_script_that_fails_is_not_sent_again(client: Redis) -> None:
    """Only NOSCRIPT says that it did not run."""
    text = "local key = unpack(KEYS)\nredis.call('INCR', key)\nreturn redis.call('LPUSH', key, 1)"
    script = Script(client, LuaScript(text))
    with pytest.raises(RedisRefused):
        await script(key="n")
    assert await client.call("GET", "n") == b"1"


async def test_a_restart_is_survived(tmp_path: Path) -> None:
    """Callers in flight are told, the next one connects again."""
    server = start_redis("queue", tmp_path)
    port = int(server.url.rsplit(":", 1)[1].partition("/")[0])
    client = Redis(server.url)
    assert await client.call("PING") == b"PONG"
    waiting = asyncio.create_task(client.call("BLPOP", "nothing", 2))
    await asyncio.sleep(0.1)
    server.stop()
    with pytest.raises(RedisLost):
        await waiting
    with pytest.raises(RedisLost):
        await client.call("PING")
    server = start_redis("queue", tmp_path, port=port)
    try:
        assert await client.call("PING") == b"PONG"
    finally:
        client.close()
        server.stop()


async def test_many_callers_wait_for_one_connection(clean_redis: str) -> None:
    """A hundred first calls at once connect once."""
    client = Redis(clean_redis)
    connections = await asyncio.gather(*(client.call("CLIENT", "ID") for _ in range(100)))
    assert len(set(connections)) == 1
    client.close()


async def test_silence_is_given_up() -> None:
    """Everybody on the connection is told, and the next call makes a new one."""
    connections = 0

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.read(-1)
        writer.close()

    async with serving(silent) as url:
        client = Redis(url, timeout_s=0.1)
        answers = await asyncio.gather(*(client.call("PING") for _ in range(3)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [RedisLost] * 3
        with pytest.raises(RedisLost):
            await client.call("PING")
        assert connections == 2


@pytest.mark.parametrize("sent", [b"", b"+PON", b"nonsense\r\n", b"+PONG\r\n+PONG\r\n"], ids=repr)
async def test_a_broken_answer_ends_the_connection(sent: bytes) -> None:
    """Cut off, unreadable, or one too many: nobody gets another's answer."""

    async def broken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with serving(broken) as url:
        client = Redis(url, timeout_s=1.0)
        first = (await asyncio.gather(client.call("PING"), return_exceptions=True))[0]
        assert first == b"PONG" or isinstance(first, RedisLost)
        await asyncio.sleep(0.05)
        second = (await asyncio.gather(client.call("ECHO", "mine"), return_exceptions=True))[0]
        assert second == b"PONG" or isinstance(second, RedisLost)
        client.close()


async def test_a_connection_that_is_lost_before_its_first_command_is_broken() -> None:
    """On a busy machine it is, between its opening and its check. So a script that may be sent again is, over a new one."""

    async def leaving(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(leaving) as url:
        connection = await _open(url, None, 1.0)
        while not connection.is_lost:  # noqa: ASYNC110
            await asyncio.sleep(0)
        answer: asyncio.Future[object] = connection.loop.create_future()
        connection.send(("PING",), answer)
        with pytest.raises(RedisBroken):
            await answer


async def test_nobody_there_is_lost_at_once() -> None:
    """A refused connection is no time-out."""
    with pytest.raises(RedisLost, match="cannot connect"):
        await Redis("redis://127.0.0.1:1").call("PING")


async def test_a_caller_that_went_away_does_not_shift_the_answers(client: Redis) -> None:
    """Its answer is dropped, and the others get theirs."""
    calls = [asyncio.create_task(client.call("ECHO", f"{number}")) for number in range(10)]
    await asyncio.sleep(0)
    calls[3].cancel()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, bytes)] == [
        f"{number}".encode() for number in range(10) if number != 3
    ]


async def test_a_connection_that_is_made_while_it_is_closed_is_closed_too() -> None:
    """Given a process that stops before it has its connection, then none is left behind."""
    ended = asyncio.Event()

    async def until_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        ended.set()
        writer.close()

    async with serving(until_the_end) as url:
        client = Redis(url)
        call = asyncio.ensure_future(client.call("PING"))
        await asyncio.sleep(0)
        client.close()
        with pytest.raises(RedisLost):
            await call
        await asyncio.wait_for(ended.wait(), 5)


async def test_an_attempt_that_is_cut_short_leaves_no_connection() -> None:
    """Given a server that accepts and says nothing, when the event loop ends before the time of the attempt does, then it is
    closed: whoever waits gets no answer, and the server sees the end."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        asked.set()
        await reader.read()
        ended.set()
        writer.close()

    async with serving(silent) as url:
        client = Redis(url, check=lambda: checked(ALL, set()), timeout_s=600)
        before = asyncio.all_tasks()
        call = asyncio.create_task(client.call("PING"))
        await asked.wait()
        for task in asyncio.all_tasks() - before:  # as asyncio.run does at its end
            if "silent" not in repr(task):
                task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(patience(5)):
            await ended.wait()
