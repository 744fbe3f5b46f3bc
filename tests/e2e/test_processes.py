"""A service whose processes are killed serves on, and one that is stopped answers what it has taken and leaves nothing.

One whose runner is killed is in tests/pages/test_dashboard.py, whose service is not needed any more by then.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import redis

from coinslot.delivery import RetryPolicy
from coinslot.errors import Unreachable
from shared.queue.streams import stream_key
from tests.e2e.running import ROOT, Process, Running, until
from tests.time_limits import patience

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.fixture(scope="module")
def _started() -> Iterator[list[Running]]:
    started: list[Running] = []
    yield started
    for running in started:
        running.end(signal.SIGTERM)


@pytest.fixture
def start(_started: list[Running], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Running]:
    """Starts a service of the test's own."""

    def start(*arguments: str, **settings: str) -> Running:
        _started.append(Running(tmp_path_factory.mktemp("var"), *arguments, **settings))
        return _started[-1]

    return start


@pytest.fixture
def running(_started: list[Running], start: Callable[..., Running]) -> Running:
    """A service with two micro workers: the one that the test before left running, or a new one."""
    one = next((one for one in _started if one.process.poll() is None), None)
    if one is None:
        one = start("--scale", "worker-micro=2")
        one.wait_until_serving()
    until(one.is_whole)
    return one


VICTIMS: dict[str, Callable[[Running], Process]] = {
    "a worker": lambda running: _child_of(running, "--queues micro"),
    "a worker's master": lambda running: _kept(running, "--queues micro"),
    "the API": lambda running: _kept(running, "-m api"),
    "the API's worker": lambda running: _child_of(running, "-m api"),
    "the facilitator": lambda running: _kept(running, "-m facilitator"),
    "the embedded queue": lambda running: _embedded(running, "queue"),
    "the embedded ledger": lambda running: _embedded(running, "ledger"),
}


def _embedded(running: Running, role: str) -> Process:
    """By the process id that it tells: it has overwritten its environment with a title."""
    with redis.Redis.from_url(running.setting(f"COINSLOT_{role.upper()}_URL")) as server:
        return Process(server.info("server")["process_id"], running.process.pid, role)


def _kept(running: Running, command: str) -> Process:
    return next(one for one in running.kept() if command in one.command)


def _child_of(running: Running, command: str) -> Process:
    master = _kept(running, command)
    return next(one for one in running.processes() if one.parent == master.pid and command in one.command)


def test_the_first_call_is_as_it_is_printed(running: Running) -> None:
    """Also where the service keeps its files in another folder than buyers look into."""
    (command,) = (line.split(maxsplit=2)[2] for line in running.told if line.startswith("first call"))

    answer = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=patience(60), check=False
    )

    assert '"youSent":"hello"' in answer.stdout.replace(" ", ""), answer.stderr


@pytest.mark.parametrize("victim", VICTIMS)
def test_what_is_killed_is_started_again(running: Running, victim: str) -> None:
    """Given a service that serves, when one process gets SIGKILL, then it is there again, nothing of the old one is beside
    the new, the others have not been disturbed, and a paid call is answered."""
    before = {one.pid for one in running.kept()}
    killed = VICTIMS[victim](running)

    os.kill(killed.pid, signal.SIGKILL)

    gone = {killed.pid, killed.parent} & before
    took_s = until(lambda: not gone & {one.pid for one in running.processes()} and running.is_whole())
    print(f"{victim}: back after {took_s:.1f} s")
    assert before - gone <= {one.pid for one in running.kept()}
    assert running.buy("echo", {"message": "hello"})["youSent"] == "hello"


def _held_workers(running: Running) -> list[Process]:
    """Both micro workers, stopped in mid-air: what they are given stays in flight."""
    kept = running.kept()
    held = [one for one in running.processes() if "--queues micro" in one.command and one not in kept]
    assert len(held) == 2
    for worker in held:
        os.kill(worker.pid, signal.SIGSTOP)
    return held


def _wait_for_jobs(running: Running, count: int) -> None:
    with redis.Redis.from_url(running.setting("COINSLOT_QUEUE_URL")) as queue:
        until(lambda: queue.xlen(stream_key("micro")) == count)


def test_calls_survive_their_workers(running: Running) -> None:
    """Given paid calls whose jobs are running, when every worker that could run them is killed, then all are answered."""
    workers = _held_workers(running)
    with ThreadPoolExecutor(4) as callers:
        calls = [callers.submit(running.buy, "echo", {"message": "hello"}) for _ in range(4)]
        _wait_for_jobs(running, 4)

        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)

        assert [call.result()["youSent"] for call in calls] == ["hello"] * 4


