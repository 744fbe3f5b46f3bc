"""The Procfile is read as it is meant, and a mistake in it or in --scale is reported in a sentence."""

from pathlib import Path

import pytest

from compose.processes import CLAIMER, STAGES
from compose.procfile import PROCFILE, InvalidProcfile, Line, parse_scale, read_procfile, scaled
from shared.pools import POOLS, Pool, PoolPolicy
from tests.each import each

SMALL = PROCFILE.with_name("Procfile.small")
API, FACILITATOR = Line("api", ("true",), {}), Line("facilitator", ("true",), {})


def _read(tmp_path: Path, text: str) -> list[Line]:
    path = tmp_path / "Procfile"
    path.write_text(text)
    return read_procfile(path)


def test_a_line_is_a_name_settings_and_a_command(tmp_path: Path) -> None:
    """Quotes keep words together; an equals sign later on belongs to the command; comments and empty lines are skipped."""
    text = "# ours\n\nweb: A=1 B='two words' run --x=y 'a b' \"\"\n  worker-2:run\n"

    assert _read(tmp_path, text) == [
        Line("web", ("run", "--x=y", "a b", ""), {"A": "1", "B": "two words"}),
        Line("worker-2", ("run",), {}),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("web run", "web run"),
        ("web:", "write NAME: COMMAND"),
        ("web: A=1", "write NAME: COMMAND"),
        ("w eb: run", "write NAME: COMMAND"),
        ("web: 'run", "No closing quotation"),
        ("web: run\nweb: run", "names web twice"),
    ],
)
def test_what_is_no_process_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    """With the line in the reason."""
    with pytest.raises(InvalidProcfile, match=reason):
        _read(tmp_path, text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(InvalidProcfile, match=r"nowhere cannot be read: No such file"):
        read_procfile(tmp_path / "nowhere")


def test_ours_has_the_lines_that_are_stopped_in_order() -> None:
    """The stages name lines that exist."""
    assert {stage.name for stage in STAGES if stage.name} <= {line.name for line in (*read_procfile(), CLAIMER)}


def test_a_scale_says_how_often() -> None:
    """Once, unless it is named; 0 is not at all."""
    assert parse_scale("") == {}
    assert parse_scale("a=2, b-1=0") == {"a": 2, "b-1": 0}
    assert scaled([API, FACILITATOR], {"api": 2}) == [API, API, FACILITATOR]
    assert scaled([API, FACILITATOR], {"facilitator": 0}) == [API]


@each("text", ["api", "api=", "api=-1", "api=two", "api=1.5", "=1", ",", "api=1,,b=1", "api=1000"])
def test_a_scale_that_is_none_is_refused(text: str) -> None:
    """Before anything is started."""
    with pytest.raises(InvalidProcfile, match="write NAME=N"):
        parse_scale(text)


def test_a_scale_fits_the_procfile() -> None:
    """It names lines that there are, and one facilitator at most: two would number one account's transactions."""
    with pytest.raises(InvalidProcfile, match="worker: the Procfile has only api, facilitator"):
        scaled([API, FACILITATOR], {"worker": 2})
    with pytest.raises(InvalidProcfile, match="64 processes of a line at most"):
        scaled(read_procfile(PROCFILE), {"worker-fast": 999})
    with pytest.raises(InvalidProcfile, match="only one"):
        scaled([API, FACILITATOR], {"facilitator": 2})


def test_ours_starts_the_workers_of_every_pool_as_its_policy_says() -> None:
    """One line per pool: its queue alone, and its number of threads."""
    commands = {line.name: line.command for line in read_procfile() if line.name.startswith("worker-")}
    assert commands == {f"worker-{pool}": _worker_command(pool, policy) for pool, policy in POOLS.items()}


def test_the_small_one_serves_every_pool_once() -> None:
    """With the other processes as they are, and a thread for each that the pools have on their own."""
    usual = {line.name: line for line in read_procfile()}
    small = {line.name: line for line in read_procfile(SMALL)}
    worker = small.pop("worker").command
    assert all(usual[name] == line for name, line in small.items())
    pools = [pool for pool in Pool if f"worker-{pool}" not in small]
    assert set(worker[worker.index("--queues") + 1 : worker.index("--processes")]) == set(pools)
    assert worker[worker.index("--threads") + 1] == str(sum(POOLS[pool].threads for pool in pools))
    assert usual.keys() - small.keys() == {f"worker-{pool}" for pool in pools}


def _worker_command(pool: Pool, policy: PoolPolicy) -> tuple[str, ...]:
    dramatiq = ("dramatiq", "--skip-logging", "workers.main:create_broker", "--queues", pool.value, "--processes", "1")
    return (*dramatiq, "--threads", str(policy.threads), "--worker-shutdown-timeout", "30000")
