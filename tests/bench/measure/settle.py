"""Section 8: paid echo with real settlements on anvil. The shop is ours; the facilitators differ, each with its own node."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coincurve import PrivateKey

from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, EvmSandbox, provision, start_chain
from shared.nodes.json_rpc import Call, JsonRpc
from shared.x402.evm import address_of
from tests.bench import proc
from tests.bench.measure import channels
from tests.bench.measure.gas import ImpersonatedChain, measure_gas
from tests.bench.payments import offered, write_payments_of
from tests.bench.processes import Running, Servers, absent, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import ONE_BY_ONE, PAID, SDK_FACILITATOR, SETTLERS, System
from tests.bench.wrk import LoadFailed, PaymentsUsedUp, load

IN_FLIGHT = (1, 16, 64, 256)
PAYERS = 64
FUNDS = 10**9
FIRST_GUESS_PER_S = {SDK_FACILITATOR.label: 100}
SECOND_GUESS_PER_S = 700
SHOP = {
    "COINSLOT_MAX_COST_SHARE": "off",
    # wrk leaves with calls in flight. The shops share a ledger, where the same payers' next load of the same request would get
    # those answers, or 503 while a facilitator has not said what became of a payment.
    "COINSLOT_UNDELIVERED_S": "0",
}
MORE_SECONDS = {1: 2, 16: 2, 64: 3, 256: 6}
"""A load takes longer than others: a slow facilitator answers the first call late."""
COLUMNS = {
    "per_s": "paid calls/s",
    "p50_ms": "p50, ms",
    "p99_ms": "p99, ms",
    "facilitator_ms": "CPU of the facilitator, ms/settlement",
    "node_ms": "of its node, ms/settlement",
    "shop_ms": "of shop and Redis, ms/call",
    "members": "payments in a transaction",
    "gas": "gas of a payment",
    "refused": "not answered, %",
}


@dataclass(frozen=True, slots=True)
class Settler:
    """A facilitator with its node, and the shop that sells through it."""

    system: System
    chain: Chain
    sandbox: EvmSandbox
    facilitator: Running
    shop: Running
    rpc: JsonRpc

    @property
    def sent(self) -> int:
        """Transactions of its account so far."""
        return int(self.rpc("eth_getTransactionCount", self.sandbox.settler, "latest"), 16)

    @property
    def paid(self) -> int:
        """Atomic units that the recipient has."""
        data = "0x70a08231" + self.shop.environment["COINSLOT_EVM_PAY_TO"][2:].rjust(64, "0")
        return int(self.rpc("eth_call", {"to": self.sandbox.usdc, "data": data}, "latest"), 16)

    def gas_since(self, block: int) -> int:
        """Of all transactions after that block: they are the facilitator's."""
        head = int(self.rpc("eth_blockNumber"), 16)
        calls = [Call("eth_getBlockByNumber", (hex(number), False)) for number in range(block + 1, head + 1)]
        blocks = [one for start in range(0, len(calls), 500) for one in self.rpc.batch(calls[start : start + 500])]
        return sum(int(one["gasUsed"], 16) for one in blocks)


def measure(effort: Effort) -> tuple[Table, Table, Table]:
    """Loads in turns, the gas of groups, and channels beside `exact`."""
    table = Table("Paid POST of echo, settled on a local chain", ("in flight", "system"), COLUMNS)
    with servers() as here, ExitStack() as stack:
        keys = [PrivateKey() for _ in range(PAYERS)]
        settlers = []
        for number, system in enumerate(SETTLERS):
            if reason := absent(system):
                table.absent[system.label] = reason
            else:
                settlers.append(stack.enter_context(_settler(here, system, here.folder / str(number), keys)))
        gas = measure_gas(settlers[-1].rpc)
        for settler in settlers:
            _sample(here, settler, keys, table, in_flight=16, seconds=1, is_kept=False)
        for _ in range(effort.rounds):
            for in_flight in IN_FLIGHT:
                for settler in settlers:
                    _sample(
                        here,
                        settler,
                        keys,
                        table,
                        in_flight=in_flight,
                        seconds=effort.seconds + MORE_SECONDS[in_flight],
                    )
    return table, gas, channels.measure(effort)


