"""What `coinslot-ops doctor` says of the ledger: its servers, and whether a cluster of them survives the loss of a host."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import redis
from redis.exceptions import RedisError

from ops import redis_checks
from ops.ledger_spread import moves_no_slot
from ops.queries import address, unreadable
from ops.redis_checks import Finding, Findings, option
from shared.ledger.keys import BUCKETS
from shared.ledger.layout import checked_by_reader
from shared.ledger.servers import Servers
from shared.servers.ledger_servers import ask_any, check_server
from shared.servers.ledger_start import WrongLedger
from shared.settings.service import PREFIX, Settings

LEAST_VOTERS = 3
"""Fewer primaries elect nobody when one of them is gone."""
_OF_EACH = (
    ("appendonly", "yes", "payments would be lost with the server"),
    ("appendfsync", "always", "payments of the last second would be lost with the machine"),
)
_OF_NODES = (
    ("cluster-require-full-coverage", "no", "one shard that is gone would stop all payers"),
    ("cluster-allow-replica-migration", "no", "replicas would leave their shards"),
)


def examine(settings: Settings) -> Findings:
    """All that there is to say of it."""
    try:
        servers = ask_any(settings.ledger_urls)
    except WrongLedger as error:
        yield Finding("fail", "ledger", str(error))
        return
    except RedisError as error:
        yield Finding("fail", "ledger", unreadable(error, ledger_url=settings.ledger_url))
        return
    for url, buckets in servers.buckets().items():
        named = f"ledger {address(url)}" if servers.is_cluster else "ledger"
        check = partial(_server, settings, servers.is_cluster, buckets)
        yield from redis_checks.examine(named, "ledger_url", url, check)
    if servers.is_cluster:
        yield from cluster_findings(settings, servers)


def _server(settings: Settings, is_node: bool, buckets: Sequence[int], about: str, client: redis.Redis) -> Findings:
    if why := check_server(client, checked_by_reader(buckets)):
        yield Finding("fail", about, why)
    for name, value, why in (*_OF_EACH, *(_OF_NODES if is_node else ())):
        yield option(about, client, name, value, why)
    yield from redis_checks.policy(about, client)
    yield redis_checks.clock(about, client, "the server's")
    if is_node and (why := moves_no_slot(client)):
        yield Finding("warn", about, why)
    if settings.ledger_replicas:
        followers = cast(list[Any], client.execute_command("ROLE"))[2]  # type: ignore[no-untyped-call]
        found = len(followers) if isinstance(followers, list) else 0
        level: Literal["ok", "fail"] = "ok" if found >= settings.ledger_replicas else "fail"
        yield Finding(level, about, f"{found} replicas follow it, and {settings.ledger_replicas} must have every write")


def cluster_findings(settings: Settings, servers: Servers) -> Findings:
    """Whether all buckets have a server, and what the loss of a host would mean."""
    about, primaries = "ledger cluster", len(servers.shards)
    if homeless := servers.of.count(""):
        yield Finding("fail", about, f"{homeless} of {BUCKETS} buckets have no server: their payers are refused")
    if not settings.ledger_replicas:
        yield Finding("warn", about, f"{PREFIX}LEDGER_REPLICAS is 0: a failover loses payments that were acknowledged")
    if primaries < LEAST_VOTERS:
        yield Finding("warn", about, f"{primaries} of its servers vote: when one is gone, no replica takes its place")
        return
    hosts = Counter(urlsplit(shard[0]).hostname for shard in servers.shards)
    host, most = hosts.most_common(1)[0]
    if most <= primaries // 2:
        yield Finding("ok", about, f"{primaries} primaries on {len(hosts)} hosts, none of which decides alone")
        return
    free = [url for shard in servers.shards if urlsplit(shard[0]).hostname == host for url in shard[1:]]
    free = [url for url in free if urlsplit(url).hostname not in hosts] or free
    remedy = f": send CLUSTER FAILOVER to {address(free[0])}" if free else ""
    yield Finding(
        "warn",
        about,
        f"{most} of {primaries} primaries are on {host}: cut off from the others it would decide alone, and undo what they "
        f"acknowledge in that moment{remedy}",
    )
