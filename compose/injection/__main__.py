"""Trains the statistical layer of prompt-injection-scan; writes its weights, a report and a picture: `scripts/train-injection`.

The same packages, pinned, give the same bytes. It takes three minutes on one core. With `--quick`, which leaves out the last
part of the report, it takes half of that.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found]

from compose.injection import families
from compose.injection.fit import Example, Fit, calibrated, examples, fit, group, kinds, packed, unseen_scores
from compose.injection.packages import PACKAGES
from compose.injection.texts import Text, everything, seeded
from jobs.prompt_injection_scan.labels import Severity
from jobs.prompt_injection_scan.model import FILE
from jobs.prompt_injection_scan.rules import rule_book
from tests.jobs.prompt_injection_scan.attacks import BY_CATEGORY
from tests.jobs.prompt_injection_scan.ordinary import BY_KIND

VERSION = 1
SET_ASIDE = {
    *("agentdojo", "langkit", "psfuzz", "pyrit/pliny", "threatbench"),  # attacks
    *("@google", "gptme", "haystack-ai", "rasa", "swarms", "vaderSentiment"),  # harmless
}
"""Sources that no fit, no rule and no threshold has seen: the report's figures are theirs."""
VALIDATION = {
    *("deepteam", "ipi", "pyrit/Arth_Singh", "own/mode", "own/fake end", "own/extraction", "own/override"),  # attacks
    *("agno", "aider-chat", "alpaca-eval", "bmad-method", "browser-use", "camel-ai", "django", "dspy", "fschat"),
    *("mem0ai", "metagpt", "ragas"),
}
"""Sources of which the fit that chooses the thresholds has seen nothing. The last fit learns from them as well."""
FALSE_ALARMS = {"medium": (0.006, 0.014), "high": (0.001, 0.002)}
"""The share of harmless validation texts, of one window and of more, that may reach each severity. Most of the long ones are
prompts, which are the hardest."""
_OF_EACH_FAMILY = 150
_PICTURE = Path("docs/prompt-injection-scan.png")


def main() -> None:
    """Train, write and report."""
    started = time.process_time()
    read = examples([*everything(), *_own()])
    aside = [example for example in read if _is_of(SET_ASIDE, example)]
    taught = [example for example in read if not _is_of(SET_ASIDE, example)]
    _say(started, f"{len(taught)} texts, {len(aside)} set aside")
    judged = [example for example in taught if _is_of(VALIDATION, example)]
    first = fit([example for example in taught if not _is_of(VALIDATION, example)])
    scores = np.array([first.score(example) for example in judged])
    is_attack = np.array([example.text.category is not None for example in judged])
    slope, offset = calibrated(scores, is_attack)
    short = np.array([len(example.windows()) == 1 for example in judged])
    least = {
        name: [_quantile(scores[~is_attack & short], one), _quantile(scores[~is_attack & ~short], more)]
        for name, (one, more) in FALSE_ALARMS.items()
    }
    _say(started, "calibrated on validation sources")
    fitted = fit(taught)
    told = {
        "version": VERSION,
        "packages": [f"{one.registry}:{one.name}@{one.version} {one.licence} sha256:{one.digest}" for one in PACKAGES],
        "slope": slope,
        "offset": offset,
    }
    content = packed(fitted, told | least, kinds(taught))
    FILE.write_bytes(content)
    _say(started, f"{len(content)} bytes written")
    report(fitted, aside, {} if "--quick" in sys.argv else unseen_scores(taught, least["medium"]), least["medium"])
    _say(started, "done")


def _quantile(scores: Any, share: float) -> float:
    return float(np.quantile(scores, 1 - share))


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
    beside = [Text("tables", None, text) for rule in rules for text in rule.counterexamples]
    return [*attacks, *harmless, *tables, *ordinary, *worded, *beside]


def report(fitted: Fit, aside: Sequence[Example], unseen: dict[str, list[float]], medium: list[float]) -> None:
    """Print the recall of each source, and draw the ROC of the sources that were set aside."""
    scores = np.array([fitted.score(example) - medium[len(example.windows()) > 1] for example in aside])
    attack = np.array([example.text.category is not None for example in aside])
    found, alarms = np.mean(scores[attack] >= 0), np.mean(scores[~attack] >= 0)
    print(f"set aside: recall {found:.3f} of {attack.sum()}, false alarms {alarms:.4f} of {(~attack).sum()}")
    by: dict[str, list[float]] = {}
    for example, score in zip(aside, scores, strict=True):
        kind = "set aside, attacks" if example.text.category else "set aside, harmless"
        by.setdefault(
            f"{kind:20} {example.text.source if example.text.category else group(example.text.source)}", []
        ).append(score)
    by |= {f"{'left out of the fit':20} {source}": above for source, above in unseen.items()}
    for name, above in sorted(by.items()):
        print(f"{name:64} {len(above):5} {np.mean(np.array(above) >= 0):.4f}")
    _draw(scores, attack)


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
