"""The application's life behind granian's interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from api.rsgi import Rsgi


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application."""


def test_it_is_left_by_the_task_that_entered_it() -> None:
    """Task groups insist on it, and Litestar's lifespan has one; granian starts and stops in two runs of the loop."""
    told: list[str] = []

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 0)
            told.append("entered")
            yield
        told.append("left")

    loop = asyncio.new_event_loop()
    app = Rsgi(nothing, lifespan)
    app.__rsgi_init__(loop)
    assert told == ["entered"]
    loop.run_until_complete(asyncio.sleep(0.01))
    assert told == ["entered"]
    app.__rsgi_del__(loop)
    assert told == ["entered", "left"]
    loop.close()


def test_what_fails_at_the_start_ends_the_process() -> None:
    """And is not waited for."""

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        raise ValueError("no rail")
        yield

    loop = asyncio.new_event_loop()
    with pytest.raises(ValueError, match="no rail"):
        Rsgi(nothing, lifespan).__rsgi_init__(loop)
    loop.close()
