"""`coinslot-ops doctor`: whether an installation is set up as it has to be. One line for each finding.

Its checks need no running API, so they also show what keeps one from starting. It changes nothing. A line is `ok`, `warn` (it
works, and may not be what you want) or `fail`. Exit code 1 when one fails.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from coincurve import PrivateKey
from redis.exceptions import RedisError

from ops import chains, channel_checks, ledger_checks, listing_state, price_checks, redis_checks
from ops.books import report as report_of_books
from ops.queries import address, api_place, get_json, supported_networks
from ops.redis_checks import Finding, Findings
from ops.settlement_costs import sentence, settlement_costs
from shared.endpoint import ENTRY_POINTS, PACKAGE_REFUSED
from shared.networks import NETWORKS
from shared.process import setting_names
from shared.sealing.keys import previous_key_file
from shared.servers.ledger_servers import connect_ledger
from shared.servers.ledger_start import WrongLedger
from shared.settings.cdp_key import read_cdp_key
from shared.settings.egress_proxies import read_egress_proxies
from shared.settings.rails import EvmRailSettings, RailSettings
from shared.settings.secret_files import is_exposed, read_headers, read_key, read_secret
from shared.settings.service import PREFIX, InvalidSetting, Settings
from shared.x402.evm import address_of


def report(settings: Settings, environment: Mapping[str, str], *, as_json: bool) -> int:
    """Print the findings as they come. Returns the exit code."""
    worst = 0
    for finding in examine(settings, environment):
        print(json.dumps(finding._asdict()) if as_json else f"{finding.level:5} {finding.about:22} {finding.detail}")
        worst |= finding.level == "fail"
    return worst


def examine(settings: Settings, environment: Mapping[str, str]) -> Findings:
    """Run all checks."""
    yield from _names(settings, environment)
    yield from _users(settings)
    yield from _packages()
    yield from _key_files(settings)
    yield from ledger_checks.examine(settings)
    yield from redis_checks.examine("queue", "queue_url", settings.redis_url(settings.queue_url), redis_checks.queue)
    if settings.observation_url:
        url = settings.redis_url(settings.observation_url)
        yield from redis_checks.examine("observations", "observation_url", url, redis_checks.policy)
    yield from _disk(settings)
    yield from _api(settings)
    yield from (Finding(level, "prices", detail) for level, detail in price_checks.examine(settings, environment))
    level, sentence = report_of_books.age(settings)
    yield Finding(level, "books", sentence)
    for name, rail in settings.rails.items():
        yield from _rail(name, rail)
    if settings.evm.has_channels:
        yield from _channels(settings)
    yield from (Finding(level, "listing", detail) for level, detail in listing_state.findings(settings))


def _names(settings: Settings, environment: Mapping[str, str]) -> Findings:
    unknown = setting_names.unknown(environment)
    yield from (Finding("warn", "settings", sentence) for sentence in unknown)
    if not unknown:
        set_here = sum(1 for name in environment if name.startswith(PREFIX))
        yield Finding("ok", "settings", f"all can be read, {set_here} are set")
    if not settings.production:
        yield Finding("warn", "settings", f"{PREFIX}PRODUCTION is not 1: sandbox settings are accepted")
    elif not settings.base_url.startswith("https:"):
        risk = "whoever is between reads payments and answers"
        yield Finding("warn", "settings", f"{PREFIX}BASE_URL is {settings.base_url}: without TLS {risk}")


def _users(settings: Settings) -> Findings:
    if not settings.user:
        yield Finding("warn", "users", f"{PREFIX}USER is not set: what root starts runs as root")
    elif not settings.facilitator_user:
        yield Finding("warn", "users", f"{PREFIX}FACILITATOR_USER is not set: the API's user reads the settlers' keys")
    else:
        yield Finding("ok", "users", f"{settings.user} serves, and {settings.facilitator_user} settles")


def _packages() -> Findings:
    """In a process of its own, because this one knows no endpoints, and their code is not ours."""
    if not entry_points(group=ENTRY_POINTS):
        return
    command = [sys.executable, "-m", "jobs.catalogue"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    *_, sentence = ["", *found.stderr.splitlines()]
    if found.returncode == 0:
        yield Finding("ok", "packages", "; ".join(found.stdout.splitlines()))
    elif found.returncode == PACKAGE_REFUSED:
        yield Finding("fail", "packages", sentence)
    else:
        yield Finding(
            "warn", "packages", f"not checked: run `python -m jobs.catalogue` where the API runs ({sentence})"
        )


def _key_files(settings: Settings) -> Findings:
    yield _file("sealing key", settings.key_file, read_key)
    if settings.previous_key_file or previous_key_file(settings).exists():
        yield _file("previous sealing key", previous_key_file(settings), read_key)
    if settings.receipt_key_file:
        yield _file("receipt key", Path(settings.receipt_key_file), read_key)
    for name, network in NETWORKS.items():
        if path := network.settler_key_file(settings.rails[name]):
            yield _file(f"settler key of {name}", path, network.read_settler_key)
    if settings.dashboard_redis_url:
        yield _file("dashboard password", settings.dashboard_password_file, read_secret)
    if settings.egress_proxy_file:
        yield _egress_proxies(settings.egress_proxy_file)
    for name, rail in settings.rails.items():
        secrets = [(name, rail.facilitator_headers_file, rail.facilitator_cdp_key_file)]
        if isinstance(rail, EvmRailSettings):
            secrets.append(("listing", rail.listing_facilitator_headers_file, rail.listing_facilitator_cdp_key_file))
        for of, headers_file, cdp_key_file in secrets:
            if headers_file:
                yield _file(f"headers of {of}", headers_file, read_headers)
            if cdp_key_file:
                yield _file(f"CDP key of {of}", cdp_key_file, read_cdp_key)


def _file(about: str, path: Any, read: Callable[[Any], object]) -> Finding:
    """Whether a secret's file can be read by us, and by nobody else."""
    try:
        read(path)
    except InvalidSetting as error:
        return Finding("fail", about, str(error))
    return _private(about, Path(path))


