"""A ledger of plain servers is copied into a cluster, whole or not at all."""

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from ops import ledger_copy
from ops.queries import Failed
from shared.ledger.keys import BUCKETS, JOURNAL, OPEN, PREFIXES, RECORDS, SELLERS
from shared.ledger.layout import COPYING, EARLIER_KEY, KEYS
from shared.servers.ledger_servers import ledger_client, run_check
from shared.servers.ledger_start import WrongLedger, refuse_wrong_ledger
from shared.settings.service import Settings

COUNT = 2


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
        server.mset({EARLIER_KEY: 2, "coinslot:place": f"{number + 1} of {COUNT}", "coinslot:fence": ""})
        for bucket in range(BUCKETS):
            is_own = bucket % COUNT == number
            name = f"id-{bucket}" if is_own else "leftover"
            server.hset(RECORDS[bucket] + name, mapping={"state": "DONE", "receipt": b"\xff\x00"})
            server.pexpire(RECORDS[bucket] + name, 10_000_000)
            server.zadd(OPEN[bucket], {name: 1.5})
            server.xadd(JOURNAL[bucket], {"payment": name, "event": "DONE"})
    return servers


@pytest.fixture
def settings(nodes: RedisCluster, tmp_path: Path) -> Settings:
    return dataclasses.replace(Settings(), ledger_url=",".join(nodes.urls[:3]), key_file=tmp_path / "coinslot.key")


def listed(nodes: RedisCluster) -> str:
    return ",".join(nodes.urls[3:])


def test_all_that_belongs_to_each_server_is_copied(
    nodes: RedisCluster,
    sources: list[redis.Redis],
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With its time to live, and after a copy that was broken off and left keys that are gone since: no process uses that."""
    copy = ledger_copy._copy

    def breaks_off(*parts: Any) -> None:
        copy(*parts)
        raise redis.ConnectionError

    monkeypatch.setattr(ledger_copy, "_copy", breaks_off)
    with pytest.raises(redis.ConnectionError):
        ledger_copy.report(settings, listed(nodes))
    monkeypatch.undo()
    with ledger_client(settings.ledger_urls) as ledger:
        ledger.set(f"{PREFIXES[4]}gone", "1")
        with pytest.raises(WrongLedger, match="a copy was broken off"):
            refuse_wrong_ledger(settings, run_check)
        assert ledger_copy.report(settings, listed(nodes)) == 0
        assert "copied: 192 keys" in capsys.readouterr().out
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


@pytest.mark.parametrize("what", ["a source", "a server of 0.2.0", "a key"])
def test_nothing_is_removed_that_no_copy_has_left(
    nodes: RedisCluster, sources: list[redis.Redis], settings: Settings, what: str
) -> None:
    """Given a ledger that is named by mistake, then it is refused as it is."""
    url = nodes.urls[0]
    if what == "a key":
        with ledger_client(settings.ledger_urls) as ledger:
            ledger.hset(RECORDS[5] + "used", "state", "DONE")
    else:
        if what == "a server of 0.2.0":
            nodes.clients[nodes.add(is_plain=True)].set(EARLIER_KEY, 2)
        url = nodes.urls[3 if what == "a source" else 5]
        settings = dataclasses.replace(settings, ledger_url=url)
    before = [client.dbsize() for client in nodes.clients]
    with pytest.raises(Failed, match="has payments of its own"):
        ledger_copy.report(settings, ",".join(nodes.urls[3:5]))
    assert [client.dbsize() for client in nodes.clients] == before


@pytest.mark.parametrize("named", [[4, 3], [3], [4]])
def test_all_sources_are_named_in_their_order(
    nodes: RedisCluster, sources: list[redis.Redis], settings: Settings, named: list[int]
) -> None:
    """Else each would be asked for the buckets of another one."""
    with pytest.raises(Failed, match="in the old order"):
        ledger_copy.report(settings, ",".join(nodes.urls[number] for number in named))


@pytest.mark.parametrize(
    "why", ["sells", "payments were taken meanwhile", "a voucher was taken", "not a server of a ledger"]
)
def test_a_ledger_that_is_not_at_rest_is_not_copied(
    nodes: RedisCluster, sources: list[redis.Redis], settings: Settings, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Then the copy is none, and may be begun again."""
    if why == "sells":
        sources[0].zadd(SELLERS, {"host:1 abc": time.time() * 1000})
    elif why == "not a server of a ledger":
        sources[1].delete(EARLIER_KEY)
    else:
        copy = ledger_copy._copy

        def meanwhile(*parts: Any) -> None:
            copy(*parts)
            if why == "a voucher was taken":
                sources[1].hincrby(f"{PREFIXES[1]}channel:0x1", "charged", 1_000)
            else:
                sources[1].xadd(JOURNAL[1], {"payment": "late", "event": "SETTLING"})

        monkeypatch.setattr(ledger_copy, "_copy", meanwhile)
    with pytest.raises(Failed, match=why if why != "a voucher was taken" else "payments were taken meanwhile"):
        ledger_copy.report(settings, listed(nodes))
    with ledger_client(settings.ledger_urls) as ledger:
        assert {ledger.get(key) for key in KEYS} <= {None, COPYING}
    monkeypatch.undo()
    if why == "payments were taken meanwhile":
        assert ledger_copy.report(settings, listed(nodes)) == 0
