"""What the FastAPI systems share: echo's request and its answer."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field


class Echo(BaseModel):
    """The request of jobs/echo.py."""

    message: str | None = Field(default=None, max_length=500)


def said(message: str | None) -> dict[str, object]:
    """Its answer."""
    return {"ok": True, "service": "coinslot", "youSent": message}


def new_app(lifespan: Any = None) -> FastAPI:
    """An application without documents."""
    return FastAPI(openapi_url=None, lifespan=lifespan)
