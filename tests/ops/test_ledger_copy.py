"""A ledger of plain servers is copied into a cluster, whole or not at all."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from ops import ledger_copy
from ops.queries import Failed
from shared.ledger.channels import CHANNELS, channel_key
from shared.ledger.keys import BUCKETS, JOURNAL, OPEN, PREFIXES, RECORDS, SELLERS
from shared.ledger.layout import COPYING, EARLIER_KEY, EARLIER_PLACE, KEYS
from shared.servers.ledger_servers import ledger_client, run_check
from shared.servers.ledger_start import WrongLedger, refuse_wrong_ledger
from shared.settings.service import Settings

COUNT = 2
CHANNEL = "0x" + "ab" * 32


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[RedisCluster]:
    """Three nodes of a cluster, and two plain servers."""
    with redis_cluster(tmp_path, 3, 0) as made:
        for _ in range(COUNT):
            made.add(is_plain=True)
        yield made


@pytest.fixture
def sources(nodes: RedisCluster) -> list[redis.Redis]:
    """As 0.2.0 has left them: each with its own buckets, and with leftovers of others."""
    servers = nodes.clients[3:]
    for number, server in enumerate(servers):
        server.mset({EARLIER_KEY: 2, EARLIER_PLACE: f"{number + 1} of {COUNT}", "coinslot:fence": ""})
        for bucket in range(BUCKETS):
            is_own = bucket % COUNT == number
            name = f"id-{bucket}" if is_own else "leftover"
            server.hset(RECORDS[bucket] + name, mapping={"state": "DONE", "receipt": b"\xff\x00"})
            server.pexpire(RECORDS[bucket] + name, 10_000_000)
            server.zadd(OPEN[bucket], {name: 1.5})
            server.xadd(JOURNAL[bucket], {"payment": name, "event": "DONE"})
    server = servers[1]
    server.zadd(CHANNELS[1], {CHANNEL: 1})
    server.hset(channel_key(1, CHANNEL), mapping={"charged": "500", "inflight": "0", "top": "500"})
    return servers


@pytest.fixture
def settings(nodes: RedisCluster, tmp_path: Path) -> Settings:
    return dataclasses.replace(Settings(), ledger_url=",".join(nodes.urls[:3]), key_file=tmp_path / "coinslot.key")


def listed(nodes: RedisCluster) -> str:
    return ",".join(nodes.urls[3:])


def test_all_that_belongs_to_each_server_is_copied(
    nodes: RedisCluster, sources: list[redis.Redis], settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its time to live, and after a copy that was broken off and left keys that are gone since."""
    settings.key_file.with_name("coinslot.key.ledger").write_text("used")
    with ledger_client(settings.ledger_urls) as ledger:
        for key in KEYS:
            ledger.set(key, COPYING)
        ledger.set(f"{PREFIXES[4]}gone", "1")
        with pytest.raises(WrongLedger, match="a copy into it is under way, or broke off"):
            refuse_wrong_ledger(settings, run_check)
        assert ledger_copy.report(settings, listed(nodes)) == 0
        assert "copied: 194 keys" in capsys.readouterr().out
        assert not ledger.exists(f"{PREFIXES[4]}gone")
        for bucket in range(BUCKETS):
            source: Any = sources[bucket % COUNT]
            keys = (RECORDS[bucket] + f"id-{bucket}", OPEN[bucket], JOURNAL[bucket])
            assert [ledger.dump(key) for key in keys] == [source.dump(key) for key in keys]
            assert ledger.pexpiretime(keys[0]) == source.pexpiretime(keys[0])
            assert not ledger.exists(RECORDS[bucket] + "leftover")
        refuse_wrong_ledger(settings, run_check)
        with pytest.raises(Failed, match="has payments of its own"):
            ledger_copy.report(settings, listed(nodes))


