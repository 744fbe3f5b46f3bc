"""The browser's processes: what they may reach, and how they end."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.proc import family
from tests.time_limits import niceness
from tests.workers.until import until
from workers.browser import process as process_module
from workers.browser.flags import FLAGS
from workers.browser.launcher import BROWSER_UID
from workers.browser.process import BrowserProcess, NotStarted, start_browser

ROOT = Path(__file__).parents[3]


@pytest.fixture
def started(program: Path) -> Iterator[BrowserProcess]:
    """A browser of two slots, with a page."""
    browser = start_browser(program, slots=2)
    try:
        asked(browser, 1, "Target.createTarget", url="about:blank")
        yield browser
    finally:
        browser.kill()
        for descriptor in (browser.commands, browser.events):
            os.close(descriptor)
        for listening in browser.listening:
            listening.close()


def asked(browser: BrowserProcess, number: int, method: str, **parameters: object) -> dict[str, object]:
    """The result of one command."""
    os.write(browser.commands, json.dumps({"id": number, "method": method, "params": parameters}).encode() + b"\0")
    received = b""
    while True:
        received += os.read(browser.events, 65536)
        for message in received.split(b"\0")[:-1]:
            read = json.loads(message)
            if read.get("id") == number:
                return dict(read["result"])


def field(pid: int, name: str) -> str:
    """A line of a process' status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))


def renderers(browser: BrowserProcess) -> list[int]:
    """Its renderer processes."""
    return [pid for pid in family(browser.pid)[1:] if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_nothing_weakens_the_browsers_own_sandbox(started: BrowserProcess) -> None:
    """No option, no root, and seccomp in the renderer."""
    until(lambda: any(field(pid, "Seccomp") == "2" for pid in renderers(started)))  # a moment after their start
    (renderer, *_) = renderers(started)
    assert field(renderer, "NoNewPrivs") == "1"
    for pid in family(started.pid)[1:]:
        assert "--no-sandbox" not in Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        uid = os.getuid() or BROWSER_UID
        assert set(field(pid, "Uid").split()) == {str(uid)}
    weakening = ("sandbox", "disable-popup-blocking", "disable-hang-monitor", "ipc-flooding", "unsafe-swiftshader")
    assert not [flag for flag in FLAGS for word in weakening if word in flag]


def test_the_browser_has_namespaces_of_its_own(started: BrowserProcess) -> None:
    """Network, processes, mounts and IPC; nothing of the machine's files but programs, libraries and fonts."""
    until(lambda: bool(renderers(started)))
    first = next(pid for pid in family(started.pid)[1:] if field(pid, "PPid") == str(started.pid))
    for kind in ("net", "pid", "mnt", "ipc"):
        assert os.readlink(f"/proc/{first}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}"), kind
    seen = set(os.listdir(f"/proc/{first}/root"))
    assert seen <= {"usr", "lib", "lib32", "lib64", "bin", "etc", "var", "dev", "proc", "tmp"}
    assert set(os.listdir(f"/proc/{first}/root/etc")) <= {"fonts", "ld.so.cache"}
    interfaces = Path(f"/proc/{first}/net/dev").read_text().splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]


def test_the_sockets_listen_inside(started: BrowserProcess) -> None:
    """And not outside, where the same port is free or another's."""
    ports = [listening.getsockname() for listening in started.listening]
    assert ports == [("127.0.0.1", 3128), ("127.0.0.1", 3129)]
    own = [line.split()[1] for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    assert not {f"0100007F:{port:04X}" for _, port in ports} & set(own)


def test_killing_leaves_no_process(started: BrowserProcess) -> None:
    """And no zombie: the launcher has waited for the first process, and we for the launcher."""
    until(lambda: bool(renderers(started)))
    everything = set(family(started.pid))
    assert len(everything) >= 5
    started.kill()
    assert not [pid for pid in everything if Path(f"/proc/{pid}").exists()]
    started.kill()


def test_the_end_of_the_worker_ends_the_browser(program: Path) -> None:
    """Also kill -9: the socket is closed then."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time; from pathlib import Path; from workers.browser.process import start_browser\n"
            f"browser = start_browser(Path({str(program)!r}), slots=1); print(browser.pid, flush=True); time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert worker.stdout is not None
    launcher = int(worker.stdout.readline())
    until(lambda: len(family(launcher)[1:]) >= 3)
    everything = family(launcher)[1:]
    worker.kill()
    worker.wait()
    worker.stdout.close()
    until(lambda: not [pid for pid in everything if Path(f"/proc/{pid}").exists()])


def test_a_user_that_is_not_root(program: Path) -> None:
    """Makes the namespaces inside a user namespace."""
    python = Path("/usr/bin/python3")
    if os.getuid() != 0 or not python.exists():
        pytest.skip("the tests run as such a user already, or there is no Python that another user may run")
    source = (
        "import json, os; from pathlib import Path; from workers.browser.process import start_browser\n"
        f"browser = start_browser(Path({str(program)!r}), slots=1)\n"
        "os.write(browser.commands, json.dumps({'id': 1, 'method': 'Browser.getVersion'}).encode() + b'\\0')\n"
        "print(os.read(browser.events, 65536)[:80]); browser.kill()"
    )
    try:
        done = subprocess.run(
            [python, "-B", "-c", source],
            cwd=ROOT,
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            timeout=60,
        )
    except PermissionError:
        pytest.skip("another user may not read this folder")
    if b"No module named" in done.stderr or b"Permission denied" in done.stderr:
        pytest.skip("another user may not read this folder")
    assert b"protocolVersion" in done.stdout, done.stderr


def test_a_program_that_is_no_browser(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Starts, and ends at once; nothing is left of it."""
    browser = start_browser(Path("/bin/true"), slots=1)
    assert os.read(browser.events, 100) == b""
    browser.kill()
    for descriptor in (browser.commands, browser.events):
        os.close(descriptor)
    browser.listening[0].close()


def test_a_machine_without_namespaces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Gets no browser, rather than one with a network."""
    refusing = tmp_path / "refusing.py"
    refusing.write_text("raise SystemExit(1)")
    monkeypatch.setattr(process_module.launcher, "__file__", str(refusing))
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(NotStarted, match="no network, process and mount namespaces"):
        start_browser(Path("/bin/true"), slots=1)
    assert set(os.listdir("/proc/self/fd")) == before


NICE = """
import os, sys
from pathlib import Path
from workers.browser.process import start_browser
os.nice(7)
browser = start_browser(Path(sys.argv[1]), slots=1)
print(Path(f"/proc/{browser.pid}/autogroup").read_text())
browser.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel has no groups of sessions")
def test_the_session_is_as_nice_as_the_worker(program: Path) -> None:
    """Niceness counts only within a session, and the browser has one of its own."""
    command = [sys.executable, "-c", NICE, str(program)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split()[1:] == ["nice", str(niceness(7))]


def test_one_core_is_left_to_everything_else(started: BrowserProcess) -> None:
    """Where there are two."""
    cores = sorted(os.sched_getaffinity(0))
    until(lambda: bool(renderers(started)))
    for pid in family(started.pid)[1:]:
        assert sorted(os.sched_getaffinity(pid)) == (cores[1:] or cores)
