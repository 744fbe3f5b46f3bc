"""What is started because no setting names it: ledger, queue, key files, a local chain with a funded wallet, and upstreams."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compose.sandbox.child import ROOT
from compose.sandbox.evm import EvmSandbox, provision, start_chain
from compose.sandbox.redis_server import start_redis
from compose.sandbox.upstream_server import start_upstreams
from shared.egress import egress
from shared.settings import PREFIX, InvalidSetting, Settings

OUTGOING = (
    *("PRODUCTION", "DNS_SERVER", "HOSTS", "EGRESS_ALLOW", "EGRESS_DENY", "EGRESS_PORTS", "CA_FILE"),
    *("WHOIS_IANA", "WHOIS_PORT", "YOUTUBE_URL"),
)
"""Settings of outgoing connections. Who sets one means the real world, or a world of his own: no upstreams are started."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A complete configuration.

    Attributes:
        settings: as the processes will read them.
        environment: the variables that make them so, for every process.
        payer_key: of the sandbox wallet; None when calls are paid on a real chain.
        chain: which local chain it is, in words; empty when there is none.
        has_remote_facilitator: another than ours settles, so ours is not started.
    """

    settings: Settings
    environment: dict[str, str]
    payer_key: bytes | None
    chain: str
    has_remote_facilitator: bool


@contextlib.contextmanager
def embed(env: Mapping[str, str], var: Path) -> Iterator[Embedded]:
    """Start what is not configured and stop it at the end.

    Args:
        env: the environment; what is set there is not started here.
        var: folder for everything that is made: keys, ledger files, `sandbox.json`.

    Raises:
        InvalidSetting: a setting has the wrong form, or another service is running from the same folder.
    """
    var.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_alone_in(var))
        given = {name: value for name, value in env.items() if name.startswith(PREFIX) and value.strip()}
        egress(Settings.from_env(given))  # a mistake is told before anything is started
        made: dict[str, str] = {}

        def is_missing(setting: str) -> bool:
            return PREFIX + setting not in given

        for role in ("ledger", "queue"):
            if is_missing(f"{role.upper()}_URL"):
                server = start_redis(role, var)
                stack.callback(server.stop)
                made[f"{PREFIX}{role.upper()}_URL"] = server.url
                if role == "ledger" and is_missing("LEDGER_DIR"):
                    made[PREFIX + "LEDGER_DIR"] = str(var)
        if is_missing("KEY_FILE"):
            made[PREFIX + "KEY_FILE"] = str(_key_file(var / "coinslot.key"))
        sandbox: EvmSandbox | None = None
        chain_name = ""
        if is_missing("EVM_PAY_TO") and is_missing("EVM_FACILITATOR_URL"):
            chain = start_chain(var, node_folders=[ROOT / "var" / "node"])  # where scripts/setup puts anvil
            stack.callback(chain.stop)
            sandbox = provision(chain, var)
            chain_name = "anvil" if chain.kind == "anvil" else "py-evm (slower: with npm, scripts/setup fetches anvil)"
            port = given.get(PREFIX + "FACILITATOR_PORT") or str(_free_port())
            made |= {
                PREFIX + "EVM_RPC_URL": sandbox.rpc_url,
                PREFIX + "EVM_PAY_TO": sandbox.pay_to,
                PREFIX + "EVM_SETTLER_KEY_FILE": str(_private_file(var / "settler.key", sandbox.settler_key)),
                PREFIX + "FACILITATOR_PORT": port,
                PREFIX + "EVM_FACILITATOR_URL": f"http://127.0.0.1:{port}",
            }
        if sandbox is not None and not any(PREFIX + setting in given for setting in OUTGOING):
            upstreams = start_upstreams(var)
            stack.callback(upstreams.child.stop)
            made |= {PREFIX + name: value for name, value in upstreams.settings.items()}
        settings = Settings.from_env({**given, **made})
        if sandbox is not None:
            _write_sandbox_file(var / "sandbox.json", settings, sandbox)
        # For one process by hand: `set -a; . var/sandbox.env; python -m api`.
        _private_file(var / "sandbox.env", "\n".join(f"{name}={value}" for name, value in sorted(made.items())))
        yield Embedded(
            settings=settings,
            environment=made,
            payer_key=bytes.fromhex(sandbox.payer_key.removeprefix("0x")) if sandbox else None,
            chain=chain_name,
            has_remote_facilitator=not is_missing("EVM_FACILITATOR_URL"),
        )


@contextlib.contextmanager
def _alone_in(var: Path) -> Iterator[None]:
    """Two services must not share a folder: they would write the same ledger files."""
    with (var / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidSetting(
                f"another service is running from {var}: stop it, or set {PREFIX}VAR to another folder"
            ) from None
        yield


def _key_file(path: Path) -> Path:
    """Kept from run to run: stored fingerprints are made with it."""
    return path if path.exists() else _private_file(path, secrets.token_hex(32))


def _private_file(path: Path, content: str) -> Path:
    """Written anew, readable by its owner alone from its first moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(content + "\n")
    return path


def _write_sandbox_file(path: Path, settings: Settings, sandbox: EvmSandbox) -> None:
    content = {
        "baseUrl": settings.base_url,
        "evm": {
            "rpcUrl": sandbox.rpc_url,
            "chainId": sandbox.chain_id,
            "usdc": sandbox.usdc,
            "payerKey": sandbox.payer_key,
            "payTo": sandbox.pay_to,
        },
    }
    _private_file(path, json.dumps(content, indent=2))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
