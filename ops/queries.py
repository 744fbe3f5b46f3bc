"""What several commands ask an installation: its HTTP services, its queue and its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import redis

from shared.pools import Pool
from shared.queue.pool_states import SCRIPT, PoolState, arguments, pool_states
from shared.queue.streams import POOL_NAMES
from shared.servers.ledger_servers import ask_each_bucket
from shared.settings.cdp_key import read_cdp_key
from shared.settings.secret_files import read_headers
from shared.settings.service import PREFIX, Settings

TIMEOUT_S = 5.0


class Failed(Exception):
    """A command ends. The text says why, and `code` is its exit code."""

    code = 3


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


def known_pools(queue: redis.Redis) -> tuple[str, ...]:
    """Our pools, and those of packages, which this process has not loaded. Raises RedisError."""
    added = cast(bytes | None, queue.get(POOL_NAMES)) or b""
    return (*(pool.value for pool in Pool), *added.decode().split())


def read_pools(queue: redis.Redis) -> dict[str, PoolState]:
    """The pools, as the queue Redis has them. Raises RedisError."""
    pools = known_pools(queue)
    return pool_states(cast(list[Any], queue.eval(SCRIPT, *cast(Any, arguments(pools)))), pools)


def count_of(ledger: redis.Redis, index: Sequence[str]) -> int:
    """What is in an index of the ledger, of all its buckets. Raises RedisError."""
    counts: list[int] = ask_each_bucket(ledger, lambda asked, bucket: asked.zcard(index[bucket]))
    return sum(counts)


def supported_networks(facilitator: str, headers_file: str, cdp_key_file: str) -> tuple[int, set[object] | None]:
    """Status of a facilitator's answer to /supported, and the networks in it; None when there is none. Raises InvalidSetting.

    Args:
        headers_file, cdp_key_file: as in the settings of its rail.
    """
    url = f"{facilitator.rstrip('/')}/supported"
    headers, cdp_key = read_headers(headers_file), read_cdp_key(cdp_key_file)
    status, answer = get_json(url, headers if cdp_key is None else headers | cdp_key.headers("GET", url))
    if answer is None:
        return status, None
    return status, {kind.get("network") for kind in answer.get("kinds", []) if isinstance(kind, dict)}
