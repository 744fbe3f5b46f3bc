"""Section 8, beside settlements: paid echo by vouchers of channels, by `exact` with a facilitator that says yes at once, and by
`exact` on a local chain; and by vouchers in the official SDK's own server, with its channel manager and its facilitator."""

import base64
import itertools
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from coincurve import PrivateKey

from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, EvmSandbox, provision, start_chain
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm import address_of
from shared.x402.evm_channel import SCHEME
from shared.x402.wire import Offer
from tests import signing
from tests.bench.measure.gas import ImpersonatedChain
from tests.bench.payments import offered, write_payments_of
from tests.bench.processes import READY_WITHIN_S, Broken, Running, Servers, absent, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import CLAIMER, OUR_FACILITATOR, PAID, SDK_CHANNELS, SDK_FACILITATOR
from tests.bench.wrk import ECHO_BODY, PaymentsUsedUp, load
from tests.channel_signing import Payer

VOUCHERS, YES, CHAIN = (
    "ours, vouchers of channels",
    "ours, exact, a facilitator that says yes",
    "ours, exact on the chain",
)
IN_FLIGHT = (1, 16, 64)
PAYERS = 64
FUNDS = 10**12
DEPOSIT = 10**11
SDK_DEPOSIT = 10**8
FIRST_GUESS_PER_S = 1_500
COLUMNS = {
    "per_s": "paid calls/s",
    "p50_ms": "p50, ms",
    "p99_ms": "p99, ms",
    "shop_ms": "CPU of API and worker, ms/call",
    "redis_ms": "of both Redis, ms/call",
    "refused": "not answered, %",
}

Write = Callable[[Path, int, int], None]


@dataclass(frozen=True, slots=True)
class Lane:
    """One way to pay.

    Attributes:
        write: writes so many payments for so many calls in flight.
        most_failed: the share of calls that may be refused.
    """

    label: str
    shop: Running
    write: Write
    most_failed: float = 0.02


def measure(effort: Effort) -> Table:
    """Loads in turns."""
    table = Table("Paid POST of echo by channels and by exact", ("in flight", "system"), COLUMNS)
    with servers() as here, ExitStack() as stack:
        lanes = stack.enter_context(_lanes(here, table))
        for lane in lanes:
            _sample(here, lane, table, in_flight=16, seconds=1, is_kept=False)
        for _ in range(effort.rounds):
            for in_flight, lane in itertools.product(IN_FLIGHT, lanes):
                _sample(here, lane, table, in_flight=in_flight, seconds=effort.seconds + 2)
    return table


def _sample(here: Servers, lane: Lane, table: Table, *, in_flight: int, seconds: int, is_kept: bool = True) -> None:
    """One load, made again with more payments when it used them all."""
    payments, expected = here.folder / "payments", FIRST_GUESS_PER_S
    while True:
        lane.write(payments, expected * (seconds + 1) + in_flight, in_flight)
        shop_s, redis_s = lane.shop.cpu_s(), here.redis_cpu_s()
        try:
            seen = load(
                lane.shop.echo_url,
                in_flight=in_flight,
                seconds=seconds,
                payments=payments,
                most_failed=lane.most_failed,
            )
            break
        except PaymentsUsedUp:
            expected *= 2
    if is_kept:
        table.add(
            *(str(in_flight), lane.label),
            per_s=(seen.requests - seen.failed) / seen.seconds,
            p50_ms=seen.p50_ms,
            p99_ms=seen.p99_ms,
            shop_ms=(lane.shop.cpu_s() - shop_s) / seen.requests * 1e3,
            redis_ms=(here.redis_cpu_s() - redis_s) / seen.requests * 1e3,
            refused=100 * seen.failed / seen.requests,
        )


@contextmanager
def _lanes(here: Servers, table: Table) -> Iterator[Sequence[Lane]]:
    """A chain with funded payers and their channels, our facilitator and claimer on it, and the shops."""
    folder = here.folder / "chain"
    folder.mkdir()
    chain: Chain = start_chain(folder, node_folders=[ROOT / "var" / "node"])
    try:
        sandbox = provision(chain, folder)
        keys = [PrivateKey() for _ in range(PAYERS)]
        impersonated = ImpersonatedChain(JsonRpc(chain.rpc_url))
        for key in keys:
            impersonated.call(sandbox.usdc, "mint(address,uint256)", address_of(key.public_key), FUNDS)
        own = _environment(sandbox, folder)
        facilitator = here.start(OUR_FACILITATOR, **own)
        facilitator.wait_for(405, path="/supported")
        own["COINSLOT_EVM_FACILITATOR_URL"] = facilitator.origin
        here.start(CLAIMER, **own)
        sells = here.start(PAID, **own)
        sells.wait_for(402)
        here.start_facilitator()
        yes = here.start(PAID)
        yes.wait_for(402)
        offer = _channel_offer(sells)
        payers = [Payer(offer, key) for key in keys]
        for payer in payers:
            _pay(sells.echo_url, offer, payer.deposit(DEPOSIT, int(offer.amount)))
        counts = dict.fromkeys(range(PAYERS), 1)

        def vouchers(path: Path, count: int, _: int) -> None:
            with path.open("wb") as file:
                for number in itertools.islice(itertools.cycle(range(PAYERS)), count):
                    counts[number] += 1
                    payload = payers[number].voucher(counts[number] * int(offer.amount))
                    file.write(_header(offer, payload) + b"\n")

        yield (
            Lane(VOUCHERS, sells, vouchers),
            Lane(YES, yes, lambda path, count, _: write_payments_of(keys, path, offered(yes.echo_url), count)),
            Lane(CHAIN, sells, lambda path, count, _: write_payments_of(keys, path, offered(sells.echo_url), count)),
            *_sdk_lane(here, sandbox, keys, table),
        )
    finally:
        chain.stop()


