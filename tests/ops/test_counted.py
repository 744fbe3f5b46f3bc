"""What processes count is added up, also when they are killed, and costs the call nothing that it could fail of."""

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.pipeline import known_causes
from compose.sandbox.child import ROOT
from jobs.catalogue import CATALOGUE
from ops.counted import CountedSeries
from shared.endpoint import Endpoint
from shared.observability.metrics import FILE_BYTES, KINDS, Metrics
from shared.pools import Pool
from shared.x402.networks import Rail

COUNTING = """
import sys
from shared.observability.metrics import Metrics
metrics = Metrics()
metrics.start(sys.argv[1])
for _ in range(int(sys.argv[2])):
    metrics.call("echo", 200, "answered", 0.02)
print("counted", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Metrics.start` leaves the folder's name in the environment."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")


def counting(folder: Path, times: int) -> subprocess.Popen[bytes]:
    """A process that has counted, and lives on."""
    command = [sys.executable, "-c", COUNTING, str(folder), str(times)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"counted\n"
    return process


def end(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGKILL) -> None:
    process.send_signal(number)
    process.communicate()


def sums(folder: Path) -> dict[str, float]:
    """By the name of the sample, whatever its labels."""
    found: dict[str, float] = {}
    for family in CountedSeries(folder).read():
        for sample in family.samples:
            if not sample.name.endswith("_bucket") or sample.labels["le"] == "0.025":
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def test_processes_that_live_and_processes_that_were_killed_are_added_up(tmp_path: Path) -> None:
    """Given two processes, when one is killed and another one started, then no sum falls, and the files are those of the living
    and one archive of each kind."""
    first, second = counting(tmp_path, 3), counting(tmp_path, 4)
    assert sums(tmp_path)["coinslot_calls_total"] == 7
    assert len(list(tmp_path.glob("*.db"))) == 2 * len(KINDS)

    end(first)
    assert sums(tmp_path)["coinslot_calls_total"] == 7
    third = counting(tmp_path, 5)
    end(second)
    assert {name: round(value, 6) for name, value in sums(tmp_path).items()} == {
        "coinslot_calls_total": 12,
        "coinslot_browser_starts_total": 0,
        "coinslot_call_seconds_count": 12,
        "coinslot_call_seconds_bucket": 12,
        "coinslot_call_seconds_sum": 0.24,
    }

    names = sorted(path.name.partition("_")[2] for path in tmp_path.glob("*.db"))
    assert names.count("archive.db") == len(KINDS)
    assert {name.partition("-")[0] for name in names if name != "archive.db"} == {str(third.pid)}
    end(third)


def test_restarts_do_not_make_the_folder_grow(tmp_path: Path) -> None:
    """Also when nobody reads it between them."""
    for times in range(1, 5):
        end(counting(tmp_path, times), signal.SIGTERM)
    assert sums(tmp_path)["coinslot_calls_total"] == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counter_archive.db", "histogram_archive.db", "lock"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == len(KINDS) * FILE_BYTES


@pytest.mark.parametrize("done", [0, 1, 2])
def test_an_exporter_that_is_killed_while_it_archives_counts_nothing_twice(tmp_path: Path, done: int) -> None:
    """Before the archive is replaced, after that, and when the first file is removed: the next one carries the plan out."""
    end(counting(tmp_path, 3))
    ended = {kind: next(tmp_path.glob(f"{kind}_*.db")) for kind in KINDS}
    content = {kind: path.read_bytes() for kind, path in ended.items()}
    assert sums(tmp_path)["coinslot_calls_total"] == 3
    plan = {"kind": "counter", "ended": [ended["counter"].name]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    archive = tmp_path / "counter_archive.db"
    if done < 2:
        ended["counter"].write_bytes(content["counter"])
    if done < 1:
        archive.rename(archive.with_suffix(".new"))

    assert sums(tmp_path)["coinslot_calls_total"] == 3
    assert not (tmp_path / "plan.json").exists()
    assert not ended["counter"].exists()


def test_a_folder_that_cannot_be_used_is_logged_and_nothing_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A process starts and answers without it."""
    (tmp_path / "file").touch()
    metrics = Metrics()
    metrics.start(str(tmp_path / "file" / "metrics"))
    metrics.call("echo", 200, "answered", 0.1)
    assert metrics.series is None
    assert "nothing is counted for metrics" in caplog.text


def test_counting_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is wrong, the call is answered; it is logged once."""
    metrics = Metrics()
    metrics.start(str(tmp_path))
    assert metrics.series is not None
    metrics.series.calls = lambda *labels: 1 // 0
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            metrics.call("echo", 200, "answered", 0.1)
            metrics.payment("echo", "base", "settled", tokens=-1.0)
    assert [record.getMessage() for record in caplog.records] == [
        "metrics are not complete: call failed with ZeroDivisionError"
    ]


def test_every_series_has_its_place_from_the_start(tmp_path: Path) -> None:
    """A file that had to grow could find the disk full, which ends the process. All that an API process can count fits."""
    metrics = Metrics()
    metrics.start(str(tmp_path))
    for endpoint in CATALOGUE:
        for status, cause in answers(endpoint):
            metrics.call(endpoint.name, status, cause, 1.0, "caller" if status == 502 else "")
        for rail, event in itertools.product(Rail, ("settled", "rejected")):
            metrics.payment(endpoint.name, rail, event, tokens=0.001)
        for result in ("done", "failed", "superseded", "not_stored"):
            metrics.job_ended(endpoint.pool, endpoint.name, result)
    for rail, result in itertools.product(Rail, ("settled", "declined", "not_sent", "unknown")):
        metrics.settle(rail, result, 1.0)
    for pool in Pool:
        metrics.job_ran(pool, 1.0, 1.0)

    assert not metrics.has_failed
    files = list(tmp_path.glob(f"*_{os.getpid()}-*.db"))
    assert [path.stat().st_size for path in files] == [FILE_BYTES] * len(KINDS)
    assert sums(tmp_path)["coinslot_calls_total"] == sum(len(list(answers(each))) for each in CATALOGUE)


def answers(endpoint: Endpoint) -> Iterator[tuple[int, str]]:
    """Every cause, and two statuses for each, of which one was charged: no cause has more."""
    yield from ((200, "answered"), (402, "unpaid"), (402, "payment_refused"), (204, "preflight"))
    yield from itertools.product((502, 503), (*known_causes(endpoint), "other"))
