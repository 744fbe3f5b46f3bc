"""Trains the statistical layer of prompt-injection-scan; writes its weights, a report and a picture: `scripts/train-injection`.

The same packages, pinned, give the same bytes. It takes four minutes on one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found]

from jobs.prompt_injection_scan.labels import Severity
from jobs.prompt_injection_scan.model import FILE, LENGTHS
from jobs.prompt_injection_scan.rules import rule_book
from jobs.prompt_injection_scan.scanner import scan
from jobs.prompt_injection_scan.scoring import level_of, score_of
from jobs.prompt_injection_scan.training import families
from jobs.prompt_injection_scan.training.fit import (
    Example,
    Fit,
    calibrated,
    examples,
    fit,
    group,
    kinds,
    packed,
    unseen_scores,
)
from jobs.prompt_injection_scan.training.overlap import Copies
from jobs.prompt_injection_scan.training.packages import PACKAGES
from jobs.prompt_injection_scan.training.texts import Text, everything, seeded
from tests.jobs.prompt_injection_scan.corpora import BY_CATEGORY, BY_KIND

VERSION = 1
SET_ASIDE = {
    *("agentdojo", "langkit", "psfuzz", "pyrit/pliny", "threatbench"),  # attacks
    *("@google", "gptme", "haystack-ai", "rasa", "swarms", "vaderSentiment"),  # harmless
}
"""Sources that no fit, no rule and no threshold has seen, and no copies of their texts: the report's figures are theirs."""
FALSE_ALARMS = {"medium": 0.006, "doubt": 0.05}
"""The share of the packages' harmless texts that may reach each threshold, in fits that have not seen their package. With the
rules, .009 of them are findings of medium or more."""
_HIGH = 0.001
"""The same of `high`, over all classes of lengths: it lies above medium by as much in each, since one class alone has few texts
that reach it."""
_OF_EACH_FAMILY = 150
_PICTURE = Path("docs/prompt-injection-scan.png")


def main() -> None:
    """Train, write and report."""
    started = time.process_time()
    read = examples([*everything(), *_own()])
    aside = [example for example in read if _is_of(SET_ASIDE, example)]
    copies = Copies([example.text.text for example in aside])
    others = [example for example in read if not _is_of(SET_ASIDE, example)]
    taught = [example for example in others if not copies.has(example.text.text)]
    _say(started, f"{len(taught)} texts, {len(aside)} set aside, {len(others) - len(taught)} copies of those left out")
    unseen = unseen_scores(taught)
    attack = np.array([example.text.category is not None for example in taught])
    ordinary = np.array([_is_ordinary(example.text) for example in taught])
    slope, offset = calibrated(
        unseen[ordinary | attack & ~np.isnan(unseen)], attack[ordinary | attack & ~np.isnan(unseen)]
    )
    length = np.array([example.length for example in taught])
    least = {
        name: [_quantile(unseen[ordinary & (length == one)], share) for one in range(len(LENGTHS) + 1)]
        for name, share in FALSE_ALARMS.items()
    }
    above = unseen - np.array(least["medium"])[length]
    least["high"] = [medium + _quantile(above[ordinary], _HIGH) for medium in least["medium"]]
    _say(started, "thresholds chosen")
    fitted = fit(taught)
    origin = {
        "version": VERSION,
        "packages": [f"{one.registry}:{one.name}@{one.version} {one.licence} sha256:{one.digest}" for one in PACKAGES],
        "slope": slope,
        "offset": offset,
    }
    content = packed(fitted, origin | least, kinds(taught))
    FILE.write_bytes(content)
    _say(started, f"{len(content)} bytes written")
    report(fitted, aside, least["medium"])
    report_unseen(taught, unseen, least["medium"])
    _say(started, "done")


def _quantile(scores: Any, share: float) -> float:
    return float(np.quantile(scores, 1 - share))


def _is_ordinary(text: Text) -> bool:
    """Whether it is a harmless text of a package: those written here, or beside attacks, are all near one."""
    return (
        text.category is None
        and text.source not in ("tables", "bastioncorpus harmless", "agent-threat-rules harmless")
        and "own/" not in text.source
    )


