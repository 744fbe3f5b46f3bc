"""`coinslot-ops ledger copy URL,URL`: copies the payments of plain servers into the ledger of the settings.

Until 0.2.0 a ledger of several servers was a list of plain ones: of n, bucket b was on server b mod n. A lone server is such a
list, too. The copy counts as a ledger when it is whole: no process uses buckets without a number (shared/ledger/layout.py), and
the numbers come last. What is copied from is only read.
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
from shared.ledger.layout import ALL, EARLIER_KEY, KEYS, checked_by_reader
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_servers import ask_each_bucket, check_server, ledger_client
from shared.servers.redis_connection import connect
from shared.settings.service import Settings

PAGE = 200
"""Keys that are copied in one write to each server."""
SELLS_WITHIN_S = 45
"""An API process that runs has noted its prices twice in this time (api/payment/price_lists.py)."""
_NOT_COPIED = frozenset(name.encode() for name in (*KEYS, *FENCES))
_OURS = in_every_bucket("*")


def report(settings: Settings, sources: str) -> int:
    """Copy, and print what was copied. Returns the exit code. Raises RedisError and Failed."""
    with contextlib.ExitStack() as stack:
        urls = [settings.redis_url(url.strip()) for url in sources.split(",")]
        servers = [stack.enter_context(connect(url)) for url in urls]
        ledger = stack.enter_context(contextlib.closing(ledger_client(settings.ledger_urls)))
        for url, server in zip(urls, servers, strict=True):
            _refuse_source(address(url), server)
        if any(ask_each_bucket(ledger, lambda asked, bucket: asked.exists(KEYS[bucket]))):
            raise Failed("the ledger of COINSLOT_LEDGER_URL has payments of its own: name an empty one")
        began, ends = time.monotonic(), [_journals(server) for server in servers]
        for leftovers in _pages(cast(Iterator[bytes], ledger.scan_iter(_OURS, 1_000))):
            with ledger.pipeline(transaction=False) as pipeline:
                for key in leftovers:
                    pipeline.unlink(key)
                pipeline.execute()
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
        if [_journals(server) for server in servers] != ends:
            raise Failed("payments were taken meanwhile: stop everything that sells, and copy again")
    with contextlib.closing(LedgerConnections(settings.ledger_urls, replicas=settings.ledger_replicas)) as written:
        answers = written.send([("SET", key, LEDGER.written) for key in KEYS])
    for answer in answers:
        if isinstance(answer, redis.RedisError):
            raise answer
    print(f"copied: {copied.total()} keys in {time.monotonic() - began:.1f} s. COINSLOT_LEDGER_URL can be used now.")
    return 0


def _refuse_source(name: str, server: redis.Redis) -> None:
    if why := check_server(server, checked_by_reader(ALL)):
        raise Failed(f"{name}: {why}")
    if not server.exists(EARLIER_KEY, *KEYS):
        raise Failed(f"{name}: it is not a server of a ledger")
    now = server.time()[0]
    sellers = cast(list[bytes], server.zrangebyscore(SELLERS, (now - SELLS_WITHIN_S) * 1_000, "+inf"))
    if sellers:
        raise Failed(
            f"{name}: the API process {sellers[0].decode().partition(' ')[0]} sells, or did until just now: stop it"
        )


def _journals(server: redis.Redis) -> list[Any]:
    """The last line of each journal: every payment that moves writes one."""
    return ask_each_bucket(server, lambda asked, bucket: asked.xrevrange(JOURNAL[bucket], count=1))


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
