"""How long json-repair takes on 100 000 characters of hostile text: `python tests/bench/bench_json_repair.py`.

Prints, for each pattern, the best of three runs in milliseconds for 25 000 and 100 000 characters, encoding included, the
ratio of the two (4 is linear), and what came out. Slowest first.
"""

from __future__ import annotations

import time
from pathlib import Path
from sys import path as module_path

module_path.insert(0, str(Path(__file__).parents[2]))

import msgspec

from jobs.json_repair import NotRepairable, repair

UNITS = [
    *("[", "{", "t{]", '["a', '"a', "[a]{1", '["{"', "\\", '"', "'", "`", "/*", "//", "```", "(", "a(", "ObjectId("),
    *("a:", ",", ":", '+"', "\ud800", "\u2028", "\x00", "1e400,", "9", '"a","', '{"a":"', '{"a":"b\n', "\u201c"),
    *('"a"b,', '"a[//x\n', '/*"/**/', '{"a" 1', "{a: x, ", "a,", "a\n", "1,", "f(x) ", '\\"', '{\\"', "'\""),
    *('{"a":1}{"b":', '{"a":"{"b"', "[1] ", "{x} ", '"a" is {"b":1} ', "true ", '{"a":...', "{1,", '"a"+'),
]
VALID = '{"name": "value, with: text", "list": [1, 2.5, true, null], "nested": {"a": "b"}}\n'


def once(text: str) -> tuple[float, str]:
    """(milliseconds, what came out)."""
    started = time.perf_counter()
    try:
        outcome = f"{len(msgspec.json.encode(repair(text).value))} bytes"
    except NotRepairable as failure:
        outcome = failure.reason
    return (time.perf_counter() - started) * 1000, outcome


def measure(unit: str, size: int) -> tuple[float, str]:
    """The best of three."""
    text = (unit * (size // len(unit) + 1))[:size]
    return min(once(text) for _ in range(3))


def main() -> None:
    """Print the table."""
    rows = []
    for unit in (*UNITS, VALID):
        short, _ = measure(unit, 25_000)
        long, outcome = measure(unit, 100_000)
        rows.append((long, short, unit, outcome))
    print(f"{'25k ms':>8} {'100k ms':>8} {'ratio':>6}  {'unit':28} outcome")
    for long, short, unit, outcome in sorted(rows, reverse=True):
        print(f"{short:8.1f} {long:8.1f} {long / max(short, 0.01):6.1f}  {unit[:24]!r:28} {outcome}")


if __name__ == "__main__":
    main()
