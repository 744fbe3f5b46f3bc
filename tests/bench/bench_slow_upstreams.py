"""What callers of echo and dns notice while the upstreams of whois and youtube are slow:
`python tests/bench/bench_slow_upstreams.py [rounds]`.

32 calls of whois and 8 of youtube are in flight, each for another name, and what they ask answers after 4.5 s. Nobody pays.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import statistics
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).parents[2]))

from compose.sandbox.upstream_server import start_upstreams
from shared.endpoint import PATH_PREFIX, Pool
from shared.streams import stream_key
from tests.bench.stand import Broken, Running, stand
from tests.bench.systems import UNPAID
from tests.bench.wrk import ECHO_BODY, Load, load

SECONDS = 2
"""Less than any of the slow calls takes."""
DELAY_S = 4.5
CALLS = {"echo": ECHO_BODY, "dns": json.dumps({"domain": "example.com", "recordType": "MX"})}
WHOIS, YOUTUBE = 32, 8


def main(rounds: int = 3) -> None:
    """Print the table."""
    with stand() as here, contextlib.ExitStack() as stack:
        upstreams = start_upstreams(here.folder)
        stack.callback(upstreams.child.stop)
        port = stack.enter_context(_slow_server(upstreams.settings["EGRESS_ALLOW"].partition("/")[0]))
        settings = {**upstreams.settings, "WHOIS_IANA": f"shop.example.com:{port}", "WHOIS_PORT": str(port)}
        settings["YOUTUBE_URL"] = f"http://shop.example.com:{port}"
        running = here.start(UNPAID, **{f"COINSLOT_{name}": value for name, value in settings.items()})
        for pool in (Pool.NET, Pool.WHOIS, Pool.YOUTUBE):
            here.spawn(UNPAID, "slow_worker", {**running.environment, "BENCH_POOL": pool.value})
        running.wait_for(200)
        time.sleep(3)  # the other workers
        for name in CALLS:
            _load(running, name)
        pairs = [(_alone(running), _beside(running)) for _ in range(rounds)]
        for name in CALLS:
            alone, beside = zip(*((a[name], b[name]) for a, b in pairs), strict=True)
            ratio = statistics.median(b.p99_ms / a.p99_ms for a, b in zip(alone, beside, strict=True))
            print(f"{name:5} alone {_told(alone)}, beside slow upstreams {_told(beside)}: p99 {ratio:.2f} x")


def _alone(running: Running) -> dict[str, Load]:
    return {name: _load(running, name) for name in CALLS}


def _beside(running: Running) -> dict[str, Load]:
    return {name: _beside_slow_calls(running, name) for name in CALLS}


def _beside_slow_calls(running: Running, name: str) -> Load:
    names = [secrets.token_hex(4) for _ in range(WHOIS)]
    slow = [
        ("whois", {"domain": f"name.x{name}"}) for name in names
    ]  # who serves a top-level domain is known for a while
    slow += [("youtube", {"url": f"https://youtu.be/abc{name}"}) for name in names[:YOUTUBE]]
    with ThreadPoolExecutor(len(slow)) as callers:
        calls = [callers.submit(_ask, running.origin + PATH_PREFIX + call, body) for call, body in slow]
        time.sleep(0.5)
        seen = _load(running, name)
        if early := [call.result() for call in calls if call.done()]:
            raise Broken(f"{len(early)} of {len(slow)} slow calls were answered before the end: {early[0]}")
    _wait_until_idle(running)
    return seen


def _wait_until_idle(running: Running) -> None:
    with redis.Redis.from_url(running.environment["BENCH_QUEUE_URL"]) as queue:
        while any(queue.xlen(stream_key(pool)) for pool in (Pool.WHOIS, Pool.YOUTUBE)):
            time.sleep(0.1)


def _ask(url: str, body: dict[str, str]) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def _load(running: Running, name: str) -> Load:
    return load(running.origin + PATH_PREFIX + name, in_flight=1, seconds=SECONDS, body=CALLS[name])


def _told(loads: tuple[Load, ...]) -> str:
    p50, p99 = (statistics.median(getattr(seen, name) for seen in loads) for name in ("p50_ms", "p99_ms"))
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"


@contextlib.contextmanager
def _slow_server(address: str) -> Iterator[int]:
    """Knows nothing, as WHOIS and as HTTP, and takes its time to say so."""

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            asked = connection.recv(65536)
            time.sleep(DELAY_S)
            is_http = asked.startswith((b"GET", b"POST"))
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" if is_http else b"% nothing\r\n")

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server((address, 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
