"""The example of the endpoint: a page of the sandbox, against an older text of it."""

from __future__ import annotations

from jobs.engines.page import example as page
from shared.endpoint import Example

_OLD_PRICE = page.PRICE.replace("24", "22")

EXAMPLE = Example(
    request={
        "url": page.URL,
        "previousMarkdown": "\n\n".join((page.TITLE, page.BERTHS, "## Prices", _OLD_PRICE)),
    },
    response={
        **page.ADDRESSES,
        **page.EXTRACTION,
        "changed": True,
        "status": "changed",
        "markdown": page.MARKDOWN,
        "markdownTruncated": False,
        "markdownHash": page.MARKDOWN_HASH,
        "previousHash": "08cc5b9b6b35770768f6802219aa41396f8b3abe62ee375edacfb1d55c39c32e",
        "baseline": "supplied",
        "sinceCursorFound": None,
        "diff": {
            "addedLines": 3,
            "removedLines": 1,
            "similarity": 0.8239,
            "hunks": [
                {
                    "oldStart": 7,
                    "oldLines": 1,
                    "newStart": 7,
                    "newLines": 3,
                    "removed": [_OLD_PRICE],
                    "added": [page.PRICE, "", page.WEEK],
                    "words": page.PRICE.replace("24", "[-22-]{+24+}").rstrip(".") + f"{{+.\n\n{page.WEEK[:-1]}+}}.",
                }
            ],
            "unified": (
                "--- previous\n+++ current\n@@ -4,4 +4,6 @@\n \n ## Prices\n \n"
                f"-{_OLD_PRICE}\n+{page.PRICE}\n+\n+{page.WEEK}\n"
            ),
        },
        "ignoredElements": None,
        "lastCheckedAt": None,
        "checkedAt": "2026-11-20T15:04:05Z",
        **page.IDENTITY,
    },
)