def test_a_restart_and_a_change_of_scale_fail_no_call(running: Running) -> None:
    """Given callers who pay and callers who do not, on new connections and on kept ones, when the processes that they need are
    restarted and a pool grows and shrinks, then no call fails, and each of these processes is a new one. Other lines are
    restarted in the same way, and take long."""
    failures: list[object] = []
    counts = {"unpaid": 0, "unpaid, on new connections": 0, "paid": 0}
    is_over = threading.Event()

    def unpaid(name: str, kept: int | None) -> None:
        with httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=kept)) as client:
            while not is_over.wait(0.05):
                answer = client.post(f"{running.base_url}/v1/cdp/echo", json={"message": "x"}, timeout=patience(10))
                assert answer.status_code == 402
                counts[name] += 1

    def paid() -> None:
        while not is_over.wait(0.4):
            assert running.buy("echo", {"message": "hello"})["youSent"] == "hello"
            counts["paid"] += 1

    def repeat(call: Callable[..., None], *arguments: object) -> None:
        try:
            call(*arguments)
        except BaseException as error:
            failures.append(error)

    def micro() -> list[Process]:
        return [one for one in running.kept() if "--queues micro" in one.command]

    calls = ((unpaid, "unpaid", None), (unpaid, "unpaid, on new connections", 0), (paid,))
    callers = [threading.Thread(target=repeat, args=call) for call in calls]
    for caller in callers:
        caller.start()
    before = {_kept(running, command).pid for command in ("-m api", "-m facilitator")} | {one.pid for one in micro()}
    try:
        said = _ops(running, "restart", "api", "worker-micro", "facilitator").splitlines()
        assert said == [f"{name} is restarted" for name in ("facilitator", "worker-micro", "worker-micro", "api")]
        assert not before & {one.pid for one in running.kept()}
        for count in (3, 1, 2):
            _ops(running, "scale", f"worker-micro={count}")
            assert len(micro()) == count
    finally:
        is_over.set()
        for caller in callers:
            caller.join()
    print(counts)
    assert failures == []
    assert all(counts.values())


def _ops(running: Running, *words: str) -> str:
    """What `coinslot-ops` prints."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from ops.main import main; sys.exit(main())", *words],
        cwd=ROOT,
        env={**os.environ, "COINSLOT_VAR": str(running.var)},
        capture_output=True,
        text=True,
        timeout=patience(100),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_stop_under_load_fails_no_paid_call(running: Running) -> None:
    """Given paid calls whose jobs are running and others that are being settled, when SIGTERM comes, then new callers are
    refused at once, every payment that was sent brings its answer, however long it takes, and nothing is left running."""
    signed, failures, answered_at = threading.Semaphore(0), [], []

    def call() -> None:
        while True:
            try:
                running.buy("echo", {}, retry_policy=RetryPolicy(budget_s=0), on_signed=lambda _: signed.release())
            except Unreachable:
                return  # nothing was sent, or nothing but the question for the price
            except Exception as error:
                failures.append(error)
                return
            answered_at.append(time.monotonic())

    callers = [threading.Thread(target=call) for _ in range(8)]
    workers = _held_workers(running)
    for caller in callers[:4]:
        caller.start()
    _wait_for_jobs(running, 4)
    for caller in callers[4:]:
        caller.start()
    for _ in callers:
        assert signed.acquire(timeout=patience(20))
    time.sleep(0.05)

    running.process.send_signal(signal.SIGTERM)
    refused_after_s = until(running.refuses)
    time.sleep(2.5)
    assert (answered_at, failures) == ([], [])
    for worker in workers:
        os.kill(worker.pid, signal.SIGCONT)
    continued_at = time.monotonic()

    status, told = running.ended()
    # The embedded servers that were killed before have left a line each.
    restarts = [line for line in told.splitlines() if line.startswith("the embedded ")]
    assert (status, told.splitlines()) == (0, [*restarts, "", "stopped"])
    print(
        f"refused after {refused_after_s:.2f} s, stopped {time.monotonic() - continued_at:.1f} s after the last answer"
    )
    for caller in callers:
        caller.join(patience(10))
    assert (len(answered_at), failures) == (8, [])
    assert running.processes() == []


def test_ctrl_c_while_it_starts_leaves_nothing(start: Callable[..., Running]) -> None:
    """When the processes are there and none of them is ready."""
    starting = start()
    until(lambda: any("-m api" in one.command for one in starting.processes()))

    assert starting.end(signal.SIGINT) == (0, "\nstopped\n")

    until(lambda: starting.processes() == [])


def test_a_process_that_cannot_start_fails_the_start(start: Callable[..., Running], tmp_path: Path) -> None:
    """At once, with its name and its own words, and nothing is left of the others."""
    procfile = tmp_path / "Procfile"
    procfile.write_text("facilitator: sh -c 'echo out of luck >&2; exit 3'\napi: python -m api\n")

    starting = start("--procfile", str(procfile))
    code, said = starting.ended()

    assert code == 1
    assert "coinslot: a process could not start: facilitator ended with status 3" in said
    assert "out of luck" in said
    until(lambda: starting.processes() == [])


def test_a_wrong_scale_is_told_before_anything_starts(start: Callable[..., Running]) -> None:
    """With the names that there are."""
    starting = start("--scale", "worker-none=2")

    code, said = starting.ended()

    assert code == 1
    assert said.startswith("coinslot: worker-none: the Procfile has only facilitator, api, worker-micro")
    assert not starting.var.joinpath("sandbox").exists()
