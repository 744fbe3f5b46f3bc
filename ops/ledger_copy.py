"""`coinslot-ops ledger copy URL,URL`: copies the payments of plain servers into the ledger of the settings.

Until 0.2.0 a ledger of several servers was a list of plain ones: of n, bucket b was on server b mod n. A lone server is such a
list, too. The copy counts as a ledger when it is whole: until then its buckets have a word in place of their numbers, with
which no process uses them (shared/ledger/layout.py). What is copied from is only read. What has payments is not copied into.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

import redis

from ops.queries import Failed, address
from shared.layouts import LEDGER
from shared.ledger.fence import FENCES
from shared.ledger.keys import JOURNAL, SELLERS, bucket_in, in_every_bucket
from shared.ledger.layout import ALL, COPYING, EARLIER_KEY, KEYS, checked_by_reader
from shared.ledger.servers import Servers
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_servers import ask_any, ask_each_bucket, check_server, ledger_client
from shared.servers.redis_connection import connect
from shared.settings.service import Settings

PAGE = 200
"""Keys that are copied in one write to each server."""
SELLS_WITHIN_S = 45
"""An API process that runs has noted its prices twice in this time (api/payment/price_lists.py)."""
_NOT_COPIED = frozenset(name.encode() for name in (*KEYS, *FENCES))
_OURS = in_every_bucket("*")
_PLACE = "coinslot:place"
"""On a server of a list: which one it was, ``1 of 3``."""
_OF_CHANNEL = ["charged", "inflight", "top"]


def report(settings: Settings, sources: str) -> int:
    """Copy, and print what was copied. Returns the exit code. Raises RedisError and Failed."""
    with contextlib.ExitStack() as stack:
        urls = [settings.redis_url(url.strip()) for url in sources.split(",")]
        servers = [stack.enter_context(connect(url)) for url in urls]
        for number, server in enumerate(servers):
            _refuse_source(address(urls[number]), server, f"{number + 1} of {len(servers)}")
        told = ask_any(settings.ledger_urls)
        ledger = stack.enter_context(contextlib.closing(ledger_client(settings.ledger_urls, told)))
        began, before = time.monotonic(), [_payments(server) for server in servers]
        _clear(ledger, told, {_run_id(server) for server in servers})
        copied: Counter[int] = Counter()
        for number, server in enumerate(servers):
            keys = (
                key
                for key in cast(Iterator[bytes], server.scan_iter(_OURS, 1_000))
                if bucket_in(key.decode()) % len(servers) == number and key not in _NOT_COPIED
            )
            for page in _pages(keys):
                _copy(server, ledger, page)
                copied.update(bucket_in(key.decode()) for key in page)
            print(f"{address(urls[number])}: {sum(copied[b] for b in ALL if b % len(servers) == number)} keys")
        for url, server in zip(urls, servers, strict=True):
            _refuse_seller(address(url), server)
        if [_payments(server) for server in servers] != before:
            raise Failed("payments were taken meanwhile: stop everything that sells, and copy again")
        ask_each_bucket(ledger, lambda asked, bucket: asked.set(KEYS[bucket], LEDGER.written))
    # Everything is behind what is read here with a fence: when replicas have that, they have it all.
    with contextlib.closing(LedgerConnections(settings.ledger_urls, replicas=settings.ledger_replicas)) as written:
        answers = written.send([("GET", key) for key in KEYS])
    for answer in answers:
        if isinstance(answer, redis.RedisError):
            raise answer
    print(f"copied: {copied.total()} keys in {time.monotonic() - began:.1f} s. COINSLOT_LEDGER_URL can be used now.")
    return 0


def _refuse_source(name: str, server: redis.Redis, place: str) -> None:
    """Args: place: in the list, as 0.2.0 noted it on servers of a list."""
    if why := check_server(server, checked_by_reader(ALL)):
        raise Failed(f"{name}: {why}")
    if not server.exists(EARLIER_KEY, *KEYS):
        raise Failed(f"{name}: it is not a server of a ledger")
    noted = cast(bytes | None, server.get(_PLACE)) or place.encode()
    if noted.decode() != place:
        raise Failed(
            f"{name}: it was server {noted.decode()}, and is named as {place}: name all servers, in the old order"
        )
    _refuse_seller(name, server)


def _refuse_seller(name: str, server: redis.Redis) -> None:
    now = server.time()[0]
    sellers = cast(list[bytes], server.zrangebyscore(SELLERS, (now - SELLS_WITHIN_S) * 1_000, "+inf"))
    if sellers:
        raise Failed(
            f"{name}: the API process {sellers[0].decode().partition(' ')[0]} sells, or did until just now: stop it"
        )


def _clear(ledger: redis.Redis, told: Servers, sources: set[str]) -> None:
    """Mark all buckets, so that no process uses them, and remove what an earlier copy has left. Raises Failed for a ledger that
    has anything else.

    Args:
        sources: the run ids of the servers that are copied.
    """
    numbers = set(ask_each_bucket(ledger, lambda asked, bucket: asked.get(KEYS[bucket])))
    if COPYING not in numbers:
        for url in told.buckets():
            with connect(url) as server:
                found = (next(server.scan_iter(pattern, 1_000), None) for pattern in (_OURS, EARLIER_KEY))
                if any(found) or _run_id(server) in sources:
                    raise Failed("the ledger of COINSLOT_LEDGER_URL has payments of its own: name an empty one")
    elif numbers - {COPYING, None}:
        raise Failed(
            "some buckets of COINSLOT_LEDGER_URL have been used since a copy was broken off: name an empty ledger"
        )
    ask_each_bucket(ledger, lambda asked, bucket: asked.set(KEYS[bucket], COPYING))
    leftovers = (key for key in cast(Iterator[bytes], ledger.scan_iter(_OURS, 1_000)) if key not in _NOT_COPIED)
    for page in _pages(leftovers):
        with ledger.pipeline(transaction=False) as pipeline:
            for key in page:
                pipeline.unlink(key)
            pipeline.execute()


def _run_id(server: redis.Redis) -> str:
    told: Any = server.info("server")
    return str(told["run_id"])


def _payments(server: redis.Redis) -> tuple[list[Any], dict[bytes, Any]]:
    """What every payment that moves changes: the last line of its bucket's journal, or the row of its channel."""
    lines = ask_each_bucket(server, lambda asked, bucket: asked.xrevrange(JOURNAL[bucket], count=1))
    rows: dict[bytes, Any] = {}
    for page in _pages(cast(Iterator[bytes], server.scan_iter(in_every_bucket("channel:*"), 1_000))):
        with server.pipeline(transaction=False) as pipeline:
            for key in page:
                pipeline.hmget(key.decode(), _OF_CHANNEL)
            rows.update(zip(page, pipeline.execute(), strict=True))
    return lines, rows


def _pages(keys: Iterator[bytes]) -> Iterator[list[bytes]]:
    while page := list(islice(keys, PAGE)):
        yield page


def _copy(source: redis.Redis, ledger: redis.Redis, keys: list[bytes]) -> None:
    with source.pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.dump(key)
            pipeline.pexpiretime(key.decode())
        found = pipeline.execute()
    with ledger.pipeline(transaction=False) as pipeline:
        for key, content, expires in zip(keys, found[::2], found[1::2], strict=True):
            if content is not None:  # it has expired meanwhile
                pipeline.restore(key, max(0, expires), content, replace=True, absttl=True)
        pipeline.execute()
