"""The example of the endpoint: a page of the sandbox."""

from jobs.engines.page import example as page
from shared.endpoint import Example

_QUOTE = "coins for the showers"

EXAMPLE = Example(
    request={"url": page.URL, "extract": "article", "focus": _QUOTE},
    response={
        **page.ADDRESSES,
        "language": "en-GB",
        "canonicalUrl": page.URL,
        "author": "Ann Chor",
        "publishedAt": "2026-11-02T07:00:00Z",
        "linkCount": 3,
        "links": None,
        "images": None,
        **page.EXTRACTION,
        "markdown": page.MARKDOWN,
        "markdownTruncated": False,
        "focus": {
            "query": _QUOTE,
            "found": True,
            "matchCount": 1,
            "matches": [
                {
                    "quote": _QUOTE,
                    "start": 308,
                    "end": 329,
                    "kind": "phrase",
                    "heading": "Prices",
                    "before": page.MARKDOWN[188:308],
                    "after": ".",
                }
            ],
        },
        "snapshot": None,
        "snapshotMissing": None,
        "hashes": {
            "markdown": page.MARKDOWN_HASH,
            "text": "27e841f33bd8aa1377e9f49a33f8d7bf9609c9b02504da4844bea26be6908707",
            "html": "780ddb10caa3aead13b3283a69d4d5760ccf04556a19a192f5fd6583518738f6",
            "visual": None,
        },
        "comparison": {
            "status": "new",
            "previousObservationId": None,
            "previousObservedAt": None,
            "addedLines": None,
            "removedLines": None,
            "sinceCursorFound": None,
        },
        **page.IDENTITY,
        "observedAt": "2026-11-20T15:04:05Z",
        "payment": {
            "network": "eip155:8453",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "amount": "10000",
            "payer": "0x857b06519e91e3a54538791bdbb0e22373e36b66",
            "transaction": "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
        },
    },
)