def _egress_proxies(path: str) -> Finding:
    """Whether the file can be used, and by whom it is. Of a proxy nothing is shown."""
    found = _file("egress proxies", path, read_egress_proxies)
    if found.level != "ok":
        return found
    pools = (
        f"{len(proxies.servers)} for {pool}, {'always' if proxies.is_always else 'after a refusal'}"
        for pool, proxies in read_egress_proxies(path).items()
    )
    return found._replace(detail=f"{'; '.join(pools)}. {found.detail}")


def _private(about: str, path: Path) -> Finding:
    if is_exposed(path):
        mode = stat.S_IMODE(path.stat().st_mode)
        return Finding("fail", about, f"{path} can be read by others (mode {mode:03o}): chmod 600 {path}")
    who = "root and one group" if path.stat().st_mode & 0o040 else "its owner"
    return Finding("ok", about, f"{path} is readable for {who} alone")


def _disk(settings: Settings) -> Findings:
    if not settings.ledger_dir:
        return
    try:
        free_mb = shutil.disk_usage(settings.ledger_dir).free // 1_000_000
    except OSError as error:
        yield Finding("fail", "disk of the ledger", f"{settings.ledger_dir}: {error.strerror}")
        return
    is_enough = free_mb >= settings.ledger_free_mb
    yield Finding(
        "ok" if is_enough else "fail", "disk of the ledger", f"{free_mb} MB free of {settings.ledger_free_mb} needed"
    )


def _api(settings: Settings) -> Findings:
    place = api_place(settings)
    status, answer = get_json(f"{place}/readyz")
    if answer is None:
        yield Finding("warn", "api", f"does not answer at {place}: start it, or set {PREFIX}HOST and {PREFIX}PORT")
        return
    for name, works in answer["checks"].items():
        if not works and not name.startswith("workers:"):  # they are reported with the queue
            yield Finding("fail", "api", f"{name} does not work for it")
    for notice in answer["notices"]:
        yield Finding("warn", "api", notice)
    for cost in settlement_costs(answer):
        yield Finding("warn" if cost.too_cheap else "ok", f"costs on {cost.rail}", sentence(cost, settings))
    yield Finding("ok" if status == 200 else "fail", "api", f"{place} is {'' if status == 200 else 'not '}ready")


