"""Starts what no setting names: ledger, queue, key files, local chains with funded wallets, and upstreams."""

import contextlib
import fcntl
import json
import secrets
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

from compose.preflight import check_disk, check_ports, check_settings, make_folder
from compose.sandbox.child import Child, StartFailed, claim_port
from compose.sandbox.kept_redis import KeptRedis
from compose.sandbox.ledgers import OTHERS, Ledgers, ledgers, private_file
from compose.sandbox.redis_server import Role
from compose.sandbox.upstream_server import start_upstreams
from compose.users import Accounts
from shared.ledger.keys import RECHECK, in_every_bucket
from shared.settings import sandbox_path
from shared.settings.service import PREFIX, InvalidSetting, Settings

OUTGOING = (
    *("PRODUCTION", "DNS_SERVER", "HOSTS", "EGRESS_ALLOW", "EGRESS_DENY", "EGRESS_PORTS", "CA_FILE"),
    *("WHOIS_IANA", "WHOIS_PORT", "RDAP_BOOTSTRAP", "YOUTUBE_URL"),
)
"""Settings of outgoing connections. If one is set, no sandbox upstreams are started."""

CHANGEABLE = ("RPC_", "EVM_MAX_FEE_GWEI", "EVM_ETHER_PRICE")
"""What the settings may say beside local ledgers, by the start of its name: who has nodes reads the real chains."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A complete configuration.

    Attributes:
        settings: of all processes.
        environment: the variables with these settings.
        sandbox_file: has the sandbox's wallets; None when calls are paid on real networks.
        ledgers: a text that names the local ledgers; empty without any.
        has_remote_facilitator: another facilitator settles, so ours is not started.
        children: processes that nothing can start again with what they had.
    """

    settings: Settings
    environment: dict[str, str]
    sandbox_file: Path | None
    ledgers: str
    has_remote_facilitator: bool
    children: tuple[Child, ...] = ()


@contextlib.contextmanager
def embed(
    env: Mapping[str, str], var: Path, users: Accounts | None = None, scale: Mapping[str, int] | None = None
) -> Iterator[Embedded]:
    """Start everything that is not configured, and stop it at the end.

    Args:
        env: the environment, with the settings.
        var: folder for all files: keys, ledger files, `sandbox.json`.
        users: who will read the files that the settings name. None: whoever starts this.
        scale: of the processes that will listen on ports. None: none will be started.

    Raises:
        InvalidSetting: a setting cannot be used, a port is taken, the folder cannot be written to, its disk is nearly full, or
            another service is running from it.
    """
    make_folder(var)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_alone_in(var))
        given = {name: value for name, value in env.items() if name.startswith(PREFIX) and value.strip()}
        made: dict[str, str] = {}

        def is_missing(setting: str) -> bool:
            return PREFIX + setting not in given

        usual = Settings.from_env(given)
        check_settings(usual, is_missing, users or Accounts())
        if scale is not None:
            check_ports(usual, given, scale)
        if is_missing("LEDGER_URL"):
            check_disk(var, usual.ledger_free_mb)
        roles: dict[Role, str] = {"ledger": "LEDGER_URL", "queue": "QUEUE_URL", "mirror": "DASHBOARD_REDIS_URL"}
        for role, setting in roles.items():
            if is_missing(setting):
                with step(f"the Redis server of the {role}"):
                    server = KeptRedis(role, var)
                stack.callback(server.stop)
                made[PREFIX + setting] = server.url
                if role == "ledger" and is_missing("LEDGER_DIR"):
                    made[PREFIX + "LEDGER_DIR"] = str(var)
        if is_missing("KEY_FILE"):
            made[PREFIX + "KEY_FILE"] = str(_key_file(var / "coinslot.key"))
        if is_missing("DASHBOARD_PASSWORD_FILE"):
            made[PREFIX + "DASHBOARD_PASSWORD_FILE"] = str(_password_file(var / "dashboard.password"))
        if is_missing("DASHBOARD_PORT"):
            # Beside another port of the API than the usual one, several services may be starting.
            port = 0 if PREFIX + "PORT" in given else usual.dashboard_port
            made[PREFIX + "DASHBOARD_PORT"] = str(_free_port(port, usual.dashboard_host))
        local: Ledgers | None = None
        if is_missing("EVM_PAY_TO") and is_missing("EVM_FACILITATOR_URL"):
            # The other networks are the sandbox's too, except those with a recipient in the settings.
            others = [name for name in OTHERS if is_missing(f"{name.upper()}_PAY_TO")]
            with step("local ledgers with funded wallets"):
                local = stack.enter_context(ledgers(var, usual.evm.network, others))
            facilitator_port = given.get(PREFIX + "FACILITATOR_PORT") or str(claim_port(0))
            made[PREFIX + "FACILITATOR_PORT"] = facilitator_port
            for name, value in local.settings(var, f"http://127.0.0.1:{facilitator_port}").items():
                if not name.startswith(CHANGEABLE) or is_missing(name):
                    made[PREFIX + name] = value
            if usual.evm.has_channels and is_missing("EVM_AUTHORIZER_KEY_FILE"):
                made[PREFIX + "EVM_AUTHORIZER_KEY_FILE"] = str(_key_file(var / "evm-authorizer.key"))
            if is_missing("LEDGER_URL"):
                _forget_last_run(made[PREFIX + "LEDGER_URL"], ("eip155", *others))
        if local is not None and not any(PREFIX + setting in given for setting in OUTGOING):
            with step("sites and name servers of the sandbox"):
                upstreams = start_upstreams(var)
            stack.callback(upstreams.child.stop)
            made |= {PREFIX + name: value for name, value in upstreams.settings.items()}
        if is_missing("METRICS_DIR"):
            folder = var / "metrics"
            shutil.rmtree(folder, ignore_errors=True)  # of the last run, whose processes are gone
            made[PREFIX + "METRICS_DIR"] = str(folder)
        if is_missing("BOOKS_DIR"):
            made[PREFIX + "BOOKS_DIR"] = str(var / "books")
            if local is not None and not any(name.endswith("_PAY_TO") for name in given):
                shutil.rmtree(var / "books", ignore_errors=True)  # of local chains, which are gone
        if is_missing("METRICS_PORT"):
            made[PREFIX + "METRICS_PORT"] = str(_free_port(usual.metrics_port, usual.metrics_host))
        settings = Settings.from_env({**given, **made})
        if local is not None:
            sandbox = {"baseUrl": settings.base_url, **local.described()}
            private_file(var / "sandbox.json", json.dumps(sandbox, indent=2))
        # For coinslot-ops, and to run one process by hand: `set -a; . var/sandbox.env; python -m api`.
        private_file(var / sandbox_path.SETTINGS, sandbox_path.written({**given, **made}))
        yield Embedded(
            settings=settings,
            environment=made,
            sandbox_file=var / "sandbox.json" if local else None,
            ledgers=local.words if local else "",
            has_remote_facilitator=not is_missing("EVM_FACILITATOR_URL"),
            children=local.children if local else (),
        )


