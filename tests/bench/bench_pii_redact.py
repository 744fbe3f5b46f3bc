"""How long pii-redact takes on 100 000 characters of hostile text: `python tests/bench/bench_pii_redact.py`.

Prints, for each pattern, the best of three runs in milliseconds of CPU for 25 000 and 100 000 characters, the ratio of the two
(4 is linear), and what was found. Slowest first.
"""

from __future__ import annotations

import time
from pathlib import Path
from sys import path as module_path

module_path.insert(0, str(Path(__file__).parents[2]))

from jobs.pii_redact.redaction import redact
from jobs.pii_redact.spans import KINDS

UNITS = [
    *(
        "1",
        "1 ",
        "0 ",
        "4 ",
        "1-",
        "1.",
        "1/",
        "(1",
        "+1 ",
        "+1(",
        "(",
        "0x",
        "a1b2",
        " x1",
        "1;ext=",
        "0123 ",
        "4111-",
    ),
    *(
        "00 44 20 ",
        "12 34 56 78 9",
        "030-12 34 56 78 90 ",
        "+1 4 1 5 5 5 5 0 1 3 2 ",
        "+49 30 123456 ",
        "415-555-0132 ",
    ),
    *(
        "020 7946 0958 ",
        "4155550132 ",
        "0612345678 ",
        "Tel: 2123 4567, ",
        "phone: 12345678 ",
        "电话12345678",
        "call me at ",
    ),
    *(
        "a@",
        "a@a.",
        "a@1.",
        "a@b.cc ",
        "@b.cc",
        "a%40",
        "a%40b.cc",
        '"',
        '"a"@b.cc ',
        "a=",
        "a/",
        "é",
        "e\u0301",
        "\u200b",
    ),
    *("4111 1111 1111 1111 ", "123-45-6789 ", "ssn 123456789 ", "1.1.1.1 ", "1.1.1.1.", "0123456789abcdef" * 2 + " "),
    *("2026-11-20 ", "1:11 ", "DE89370400440532013000 ", "DE89 ", "12.3456,12.3456 ", "[EMAIL] ", "[PHONE]1", "aA"),
]
PROSE = (
    "Dear Ada, please call +44 20 7946 0958 or write to ada@example.com about order 1234567890 of 2026-11-20. Thanks!\n"
)


def once(text: str) -> tuple[float, int]:
    """(milliseconds, findings)."""
    started = time.process_time()
    found = len(redact(text, KINDS).spans)
    return (time.process_time() - started) * 1000, found


def measure(unit: str, size: int) -> tuple[float, int]:
    """The best of three."""
    text = (unit * (size // len(unit) + 1))[:size]
    return min(once(text) for _ in range(3))


def main() -> None:
    """Print the table."""
    once(PROSE)
    rows = []
    for unit in (*UNITS, PROSE):
        short, _ = measure(unit, 25_000)
        long, found = measure(unit, 100_000)
        rows.append((long, short, unit, found))
    print(f"{'25k ms':>8} {'100k ms':>8} {'ratio':>6}  {'unit':28} found")
    for long, short, unit, found in sorted(rows, reverse=True):
        print(f"{short:8.1f} {long:8.1f} {long / max(short, 0.01):6.1f}  {unit[:24]!r:28} {found}")


if __name__ == "__main__":
    main()
