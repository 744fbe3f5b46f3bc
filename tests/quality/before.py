"""Scores the code of an older commit in the cases of tests/quality as they are, for the column `before` of `scripts/quality`.

    python -m tests.quality.before [--python PATH]

It unpacks COMMIT into a folder of its own, puts today's tests in place of that commit's, and runs every scorer there, with the
older code, models and tables. Where that code has other names, before_adapters.py passes its answer on. A measure of a field,
option or kind that it had not is NOT_SOLD: null in scores.json, right in 0 of n cases. Cases that are made of today's tables
(tokens that are imitated, contracts that were exploited) are made by today's code. The commit's locked packages are today's;
where they differ, `--python` names the interpreter of another environment.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from jobs.engines.evm.known_tokens import known_tokens
from jobs.ports.chains import CHAIN_IDS
from tests.quality import approval_safety
from tests.quality.__main__ import SCORES, Scores
from tests.quality.scorer import measures_of, scored

COMMIT = "c8d599b"
DAY = "2026-11-24"
EARLIER = {"catalogue": "b501c1f"}
"""What was done before COMMIT already, and the commit before that."""
ROOT = Path(__file__).parents[2]
CASES = "cases_of_today.json"
"""In the folder: what the older code has no tables for."""

NOT_SOLD = {
    "chain/erc20-balance cleaned",
    "chain/erc20-balance canonical",
    "chain/erc20-balance not canonical",
    "egress-proxies bad inputs, http proxy",
    "egress-proxies bad inputs, socks5 proxy",
    "faker methods with arguments",
    "json-repair what was there and what it became",
    "pii-redact IBANs found",
    "pii-redact wrong IBANs left",
    "pii-redact own patterns",
    "pii-redact what was not looked for",
    "regex-test hints",
    "regex-test no hints",
    "render-pro coverage is said",
    "render-pro kind",
    "render-pro links and images",
    "render-pro no walls",
    "render-pro walls",
    "ssl-info lint of what is refused",
    "ssl-info no lint of what is not",
    "wallet-doctor ready for x402",
    "web-diff a change beside them",
    "web-diff changed",
    "web-diff elements and texts ignored",
    "web-diff same but for numbers",
    "whois RDAP",
    "whois reason",
    "x402-discover warnings",
    "xrpl-wallet-watch copies of RLUSD",
    "xrpl-wallet-watch of its issuer",
    "xrpl-wallet-watch other tokens",
    "xrpl-wallet-watch promised, and not paid",
    "xrpl-wallet-watch taken back by the issuer",
}
"""The older code has nothing that could answer. That it says nothing false either is no merit, and counts as 0 as well."""
NOT_SOLD_AT_ALL = ("webhook-sig-verify cause: ", "egress-proxies addresses ")
"""All measures that begin so."""


def main() -> None:
    """Write the scores of before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the older code")
    asked = parser.parse_args()
    measured = _scored(asked.python, COMMIT)
    for name, commit in EARLIER.items():
        for part, column in _scored(asked.python, commit, name).items():
            measured[part] |= column
    scores = Scores(commit=COMMIT, by=f"the code of {DAY} in today's cases", open={}, held_out={})
    for part, is_held_out in (("open", False), ("held_out", True)):
        column = scores["held_out"] if is_held_out else scores["open"]
        for name in sorted(_measured(held_out=is_held_out)):
            column[name] = None if _is_not_sold(name) else measured[part][name]
    SCORES.write_text(json.dumps(scores, indent=2) + "\n")


def _scored(python: str, commit: str, *names: str) -> dict[str, dict[str, float]]:
    """The scores of a commit, of all or of some; those that need no adapter have a name here."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive.stdout)
        shutil.rmtree(f"{folder}/tests")
        shutil.copytree(ROOT / "tests", f"{folder}/tests", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / CASES).write_text(json.dumps(_cases()))
        run = [python, "-m", "tests.quality.before_adapters", *names]
        made = subprocess.run(run, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, dict[str, float]] = json.loads(made.stdout)
    return measured


def _measured(*, held_out: bool) -> list[str]:
    """All measures of today."""
    return [f"{name} {measure.name}" for name in scored() for measure in measures_of(name, held_out=held_out)]


def _is_not_sold(name: str) -> bool:
    return name in NOT_SOLD or name.startswith(NOT_SOLD_AT_ALL)


def _cases() -> dict[str, object]:
    """Of today's tables: what is often imitated, what is canonical, and what was exploited."""
    return {
        "tokens": {chain: [list(token) for token in known_tokens(chain).values()] for chain in CHAIN_IDS},
        "victims": approval_safety.victims(),
    }


if __name__ == "__main__":
    main()
