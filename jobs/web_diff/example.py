"""The example of the endpoint: a page of the sandbox, against an older text of it."""

from __future__ import annotations

from shared.endpoint import Example

EXAMPLE = Example(
    request={
        "url": "https://site.example.com:8443/berths",
        "previousMarkdown": (
            "# Berths and their prices\n\n"
            "The harbour has forty berths for visitors, and every one of them has water and power on the quay.\n\n"
            "## Prices\n\n"
            "A night costs 22 euros for a boat of up to ten metres, and each further metre costs two euros more."
        ),
    },
    response={
        "ok": True,
        "url": "https://site.example.com:8443/berths",
        "finalUrl": "https://site.example.com:8443/berths",
        "httpStatus": 200,
        "title": "Berths and their prices",
        "extract": "article",
        "method": "precision",
        "fromSource": False,
        "timedOut": False,
        "changed": True,
        "status": "changed",
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
        "markdownHash": "c341f97446e11d633da55db777bf58b32decbbdd0fed4f3c1f2f024931d681bf",
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
                    "removed": [
                        "A night costs 22 euros for a boat of up to ten metres, and each "
                        "further metre costs two euros more."
                    ],
                    "added": [
                        "A night costs 24 euros for a boat of up to ten metres, and each "
                        "further metre costs two euros more.",
                        "",
                        "Who stays for a week pays for six nights. The office takes cards, and coins for the showers.",
                    ],
                    "words": "A night costs [-22-]{+24+} euros for a boat of up to ten metres, "
                    "and each further metre costs two euros more{+.\n"
                    "\n"
                    "Who stays for a week pays for six nights. The office takes cards, "
                    "and coins for the showers+}.",
                }
            ],
            "unified": "--- previous\n"
            "+++ current\n"
            "@@ -4,4 +4,6 @@\n"
            " \n"
            " ## Prices\n"
            " \n"
            "-A night costs 22 euros for a boat of up to ten metres, and each further "
            "metre costs two euros more.\n"
            "+A night costs 24 euros for a boat of up to ten metres, and each further "
            "metre costs two euros more.\n"
            "+\n"
            "+Who stays for a week pays for six nights. The office takes cards, and coins "
            "for the showers.\n",
        },
        "lastCheckedAt": None,
        "checkedAt": "2026-11-20T15:04:05Z",
        "cursor": "cur_d21e074ba2cc1dc5bb4e9147",
        "observationId": "obs_ddb7f80d49312ea55cc92ba367075ef7c33908326c108fbab16bcd01a8017d42",
    },
)
