"""Questions to the HTTP services of an installation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from shared.settings import Settings

TIMEOUT_S = 5.0


def api_place(settings: Settings) -> str:
    """Where this machine reaches the API."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  # compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def asked(
    url: str, headers: Mapping[str, str] | None = None, *, timeout_s: float = TIMEOUT_S
) -> tuple[int, dict[str, Any] | None]:
    """Status and object of an answer; None when there is none."""
    try:
        answer = httpx.get(url, headers=dict(headers or {}), timeout=timeout_s, trust_env=False)
        told = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return 0, None
    return answer.status_code, told if isinstance(told, dict) else None
