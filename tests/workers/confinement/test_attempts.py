"""Children that really try to get out: as root, as an ordinary user, and where the kernel gives out no namespaces."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from shared import outcome
from shared.outcome import Ok
from tests.time_limits import patience
from tests.workers.confinement.attempts import ATTEMPTS, USER
from tests.workers.warm_pool import fork_server_runs
from workers.child import Work
from workers.child_usage import cpu_time_s
from workers.children import Child, ChildPool, Forbidden, Lost
from workers.confinement.layers import Layers
from workers.fork_server import ForkServer

ROOT = Path(__file__).parents[3]
PATIENCE_S = patience(60.0)
IS_ROOT = os.geteuid() == 0
# Without root, the tests are the user.
WHO = ("root", "user") if IS_ROOT else ("self",)

WITHOUT_SECCOMP = {"stat", "fork", "keyctl", "io-uring"}
"""What neither namespaces nor Landlock refuse. Nothing of it reaches a file, a network or another process."""


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that the ordinary user reaches and may write to, as far as its own rights go."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="confinement-") as name:
        folder = Path(name)
        (folder / "key").write_text("secret")
        if IS_ROOT:
            os.chown(folder, USER, USER)
            os.chown(folder / "key", USER, USER)
        (folder / "key").chmod(0o600)
        yield folder


@pytest.fixture
def servers() -> Iterator[dict[str, str]]:
    """Servers of this machine, by the attempt that calls them."""
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        name = f"coinslot-test-{os.getpid()}-{threading.get_ident()}"
        unix.bind(f"\0{name}")
        unix.listen()
        yield {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1]), "abstract-socket": name}


@contextlib.contextmanager
def forking(options: tuple[str, ...]) -> Iterator[ForkServer]:
    """A fork server without some layers."""
    # The environment as it would be if it were inherited: something to read.
    secret = {"COINSLOT_SECRET": "1"}
    with fork_server_runs("-m", "tests.workers.confinement.attempts", *options, environment=secret):
        server = ForkServer()
        try:
            yield server
        finally:
            server.close()


def tried(server: ForkServer, name: str, argument: str) -> str:
    """How one attempt of a new child ends."""
    child = Child(server)
    try:
        body = msgspec.json.encode({"message": f"{name} {argument}"})
        answer = outcome.decode(child.call(Work("attempt", "0x1", body), limit_s=PATIENCE_S))
    except Forbidden:
        return "killed"
    except Lost:
        return "done" if name == "execute" else "lost"  # another program has taken the child's place
    finally:
        child.kill()
    assert isinstance(answer, Ok)
    said: str = msgspec.json.decode(answer.body)["youSent"]
    return said


def outcomes(options: tuple[str, ...], folder: Path, servers: dict[str, str]) -> tuple[Layers, dict[str, str]]:
    """How all attempts end, and which layers the machine gave."""
    with forking(options) as server:
        victim = Child(server)
        try:
            victim.call(Work("attempt", "0x1", b'{"message": "nothing"}'), limit_s=PATIENCE_S)
            assert server._running is not None
            parent = str(server._running.process.pid)
            at = {
                **servers,
                "key-file": str(folder / "key"),
                "write": str(folder / "written"),
                "mount": str(folder),
                "stat": "/etc/hosts",
                "execute": "/bin/true",
                "kill": str(victim.pid),
                **dict.fromkeys(("memory", "environment", "ptrace", "setns"), parent),
            }
            ended = {name: tried(server, name, at.get(name, "")) for name in ATTEMPTS}
        finally:
            victim.kill()
        assert server.layers is not None
        return server.layers, ended


def succeeded(ended: dict[str, str]) -> set[str]:
    return {name for name, how in ended.items() if how == "done"}


@pytest.mark.parametrize("namespaces", [(), ("no-namespaces",)], ids=["", "no-namespaces"])
@pytest.mark.parametrize("who", WHO)
def test_every_attempt_fails(who: str, namespaces: tuple[str, ...], folder: Path, servers: dict[str, str]) -> None:
    """Sixteen attempts; what only an attack does ends the child."""
    layers, ended = outcomes((who, *namespaces), folder, servers)

    assert layers.seccomp
    assert layers.user
    assert succeeded(ended) == set()
    assert ended["execute"] == ended["tcp"] == ended["fork"] == ended["ptrace"] == "killed"
    if namespaces:
        assert not layers.network
        assert "no network namespace" in layers.missing()


@pytest.mark.parametrize("who", WHO)
def test_without_the_filter_the_other_layers_hold(who: str, folder: Path, servers: dict[str, str]) -> None:
    """No layer is the only one for a file, a network or another process, where the machine has them all."""
    layers, ended = outcomes((who, "no-seccomp"), folder, servers)

    allowed = set(WITHOUT_SECCOMP)
    if not layers.network:
        allowed |= {"udp", "abstract-socket"} | ({"tcp"} if layers.landlock < 4 else set())
    if not layers.landlock:
        allowed |= {"key-file", "write", "execute"} if who != "root" else {"execute"}
    if layers.landlock < 6:
        allowed |= {"kill", "abstract-socket"}
    assert succeeded(ended) <= allowed


@pytest.mark.parametrize("who", WHO)
def test_without_landlock_the_filter_holds(who: str, folder: Path, servers: dict[str, str]) -> None:
    """As on Linux before 5.13, and where it is switched off."""
    layers, ended = outcomes((who, "no-landlock", "no-namespaces"), folder, servers)

    assert layers.landlock == 0
    assert succeeded(ended) == set()


@pytest.mark.parametrize("who", WHO)
def test_the_attempts_are_real(who: str, folder: Path, servers: dict[str, str]) -> None:
    """Without any layer they succeed, wherever the tests run."""
    _, ended = outcomes((who, "open"), folder, servers)

    real = {"key-file", "environment", "tcp", "udp", "abstract-socket", "fork", "kill", "write", "execute", "stat"}
    assert real - succeeded(ended) == set(), ended


@pytest.mark.parametrize("who", WHO)
def test_what_a_child_is(who: str) -> None:
    """As the kernel tells it: no capability that could come back, another user than root, nothing gained by a program."""
    with forking((who,)) as server:
        child = Child(server)
        try:
            child.call(Work("attempt", "0x1", b'{"message": "nothing"}'), limit_s=PATIENCE_S)
            assert server._running is not None
            for pid in (child.pid, server._running.process.pid):
                status = dict(line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
                none = "0" * 16
                assert [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == [none] * 4
                assert status["NoNewPrivs"] == "1"
                assert "0" not in status["Uid"].split()
            assert status["Seccomp"] == "0"
            assert Path(f"/proc/{child.pid}/status").read_text().count("Seccomp:\t2") == 1
            assert cpu_time_s(child.pid) > 0
        finally:
            child.kill()


def test_a_child_has_seen_no_other_payer() -> None:
    """Given one place for a child, then code of one caller that reads all its memory finds what this caller sent before, and
    nothing of the callers between; and nothing at all in a calculation, whose payer the child does not know."""
    with forking(("open",)) as server:
        pool = ChildPool()
        pool._fork_server = server
        pool.start(1)

        def called(payer: str, message: str, **others: str) -> str:
            work = Work("attempt", payer, msgspec.json.encode({"message": message, **others}))
            answer = outcome.decode(pool.call(work, limit_s=PATIENCE_S, wait_s=PATIENCE_S))
            assert isinstance(answer, Ok)
            said: str = msgspec.json.decode(answer.body)["youSent"]
            return said

        try:
            for payer in ("0xa", "0xb", "", ""):
                sent = "canary-" + os.urandom(8).hex()
                assert called(payer, "search") == ""
                called(payer, "nothing", ignored=sent * 1_000)
                assert called(payer, "search") == (sent if payer else "")
        finally:
            pool.close()
