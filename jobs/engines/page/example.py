"""The page of the sandbox that the examples of render-pro and web-diff visit."""

from typing import Any

URL = "https://site.example.com:8443/berths"
TITLE = "# Berths and their prices"
BERTHS = "The harbour has forty berths for visitors, and every one of them has water and power on the quay."
PRICE = "A night costs 24 euros for a boat of up to ten metres, and each further metre costs two euros more."
WEEK = "Who stays for a week pays for six nights. The office takes cards, and coins for the showers."
MARKDOWN = "\n\n".join((TITLE, BERTHS, "## Prices", PRICE, WEEK))
MARKDOWN_HASH = "c341f97446e11d633da55db777bf58b32decbbdd0fed4f3c1f2f024931d681bf"

ADDRESSES: dict[str, Any] = {
    "ok": True,
    "url": URL,
    "finalUrl": URL,
    "httpStatus": 200,
    "title": "Berths and their prices",
}
EXTRACTION: dict[str, Any] = {
    "extract": "article",
    "method": "precision",
    "kind": "article",
    "coverage": 1.0,
    "fromSource": False,
    "timedOut": False,
}
IDENTITY: dict[str, Any] = {
    "cursor": "cur_d21e074ba2cc1dc5bb4e9147",
    "observationId": "obs_ddb7f80d49312ea55cc92ba367075ef7c33908326c108fbab16bcd01a8017d42",
}
