"""Three root file systems of scripts/image at work together: the API, a worker and the facilitator, each in its own.
`scripts/image --check`, as root.

The servers that an installation has elsewhere (Redis, local chains) run outside, as scripts/run starts them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.wallet import Wallet
from compose.embedded import Embedded, embed
from compose.sandbox.child import ROOT, Child, spawn
from shared.settings.service import PREFIX
from shared.x402.networks import Rail
from tests.bench import proc

POOLS = ("micro", "fast")
ROLES = {
    "facilitator": (65533, []),
    "worker": (
        65532,
        ["dramatiq", "workers.main:create_broker", "--queues", *POOLS, "--processes", "1", "--threads", "4"],
    ),
    "api": (65532, []),
}
"""The user of each (Containerfile), and the command where it is not the role's own."""
READY_WITHIN_S = 60.0
STOP_WITHIN_S = 60.0
_OUTSIDE = ("METRICS_DIR", "LEDGER_DIR", "DASHBOARD_PASSWORD_FILE")
"""Settings of what is outside."""
_FACILITATORS = ("_SETTLER_KEY_FILE", "_JOURNAL_FILE")


def main() -> int:
    """Buy an echo on every rail, and a call that a child of the worker computes; then stop all. Returns 0, or 1 with what is
    wrong on stderr."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o711)
        embedded = stack.enter_context(embed({}, folder / "var"))
        children = [stack.enter_context(_running(role, embedded, folder)) for role in ROLES]
        try:
            _await_ready(embedded, children)
            _buy(embedded)
            for child in children:
                _stop(child)
        except Exception as error:
            print(f"image: {error}", file=sys.stderr)
            for child in children:
                print(f"--- {child.name}\n{child.log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
            return 1
    return 0


@contextmanager
def _running(role: str, embedded: Embedded, folder: Path) -> Iterator[Child]:
    """A role in its root, with copies of the files that it needs: the settlers' keys are the facilitator's alone."""
    user, command = ROLES[role]
    secrets = folder / f"secrets-{role}"
    secrets.mkdir(mode=0o700)
    os.chown(secrets, user, 65532)
    named = {}
    for name, value in embedded.environment.items():
        if name.removeprefix(PREFIX) in _OUTSIDE or (name.endswith(_FACILITATORS) and role != "facilitator"):
            continue
        named[name], source = value, Path(value)
        if name.endswith("_JOURNAL_FILE"):
            named[name] = f"/var/lib/coinslot/{source.name}"
        elif source.is_absolute() and source.is_file():
            copy = secrets / source.name
            shutil.copyfile(source, copy)
            copy.chmod(0o400)
            os.chown(copy, user, 65532)
            named[name] = f"/run/secrets/{source.name}"
    child = spawn(role, _command(role, named, secrets, command), folder)
    try:
        yield child
    finally:
        child.process.kill()
        child.process.wait()


def _command(role: str, settings: Mapping[str, str], secrets: Path, command: list[str]) -> list[str]:
    given = [f"{name}={value}" for name, value in settings.items()]
    return ["env", *given, str(ROOT / "scripts" / "image"), "--run", role, "--secrets", str(secrets), *command]


def _await_ready(embedded: Embedded, children: list[Child]) -> None:
    give_up_at = time.monotonic() + READY_WITHIN_S
    while missing := _missing(embedded.settings.base_url):
        ended = [child.name for child in children if child.process.poll() is not None]
        if ended or time.monotonic() > give_up_at:
            raise RuntimeError(f"not ready: {missing}; ended: {ended}")
        time.sleep(0.1)


def _missing(base_url: str) -> str:
    """What /readyz lacks, beside workers of pools that are not started here."""
    try:
        urllib.request.urlopen(f"{base_url}/readyz", timeout=5).close()
    except urllib.error.HTTPError as error:
        checks = json.load(error)["checks"]
        started = [f"workers:{pool}" for pool in POOLS]
        return ", ".join(
            name for name, ok in checks.items() if not ok and (name in started or not name.startswith("workers:"))
        )
    except OSError as error:
        return str(error)
    return ""


def _buy(embedded: Embedded) -> None:
    assert embedded.sandbox_file is not None
    sandbox = sandbox_file.read(embedded.sandbox_file)
    calls = [(rail, "echo", {"message": "hello"}) for rail in Rail if rail is not Rail.ETHEREUM]
    for rail, endpoint, body in (*calls, (Rail.BASE, "json-repair", {"malformed": "{a: 1"})):
        signer = wallet_source.sandbox_signer(sandbox, rail)
        with Buyer(embedded.settings.base_url, Wallet((signer,)), max_price=None, payments=None) as buyer:
            answer = buyer.call(endpoint, body)
        transaction = answer.receipt.transaction if answer.receipt else "without a receipt"
        print(f"{rail:<12} {endpoint:<12} {transaction}")


def _stop(child: Child) -> None:
    """SIGTERM to the first process of the root. Raises RuntimeError: it does not end in order."""
    began = time.monotonic()
    for pid in proc.family(child.process.pid)[1:2]:
        os.kill(pid, signal.SIGTERM)
    if (status := child.process.wait(STOP_WITHIN_S)) != 0:
        raise RuntimeError(f"{child.name} ended with status {status}")
    print(f"{child.name} stopped after {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
