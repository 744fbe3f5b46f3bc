"""The pure parts of the chaos with the ledger on a cluster, which needs root and takes minutes: `scripts/chaos --cluster`."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compose.sandbox.child import ROOT
from tests.chaos.cluster.invariants import check_cluster
from tests.chaos.history import Answer, History, SettleCall

EQUAL = {"server-1a": ("slave", "d"), "server-1b": ("master", "d"), "server-1c": ("slave", "d")}


def answer(at: float, status: int, **more: Any) -> Answer:
    return Answer(payment="p", call="c", fingerprint="f", valid_before=0, sent=at - 1, at=at, status=status, **more)


def found(history: History, digests: dict[str, tuple[str, str]] = EQUAL) -> list[str]:
    """Of the invariants that a cluster has more."""
    texts = check_cluster(history, [digests], settle_timeout_s=1.5)
    return [text for text in texts if text.startswith(("(13)", "(14)", "(15)", "(1)"))]


@pytest.mark.parametrize(
    ("history", "digests", "number"),
    [
        (History(settles=[SettleCall(payment="p", mode="ok", began=1, ended=2)]), EQUAL, 13),
        (History(answers=[answer(2, 200)], records={"p": {"state": "SETTLING"}}), EQUAL, 13),
        (History(answers=[answer(2, 503, charged=True), answer(9, 402)]), EQUAL, 14),
        (History(answers=[answer(2, 503, charged=True), answer(9, 503, charged=False)]), EQUAL, 14),
        (History(), {**EQUAL, "server-1a": ("master", "d")}, 15),
        (History(), {**EQUAL, "server-1b": ("slave", "d")}, 15),
        (History(), {**EQUAL, "server-1c": ("slave", "e")}, 15),
    ],
)
def test_what_a_failover_undoes_is_found(history: History, digests: dict[str, tuple[str, str]], number: int) -> None:
    """By the invariant that it violates, and by no other of these."""
    assert [text.partition(" ")[0] for text in found(history, digests)] == [f"({number})"]


def test_what_is_right_is_not_found() -> None:
    """A refusal that was sent before the charge was told, and a settle call that the facilitator ended after its caller."""
    settles = [
        SettleCall(payment="p", mode="hang", began=1, ended=31),
        SettleCall(payment="p", mode="ok", began=4, ended=5),
    ]
    answers = [answer(6, 200), answer(6.5, 402), answer(9, 200)]
    assert found(History(settles=settles, answers=answers, records={"p": {"state": "DONE"}}, is_quiet=False)) == []


def test_without_root_it_says_what_it_needs(tmp_path: Path) -> None:
    """Before it sets anything up."""
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    said = subprocess.run(
        [ROOT / "scripts" / "chaos", "--cluster"], env=environment, capture_output=True, text=True, check=False
    )
    assert (said.returncode, "needs root and iproute2" in said.stderr) == (2, True)
