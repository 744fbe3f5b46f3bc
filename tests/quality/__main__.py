"""`scripts/quality` prints one table: endpoint, measure, cases, and the scores of before and of now in the same cases.

    scripts/quality [--held-out] [--hostile-pages] [name ...]

`--held-out` scores the cases that are set aside. `--hostile-pages` renders the hostile pages in a browser, directly and through
a proxy of each kind, and prints what became of them; it takes some minutes. How the scores of before are made: before.py.
"""

import argparse
import json
from pathlib import Path
from typing import TypedDict

from tests.quality.scorer import measures_of, scored

SCORES = Path(__file__).with_name("scores.json")
NOT_SOLD = "not sold"


class Scores(TypedDict):
    """The scores of an older commit in the cases of tests/quality as they are.

    Attributes:
        commit: whose code was scored; `by`: how.
        open, held_out: by "<name> <measure>". None: it had no such field or option, which is right in 0 of n cases.
    """

    commit: str
    by: str
    open: dict[str, float | None]
    held_out: dict[str, float | None]


def main() -> None:
    """Score and print."""
    known = scored()
    parser = argparse.ArgumentParser(prog="scripts/quality", description="Scores the endpoints' answers.")
    parser.add_argument("name", nargs="*", help="all that have a scorer, when none is named")
    parser.add_argument("--held-out", action="store_true", help="the cases that are set aside")
    parser.add_argument("--hostile-pages", action="store_true", help="hostile pages through proxies, for some minutes")
    asked = parser.parse_args()
    if unknown := set(asked.name) - set(known):
        parser.error(f"no scorer for {', '.join(sorted(unknown))}; there is one for {', '.join(known)}")
    if asked.hostile_pages:
        from tests.quality.hostile_pages import table

        print(table())
        return
    before: Scores = json.loads(SCORES.read_text())
    last = before["held_out"] if asked.held_out else before["open"]
    print(f"before: {before['commit']}, {before['by']}; {NOT_SOLD}: it had no such field or option, 0 of all cases")
    print(f"{'':22} {'measure':54} {'cases':>6} {'before':>8} {'now':>8}")
    for name in asked.name or known:
        for measure in measures_of(name, held_out=asked.held_out):
            score = last.get(f"{name} {measure.name}", "-")
            shown = NOT_SOLD if score is None else f"{score:.4f}" if isinstance(score, float) else score
            print(f"{name:22} {measure.name:54} {measure.cases:6} {shown:>8} {measure.score:8.4f}", flush=True)


if __name__ == "__main__":
    main()
