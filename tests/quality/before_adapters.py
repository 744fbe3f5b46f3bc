"""Runs today's scorers on the older code of before.py, and prints the scores as JSON. before.py starts it, in its folder.

An adapter names a thing of today's code that the older one has elsewhere, or has not: then it says nothing.
"""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

NOTHING_TO_RUN = ("web-diff",)
"""Nothing was ignored: all of these measures are before.NOT_SOLD."""
CASES = json.loads(Path("cases_of_today.json").read_text()) if __name__ == "__main__" else {}


def _module(name: str, **names: Any) -> None:
    """Put a module in the place of one that the older code has not."""
    made = ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made
    above, _, last = name.rpartition(".")
    setattr(importlib.import_module(above), last, made)


def _changed(name: str, **names: Any) -> Any:
    """Change names of a module that the older code has."""
    module = importlib.import_module(name)
    vars(module).update(names)
    return module


def _nothing(*_: Any, **__: Any) -> None:
    """What is said where nothing was sold."""


def _without(made: Any, *unknown: str) -> Any:
    """A constructor that leaves out arguments that the older one has not."""
    return lambda *values, **names: made(
        *values, **{name: value for name, value in names.items() if name not in unknown}
    )


def whois() -> None:
    """A refusal was called throttled, there was no reason beside `registered`, and no RDAP server was asked."""
    record = importlib.import_module("jobs.whois.record")
    vars(record)["is_refusal"] = record.is_throttled
    _module("jobs.whois.reason", Reason=str)
    _module("jobs.whois.bootstrap", SHIPPED=None, rdap_servers=lambda *_: {})
    _module("jobs.whois.rdap", read_rdap=lambda *_, **__: SimpleNamespace(registered=None, reason=None))
    read = record.read

    def with_reason(*asked: Any) -> Any:
        found = read(*asked)
        fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
        return SimpleNamespace(**fields, reason=None)

    _changed("tests.quality.whois", read=with_reason, document=lambda _: "{}")


def pages() -> None:
    """A page had no kind, coverage, links or images, and nothing was a wall."""
    reading, read_page = (importlib.import_module(f"jobs.engines.page.{name}") for name in ("reading", "read_page"))
    _module("jobs.engines.page.bot_wall", bot_wall=_nothing)
    read = read_page.read

    def with_fields(asked: Any) -> Any:
        found = read(asked)
        fields = {name: getattr(found, name) for name in found.__struct_fields__}
        return SimpleNamespace(**fields, kind=None, coverage=None, links=None, images=None)

    asked = _without(reading.Asked, "with_links", "with_images", "status", "without")
    for name in ("tests.quality.test_extraction", "tests.quality.render_pro"):
        _changed(name, read=with_fields, Asked=asked)


def patterns() -> None:
    """A pattern got no hint; there was no kind `iban`."""
    _module("jobs.regex_test.hints", hint=_nothing)
    spans = importlib.import_module("jobs.pii_redact.spans")
    vars(spans)["PLACEHOLDERS"]["iban"] = ""


def certificates() -> None:
    """There was no lint, and of a chain it was said only why it is not trusted."""
    trust = importlib.import_module("jobs.ssl_info.trust")
    vars(trust)["trust_in"] = lambda *chain: SimpleNamespace(distrust=trust.distrust(*chain))
    _module("jobs.ssl_info.lint", Lint=str)
    _changed("tests.quality.ssl_info", _lint=lambda *_: [])


def approvals() -> None:
    """Copies were looked for in another module, and a contract that was exploited was on the list of attackers."""
    copycats = importlib.import_module("jobs.approval_safety.copycat")
    _module("jobs.engines.evm.copycat", copycat=copycats.copycat)
    made = importlib.import_module("jobs.approval_safety.rules").Evidence

    def evidence(*, was_exploited: bool, listed_here: bool, **names: Any) -> Any:
        return made(listed_here=listed_here or was_exploited, **names)

    tokens = {
        chain: {row[0]: SimpleNamespace(symbol=row[2], name=row[3], imitated=row[4]) for row in rows}
        for chain, rows in CASES["tokens"].items()
    }
    _changed(
        "tests.quality.approval_safety",
        Evidence=evidence,
        known_tokens=lambda chain: tokens[chain],
        victims=lambda: CASES["victims"],
    )
    _changed("tests.quality.chain_erc20_balance", known_tokens=lambda chain: tokens[chain])


def ledgers() -> None:
    """Nothing looked like RLUSD, was promised, or was taken back."""
    _module("jobs.xrpl_wallet_watch.lookalike", imitates_rlusd=lambda *_: False)
    _module(
        "tests.jobs.xrpl_wallet_watch.test_endpoint",
        **dict.fromkeys(("OTHER", "STATE", "WALLET"), ""),
        **dict.fromkeys(("Ledger", "later", "transaction"), _nothing),
        call=lambda *_: (None, b""),
        codes=lambda _: [],
    )


def connections() -> None:
    """All left directly. The scorer ends where it asks for a proxy."""

    class Exits(SimpleNamespace):
        has_direct = True

    _module("workers.egress.exits", Exits=Exits)
    _module("shared.settings.egress_proxies", PoolProxies=None, ProxyServer=None)
    made = importlib.import_module("workers.egress.connect").Connector
    _changed("tests.workers.egress.hostile", Connector=lambda policy, resolver, _: made(policy, resolver))


def main(names: list[str]) -> None:
    """Score both parts, of all or of these. What cannot be scored is said on standard error, and left out."""
    scorer = importlib.import_module("tests.quality.scorer")
    if not names:
        names = [name for name in scorer.scored() if name not in NOTHING_TO_RUN]
        for adapt in (whois, pages, patterns, certificates, approvals, ledgers, connections):
            adapt()
    scores: dict[str, dict[str, float]] = {"open": {}, "held_out": {}}
    for name in names:
        for part, column in scores.items():
            try:
                for measure in scorer.made_by(name, held_out=part == "held_out"):
                    column[f"{name} {measure.name}"] = round(measure.score, 4)
            except Exception as error:  # before.py misses the measures that had to be there
                print(f"{name}, {part}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps(scores))


if __name__ == "__main__":
    main(sys.argv[1:])
