"""Says whether the process of this container works, for a container engine: exit code 0 or 1, and a sentence when it does not.

    python -m compose.probe http://127.0.0.1:4020/healthz   # answered with 200; with --any, answered at all
    python -m compose.probe --pool net                      # this host's worker of the pool reads its queue

A worker has no port: its consumer in the queue is looked at. When the queue's Redis does not answer, no worker can be judged,
and none is to be started again for it: 0.
"""

import argparse
import os
import socket
import sys
import urllib.error
import urllib.request
from typing import Any

TIMEOUT_S = 4.0
SILENT_MS = 10_000
"""Thrice what makes a consumer dead for the API: a worker that a full machine holds up is not started again for it."""


def answered(url: str, *, is_any_enough: bool) -> str:
    """Why the URL is not answered as it should be; "" when it is."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310  # the address of this container
            status = answer.status
    except urllib.error.HTTPError as error:
        status = error.code
    except (OSError, ValueError) as error:
        return f"{url}: {type(error).__name__}"
    return "" if is_any_enough or status == 200 else f"{url}: {status}"


def silent(queue: Any, pool: str, host: str) -> str:
    """Why the host's worker of a pool does not work; "" when one of its consumers has read the queue lately.

    Args:
        queue: client of the queue's Redis.
    """
    from redis.exceptions import RedisError, ResponseError

    from shared.queue.streams import GROUP, stream_key

    try:
        consumers = queue.xinfo_consumers(stream_key(pool), GROUP)
    except ResponseError:
        consumers = []  # there is no group yet
    except RedisError:
        return ""
    ours = [each["idle"] for each in consumers if each["name"].decode().startswith(f"{host}:")]
    if any(idle < SILENT_MS for idle in ours):
        return ""
    return f"{pool}: {'silent for ' + str(min(ours)) + ' ms' if ours else 'no worker of this host'}"


def main() -> int:
    """Read the arguments, probe the process, and print what is wrong with it."""
    parser = argparse.ArgumentParser(description="Says whether the process of this container works.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("url", nargs="?", help="an address that must answer with 200")
    what.add_argument("--pool", help="the pool of this host's worker")
    parser.add_argument("--any", action="store_true", help="any status will do")
    asked = parser.parse_args()
    if asked.url:
        reason = answered(asked.url, is_any_enough=asked.any)
    else:
        from shared.servers.redis_connection import connect
        from shared.settings.service import Settings

        settings = Settings.from_env(os.environ)
        reason = silent(connect(settings.redis_url(settings.queue_url)), asked.pool, socket.gethostname())
    if reason:
        print(reason, file=sys.stderr)
    return 1 if reason else 0


if __name__ == "__main__":
    sys.exit(main())
