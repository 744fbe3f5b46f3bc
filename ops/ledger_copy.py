"""`coinslot-ops ledger copy URL,URL`: copies the payments of plain servers into the ledger of the settings.

Until 0.2.0 a ledger of several servers was a list of plain ones: of n, bucket b was on server b mod n. A lone server is such a
list, too. Each bucket is marked first (COPYING), so that no process uses it, and the numbers come last, when the copy is whole.
What is copied from is only read. In the target nothing is deleted but what an earlier copy has left in the buckets it marked.
"""

import contextlib
import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

import redis

from ops.queries import Failed, address
from shared.layouts import LEDGER
from shared.ledger.channels import CHANNELS, channel_key
from shared.ledger.fence import FENCES, fence, missing
from shared.ledger.keys import JOURNAL, SELLERS, bucket_in, in_every_bucket
from shared.ledger.layout import ALL, COPYING, EARLIER, EARLIER_KEY, EARLIER_PLACE, KEYS, Check, checked_by_reader
from shared.servers.ledger_servers import ask_any, ask_each_bucket, check_server, ledger_client
from shared.servers.redis_connection import connect
from shared.settings.service import Settings

PAGE = 200
"""Keys that are copied in one write to each server."""
SELLS_WITHIN_S = 45
"""An API process that runs has noted its prices twice in this time (api/payment/price_lists.py)."""
_NOT_COPIED = frozenset(name.encode() for name in (*KEYS, *FENCES))
_OURS = in_every_bucket("*")
_IS_USED = "the ledger of COINSLOT_LEDGER_URL has payments of its own, or a process uses it: name an empty one"


def report(settings: Settings, sources: str) -> int:
    """Copy, and print what was copied. Returns the exit code. Raises RedisError and Failed."""
    with contextlib.ExitStack() as stack:
        urls = [settings.redis_url(url.strip()) for url in sources.split(",")]
        servers = [stack.enter_context(connect(url)) for url in urls]
        of = ask_any(settings.ledger_urls)
        ledger = stack.enter_context(contextlib.closing(ledger_client(settings.ledger_urls, of)))
        targets = [(stack.enter_context(connect(url)), buckets[0]) for url, buckets in of.buckets().items()]
        places = {_place(target) for target, _ in targets}
        for number, (url, server) in enumerate(zip(urls, servers, strict=True)):
            if _place(server) in places:
                raise Failed(f"{address(url)}: it is named twice, or COINSLOT_LEDGER_URL names it, too")
            places.add(_place(server))
            _refuse_source(address(url), server, f"{number + 1} of {len(servers)}")
            _refuse_seller(address(url), server)
        _refuse_used(ledger)
        began, before = time.monotonic(), [_paid(server) for server in servers]
        ask_each_bucket(ledger, lambda asked, bucket: asked.set(KEYS[bucket], COPYING, nx=True))
        _refuse_unmarked(ledger)
        leftovers = (key for key in cast(Iterator[bytes], ledger.scan_iter(_OURS, 1_000)) if key not in _NOT_COPIED)
        for page in _pages(leftovers):
            with ledger.pipeline(transaction=False) as pipeline:
                for key in page:
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
        for target, bucket in targets:
            if why := check_server(target, _lacks_replicas(bucket, settings.ledger_replicas)):
                raise Failed(f"{why}: copy again")
        for url, server in zip(urls, servers, strict=True):
            _refuse_seller(address(url), server)
        if [_paid(server) for server in servers] != before:
            raise Failed("calls were paid meanwhile: stop everything that sells, and copy again")
        _refuse_unmarked(ledger)
        ask_each_bucket(ledger, lambda asked, bucket: asked.set(KEYS[bucket], LEDGER.written))
    print(f"copied: {copied.total()} keys in {time.monotonic() - began:.1f} s. COINSLOT_LEDGER_URL can be used now.")
    return 0


def _place(server: redis.Redis) -> tuple[str, int]:
    """The server and its database, by whichever address."""
    info: Any = server.info("server")
    return info["run_id"], server.connection_pool.connection_kwargs.get("db") or 0


def _refuse_source(name: str, server: redis.Redis, place: str) -> None:
    if why := check_server(server, checked_by_reader(ALL)):
        raise Failed(f"{name}: {why}")
    if not server.exists(EARLIER_KEY, *KEYS):
        raise Failed(f"{name}: it is not a server of a ledger")
    found = cast(bytes | None, server.get(EARLIER_PLACE))
    if found is not None and found.decode() != place:
        raise Failed(
            f"{name}: it is server {found.decode()} of its ledger, and named as {place}: name all, in their old order"
        )


def _refuse_seller(name: str, server: redis.Redis) -> None:
    now = server.time()[0]
    sellers = cast(list[bytes], server.zrangebyscore(SELLERS, (now - SELLS_WITHIN_S) * 1_000, "+inf"))
    if sellers:
        raise Failed(
            f"{name}: the API process {sellers[0].decode().partition(' ')[0]} sells, or did until just now: stop it"
        )


def _refuse_used(ledger: redis.Redis) -> None:
    """Refuse a target with a number, with what an earlier version wrote, or with a key in a bucket that no copy has marked."""
    numbers = _numbers(ledger)
    if not {*numbers} <= {None, COPYING.encode()} or ledger.exists(EARLIER_KEY, EARLIER_PLACE, *EARLIER):
        raise Failed(_IS_USED)
    for key in cast(Iterator[bytes], ledger.scan_iter(_OURS, 1_000)):
        if numbers[bucket_in(key.decode())] is None:
            raise Failed(_IS_USED)


def _refuse_unmarked(ledger: redis.Redis) -> None:
    """Refuse a target that a process has begun to use."""
    if {*_numbers(ledger)} != {COPYING.encode()}:
        raise Failed(_IS_USED)


def _numbers(ledger: redis.Redis) -> list[bytes | None]:
    return ask_each_bucket(ledger, lambda asked, bucket: asked.get(KEYS[bucket]))


def _paid(server: redis.Redis) -> tuple[list[Any], str]:
    """What paid calls change: the last line of each journal, and, as vouchers write no line, the sums of all channels."""
    sums = hashlib.sha256()
    for bucket in ALL:
        for page in _pages(iter(cast(list[bytes], server.zrange(CHANNELS[bucket], 0, -1)))):
            with server.pipeline(transaction=False) as pipeline:
                for channel in page:
                    pipeline.hmget(channel_key(bucket, channel.decode()), ["charged", "inflight", "top"])
                sums.update(repr((page, pipeline.execute())).encode())
    return ask_each_bucket(server, lambda asked, bucket: asked.xrevrange(JOURNAL[bucket], count=1)), sums.hexdigest()


def _lacks_replicas(bucket: int, replicas: int) -> Check:
    """Why what was copied to the server of a bucket may be lost with it; "" when so many replicas have it."""
    return missing([*(yield fence(replicas, bucket))], replicas)


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