def _sample(
    here: Servers,
    settler: Settler,
    keys: list[PrivateKey],
    table: Table,
    *,
    in_flight: int,
    seconds: int,
    is_kept: bool = True,
) -> None:
    """One load, made again with more payments when it used them all."""
    payments = here.folder / "payments"
    expected = FIRST_GUESS_PER_S.get(settler.system.label, SECOND_GUESS_PER_S)
    offer = offered(settler.shop.echo_url)
    while True:
        write_payments_of(keys, payments, offer, expected * (seconds + 1) + in_flight)
        block, sent, paid = int(settler.rpc("eth_blockNumber"), 16), settler.sent, settler.paid
        node_s, own_s = proc.cpu_s(settler.chain.process.pid), settler.facilitator.cpu_s()
        shop_s = settler.shop.cpu_s() + here.redis_cpu_s()
        try:
            seen = load(settler.shop.echo_url, in_flight=in_flight, seconds=seconds, payments=payments, most_failed=1.0)
        except PaymentsUsedUp:
            expected *= 2
            continue
        except LoadFailed:
            if is_kept:
                table.add(str(in_flight), settler.system.label, per_s=0.0, refused=100.0)
            return
        break
    # wrk leaves with calls in flight. They settle all the same, and cost CPU and gas.
    settled = max(1, (settler.paid - paid) // int(offer.amount))
    if is_kept:
        table.add(
            *(str(in_flight), settler.system.label),
            per_s=(seen.requests - seen.failed) / seen.seconds,
            p50_ms=seen.p50_ms,
            p99_ms=seen.p99_ms,
            facilitator_ms=(settler.facilitator.cpu_s() - own_s) / settled * 1e3,
            node_ms=(proc.cpu_s(settler.chain.process.pid) - node_s) / settled * 1e3,
            shop_ms=(settler.shop.cpu_s() + here.redis_cpu_s() - shop_s) / seen.requests * 1e3,
            members=settled / max(1, settler.sent - sent),
            gas=settler.gas_since(block) / settled,
            refused=100 * seen.failed / seen.requests,
        )


@contextmanager
def _settler(here: Servers, system: System, folder: Path, keys: list[PrivateKey]) -> Iterator[Settler]:
    """A node with funded payers, a facilitator on it, and a shop on that."""
    folder.mkdir()
    chain = start_chain(folder, node_folders=[ROOT / "var" / "node"])
    try:
        sandbox, rpc = provision(chain, folder), JsonRpc(chain.rpc_url)
        impersonated = ImpersonatedChain(rpc)
        for key in keys:
            impersonated.call(sandbox.usdc, "mint(address,uint256)", address_of(key.public_key), FUNDS)
        facilitator = here.start(system, **_environment(system, sandbox, folder))
        facilitator.wait_for(405, path="/supported")  # which is for GET
        shop = here.start(PAID, COINSLOT_EVM_FACILITATOR_URL=facilitator.origin, **SHOP)
        shop.wait_for(402)
        yield Settler(system, chain, sandbox, facilitator, shop, rpc)
    finally:
        chain.stop()


def _environment(system: System, sandbox: EvmSandbox, folder: Path) -> dict[str, str]:
    key = folder / "settler.key"
    key.write_text(sandbox.settler_key)
    key.chmod(0o600)
    return {
        "BENCH_NODE_URL": sandbox.rpc_url,
        "BENCH_SETTLER_KEY": sandbox.settler_key,
        "COINSLOT_EVM_RPC_URL": sandbox.rpc_url,
        "COINSLOT_EVM_SETTLER_KEY_FILE": str(key),
        "COINSLOT_EVM_SPACING_MS": "0",
        "COINSLOT_EVM_MAX_FEE_GWEI": "1000",
        "COINSLOT_MAX_COST_SHARE": "off",
        "COINSLOT_EVM_BATCH": "1" if system is ONE_BY_ONE else "50",
    }
