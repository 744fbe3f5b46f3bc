"""Run the claimer of channels: `python -m facilitator.claimer`."""

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
import sys

import msgspec
from redis.exceptions import RedisError

from facilitator.claimer.chain import Chain
from facilitator.claimer.claimer import Claimer, Terms
from facilitator.claimer.ledger import ClaimerLedger
from facilitator.claimer.relay import Relay
from facilitator.json_rpc import NODE_ERRORS, JsonRpcNode
from shared.ledger.channels import READS, ReadRequest
from shared.observability.logs import configure_logs
from shared.process.command_line import command_line, run
from shared.process.setting_names import read_settings
from shared.process.user import refuse_root
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_start import known_buckets
from shared.settings.cdp_key import read_cdp_key
from shared.settings.rails import EvmRailSettings, configured_token
from shared.settings.secret_files import read_headers, read_key
from shared.settings.service import InvalidSetting, Settings
from shared.x402.networks import EVM_USDC

log = logging.getLogger(__name__)

EVERY_S = 1.0
_READ_BLOCK_S = 1
_ERRORS = (RedisError, *NODE_ERRORS)


def main() -> None:
    """Claim until SIGTERM. Raises InvalidSetting, and SystemExit when another key signs for this ledger."""
    command_line("python -m facilitator.claimer", "Claim what channels owe.").parse_args()
    settings = read_settings(os.environ)
    configure_logs(settings.log)
    refuse_root(settings)
    own = settings.rails["evm"]
    assert isinstance(own, EvmRailSettings)
    if not own.has_channels:
        sys.exit("coinslot claimer: COINSLOT_EVM_CHANNELS is off")
    asyncio.run(_serve(settings, own))


async def _serve(settings: Settings, own: EvmRailSettings) -> None:
    key = _authorizer_key(own)
    known = known_buckets(settings)
    servers = ledger_servers(settings, known)
    ledger = ClaimerLedger(servers, f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    token = configured_token(EVM_USDC, own.network, "evm")
    node = JsonRpcNode(own.rpc_url)
    relay = Relay(
        own.facilitator_url,
        token,
        own.pay_to,
        headers=read_headers(own.facilitator_headers_file),
        cdp_key=read_cdp_key(own.facilitator_cdp_key_file),
    )
    terms = Terms(
        pay_to=own.pay_to,
        ether_price=own.ether_price,
        withdraw_delay=own.withdraw_delay_s,
        min_deposit=own.min_deposit,
        claim_value=own.claim_value,
        claim_within_s=own.claim_within_s,
    )
    chain = Chain(node)
    claimer = Claimer(ledger, chain, relay, token, key, terms)
    await _require_own(ledger, claimer.address)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    log.warning("claims channels of %s as %s", own.pay_to, claimer.address)
    # Without replicas: whoever asked asks again.
    reads = LedgerConnections(settings.ledger_urls, known=known, longest_block_s=_READ_BLOCK_S)
    reading = asyncio.create_task(_read_forever(claimer, reads, stop))
    reading.add_done_callback(lambda _: stop.set())  # it does not end by itself: then a new process is needed
    await _look_until(stop, claimer, ledger)
    await reading
    with contextlib.suppress(RedisError):
        ledger.give_lease_back()
    await relay.close()
    await chain.close()


def ledger_servers(settings: Settings, known: set[int]) -> LedgerConnections:
    """The ledger: nothing is sent before replicas have what it depends on."""
    return LedgerConnections(settings.ledger_urls, known=known, replicas=settings.ledger_replicas)


async def _look_until(stop: asyncio.Event, claimer: Claimer, ledger: ClaimerLedger) -> None:
    """Look again and again until `stop` is set, then once more. Only the process that has the lease looks."""
    has_failed = False
    while True:
        is_last = stop.is_set()
        try:
            if ledger.hold_lease():
                await claimer.look(is_last=is_last)
            has_failed = False
        except _ERRORS as error:
            if not has_failed:
                log.warning("channels cannot be looked after: %s: %s", type(error).__name__, error)
            has_failed = True
        if is_last:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EVERY_S):
                await stop.wait()


async def _read_forever(claimer: Claimer, reads: LedgerConnections, stop: asyncio.Event) -> None:
    """Read the channels that the API asks for, each as soon as it is asked for."""
    while not stop.is_set():
        try:
            found = await asyncio.to_thread(reads.call, "BLPOP", READS, _READ_BLOCK_S)
            if found is not None:
                await claimer.read(ReadRequest(*msgspec.json.decode(found[1])))
        except _ERRORS as error:
            log.warning("a channel could not be read: %s", type(error).__name__)
            await asyncio.sleep(0.2)


async def _require_own(ledger: ClaimerLedger, address: str) -> None:
    """Raises SystemExit when the ledger's channels name another authorizer."""
    while True:
        try:
            if (other := ledger.authorizer(address)) != address:
                sys.exit(
                    f"coinslot claimer: channels of this ledger name {other} as their authorizer, and the key is of {address}: "
                    "docs/channels.md, Another key"
                )
            return
        except RedisError as error:
            log.warning("the ledger does not answer: %s", type(error).__name__)
            await asyncio.sleep(1)


def _authorizer_key(own: EvmRailSettings) -> bytes:
    """The authorizer's key, which is not the settler's. Raises InvalidSetting."""
    if not own.rpc_url:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL must name the node from which channels are read")
    key = read_key(own.authorizer_key_file)
    with contextlib.suppress(InvalidSetting):
        if key == read_key(own.settler_key_file):
            raise SystemExit("coinslot claimer: COINSLOT_EVM_AUTHORIZER_KEY_FILE must not be the settler's key")
    return key


if __name__ == "__main__":
    run("coinslot claimer", main)
