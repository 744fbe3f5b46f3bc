"""What several commands ask an installation: its HTTP services, its queue and its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import redis

from shared.pools import Pool
from shared.queue.pool_states import ARGUMENTS, KEYS, SCRIPT, PoolState, pool_states
from shared.servers.ledger_servers import ask_each_bucket
from shared.settings.service import PREFIX, Settings

TIMEOUT_S = 5.0


def api_place(settings: Settings) -> str:
    """Where this machine reaches the API."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  # compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def address(url: str) -> str:
    """Where a server is, without the password and the path that its URL may have: `127.0.0.1:4022`, or a socket's file."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


def unreadable(error: Exception, **urls: str) -> str:
    """A sentence about Redis servers that cannot be read, with what to do.

    Args:
        urls: by the name of their setting, without COINSLOT_; several addresses of one have commas between them.
    """
    named = [
        f"{', '.join(address(url.strip()) for url in text.split(','))} ({PREFIX}{setting.upper()})"
        for setting, text in urls.items()
    ]
    return (
        f"cannot read {' or '.join(named)}: {type(error).__name__}. Start it, set the address of the service's own, or set "
        f"{PREFIX}VAR to the folder of scripts/run"
    )


def get_json(
    url: str, headers: Mapping[str, str] | None = None, *, timeout_s: float = TIMEOUT_S
) -> tuple[int, dict[str, Any] | None]:
    """Status and object of an answer; None when there is none."""
    try:
        answer = httpx.get(url, headers=dict(headers or {}), timeout=timeout_s, trust_env=False)
        content = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return 0, None
    return answer.status_code, content if isinstance(content, dict) else None


def read_pools(queue: redis.Redis) -> dict[Pool, PoolState]:
    """The pools, as the queue Redis has them. Raises RedisError."""
    return pool_states(cast(list[Any], queue.eval(SCRIPT, len(KEYS), *KEYS, *ARGUMENTS)))


def count_of(ledger: Sequence[redis.Redis], index: Sequence[str]) -> int:
    """What is in an index of the ledger, of all its buckets. Raises RedisError."""
    counts: list[int] = ask_each_bucket(ledger, lambda asked, bucket: asked.zcard(index[bucket]))
    return sum(counts)
