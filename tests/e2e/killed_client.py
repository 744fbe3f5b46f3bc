"""Kills the buyer's command at every step of its calls: `python -m tests.e2e.killed_client var/sandbox.json [KILLS]`.

A step is a function call or return in the buyer's code or in its HTTP library, from the reading of the arguments to the
removal of the payment's file. What was charged is what the chain shows of these calls' nonces, which begin alike. What was
answered is what was printed: by a command before it was killed, or by `coinslot resume` later.
"""

import contextlib
import json
import os
import secrets
import select
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

KILLED_BY_ITSELF = -9
ENDS_WITHIN_S = 60.0
AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
"""Topic of the event that the token logs with a payment's nonce."""
BATCH = 10
"""Calls between two resumes: their payments are valid for a minute."""

_COMMANDS = """
import json, os, signal, sys, traceback, types
import coinslot.call_command, coinslot.evm_signer, coinslot.main, coinslot.resume_command
import httpcore._sync.connection_pool, httpcore._sync.http11
mark, run = bytes.fromhex(sys.argv[1]), coinslot.main._command
coinslot.evm_signer.secrets = types.SimpleNamespace(token_bytes=lambda size: mark + os.urandom(size - len(mark)))

def become(last, arguments, files):
    steps = 0

    def step(frame, event, argument):
        nonlocal steps
        name = frame.f_code.co_filename
        if "/coinslot/" in name or "/httpcore/" in name:
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted(options):
        sys.setprofile(step)
        try:
            return run(options)
        finally:
            sys.setprofile(None)
            if not last:
                print(steps, file=sys.stderr)

    for number, path in enumerate(files, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv, coinslot.main._command = ["coinslot", *arguments], counted
    return coinslot.main.main()

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        code = 1
        try:
            code = become(**json.loads(line))
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Forks a process for each line: loading what the command needs takes ten times as long as the command."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of all calls.

    Attributes:
        steps: of one call that nobody kills.
        kills: processes that were killed.
        charged: calls, by the chain.
        answered: calls, by what was printed.
        answered_before: those whose answer was printed before the kill.
        left: files of payments that are still open: they expired before they were sent.
    """

    steps: int
    kills: int
    charged: int
    answered: int
    answered_before: int
    left: int


class _Ended(NamedTuple):
    """One command, as subprocess.CompletedProcess has it."""

    returncode: int
    stdout: str
    stderr: str


class KilledClient:
    """Calls `echo` of a sandbox with a wallet of its own folder.

    Args:
        sandbox: its sandbox.json.
        folder: for a copy of that file, and for the payments.
    """

    def __init__(self, sandbox: Path, folder: Path) -> None:
        self._sandbox = json.loads(sandbox.read_text())
        self._folder = folder
        self._file = folder / "sandbox.json"
        self._file.write_bytes(sandbox.read_bytes())
        self._mark = secrets.token_hex(16)
        self._commands: subprocess.Popen[str] | None = None

    def run(self, kills: int) -> Outcome:
        """Kill that many processes: one call each, at steps that are spread evenly, and some of the resumes."""
        with self._loaded():
            return self._run(kills)

    def _run(self, kills: int) -> Outcome:
        whole = self._start(0, "call", "echo", '{"message": "whole"}', "--json")
        steps, answered, killed = int(whole.stderr.split()[-1]), {"whole"}, 0
        assert "whole" in _answers(whole.stdout)
        answered_before = 0
        for number in range(kills):
            at = 1 + number * steps // kills
            call = self._start(at, "call", "echo", json.dumps({"message": f"call-{number}"}), "--json")
            killed += call.returncode == KILLED_BY_ITSELF
            printed = set(_answers(call.stdout))
            answered |= printed
            answered_before += bool(printed)
            if number % BATCH == BATCH - 1 or number == kills - 1:
                self._start(1 + at // 2, "resume", "--json")
                resumed = self._start(0, "resume", "--json")
                answered |= set(_answers(resumed.stdout))
        return Outcome(
            steps=steps,
            kills=killed,
            charged=charged(self._sandbox["evm"], self._mark),
            answered=len(answered),
            answered_before=answered_before,
            left=len(list(self._folder.glob("payment-*.json"))),
        )

    def _start(self, last_step: int, *arguments: str) -> _Ended:
        files = [str(self._folder / name) for name in ("stdout", "stderr")]
        line = json.dumps({"last": last_step, "arguments": arguments, "files": files})
        assert self._commands is not None
        assert self._commands.stdin is not None
        assert self._commands.stdout is not None
        self._commands.stdin.write(line + "\n")
        self._commands.stdin.flush()
        assert select.select([self._commands.stdout], [], [], ENDS_WITHIN_S)[0], f"{arguments} does not end"
        return _Ended(int(self._commands.stdout.readline()), *(Path(file).read_text() for file in files))

    @contextlib.contextmanager
    def _loaded(self) -> Iterator[None]:
        """With the process that forks the commands."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COINSLOT_")}
        environment |= {"COINSLOT_SANDBOX_FILE": str(self._file), "COINSLOT_STATE_DIR": str(self._folder / "own")}
        with subprocess.Popen(
            [sys.executable, "-c", _COMMANDS, self._mark],
            env=environment,
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as self._commands:
            yield
            self._commands.communicate(timeout=ENDS_WITHIN_S)


def charged(evm: Any, mark: str) -> int:
    """The payments on the chain whose nonces begin with the mark.

    Args:
        evm: of sandbox.json.
        mark: 32 hex digits.
    """
    search = {"fromBlock": "0x0", "toBlock": "latest", "address": evm["usdc"], "topics": [AUTHORIZATION_USED]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [search]}
    request = urllib.request.Request(evm["rpcUrl"], json.dumps(call).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        logs = json.load(answer)["result"]
    return sum(log["topics"][2].startswith(f"0x{mark}") for log in logs)


def _answers(printed: str) -> Iterator[str]:
    """The messages that echo has said back."""
    documents = [json.loads(printed)] if printed.strip() else []
    while documents:
        document: Any = documents.pop()
        documents += document.get("resumed", [])
        answer = document.get("answer", document)
        if answer and "youSent" in answer:
            yield answer["youSent"]


def main(sandbox: str, kills: str = "200") -> int:
    """Print what came of it; 0 when exactly what was charged was answered."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        outcome = KilledClient(Path(sandbox), Path(folder)).run(int(kills))
    print(outcome)
    return 0 if outcome.charged == outcome.answered else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
