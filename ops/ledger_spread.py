"""`coinslot-ops ledger spread`: moves buckets between the primaries of a cluster until each has its part, while calls are sold.

A bucket moves with all its keys at once (CLUSTER MIGRATESLOTS, Valkey 9). Moved key by key, as other tools do it, its payers
would be refused for as long as that takes, because scripts need all its keys.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import redis

from ops.queries import Failed, address
from shared.ledger.keys import BUCKETS
from shared.ledger.servers import SLOT, Servers, node_url
from shared.servers.ledger_servers import ask_any
from shared.servers.redis_connection import connect
from shared.settings.service import Settings

LEAST_VERSION = 9
"""Of Valkey: CLUSTER MIGRATESLOTS."""
READY_WITHIN_S = 10.0
"""How long a new node may take until it answers commands."""
WITHIN_S = 600.0
"""How long one bucket may take."""
_PAUSE_S = 0.05
_ENDED = ("success", "failed", "cancelled")


def report(settings: Settings) -> int:
    """Move them, and print each move. Returns the exit code. Raises RedisError and Failed."""
    servers = ask_any(settings.ledger_urls)
    if not servers.is_cluster:
        raise Failed("the ledger is a plain server, which has all buckets")
    if not servers.shards:
        raise Failed("no server of the cluster has slots yet (see docs/scaling.md, A lone server grows while it sells)")
    ids = dict(_primaries(settings, servers))
    for url in ids:
        with closing(connect(url)) as client:
            if why := moves_no_slot(client) or _is_not_ready(client):
                raise Failed(f"{address(url)}: {why}")
    for bucket, source, target in moves(servers, list(ids)):
        began = time.monotonic()
        _move(SLOT[bucket], source, target, ids[target])
        print(
            f"bucket {bucket}: {address(source)} -> {address(target)} in {time.monotonic() - began:.1f} s", flush=True
        )
    for url, buckets in ask_any(settings.ledger_urls).buckets().items():
        print(f"{address(url)} has {len(buckets)} of {BUCKETS} buckets")
    return 0


def moves(servers: Servers, primaries: list[str]) -> Iterator[tuple[int, str, str]]:
    """Bucket, source and target of each move: as few as there can be. Bucket 0 moves last of all, as it has most payers."""
    of = {url: sorted(servers.buckets().get(url, ()), reverse=True) for url in primaries}
    while True:
        full, empty = max(primaries, key=lambda url: len(of[url])), min(primaries, key=lambda url: len(of[url]))
        if len(of[full]) - len(of[empty]) < 2:
            return
        bucket = of[full].pop(0)
        of[empty].append(bucket)
        yield bucket, full, empty


def _primaries(settings: Settings, servers: Servers) -> Iterator[tuple[str, str]]:
    """URL and id of each primary, also of new ones without slots. Raises Failed when one has too few replicas."""
    urls: dict[str, str] = {}
    for url, *_ in servers.shards:
        with closing(connect(url)) as client:
            urls[_asked(client, "CLUSTER MYID").decode()] = url
            nodes: dict[str, dict[str, Any]] = _asked(client, "CLUSTER NODES")
    for place, node in nodes.items():
        name, flags = node["node_id"], set(node["flags"].split(","))
        if "master" not in flags or {"fail", "fail?", "noaddr", "handshake"} & flags:
            continue
        followers = sum(
            other["master_id"] == name and not {"fail", "fail?"} & set(other["flags"].split(","))
            for other in nodes.values()
        )
        if followers < settings.ledger_replicas:
            raise Failed(f"{place} has {followers} replicas, and {settings.ledger_replicas} must have every write")
        host, _, port = place.partition("@")[0].rpartition(":")
        yield urls.get(name) or node_url(url, node["hostname"] or host, port), name


def moves_no_slot(client: redis.Redis) -> str:
    """Why a server cannot move a slot at once; empty when it can."""
    told: Any = client.info("server")
    version = str(told.get("valkey_version", ""))
    if version and int(version.partition(".")[0]) >= LEAST_VERSION:
        return ""
    name = f"Valkey {version}" if version else f"Redis {told['redis_version']}"
    return f"it is {name}, and a bucket moves at once with Valkey {LEAST_VERSION} or later only"


def _is_not_ready(client: redis.Redis) -> str:
    """Wait for a node that has just started: it refuses commands for two seconds. Returns why it still does, or ""."""
    give_up_at = time.monotonic() + READY_WITHIN_S
    while (state := _asked(client, "CLUSTER INFO")["cluster_state"]) != "ok":
        if time.monotonic() > give_up_at:
            return f"its cluster_state is {state}"
        time.sleep(_PAUSE_S)
    return ""


def _move(slot: int, source: str, target: str, name: str) -> None:
    state = why = ""
    with closing(connect(source)) as client:
        for pause_s in (0.0, 1.0, 2.0, 4.0):  # a new node may not have heard yet who has the slot
            time.sleep(pause_s)
            _asked(client, "CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name)
            give_up_at, state = time.monotonic() + WITHIN_S, ""
            while state not in _ENDED and time.monotonic() < give_up_at:
                time.sleep(_PAUSE_S)
                state, why = _state(client, slot)
            if state != "failed":
                break
    if state != "success":
        raise Failed(
            f"slot {slot} does not move from {address(source)} to {address(target)}: {state or 'no end'} {why}"
        )


def _state(client: redis.Redis, slot: int) -> tuple[str, str]:
    """Of the last move of a slot."""
    for flat in _asked(client, "CLUSTER GETSLOTMIGRATIONS"):  # the newest one comes first
        fields = flat if isinstance(flat, dict) else dict(zip(flat[::2], flat[1::2], strict=True))
        named = {_text(name): _text(value) for name, value in fields.items()}
        if named["slot_ranges"] == f"{slot}-{slot}" and named["operation"] == "EXPORT":
            return named["state"], named.get("message", "")
    return "", ""


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _asked(client: redis.Redis, *command: Any) -> Any:
    return client.execute_command(*command)  # type: ignore[no-untyped-call]
