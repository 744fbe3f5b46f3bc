"""The request fields that render-pro and web-diff share, and what their observations are about."""

from __future__ import annotations

from typing import Annotated

import msgspec

from jobs.hosts import MAX_URL, NotPublic, PublicUrl, public_url
from shared.endpoint import InvalidField

Url = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=MAX_URL,
        description="Public http or https page; ports 80, 443, 8080 and 8443. A fragment is ignored.",
    ),
]
Since = Annotated[
    str,
    msgspec.Meta(
        pattern="^cur_[0-9a-f]{24}$",
        description="The cursor of one of your last five observations of this page: compares with it, not with the last one.",
    ),
]


def checked_url(text: str) -> PublicUrl:
    """Read the URL of a request. Raises InvalidField."""
    try:
        return public_url(text)
    except NotPublic as refused:
        raise InvalidField(refused.detail, field="url", code=refused.code) from None


def subject(endpoint: str, url: str, extract: str) -> str:
    """What an observation is about: one endpoint's view of one page. Two URLs that differ in their fragments are one page."""
    return f"{endpoint}\n{checked_url(url)}\n{extract}"
