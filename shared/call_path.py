"""Where calls are sold: the path before their names."""

from __future__ import annotations

PATH_PREFIX = "/v1/cdp/"
