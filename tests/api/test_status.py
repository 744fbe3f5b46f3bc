"""/status over a real ledger: several processes, hours and days that pass, a ledger that is away, and what is shown of it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import redis
from lxml import html

from api.errors import Problem
from api.redis_client import Redis, RedisLost
from api.status.counter import StatusCounter
from api.status.report import FRESH_S, StatusReader, document
from jobs.catalogue import BY_NAME
from ops.gauges import calls
from shared.observability.status import RESULTS, WINDOWS, WRITE_S
from tests.api.paying import Payer, paid_with

pytestmark = pytest.mark.anyio

HOUR, DAY = 3600, 24 * 3600
UNLISTED = "chain/erc1155-balance"
SOLD = (BY_NAME["echo"], BY_NAME["rss"], BY_NAME[UNLISTED])
"""These tests buy echo, whose pool has no worker."""


class Installation:
    """Processes on one ledger, whose clock is the test's."""

    def __init__(self, url: str) -> None:
        self.now = 1_764_000_000.0
        self.url = url
        self.client = Redis(url)
        self.reader = StatusReader(self.client, self.clock)
        self.processes: list[StatusCounter] = []

    def clock(self) -> float:
        return self.now

    def process(self, url: str = "") -> StatusCounter:
        self.processes.append(StatusCounter(Redis(url) if url else self.client, self.clock))
        return self.processes[-1]

    async def run(self, seconds: float, *processes: StatusCounter) -> None:
        """Let time pass, in which these processes write."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + WRITE_S)
            for process in processes:
                await process.run_once()

    async def document(self) -> dict[str, Any]:
        return document(await self.reader.report(), SOLD)


@pytest.fixture
async def installation(clean_redis: str) -> AsyncIterator[Installation]:
    """Nothing runs by itself."""
    made = Installation(clean_redis)
    yield made
    made.client.close()


def paid(process: StatusCounter, result: Any, cause: str = "", count: int = 1, rail: str = "base") -> None:
    for _ in range(count):
        process.count("echo", rail, result, cause, 0.2)


async def test_processes_add_up_and_windows_pass(installation: Installation, clean_redis: str) -> None:
    """What was counted leaves the hour, then the day, then the 30 days; a window without calls has no success, and each hash
    has its end."""
    first, second = installation.process(), installation.process()
    paid(first, "answered", count=7)
    paid(second, "answered", count=2, rail="xrpl-usdc")
    paid(second, "failed", "timeout")
    paid(first, "refused", "no_worker", count=2)
    paid(first, "caller_failed", "dns_failure", count=4)
    await installation.run(WRITE_S, first, second)
    said = await installation.document()
    echo = said["endpoints"][0]
    for figures in (*echo["all"].values(), *said["all"].values()):
        assert (figures["success"], figures["failed"], figures["refused"]) == (0.75, 0.0834, 0.1667)
        assert (figures["callerFailed"], figures["callsAtLeast"]) == (0.25, 10)
        assert 0.2 <= figures["p50Seconds"] == figures["p95Seconds"] <= 0.225
    assert echo["rails"]["xrpl-usdc"]["1h"]["success"] == 1
    assert {(one["cause"], one["fault"], one["result"]) for one in echo["lastFailures"]} == {
        ("timeout", "ours", "failed"),
        ("no_worker", "ours", "refused"),
        ("dns_failure", "caller", "callerFailed"),
    }
    assert said["endpoints"][1]["rails"] == {}

    for passed, without in ((2 * HOUR, {"1h"}), (DAY, {"1h", "24h"}), (31 * DAY, {"1h", "24h", "30d"})):
        installation.now += passed
        shown = (await installation.document())["all"]
        assert {name for name, figures in shown.items() if figures["success"] is None} == without
        assert all(figures["callsAtLeast"] == 0 for name, figures in shown.items() if name in without)
    with redis.Redis.from_url(clean_redis) as client:
        kept = {key: client.ttl(key) for key in client.scan_iter("coinslot:*:status:*")}
    assert len(kept) == len(WINDOWS)
    assert all(HOUR < ttl <= 31 * DAY for ttl in kept.values())


async def test_time_in_which_nobody_counts_is_unknown(installation: Installation) -> None:
    """Not a success: before the first process, between two, and while a process did not run. A restart loses nothing."""
    before = installation.process()
    await installation.run(HOUR / 4, before)
    paid(before, "failed", "run_failed")
    await before.stop()
    installation.now += HOUR / 4
    after = installation.process()
    after.start()
    await after.stop()
    await installation.run(HOUR / 4, after)
    said = await installation.document()
    hour = said["windows"]["1h"]
    assert hour["seconds"] - hour["unknownSeconds"] == HOUR / 2
    assert said["windows"]["30d"]["unknownSeconds"] == said["windows"]["30d"]["seconds"] - HOUR / 2
    assert said["all"]["1h"]["failed"] == 1
    installation.now += HOUR / 4  # the process sleeps
    await after.run_once()
    slept = (await installation.document())["windows"]["1h"]
    assert slept["seconds"] - slept["unknownSeconds"] == HOUR / 2
    installation.now -= 100  # the clock is set back
    await after.run_once()
    installation.now += 100 + FRESH_S
    report = await installation.reader.report()
    assert [end - begin for begin, end in report.tallies["1h"].spans] == [HOUR / 4, HOUR / 4]


async def test_what_a_ledger_did_not_take_is_written_later(installation: Installation) -> None:
    """Once, in its own time; and while it cannot be read, the last report is shown, or a 503 when there is none."""
    away = "redis://127.0.0.1:1"
    process = installation.process(away)
    paid(process, "answered")
    with pytest.raises(RedisLost):
        await installation.run(WRITE_S, process)
    nobody = StatusReader(process._redis, installation.clock)
    with pytest.raises(Problem) as refused:
        await nobody.report()
    assert refused.value.kind.status == 503
    paid(process, "refused", "ledger_full")
    process._redis = nobody._redis = installation.client
    await installation.run(HOUR, process)
    await process.run_once()
    said = await installation.document()
    assert (said["all"]["24h"]["success"], said["all"]["1h"]["refused"]) == (0.5, 0.5)
    assert said["windows"]["1h"]["unknownSeconds"] <= 2 * WINDOWS[0].slot_s
    report = await nobody.report()
    nobody._redis = Redis(away)
    installation.now += FRESH_S
    assert await nobody.report() is report


async def test_the_exporter_has_the_same_numbers(installation: Installation, clean_redis: str) -> None:
    """Counts in place of shares, and the same quantiles."""
    process = installation.process()
    process._clock = installation.reader._clock = time.time  # the exporter has no other
    paid(process, "answered", count=3)
    paid(process, "refused", "no_worker")
    process._counted_until -= WRITE_S
    await process.run_once()
    figures = (await installation.document())["endpoints"][0]["rails"]["base"]["24h"]
    with redis.Redis.from_url(clean_redis) as client:
        found = {
            (sample.name.removeprefix("coinslot_status_"), *sorted(sample.labels.values())): sample.value
            for family in calls(client)
            for sample in family.samples
        }
    counts = {result: found["calls", *sorted(("echo", "base", "24h", result))] for result in RESULTS}
    assert counts == {"answered": 3, "failed": 0, "refused": 1, "caller_failed": 0}
    assert figures["success"] == counts["answered"] / 4
    assert found["seconds", "0.95", "24h", "base", "echo"] == figures["p95Seconds"]
    assert found["last_failure_timestamp_seconds", *sorted(("echo", "base", "no_worker", "refused"))] > 1_700_000_000
    assert found["unknown_seconds", "24h"] > 23 * HOUR


async def test_what_is_shown_of_calls(
    shop: httpx.AsyncClient, clean_redis: str, payer: Payer, paid_calls: dict[str, Any]
) -> None:
    """Page, Markdown and JSON say the same, of a call that is refused because no worker serves its pool. Nothing in them is
    the caller's, and what is not listed is not shown."""
    path = "/v1/cdp/echo"
    status: StatusCounter = paid_calls[path]._services.status
    refused = await shop.post(path, json={"message": "hunter2"}, headers=paid_with(payer.payment()))
    assert refused.json()["reason"] == "no_worker"
    paid(status, "answered")
    status.count(UNLISTED, "base", "refused", "no_worker", 0.1)
    await status.run_once()
    answer = await shop.get("/status.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["cache-control"] == "public, max-age=60"
    said = answer.json()
    assert [one["name"] for one in said["endpoints"]] == ["echo", "rss"]
    assert (said["all"]["1h"]["success"], said["all"]["1h"]["refused"]) == (0.5, 0.5)
    page = await shop.get("/status", headers={"Accept": "text/html"})
    tree = html.fromstring(page.text)
    assert [one.text_content() for one in tree.cssselect("summary")] == ["echo 50 % answered in 24 hours"]
    assert "No worker serves this call now." in tree.cssselect("#echo .failures")[0].text_content()
    markdown = await shop.get("/status", headers={"Accept": "text/markdown"})
    assert "| echo | base | 50 % answered, 50 % refused, p50" in markdown.text
    with redis.Redis.from_url(clean_redis) as client:
        stored = b"".join(client.dump(key) or b"" for key in client.scan_iter("coinslot:*:status:*"))
    assert b"no_worker" in stored
    for content in (answer.content, page.content, markdown.content):
        assert b"erc1155" not in content
    for content in (answer.content, page.content, markdown.content, stored):
        assert b"hunter2" not in content
        assert payer.address[2:].lower().encode() not in content.lower()