def _rail(name: str, rail: RailSettings) -> Findings:
    about = f"rail {name}"
    if not rail.pay_to:
        yield Finding("ok", about, "not offered: no recipient is set")
        return
    try:
        headers = read_headers(rail.facilitator_headers_file)
        files = rail.facilitator_headers_file, rail.facilitator_cdp_key_file
        status, networks = supported_networks(rail.facilitator_url, *files)
    except InvalidSetting:
        return  # reported with the files
    if status in (401, 403):
        yield Finding("fail", about, f"its facilitator refuses us: HTTP {status}")
        return
    if networks is None:
        setting = f"{PREFIX}{name.upper()}_FACILITATOR_URL"
        where = address(rail.facilitator_url)
        yield Finding("fail", about, f"its facilitator at {where} does not answer: start it, or set {setting}")
        return
    if rail.network not in networks:
        yield Finding("fail", about, f"its facilitator does not settle on {rail.network}")
    else:
        yield Finding("ok", about, f"its facilitator settles on {rail.network}, for {rail.pay_to}")
    yield from _recipient(name, rail)
    if rail.rpc_url:  # our own facilitator settles, and reports its state
        _, health = get_json(f"{rail.facilitator_url}/healthz", headers)
        of_rail = (health or {}).get("rails", {}).get(rail.network, {})
        if health is not None and isinstance(rail, EvmRailSettings):
            yield _journal(name, rail)
        if of_rail.get("reason"):
            yield Finding("fail", about, of_rail["reason"])
        elif of_rail.get("balance"):
            yield Finding("ok", about, f"the settling account has {of_rail['balance']}")


def _channels(settings: Settings) -> Findings:
    own, about = settings.evm, "channels"
    if own.claim_after_s > own.withdraw_delay_s / 4:
        detail = (
            f"charges are claimed after a quarter of the delay, {own.claim_within_s:.0f} s, not {own.claim_after_s} s"
        )
        yield Finding("warn", about, detail)
    try:
        with connect_ledger(settings) as ledger:
            lacks = list(channel_checks.key_lacks(own, ledger))
            settler = ""
            if own.rpc_url:
                with contextlib.suppress(InvalidSetting):
                    settler = address_of(PrivateKey(read_key(own.settler_key_file)).public_key)
            of_chain = (
                channel_checks.chain_lacks(own, settler, ledger) if own.rpc_url else ["COINSLOT_EVM_RPC_URL is not set"]
            )
    except (RedisError, WrongLedger):
        return  # reported already
    if of_chain is None:
        yield Finding("warn", about, "not checked on the chain: its node does not answer")
    lacks += of_chain or []
    yield from (Finding("fail", about, sentence) for sentence in lacks)
    if not lacks:
        yield Finding(
            "ok", about, f"{settings.evm.network} has the contracts, and the authorizer's key is the ledger's"
        )


def _journal(name: str, rail: EvmRailSettings) -> Finding:
    """Our facilitator makes the file when it starts, if it may."""
    path, about = rail.journal_path, f"journal of {name}"
    try:
        path.stat()
    except FileNotFoundError:
        lost = "a facilitator that is killed forgets what it had sent"
        remedy = f"Let its user write to that folder, or set {PREFIX}{name.upper()}_JOURNAL_FILE"
        return Finding("warn", about, f"there is no {path}: {lost}. {remedy}")
    except OSError as error:
        return Finding("warn", about, f"not checked: {path}: {error.strerror}")
    return Finding("ok", about, f"{path} is there")


def _recipient(name: str, rail: RailSettings) -> Findings:
    about = f"rail {name}"
    try:
        lacks = chains.missing(name, rail)
    except chains.NotChecked as why:
        yield Finding("warn", about, f"not checked whether the recipient can receive its tokens: {why}")
        return
    yield from (Finding("fail", about, sentence) for sentence in lacks)
    if not lacks:
        yield Finding("ok", about, "the recipient can receive its tokens")