def in_between(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen after each page that is copied."""
    copy = ledger_copy._copy

    def copied(*parts: Any) -> None:
        copy(*parts)
        happens()

    monkeypatch.setattr(ledger_copy, "_copy", copied)


def sells(server: redis.Redis) -> None:
    """An API process says that it does."""
    server.zadd(SELLERS, {"host:1 abc": time.time() * 1000})


def numbers(settings: Settings) -> set[bytes | None]:
    """What the buckets of the new ledger have in place of their numbers."""
    with ledger_client(settings.ledger_urls) as ledger:
        return {ledger.get(key) for key in KEYS}


def test_a_server_that_is_not_at_rest_is_not_copied(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings
) -> None:
    """Nor one that has no ledger. Nothing is written."""
    sells(sources[0])
    with pytest.raises(Failed, match="sells"):
        ledger_copy.report(settings, listed(nodes))
    sources[0].delete(SELLERS)
    sources[1].delete(EARLIER_KEY)
    with pytest.raises(Failed, match="not a server of a ledger"):
        ledger_copy.report(settings, listed(nodes))
    assert numbers(settings) == {None}


def test_what_is_sold_meanwhile_stops_the_copy(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a channel, whose calls write no line to a journal. Then no process uses the copy, and it may be begun again."""
    first, second = sources
    channel = channel_key(1, CHANNEL)
    for why, happens in (
        ("sells", lambda: sells(first)),
        ("calls were paid meanwhile", lambda: second.xadd(JOURNAL[1], {"payment": "late", "event": "SETTLING"})),
        ("calls were paid meanwhile", lambda: second.hincrby(channel, "inflight", 100)),
        ("calls were paid meanwhile", lambda: second.hincrby(channel, "charged", 100)),
        ("calls were paid meanwhile", lambda: second.hincrby(channel, "top", 100)),
    ):
        in_between(monkeypatch, happens)
        with pytest.raises(Failed, match=why):
            ledger_copy.report(settings, listed(nodes))
        monkeypatch.undo()
        assert numbers(settings) == {COPYING.encode()}
        with pytest.raises(WrongLedger, match="ledger copy"):
            refuse_wrong_ledger(settings, run_check)
        first.delete(SELLERS)
    assert ledger_copy.report(settings, listed(nodes)) == 0
    with ledger_client(settings.ledger_urls) as ledger:
        assert ledger.hgetall(channel) == second.hgetall(channel)


def test_a_list_in_another_order_or_without_a_server_is_refused(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings
) -> None:
    """Where the servers say their places. The keys of the wrong buckets would be copied."""
    first, second = nodes.urls[3:]
    for named in (f"{second},{first}", first, second, f"{second},{first},{second}"):
        with pytest.raises(Failed, match="of its ledger, and named as"):
            ledger_copy.report(settings, named)
    for server in sources:
        server.delete(EARLIER_PLACE)
    with pytest.raises(Failed, match="it is named twice"):
        ledger_copy.report(settings, f"{first},{first}")


def test_no_ledger_is_deleted(sources: list[redis.Redis], nodes: RedisCluster, settings: Settings) -> None:
    """Given the settings of before the copy, those of another ledger, or keys that no copy has left, then all stay."""
    before = [server.dbsize() for server in sources]
    own = dataclasses.replace(settings, ledger_url=nodes.urls[4])
    with pytest.raises(Failed, match="COINSLOT_LEDGER_URL names it, too"):
        ledger_copy.report(own, listed(nodes))
    sources[0].set(EARLIER_PLACE, "1 of 1")
    for key in (EARLIER_KEY, EARLIER_PLACE, None):
        with pytest.raises(Failed, match="has payments of its own"):
            ledger_copy.report(own, nodes.urls[3])
        if key is not None:
            sources[1].delete(key)
    assert [server.dbsize() for server in sources] == [before[0], before[1] - 2]
    sources[1].set(KEYS[1], COPYING)  # of this bucket alone a copy may delete something
    with pytest.raises(Failed, match="has payments of its own"):
        ledger_copy.report(own, nodes.urls[3])
    assert sources[1].dbsize() == before[1] - 1


def test_a_server_is_copied_to_another_of_its_databases(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings
) -> None:
    """It is the same server, and another ledger."""
    sources[0].set(EARLIER_PLACE, "1 of 1")
    other = dataclasses.replace(settings, ledger_url=f"{nodes.urls[3]}/1")
    assert ledger_copy.report(other, nodes.urls[3]) == 0
    with ledger_client(other.ledger_urls) as ledger:
        assert ledger.exists(*KEYS, RECORDS[0] + "id-0") == BUCKETS + 1


def test_a_copy_that_replicas_lack_is_not_used(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings
) -> None:
    """Given a number of replicas in the settings."""
    del sources
    with pytest.raises(Failed, match="0 of 1 replicas of the ledger have it"):
        ledger_copy.report(dataclasses.replace(settings, ledger_replicas=1), listed(nodes))
    assert numbers(settings) == {COPYING.encode()}


def test_a_process_that_starts_meanwhile_uses_nothing(
    sources: list[redis.Redis], nodes: RedisCluster, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the ledger was used before and it has journals. One that was faster than the marks stops the copy."""
    settings.key_file.with_name("coinslot.key.ledger").write_text("used")

    def starts() -> None:
        with pytest.raises(WrongLedger, match="a copy into it is under way"):
            refuse_wrong_ledger(settings, run_check)

    in_between(monkeypatch, starts)
    assert ledger_copy.report(settings, listed(nodes)) == 0
    refuse_wrong_ledger(settings, run_check)
    with ledger_client(settings.ledger_urls) as ledger:
        for key in KEYS[1:]:
            ledger.set(key, COPYING)
    with pytest.raises(Failed, match="has payments of its own, or a process uses it"):
        ledger_copy.report(settings, listed(nodes))
