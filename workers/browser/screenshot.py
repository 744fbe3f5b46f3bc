"""Pictures of a page."""

import base64
import time
from typing import Any, Literal

from jobs.ports.browser import MAX_HEIGHT, MAX_SCREENSHOT_BYTES, VIEWPORT, Area, NotDrawn, Screenshot
from workers.browser.cdp import CdpError
from workers.browser.page import Page

_TRIES: tuple[tuple[Literal["png", "webp"], dict[str, Any]], ...] = (
    ("png", {}),
    ("webp", {"quality": 80}),
    ("webp", {"quality": 40}),
)
"""The next one when the file is too large."""


async def take_screenshot(page: Page, area: Area, *, until: float) -> Screenshot | NotDrawn:
    """Draw a page, or say why there is no picture of it.

    Args:
        until: monotonic seconds.
    """
    width, height = VIEWPORT
    try:
        if area is Area.FULL_PAGE:
            metrics = await page.send("Page.getLayoutMetrics", limit_s=_left_s(until))
            height = min(max(height, int(metrics["cssContentSize"]["height"])), MAX_HEIGHT)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        for kind, options in _TRIES:
            taken = await page.send(
                "Page.captureScreenshot",
                format=kind,
                clip=clip,
                captureBeyondViewport=area is Area.FULL_PAGE,
                limit_s=_left_s(until),
                **options,
            )
            data = base64.b64decode(taken["data"])
            if len(data) <= MAX_SCREENSHOT_BYTES:
                return Screenshot(kind, width, height, data)
    except TimeoutError:
        return "timeout"
    except CdpError:
        return "not_drawn"
    return "too_large"


def _left_s(until: float) -> float:
    return max(0.05, until - time.monotonic())
