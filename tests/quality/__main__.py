"""`scripts/quality` prints one table: endpoint, measure, cases, score, and the score of the last release.

    scripts/quality [--held-out] [--record] [endpoint ...]

`--held-out` scores the cases that are set aside. `--record` keeps the scores in tests/quality/scores.json, once per release.
"""

import argparse
import json
from pathlib import Path

from tests.quality.scorer import endpoints, measures_of

SCORES = Path(__file__).with_name("scores.json")
"""{"open" or "held-out": {"<endpoint> <measure>": score}} of the last release."""


def main() -> None:
    """Score, print, and record when asked to."""
    known = endpoints()
    parser = argparse.ArgumentParser(prog="scripts/quality", description="Scores the endpoints' answers.")
    parser.add_argument("endpoint", nargs="*", help="all that have a scorer, when none is named")
    parser.add_argument("--held-out", action="store_true", help="the cases that are set aside")
    parser.add_argument("--record", action="store_true", help="keep the scores as those of the last release")
    asked = parser.parse_args()
    if unknown := set(asked.endpoint) - set(known):
        parser.error(f"no scorer for {', '.join(sorted(unknown))}; there is one for {', '.join(known)}")
    part = "held-out" if asked.held_out else "open"
    recorded: dict[str, dict[str, float]] = json.loads(SCORES.read_text()) if SCORES.exists() else {}
    last = recorded.setdefault(part, {})
    scores: dict[str, float] = {}
    print(f"{'endpoint':24}{'measure':34}{'cases':>8}{'score':>8}{'last':>8}")
    for endpoint in asked.endpoint or known:
        for measure in measures_of(endpoint, held_out=asked.held_out):
            key = f"{endpoint} {measure.name}".strip()
            scores[key] = round(measure.score, 4)
            before = f"{last[key]:8.4f}" if key in last else f"{'-':>8}"
            print(f"{endpoint:24}{measure.name:34}{measure.cases:8}{measure.score:8.4f}{before}", flush=True)
    if asked.record:
        recorded[part] = dict(sorted((last | scores).items()))
        SCORES.write_text(json.dumps(recorded, indent=2) + "\n")


if __name__ == "__main__":
    main()
