"""No process uses a ledger of another layout, or an empty one in place of the one that it knows."""

import asyncio
import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from api import __main__ as api_process
from api import redis_client
from api.ledger_servers import LedgerServers
from api.redis_client import RedisLost
from compose import processes
from ops import main as ops_command
from shared.layouts import LEDGER, Layout
from shared.ledger.keys import JOURNAL, LOST, OPEN, RECHECK, RECORDS, REFUNDABLE, record_key
from shared.ledger.layout import ALL, COPYING, EARLIER, EARLIER_KEY, HAS_EARLIER, IS_COPIED, IS_EMPTY, KEYS, checked
from shared.servers import ledger_servers
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_start import RunCheck, known_buckets, refuse_wrong_ledger
from shared.settings.service import InvalidSetting, Settings
from workers.main import create_broker

pytestmark = pytest.mark.anyio

CHARGED = "eip155:8453:0xasset:0xpayer:0xnonce"
EARLIER_RECORD = f"coinslot:payment:{CHARGED}"
ANY_KEY = KEYS[7]


@pytest.fixture
def server(clean_redis: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(clean_redis, decode_responses=True) as client:
        yield client


@pytest.fixture
def settings(clean_redis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of all processes: one Redis and a key file."""
    key = tmp_path / "coinslot.key"
    key.write_text("ab" * 32)
    for name in ("LEDGER_URL", "QUEUE_URL"):
        monkeypatch.setenv(f"COINSLOT_{name}", clean_redis)
    monkeypatch.setenv("COINSLOT_KEY_FILE", str(key))
    monkeypatch.setattr("sys.argv", ["test"])
    return Settings.from_env(os.environ)


each_client = pytest.mark.parametrize("run", [ledger_servers.run_check, redis_client.run_check], ids=["others", "api"])
"""How processes do the check at their start: the API has another client than the others."""


def connected(url: str, *, is_known: bool = False) -> list[str]:
    """What a connection of the worker and one of the API come to: "" when the server may be used."""

    known = set(ALL) if is_known else set[int]()

    async def by_api() -> None:
        servers = LedgerServers([url], known=known)
        try:
            await servers.commands.call("GET", ANY_KEY)
        finally:
            servers.close()

    found = []
    with closing(LedgerConnections([url], known=known)) as by_worker:
        for ask in (lambda: by_worker.call("GET", ANY_KEY), lambda: asyncio.run(by_api())):
            try:
                ask()
                found.append("")
            except (redis.ConnectionError, RedisLost) as error:
                found.append(str(error))
    return found


@each_client
def test_an_empty_ledger_gets_the_number(server: redis.Redis, settings: Settings, run: RunCheck) -> None:
    """And the processes that start later find it."""
    for _ in range(2):
        refuse_wrong_ledger(settings, run)
        assert server.mget(KEYS) == [str(LEDGER.written)] * len(KEYS)
        assert known_buckets(settings) == set(ALL)


@pytest.mark.parametrize("keys", [{EARLIER_KEY: "2"}, {JOURNAL[7]: "a line"}], ids=["its number", "its journal"])
@each_client
def test_a_ledger_of_this_layout_without_a_number_is_adopted(
    server: redis.Redis, settings: Settings, run: RunCheck, keys: dict[str, str]
) -> None:
    """Given what the version before this one has left, also when this service has used it, then the number is written."""
    (settings.key_file.with_name("coinslot.key.ledger")).write_text("1 of 1")
    server.mset({**keys, record_key(CHARGED): "a record"})
    refuse_wrong_ledger(settings, run)
    assert server.mget(KEYS) == [str(LEDGER.written)] * len(KEYS)


@each_client
def test_a_ledger_of_another_layout_is_refused(server: redis.Redis, settings: Settings, run: RunCheck) -> None:
    """Given the number of a later version, or keys of an earlier one beside those of today, then nothing is written, and the
    sentence names the server and what to do."""
    for key in (EARLIER_KEY, ANY_KEY):
        server.flushall()
        server.set(key, "3")
        with pytest.raises(
            InvalidSetting, match=r"ledger at 127\.0\.0\.1:.*has layout 3, and this version reads layout 2: start "
        ):
            refuse_wrong_ledger(settings, run)
        assert server.keys() == [key]
    for earlier in (EARLIER_RECORD, *EARLIER):
        server.flushall()
        server.mset({earlier: "of an earlier version", **{f"filler:{n}": "" for n in range(50)}})
        with pytest.raises(InvalidSetting, match=HAS_EARLIER):
            refuse_wrong_ledger(settings, run)
        assert not server.exists(*KEYS)


@each_client
def test_a_ledger_that_is_being_copied_is_refused(
    server: redis.Redis, settings: Settings, clean_redis: str, run: RunCheck
) -> None:
    """Also as a new one, and where it has a journal already. Nothing is written."""
    server.mset(dict.fromkeys(KEYS, COPYING))
    server.xadd(JOURNAL[7], {"payment": CHARGED})
    for is_new in (False, True):
        with pytest.raises(InvalidSetting, match="coinslot-ops ledger copy"):
            refuse_wrong_ledger(settings, run, is_new=is_new)
    assert connected(clean_redis) == connected(clean_redis, is_known=True) == [IS_COPIED] * 2
    assert set(server.mget(KEYS)) == {COPYING}
    server.delete(ANY_KEY)  # of one bucket alone
    assert connected(clean_redis) == [IS_COPIED] * 2
    assert not server.exists(ANY_KEY)


def test_a_connection_to_a_ledger_of_another_layout_is_not_used(server: redis.Redis, clean_redis: str) -> None:
    """Given a process that started before its ledger did, then the connection is refused in the same words."""
    server.set(ANY_KEY, "3")
    assert all("it has layout 3" in why for why in connected(clean_redis))
    server.flushall()
    server.xadd(EARLIER[0], {"payment": CHARGED})
    assert connected(clean_redis) == [HAS_EARLIER] * 2
    server.flushall()
    assert connected(clean_redis, is_known=True) == [IS_EMPTY] * 2
    assert server.keys() == []
    assert connected(clean_redis) == [""] * 2


def test_keys_of_this_layout_are_not_those_of_an_earlier_one() -> None:
    """Whatever is added to the ledger."""
    today = {name for names in (OPEN, REFUNDABLE, RECHECK, LOST, JOURNAL, RECORDS) for name in names}
    assert today.isdisjoint(EARLIER)
    assert not any(name.startswith("coinslot:payment:") for name in today)


@each_client
def test_an_empty_server_in_a_full_ones_place_needs_the_operators_word(
    server: redis.Redis, settings: Settings, run: RunCheck
) -> None:
    """Given a ledger that was used, when the server at its address is empty at the next start, then the start is refused until
    --new-ledger says that the payments are lost. From then on the new one is the ledger."""
    refuse_wrong_ledger(settings, run)
    server.flushall()
    for _ in range(2):
        with pytest.raises(InvalidSetting, match=f"127.0.0.1.*{IS_EMPTY.partition('(')[0]}"):
            refuse_wrong_ledger(settings, run)
        assert server.keys() == []
    assert "--new-ledger" in IS_EMPTY
    refuse_wrong_ledger(settings, run, is_new=True)
    refuse_wrong_ledger(settings, run)


async def test_a_running_process_does_not_take_an_empty_server_for_its_ledger(
    server: redis.Redis, clean_redis: str
) -> None:
    """Given a ledger that comes back without its data while the API and a worker run, then neither uses it, and nothing is
    written, until somebody has said that it is a new one."""
    api = LedgerServers([clean_redis])
    with closing(LedgerConnections([clean_redis])) as worker:
        await api.commands.call("GET", ANY_KEY)
        worker.call("GET", ANY_KEY)
        server.flushall()
        server.client_kill_filter(_type="normal", skipme=True)
        for why in (".", "it is empty"):  # the first command finds out that the connection was closed
            with pytest.raises(redis.ConnectionError, match=why):
                worker.call("GET", ANY_KEY)
            with pytest.raises(RedisLost, match=why):
                await api.commands.call("GET", ANY_KEY)
        assert server.keys() == []
        assert ledger_servers.run_check(clean_redis, checked(ALL, set())) == ""
        assert (worker.call("GET", ANY_KEY), await api.commands.call("GET", ANY_KEY)) == (b"2", b"2")
        server.delete(ANY_KEY)
        with closing(LedgerConnections([clean_redis], known={7})) as other, pytest.raises(redis.ConnectionError) as why:
            other.call("GET", ANY_KEY)
        assert str(why.value) == IS_EMPTY  # one bucket is gone, whatever the others have
    api.close()


def test_a_server_that_does_not_answer_stops_no_start(settings: Settings) -> None:
    """And is not known then."""
    away = dataclasses.replace(settings, ledger_url="redis://127.0.0.1:1/0")
    for run in (ledger_servers.run_check, redis_client.run_check):
        refuse_wrong_ledger(away, run)
    assert known_buckets(away) == set()


def test_where_nothing_can_be_noted_the_service_starts(settings: Settings) -> None:
    """A key file may be mounted where nobody writes."""
    unwritable = dataclasses.replace(settings, key_file=Path("/proc/coinslot.key"))
    refuse_wrong_ledger(unwritable, ledger_servers.run_check)
    assert known_buckets(unwritable) == set()


def started_api() -> None:
    with pytest.raises(InvalidSetting) as refused:
        api_process.main()
    raise SystemExit(str(refused.value))


def started_supervisor() -> None:
    raise SystemExit(processes.main([]))


def asked(*arguments: str) -> Callable[[], None]:
    def ask() -> None:
        raise SystemExit(ops_command.main(arguments))

    return ask


@pytest.mark.parametrize(
    ("start", "code"),
    [
        (started_api, None),
        (create_broker, None),
        (started_supervisor, 1),
        (asked("payments"), 3),
        (asked("payments", "--id", CHARGED), 3),
        (asked("top", "--once"), 3),
    ],
    ids=["api", "worker", "supervisor", "payments", "payment", "top"],
)
def test_every_process_refuses_in_a_sentence(
    server: redis.Redis, settings: Settings, capsys: pytest.CaptureFixture[str], start: Any, code: int | None
) -> None:
    """Given a charged call of an earlier layout, then none starts, or says that no payment needs anybody."""
    server.hset(EARLIER_RECORD, "state", "DONE")
    with pytest.raises(SystemExit) as ended:
        start()
    said = capsys.readouterr()
    assert HAS_EARLIER in (said.err if code is not None else str(ended.value.code))
    assert "No payment" not in said.out
    if code is not None:
        assert ended.value.code == code
    assert server.keys() == [EARLIER_RECORD]


def test_an_operator_who_looks_writes_nothing(server: redis.Redis, settings: Settings) -> None:
    """Given an empty ledger, then coinslot-ops reads it and leaves it as it is."""
    assert ops_command.main(["payments"]) == 0
    assert server.keys() == []


def test_an_earlier_layout_that_is_read_is_raised(
    server: redis.Redis, settings: Settings, clean_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that writes a new layout says so, and the one before it, which reads both, can still be started."""
    known = LEDGER.written
    server.mset(dict.fromkeys(KEYS, known))
    monkeypatch.setattr("shared.ledger.layout.LEDGER", Layout(known + 1, frozenset({known, known + 1})))
    assert connected(clean_redis) == ["", ""]
    assert set(server.mget(KEYS)) == {str(known + 1)}
    monkeypatch.setattr("shared.ledger.layout.LEDGER", Layout(known, frozenset({known, known + 1})))
    assert connected(clean_redis) == ["", ""]
    assert set(server.mget(KEYS)) == {str(known + 1)}
    monkeypatch.undo()
    assert all(f"it has layout {known + 1}" in why for why in connected(clean_redis))