def _sdk_lane(here: Servers, sandbox: EvmSandbox, keys: Sequence[PrivateKey], table: Table) -> Sequence[Lane]:
    """The official SDK's shop, with a facilitator that has a settler of its own; none where it is not installed."""
    if reason := absent(SDK_CHANNELS) or absent(SDK_FACILITATOR):
        table.absent[SDK_CHANNELS.label] = reason
        return ()
    settler = PrivateKey()
    JsonRpc(sandbox.rpc_url)("anvil_setBalance", address_of(settler.public_key), hex(10**20))
    facilitator = here.start(
        SDK_FACILITATOR, BENCH_SETTLER_KEY="0x" + settler.secret.hex(), BENCH_NODE_URL=sandbox.rpc_url
    )
    facilitator.wait_for(405, path="/supported")
    shop = here.start(
        SDK_CHANNELS,
        BENCH_FACILITATOR_URL=facilitator.origin,
        BENCH_AUTHORIZER_KEY="0x" + PrivateKey().secret.hex(),
    )
    shop.wait_for(402)
    salts = itertools.count(1)

    def vouchers(path: Path, count: int, in_flight: int) -> None:
        """It takes a channel's vouchers one after the other, so each load has new channels, three for each call in flight."""
        offer = offered(shop.echo_url, scheme=SCHEME)
        channels = min(count, 3 * in_flight)
        payers = [
            Payer(offer, key, f"0x{next(salts):064x}") for key in itertools.islice(itertools.cycle(keys), channels)
        ]
        for payer in payers:
            _pay(shop.echo_url, offer, payer.deposit(SDK_DEPOSIT, int(offer.amount)))
        with path.open("wb") as file:
            file.write(b"-\n")  # wrk asks for one request that it never sends
            for number, payer in zip(range(count), itertools.cycle(payers)):
                max_claimable = (2 + number // channels) * int(offer.amount)
                file.write(_header(offer, payer.voucher(max_claimable)) + b"\n")

    return (Lane(SDK_CHANNELS.label, shop, vouchers, most_failed=1.0),)


def _environment(sandbox: EvmSandbox, folder: Path) -> dict[str, str]:
    files = {"settler.key": sandbox.settler_key, "authorizer.key": PrivateKey().secret.hex()}
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    return {
        "COINSLOT_EVM_RPC_URL": sandbox.rpc_url,
        "COINSLOT_EVM_SETTLER_KEY_FILE": str(folder / "settler.key"),
        "COINSLOT_EVM_AUTHORIZER_KEY_FILE": str(folder / "authorizer.key"),
        "COINSLOT_EVM_CHANNELS": "on",
        "COINSLOT_EVM_CLAIM_VALUE": "100000000",
        "COINSLOT_EVM_SPACING_MS": "0",
        "COINSLOT_EVM_MAX_FEE_GWEI": "1000",
        "COINSLOT_MAX_COST_SHARE": "off",
    }


def _channel_offer(shop: Running) -> Offer:
    """As soon as the claimer has said on which terms."""
    give_up_at = time.monotonic() + READY_WITHIN_S
    while True:
        try:
            return offered(shop.echo_url, scheme=SCHEME)
        except LookupError:
            if time.monotonic() > give_up_at:
                raise Broken("the claimer says nothing of channels") from None
            time.sleep(0.1)


def _header(offer: Offer, payload: object) -> bytes:
    payment = {"x402Version": 2, "accepted": signing.wire(offer), "payload": payload}
    return base64.b64encode(msgspec.json.encode(payment))


def _pay(url: str, offer: Offer, payload: object) -> None:
    headers = {"content-type": "application/json", "payment-signature": _header(offer, payload).decode()}
    request = urllib.request.Request(url, data=ECHO_BODY.encode(), headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=30):
        pass
