"""What `coinslot-ops doctor` says of one server of Redis: its role, its settings, and what is in the queue's."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, cast

import redis
from redis.exceptions import RedisError, ResponseError

from ops.queries import read_pools, unreadable
from shared.observability import confinement_notes
from shared.queue import queue_clock
from shared.servers.redis_connection import connect


class Finding(NamedTuple):
    """What one check found. `about`: what was checked."""

    level: Literal["ok", "warn", "fail"]
    about: str
    detail: str


Findings = Iterator[Finding]


def examine(about: str, setting: str, url: str, check: Callable[[str, redis.Redis], Findings]) -> Findings:
    """Its role, and what `check` finds on it."""
    try:
        with connect(url) as client:
            role = cast(list[Any], client.execute_command("ROLE"))[0].decode()
            if role != "master":
                yield Finding("fail", about, f"the server is a {role}: it takes no writes")
            yield from check(about, client)
    except RedisError as error:
        yield Finding("fail", about, unreadable(error, **{setting: url}))


def queue(about: str, client: redis.Redis) -> Findings:
    """Of the queue: its clock beside ours, and the workers that it knows."""
    yield from policy(about, client)
    yield clock("clock", client, "the queue's")
    seconds = client.time()[0]
    notes = cast(list[bytes], client.hvals(queue_clock.NOTES))
    yield from (Finding("fail", "clock", text) for text in queue_clock.sentences(notes, seconds))
    yield from _confinement(cast(list[bytes], client.hvals(confinement_notes.KEY)))
    for pool, state in read_pools(client).items():
        if not state.workers:
            yield Finding("warn", f"workers of {pool}", "none is alive")
        elif not state.available:
            yield Finding("warn", f"workers of {pool}", f"calls are refused: {state.reason}")
        else:
            waiting = state.depth - state.running
            yield Finding(
                "ok", f"workers of {pool}", f"{state.available} alive, {state.running} jobs run, {waiting} wait"
            )


def _confinement(notes: list[bytes]) -> Findings:
    lacking = confinement_notes.sentences(notes, time.time())
    yield from (Finding("warn", "confinement", sentence) for sentence in lacking)
    if not lacking:
        yield Finding("ok", "confinement", "no worker has noted that its children lack a layer")


def clock(about: str, client: redis.Redis, whose: str) -> Finding:
    """How far our clock is from a server's, by which payments are taken and jobs are late."""
    seconds, micros = client.time()
    offset = time.time() - (seconds + micros / 1e6)
    level: Literal["ok", "fail"] = "ok" if abs(offset) < queue_clock.MOST_OFFSET_S else "fail"
    return Finding(level, about, f"this machine's clock is {offset:+.3f} s beside {whose}")


def policy(about: str, client: redis.Redis) -> Findings:
    """It must not forget keys when its memory is full."""
    yield option(about, client, "maxmemory-policy", "noeviction", "records would vanish when its memory is full")


def option(about: str, client: redis.Redis, name: str, value: str, why: str) -> Finding:
    """Whether a server has an option as it must be."""
    try:
        found = client.config_get(name).get(name)
    except ResponseError:
        return Finding("warn", about, f"its {name} cannot be read: it must be {value}")
    if found == value:
        return Finding("ok", about, f"{name} {value}")
    return Finding("fail", about, f"{name} is {found} and not {value}: {why}")