def _is_of(sources: set[str], example: Example) -> bool:
    return example.text.source in sources or group(example.text.source) in sources


def _own() -> list[Text]:
    rng = seeded(5)
    attacks = [Text(f"own/{name}", kind, text) for name, kind, text in families.attacks(rng, _OF_EACH_FAMILY)]  # type: ignore[arg-type]
    harmless = [Text(f"own/{name}", None, text) for name, text in families.harmless(rng, 2 * _OF_EACH_FAMILY)]
    tables = [Text("tables", kind, text) for kind, rows in BY_CATEGORY.items() for text in rows]  # type: ignore[arg-type]
    ordinary = [Text("tables", None, text) for rows in BY_KIND.values() for text in rows]
    rules = [rule for rule in rule_book().by_id.values() if rule.view in ("words", "sentences", "anywhere")]
    worded = [
        Text("tables", rule.category, text) for rule in rules if rule.severity > Severity.LOW for text in rule.examples
    ]
    beside = [
        Text("tables", None, text)
        for rule in rule_book().by_id.values()
        if rule.view != "hidden"
        for text in rule.counterexamples
    ]
    return [*attacks, *harmless, *tables, *ordinary, *worded, *beside]


def report(fitted: Fit, aside: Sequence[Example], medium: list[float]) -> None:
    """Print what is found in each source that was set aside, and draw the ROC of the model alone."""
    scores = np.array([fitted.score(example) - medium[example.length] for example in aside])
    attack = np.array([example.text.category is not None for example in aside])
    findings = [scan(example.text.text).findings for example in aside]
    both = np.array([level_of(score_of(found)) not in ("none", "low") for found in findings])
    rules = np.array(
        [
            level_of(score_of(one for one in found if not one.rule.startswith("model."))) not in ("none", "low")
            for found in findings
        ]
    )
    sources = np.array([one.text.source if one.text.category else group(one.text.source) for one in aside])
    print(f"{'set aside':40} texts  model rules  both")
    for kind, chosen in (("attacks", attack), ("harmless", ~attack)):
        for source in ("", *sorted(set(sources[chosen]))):
            rows = chosen & (sources == source) if source else chosen
            shares = "  ".join(f"{np.mean(hit[rows]):.4f}" for hit in (scores >= 0, rules, both))
            print(f"{kind + ' ' + (source or 'all'):40} {rows.sum():5}  {shares}")
    _draw(scores, attack)


def report_unseen(taught: Sequence[Example], unseen: Any, medium: list[float]) -> None:
    """Print the share of each group's attacks that the model alone finds in a fit that has not seen the group."""
    above: dict[str, list[bool]] = {}
    for example, score in zip(taught, unseen, strict=True):
        if example.text.category and not np.isnan(score):
            above.setdefault(group(example.text.source), []).append(bool(score >= medium[example.length]))
    for name, found in sorted(above.items()):
        print(f"left out of the fit {name:40} {len(found):5} {np.mean(found):.2f}")


def _draw(scores: Any, attack: Any) -> None:
    from matplotlib.figure import Figure  # type: ignore[import-not-found]
    from sklearn.metrics import roc_curve  # type: ignore[import-not-found]

    alarms, recall, _ = roc_curve(attack, scores)
    figure = Figure(figsize=(7, 4.2), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    axes.semilogx(np.maximum(alarms, 1e-4), recall, drawstyle="steps-post", label="model alone, sources set aside")
    axes.plot(
        max(1e-4, float(np.mean(scores[~attack] >= 0))), float(np.mean(scores[attack] >= 0)), "o", label="threshold"
    )
    axes.set(
        xlabel="share of harmless texts that are findings", ylabel="share of attacks found", xlim=(1e-4, 1), ylim=(0, 1)
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(_PICTURE, metadata={"Software": None})


def _say(started: float, what: str) -> None:
    print(f"{time.process_time() - started:5.0f} s CPU: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
