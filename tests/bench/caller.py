"""The caller of a queue: one asyncio process that awaits results, and reads from its standard input what to measure.

One JSON object a line comes in, one goes out. The measuring is here, once; a system brings only its `call`.
"""

import asyncio
import itertools
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Call = Callable[[str], Awaitable[str]]
"""Enqueue a job that says its argument back, and await its result."""

TEXT_CHARS = 200
WARM_CALLS = 10

_numbers = itertools.count()


async def timed(call: Call) -> float:
    """Milliseconds of one call. Raises AssertionError when the result is another job's."""
    text = f"{next(_numbers):0{TEXT_CHARS}}"
    started = time.perf_counter()
    result = await call(text)
    took = time.perf_counter() - started
    assert result == text, f"another job's result: {result!r} for {text!r}"
    return took * 1e3


async def one(call: Call) -> dict[str, float]:
    """A single call."""
    return {"ms": await timed(call)}


async def sequential(call: Call, *, seconds: float) -> dict[str, float]:
    """One call after the other, on a queue that is awake."""
    for _ in range(WARM_CALLS):
        await timed(call)
    give_up_at = time.monotonic() + seconds
    took: list[float] = []
    while time.monotonic() < give_up_at:
        took.append(await timed(call))
    return {"p50_ms": statistics.median(took), "calls": len(took)}


async def flood(call: Call, *, in_flight: int, seconds: float) -> dict[str, float]:
    """`in_flight` calls at any time, on a queue that is awake."""
    await asyncio.gather(*(timed(call) for _ in range(in_flight)))
    started, cpu = time.monotonic(), time.process_time()
    give_up_at = started + seconds
    calls = 0

    async def lane() -> None:
        nonlocal calls
        while time.monotonic() < give_up_at:
            await timed(call)
            calls += 1

    await asyncio.gather(*(lane() for _ in range(in_flight)))
    return {
        "per_s": calls / (time.monotonic() - started),
        "cpu_us": (time.process_time() - cpu) / calls * 1e6,
        "calls": calls,
    }


MEASURES: dict[str, Callable[..., Awaitable[dict[str, float]]]] = {"one": one, "sequential": sequential, "flood": flood}


def serve_calls(connect: Callable[[], Awaitable[Call]]) -> None:
    """Measure what standard input asks for until it ends.

    Args:
        connect: called once, on the event loop that makes all calls.
    """

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        reader = ThreadPoolExecutor(1)  # not the loop's default: callers of blocking libraries need all of that
        call = await connect()
        while line := await loop.run_in_executor(reader, sys.stdin.readline):
            arguments: dict[str, Any] = json.loads(line)
            print(json.dumps(await MEASURES[arguments.pop("measure")](call, **arguments)), flush=True)

    asyncio.run(serve())
