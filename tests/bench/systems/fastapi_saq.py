"""FastAPI in front of SAQ, listening before it enqueues."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request

from tests.bench.roles import PATH, become_uvicorn, play
from tests.bench.systems import saq_subscribe
from tests.bench.systems.fastapi_echo import Echo, said


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Connect on the event loop that serves."""
    app.state.call = await saq_subscribe.connect()
    yield


app = FastAPI(openapi_url=None, lifespan=running)


@app.post(PATH)
async def echo(echo: Echo, request: Request) -> dict[str, object]:
    """Send the job and wait for it."""
    return said(await request.app.state.call(echo.message))


if __name__ == "__main__":
    play({"worker": saq_subscribe.worker, "api": lambda: become_uvicorn("tests.bench.systems.fastapi_saq:app")})
