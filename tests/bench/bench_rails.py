"""CPU time of a settlement on each rail, with 16 payments in flight on the local ledgers: `python -m tests.bench.bench_rails`.

It is that of the rail's event loop, without HTTP front. Ledgers close once a second; on EVM every transaction is a block.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from solders.keypair import Keypair

from compose.sandbox.child import ROOT
from compose.sandbox.evm import provision, start_chain
from compose.sandbox.solana import USDC as SOLANA_USDC
from compose.sandbox.solana import start_solana
from compose.sandbox.stellar_node import TOKEN as STELLAR_TOKEN
from facilitator.rail import Rail
from facilitator.rails.evm.rail import EvmRail
from facilitator.rails.solana.rail import SolanaRail
from facilitator.rails.stellar.rail import StellarRail
from facilitator.rails.xrpl.rail import XrplRail
from shared.nodes.json_rpc import JsonRpc
from shared.x402.networks import EVM_USDC
from shared.x402.wire import FacilitatorCall
from tests.facilitator import stellar_bench, xrpl_bench
from tests.facilitator.bench import Bench, an_address
from tests.facilitator.solana.bench import SolanaBench
from tests.xrpl_signing import RLUSD, USDC

IN_FLIGHT, PAYMENTS = 16, 320
CLOSE_EVERY_S = 1.0
Made = tuple[Rail, Callable[[], FacilitatorCall]]


@contextmanager
def evm(var: Path, batch: int) -> Iterator[Made]:
    """USDC on Base."""
    chain = start_chain(var, node_folders=[ROOT / "var" / "node"])
    bench = Bench(provision(chain, var), JsonRpc(chain.rpc_url))
    bench.fund_stranger()
    payer, pay_to, key = bench.payer(10**9), an_address(), bytes.fromhex(bench.sandbox.settler_key[2:])
    limits: dict[str, Any] = {"most_for_gas": 10**12, "low_balance": 0, "journal": var / f"journal-{batch}"}
    rail = EvmRail(EVM_USDC["eip155:8453"], chain.rpc_url, key, batch=batch, spacing_s=0.0, **limits)
    yield rail, lambda: msgspec.convert(payer.call(pay_to), FacilitatorCall)
    chain.stop()


@contextmanager
def solana(var: Path) -> Iterator[Made]:
    """USDC on Solana."""
    sandbox = start_solana(var)
    bench = SolanaBench(sandbox, JsonRpc(sandbox.rpc_url))
    payer, owner = bench.payer(), Keypair().pubkey()
    bench.fund(owner, usdc=0)
    rail = SolanaRail(SOLANA_USDC, sandbox.rpc_url, bytes.fromhex(sandbox.settler_key))
    yield rail, lambda: bench.call(payer, str(owner))
    sandbox.stop()


@contextmanager
def stellar(var: Path) -> Iterator[Made]:
    """USDC on Stellar."""
    stellar_bench.LEDGER_S = CLOSE_EVERY_S
    with stellar_bench.StellarBench().running() as bench:
        payer, shop = bench.payer(), bench.shop()
        yield StellarRail(STELLAR_TOKEN, bench.rpc_url, bench.settler.secret), lambda: bench.call(payer, shop)


@contextmanager
def xrpl(var: Path) -> Iterator[Made]:
    """RLUSD on the XRP Ledger, each payment of another payer."""
    xrpl_bench.CLOSE_EVERY_S = CLOSE_EVERY_S
    bench = xrpl_bench.XrplBench()
    bench.server.start()
    yield XrplRail((USDC, RLUSD), bench.server.url), lambda: bench.call(bench.payer())
    bench.server.stop()


@asynccontextmanager
async def running(rail: Rail) -> AsyncIterator[None]:
    """Started, and stopped at the end."""
    await rail.start()
    yield
    await rail.stop()


async def measure(rail: Rail, new_call: Callable[[], FacilitatorCall]) -> tuple[float, float]:
    """CPU of a settlement in ms, and settlements a second."""
    async with running(rail):
        await rail.settle(await asyncio.to_thread(new_call))
        spent_s, began = 0.0, time.monotonic()
        waited_s = 0.0
        for _ in range(PAYMENTS // IN_FLIGHT):
            making = time.monotonic()
            calls = [await asyncio.to_thread(new_call) for _ in range(IN_FLIGHT)]
            waited_s += time.monotonic() - making
            before_s = time.thread_time()
            settlements = await asyncio.gather(*(rail.settle(call) for call in calls))
            spent_s += time.thread_time() - before_s
            if not all(one.success for one in settlements):
                raise RuntimeError(f"{rail.network}: {[one.error_reason for one in settlements if not one.success]}")
        return spent_s / PAYMENTS * 1e3, PAYMENTS / (time.monotonic() - began - waited_s)


def main() -> None:
    """Measure all, one after the other."""
    print("| rail | CPU, ms/settlement | settlements/s |\n|---|---|---|")
    rails: dict[str, Callable[[Path], Any]] = {
        "EVM, in groups": lambda var: evm(var, 50),
        "EVM, one by one": lambda var: evm(var, 1),
        "Solana": solana,
        "Stellar": stellar,
        "XRPL": xrpl,
    }
    for name, start in rails.items():
        with tempfile.TemporaryDirectory() as folder, start(Path(folder)) as (rail, new_call):
            cpu_ms, per_s = asyncio.run(measure(rail, new_call))
        print(f"| {name} | {cpu_ms:.2f} | {per_s:.0f} |", flush=True)


if __name__ == "__main__":
    main()
