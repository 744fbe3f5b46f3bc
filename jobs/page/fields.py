"""The response fields that render-pro and web-diff share."""

from __future__ import annotations

from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.page.reading import Extract, Method

Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
RequestedUrl = Annotated[str, doc("The address that the request named.")]
FinalUrl = Annotated[str, doc("The address of the page, after redirects and navigations, without a fragment.")]
HttpStatus = Annotated[int, doc("The HTTP status of the page.")]
Title = Annotated[str | None, doc("The page's title. Null when it has none.")]
Extracted = Annotated[Extract, doc("Which text was extracted: that of the request.")]
Found = Annotated[
    Method, doc("How it was found: trafilatura's `precision` or `default`, or `body`: all that the page shows.")
]
FromSource = Annotated[
    bool, doc("Whether the text is the document's as it was sent, because scripts had removed most of it.")
]
TimedOut = Annotated[bool, doc("Whether the page was read before it had finished loading.")]
Markdown = Annotated[str, doc("The extracted text, at most 60,000 characters, cut after a block.")]
IsCut = Annotated[bool, doc("Whether the page has more text than `markdown`.")]
SinceCursorFound = Annotated[
    bool | None,
    doc("Whether `sinceCursor` was still known. If not, the last call was compared with. Null when none was sent."),
]
Cursor = Annotated[
    str, doc("Names this observation, for a later `sinceCursor`. It is the same while the page says the same.")
]
ObservationId = Annotated[str, doc("Names the page's content. It is the same for every caller.")]
