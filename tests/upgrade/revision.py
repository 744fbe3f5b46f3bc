"""The processes of a version, over servers and chains that stay: started, killed, and replaced one after the other."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from compose.processes import STOP_WITHIN_S
from compose.sandbox.child import tethered
from ops import control
from shared.settings.sandbox_path import CONTROL
from tests.bench import proc
from tests.chaos.servers import answers
from tests.time_limits import patience

READY_WITHIN_S = patience(120.0)
PROCFILE = Path("compose", "Procfile.small")


class Revision:
    """What runs. Programs are found through a symbolic link, as on a machine that is updated: who changes it and restarts one
    process after the other has another version at the end.

    Args:
        var: the folder of everything that stays.
        environment: with all settings.
        base_url: of the API.
    """

    def __init__(self, var: Path, environment: Mapping[str, str], base_url: str) -> None:
        self._var = var
        self.environment = dict(environment)
        self._base_url = base_url
        self._supervisor: subprocess.Popen[bytes] | None = None
        self.link = var / "current"

    def install(self, checkout: Path) -> None:
        """Have the next processes started from this checkout."""
        fresh = self._var / "next"
        fresh.symlink_to(checkout)
        fresh.replace(self.link)

    def start(self) -> None:
        """Return when calls are sold."""
        options = ["--control", str(self._var / CONTROL), "--procfile", str(self.link / PROCFILE)]
        self._supervisor = self._run(["-m", "compose.processes", *options])
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not answers(f"{self._base_url}/readyz"):
            if self._supervisor.poll() is not None or time.monotonic() > give_up_at:
                raise AssertionError(f"the service does not start:\n{self.log_tail()}")
            time.sleep(0.1)

    def stop(self) -> None:
        """In order, as an operator does."""
        if self._supervisor is not None and self._supervisor.poll() is None:
            self._supervisor.terminate()
            self._supervisor.wait(STOP_WITHIN_S + 10)

    def pull_the_plug(self) -> None:
        """SIGKILL for every process at once, in the middle of what they do."""
        assert self._supervisor is not None
        _kill(proc.family(self._supervisor.pid))
        self._supervisor.wait()

    def kill(self, module: str) -> None:
        """SIGKILL for the processes of one line, such as ``facilitator``. Its supervisor starts it again."""
        assert self._supervisor is not None
        for pid in proc.family(self._supervisor.pid):
            with contextlib.suppress(OSError):
                if f"\0-m\0{module}\0" in Path(f"/proc/{pid}/cmdline").read_text():
                    _kill(proc.family(pid))

    def restart(self, *lines: str) -> None:
        """`coinslot-ops restart`. Raises AssertionError when it fails."""
        assert control.report(self._var / CONTROL, ["restart", *lines]) == 0, self.log_tail()

    @contextlib.contextmanager
    def dying_api(self, failpoint: str, port: int) -> Iterator[str]:
        """One more API process, which is killed where the failpoint says (shared/failpoints.py). Yields its origin."""
        more = {"COINSLOT_PORT": str(port), "COINSLOT_FAILPOINT": failpoint}
        process = self._run(["-m", "api"], **more)
        origin = f"http://127.0.0.1:{port}"
        try:
            give_up_at = time.monotonic() + READY_WITHIN_S
            while not answers(f"{origin}/readyz") and time.monotonic() < give_up_at:
                time.sleep(0.1)
            yield origin
        finally:
            _kill(proc.family(process.pid))
            process.wait()

    def causes(self) -> Counter[str]:
        """Why paid calls were not answered, by the log of all processes until now."""
        return Counter(re.findall(r"paid call not answered: .* cause=(\w+)", (self._var / "service.log").read_text()))

    def log_tail(self) -> str:
        """The last lines of all processes."""
        return "\n".join((self._var / "service.log").read_text(errors="replace").splitlines()[-30:])

    def _run(self, arguments: list[str], **more: str) -> subprocess.Popen[bytes]:
        with (self._var / "service.log").open("ab") as log:
            return subprocess.Popen(
                [*tethered(), str(self.link / ".venv" / "bin" / "python"), *arguments],
                cwd=self._var,  # no checkout: modules are those of the environment
                env={**os.environ, **self.environment, **more},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
