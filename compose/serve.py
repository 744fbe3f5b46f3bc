"""Runs the whole service on one machine: `python -m compose.serve [--check] [--scale worker-render=2]`.

It starts what the settings do not name (compose/sandbox): two Redis servers and local ledgers with funded wallets.
compose/processes.py keeps the processes of the Procfile running. One paid echo on every rail then proves that payments work.
"""

import argparse
import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from coinslot import sandbox_file, wallet_source
from coinslot.answer import Answer
from coinslot.buyer import Buyer
from coinslot.errors import CoinslotError, UnknownCall, WalletUnusable
from coinslot.wallet import Wallet
from compose.embedded import Embedded, embed, step
from compose.package_workers import all_lines
from compose.preflight import bind_error, memory_warning
from compose.processes import STOP_NOW, STOP_WITHIN_S
from compose.procfile import PROCFILE, InvalidProcfile, parse_scale, scaled
from compose.sandbox.child import Child, StartFailed, tethered
from compose.users import Accounts, accounts, share_files
from jobs.packages import RefusedPackage
from shared.process.command_line import command_line
from shared.process.setting_names import read_settings
from shared.servers.ledger_servers import run_check
from shared.servers.ledger_start import NEW_LEDGER, refuse_wrong_ledger
from shared.settings.sandbox_path import CONTROL
from shared.settings.service import PREFIX, InvalidSetting, Settings
from shared.x402.networks import Rail