def _forget_last_run(ledger_url: str, namespaces: Collection[str]) -> None:
    """Forget the pending checks of settlements on local chains, the settlements that were missing, and channels. The ledger of
    payments is kept between runs and the chains are not: a settlement that is gone must not take a rail down.

    Args:
        namespaces: of the local chains, as payment ids begin (CAIP-2).
    """
    with redis.Redis.from_url(ledger_url, decode_responses=True) as ledger:
        for recheck in RECHECK:
            for payment_id in ledger.zrange(recheck, 0, -1):
                if payment_id.partition(":")[0] in namespaces:
                    ledger.zrem(recheck, payment_id)
        for namespace in namespaces:
            for rail in list(ledger.scan_iter(in_every_bucket(f"lost:{namespace}:*"), 1000)):
                ledger.delete(rail)
        if "eip155" in namespaces:
            for name in ("channel:*", "channels", "claimable", "running", "refunds", "channel-watch"):
                for key in list(ledger.scan_iter(in_every_bucket(name), 1000)):
                    ledger.delete(key)


def _free_port(port: int, host: str) -> int:
    """This port, or another one when a second service on this machine has it."""
    try:
        return claim_port(port, (host,))
    except StartFailed:
        return claim_port(0, (host,))


@contextlib.contextmanager
def _alone_in(var: Path) -> Iterator[None]:
    """Lock the folder. Two services in one folder would write the same ledger files."""
    with (var / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidSetting(
                f"another service is running from {var}: stop it, or set {PREFIX}VAR to another folder"
            ) from None
        yield


def _key_file(path: Path) -> Path:
    """The key is kept between runs, because stored fingerprints depend on it."""
    return path if path.exists() else private_file(path, secrets.token_hex(32))


def _password_file(path: Path) -> Path:
    """The password is kept between runs, because people keep it in their browser."""
    return path if path.exists() else private_file(path, secrets.token_urlsafe(18))


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print the name of a step when it begins, and on the same line its seconds when it has ended."""
    started_at = time.monotonic()
    print(f"run: {name} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print(file=sys.stderr, flush=True)  # the reason comes on the next line
        raise
    print(f" {time.monotonic() - started_at:.1f} s", file=sys.stderr, flush=True)
