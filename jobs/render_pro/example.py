"""The example of the endpoint: a page of the sandbox."""

from __future__ import annotations

from shared.endpoint import Example

EXAMPLE = Example(
    request={"url": "https://site.example.com:8443/berths", "extract": "article", "focus": "coins for the showers"},
    response={
        "ok": True,
        "url": "https://site.example.com:8443/berths",
        "finalUrl": "https://site.example.com:8443/berths",
        "httpStatus": 200,
        "title": "Berths and their prices",
        "language": "en-GB",
        "canonicalUrl": "https://site.example.com:8443/berths",
        "author": "Ann Chor",
        "publishedAt": "2026-11-02T07:00:00Z",
        "linkCount": 3,
        "extract": "article",
        "method": "precision",
        "fromSource": False,
        "timedOut": False,
        "markdown": "# Berths and their prices\n"
        "\n"
        "The harbour has forty berths for visitors, and every one of them has water and power "
        "on the quay.\n"
        "\n"
        "## Prices\n"
        "\n"
        "A night costs 24 euros for a boat of up to ten metres, and each further metre costs "
        "two euros more.\n"
        "\n"
        "Who stays for a week pays for six nights. The office takes cards, and coins for the "
        "showers.",
        "markdownTruncated": False,
        "focus": {
            "query": "coins for the showers",
            "found": True,
            "matchCount": 1,
            "matches": [
                {
                    "quote": "coins for the showers",
                    "start": 308,
                    "end": 329,
                    "kind": "phrase",
                    "heading": "Prices",
                    "before": "es, and each further metre costs two euros more.\n"
                    "\n"
                    "Who stays for a week pays for six nights. The office takes "
                    "cards, and ",
                    "after": ".",
                }
            ],
        },
        "snapshot": None,
        "hashes": {
            "markdown": "c341f97446e11d633da55db777bf58b32decbbdd0fed4f3c1f2f024931d681bf",
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
        "cursor": "cur_d21e074ba2cc1dc5bb4e9147",
        "observationId": "obs_ddb7f80d49312ea55cc92ba367075ef7c33908326c108fbab16bcd01a8017d42",
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