READY_TIMEOUT_S = 180.0
"""It takes 5 s on two free cores, and more than a minute where twenty other processes use them. A process that ends is reported
at once; a port that does not work, after this time."""
WATCH_S = 0.5
RAILS = tuple(Rail)

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals of Ctrl-C, of a supervisor, and of a closed terminal."""


class CannotServe(Exception):
    """The service could not be started. The text is for the person at the terminal."""


class Interrupted(Exception):
    """One of the signals in ENDING has come."""


def main(argv: list[str] | None = None) -> int:
    """Serve until a signal; with --check stop after the paid calls. Returns 0, or 1 with the reason on stderr."""
    arguments = _arguments(argv)
    for number in ENDING:
        signal.signal(number, _interrupt)
    var = Path(os.environ.get("COINSLOT_VAR", "var")).absolute()
    try:
        scale = parse_scale(arguments.scale)
        processes = scaled(all_lines(arguments.procfile), scale)  # report a mistake before anything is started
        users = accounts(read_settings(os.environ, "coinslot"))
        if warning := memory_warning(len(processes)):
            print(f"run: {warning}", file=sys.stderr)
        with embed(os.environ, var, users, scale) as embedded:
            refuse_wrong_ledger(embedded.settings, run_check, is_new=arguments.new_ledger)
            metrics = _metrics(embedded.settings, scale)
            has_dashboard = scale.get("dashboard", 1) > 0
            with _services(embedded, var, arguments.procfile, scale, users) as (services, notices):
                answers: dict[Rail, Answer] = {}
                if embedded.sandbox_file:
                    with step("a paid call on every rail"):
                        answers = _prove(embedded)
                    if not answers:
                        notices.append("no call was paid to prove that payments work: echo is not sold")
                notices += _not_for_production(embedded)
                _tell(embedded, answers, notices, metrics, serving=not arguments.check, has_dashboard=has_dashboard)
                if not arguments.check:
                    code = _wait(services, embedded.children)
                    raise CannotServe(
                        f"the supervisor of the processes ended, so they were stopped ({code})\n{_log_tail(var)}"
                    )
    except Interrupted:
        print("\nstopped", file=sys.stderr)
        return 0
    except (CannotServe, InvalidProcfile, InvalidSetting, RefusedPackage, StartFailed) as error:
        print(f"coinslot: {error}", file=sys.stderr)
        return 1
    return 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = command_line("scripts/run", "Start the whole service and prove it with paid calls.")
    parser.add_argument("--check", action="store_true", help="stop after the proof and leave nothing running")
    parser.add_argument(
        "--procfile",
        metavar="FILE",
        type=Path,
        default=PROCFILE,
        help="other processes, e.g. compose/Procfile.small",
    )
    parser.add_argument(
        "--scale", metavar="NAME=N,...", default="", help="processes per Procfile line, e.g. worker-render=2"
    )
    parser.add_argument("--new-ledger", action="store_true", help=NEW_LEDGER)
    return parser.parse_args(argv)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # A second Ctrl-C must not interrupt the orderly stop.
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)
    raise Interrupted


@contextlib.contextmanager
def _services(
    embedded: Embedded, var: Path, procfile: Path, scale: Mapping[str, int], users: Accounts
) -> Iterator[tuple[subprocess.Popen[bytes], list[str]]]:
    """Start the processes of the Procfile and wait until they are ready. They have their own session, so that Ctrl-C reaches
    only this process. Their stdout has a line for each process that ended. Yields /readyz's notices beside their supervisor."""
    share_files(users, var, embedded.environment)
    if embedded.has_remote_facilitator:
        scale = {**scale, "facilitator": 0}
    command = [*tethered(), sys.executable, "-m", "compose.processes"]
    command += [
        "--control",
        str(var / CONTROL),
        "--procfile",
        str(procfile),
        "--scale",
        ",".join(f"{name}={count}" for name, count in scale.items()),
    ]
    if _log(var).exists():
        _log(var).replace(var / "service.log.1")  # for the search for the cause of a crash
    with _log(var).open("wb") as log:
        services = subprocess.Popen(
            command,
            env={**os.environ, **embedded.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        ending = STOP_NOW  # before the address is printed, nobody calls
        try:
            with step("API, workers and facilitator"):
                notices = _wait_until_ready(embedded.settings, services, var)
            ending = signal.SIGTERM
            yield services, notices
        finally:
            services.send_signal(ending)
            try:
                services.wait(STOP_WITHIN_S + 10)
            except subprocess.TimeoutExpired:
                services.kill()
                services.wait()
            assert services.stdout is not None
            services.stdout.close()


def _wait_until_ready(settings: Settings, services: subprocess.Popen[bytes], var: Path) -> list[str]:
    """Wait for a 200 of /readyz, and return its notices: calls that are refused although the service is ready."""
    assert services.stdout is not None
    give_up_at = time.monotonic() + READY_TIMEOUT_S
    # The request stays on this machine, so a proxy from the environment is not used.
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  # compared, not bound
    ready = f"http://{_in_url(host)}:{settings.port}/readyz"
    seen = "no answer"
    while time.monotonic() < give_up_at:
        if select.select([services.stdout], [], [], 0.05)[0]:
            # A process that ends now cannot start. Later it would be started again.
            ended = services.stdout.readline().decode().strip() or "the supervisor of the processes ended"
            raise CannotServe(f"a process could not start: {ended}\n{_log_tail(var)}")
        try:
            with local.open(ready, timeout=5) as answer:
                notices: list[str] = json.load(answer)["notices"]
                return notices
        except urllib.error.HTTPError as error:
            seen = error.read().decode(errors="replace")
        except OSError as error:
            seen = str(error)
    raise CannotServe(f"not ready after {READY_TIMEOUT_S:.0f} s: {seen}\n{_log_tail(var)}")


def _wait(services: subprocess.Popen[bytes], ledgers: Sequence[Child]) -> int:
    """Wait until the supervisor ends, which is an error. Its lines are read and dropped, because the log has them too.

    Raises:
        CannotServe: a local ledger ended, and with it what was paid there.
    """
    assert services.stdout is not None
    while True:
        if select.select([services.stdout], [], [], WATCH_S)[0] and not services.stdout.readline():
            return services.wait()
        for ledger in ledgers:
            if (status := ledger.process.poll()) is not None:
                raise CannotServe(
                    f"the local ledger {ledger.name} ended (status {status}). It had its state in its memory only, so the "
                    f"service was stopped: start it again"
                )


def _prove(embedded: Embedded) -> dict[Rail, Answer]:
    """Buy one echo on every rail that the sandbox has an account on; none where the settings do not sell echo."""
    assert embedded.sandbox_file is not None
    sandbox = sandbox_file.read(embedded.sandbox_file)
    answers: dict[Rail, Answer] = {}
    for rail in RAILS:
        try:
            signer = wallet_source.sandbox_signer(sandbox, rail)
        except WalletUnusable:
            continue  # the sandbox has no account on it
        try:
            with Buyer(embedded.settings.base_url, Wallet((signer,)), max_price=None, payments=None) as buyer:
                answers[rail] = buyer.call("echo", {"message": "hello"})
        except UnknownCall:
            break
        except CoinslotError as error:
            raise CannotServe(f"the echo that was to be paid on {rail} failed: {error}") from None
    return answers


def _not_for_production(embedded: Embedded) -> list[str]:
    """A sentence about the servers that were started here although money is real."""
    settings = ("LEDGER_URL", "QUEUE_URL", "DASHBOARD_REDIS_URL")
    made = [f"{PREFIX}{name}" for name in settings if f"{PREFIX}{name}" in embedded.environment]
    if not embedded.settings.production or not made:
        return []
    return [
        f"not for production: every user of this machine can use the servers that were started for {', '.join(made)}. Set "
        "these to servers with a password (docs/install.md)"
    ]


def _metrics(settings: Settings, scale: Mapping[str, int]) -> str:
    """Where Prometheus finds the metrics, or why it does not. Without them everything else works. Call it before the start."""
    if scale.get("exporter") == 0:
        return "none: no exporter is started"
    host, port = settings.metrics_host, settings.metrics_port
    if error := bind_error(host, port):
        return f"none: port {port} cannot be used ({error.strerror}): set COINSLOT_METRICS_PORT to another one"
    return f"http://{_in_url(host)}:{port}/metrics"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _tell(
    embedded: Embedded,
    answers: Mapping[Rail, Answer],
    notices: Sequence[str],
    metrics: str,
    *,
    serving: bool,
    has_dashboard: bool,
) -> None:
    settings, base_url = embedded.settings, embedded.settings.base_url
    for number, (rail, answer) in enumerate(answers.items()):
        if number == 0:
            print(f"paid echo      {answer.raw.decode()}")
        if answer.receipt is not None:
            print(f"  {rail:<12} {answer.receipt.transaction} on {answer.receipt.network}")
    for notice in notices:
        print(f"notice         {notice}")
    if not serving:
        return
    if embedded.ledgers:
        print(f"ledgers        {embedded.ledgers}")
    print(f"pages          {base_url}/bazaar")
    print(f"catalogue      {base_url}/bazaar.json")
    print(f"OpenAPI        {base_url}/openapi.json")
    print(f"metrics        {metrics}")
    if has_dashboard:
        print(f"dashboard      http://{_in_url(settings.dashboard_host)}:{settings.dashboard_port}/")
        print(f"               user coinslot, password in {settings.dashboard_password_file}")
    if embedded.sandbox_file and answers:
        file = embedded.sandbox_file.resolve()
        # The command finds the file by itself when it is in the usual place below this folder.
        named = "" if file == sandbox_file.PLACE.resolve() else f"{sandbox_file.ENVIRONMENT}={shlex.quote(str(file))} "
        print(f'first call     {named}{_buyer()} call echo \'{{"message": "hello"}}\'')
    print(f"unpaid call    curl -i -X POST {base_url}/v1/cdp/echo")
    print("stop           Ctrl-C", flush=True)


def _buyer() -> str:
    """The buyer's command beside this Python, as it is called from this folder."""
    command = Path(sys.executable).with_name("coinslot")
    return str(command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command)


def _log(var: Path) -> Path:
    var.mkdir(parents=True, exist_ok=True)
    return var / "service.log"


def _log_tail(var: Path) -> str:
    lines = _log(var).read_text(errors="replace").splitlines()[-15:]
    return "\n".join([*lines, f"(all of it: {_log(var)})"])


if __name__ == "__main__":
    sys.exit(main())
