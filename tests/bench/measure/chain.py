"""Section 8: a token's balance, read from the sandbox's node; and what callers of a chain notice of another one's slow node."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from compose.sandbox import fixtures
from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, start_chains
from shared.endpoint import PATH_PREFIX, Pool
from tests.bench import proc
from tests.bench.measure.load import COLUMNS as LOAD_COLUMNS
from tests.bench.measure.load import sample
from tests.bench.processes import Running, Stand, absent, stand
from tests.bench.results import Effort, Table
from tests.bench.systems import FASTAPI_WEB3, READERS, UNPAID
from tests.bench.wrk import background

IN_FLIGHT = 64
BESIDE_IN_FLIGHT = 16
SLOW_CALLERS = 64
"""More than the worker has threads. Each rests before it calls again, for some are refused."""
PAUSE_S = 1.0
DELAY_S = 2.0
PATH = PATH_PREFIX + "chain/erc20-balance"
COLUMNS = {**LOAD_COLUMNS, "node_us": "of the node, us/call"}
QUIET, SLOW = "the other chain is not read", f"the other chain's node takes {DELAY_S:.0f} s"


def measure(effort: Effort) -> tuple[Table, Table]:
    """Both systems read the same node."""
    with stand() as here, _chains(here) as (base, ethereum):
        read = Table("A token's balance (chain/erc20-balance), no payment", ("in flight", "system"), COLUMNS)
        _measure_reads(here, base, ethereum, effort, read)
        title = f"Isolation: balances on Base at {BESIDE_IN_FLIGHT} in flight beside {SLOW_CALLERS} callers on Ethereum"
        columns = {name: LOAD_COLUMNS[name] for name in ("p50_ms", "p99_ms", "per_s")}
        slow = Table(title, ("balances, while",), {**columns, "ratio": "p99 with / without"})
        _measure_slow(here, base, ethereum, effort, slow)
        return read, slow


def _measure_reads(here: Stand, base: Chain, ethereum: Chain, effort: Effort, table: Table) -> None:
    systems: list[Running] = []
    for system in READERS:
        if reason := absent(system):
            table.absent[system.label] = reason
        elif system is UNPAID:
            systems.append(_ours(here, base.rpc_url, ethereum.rpc_url))
        else:
            systems.append(here.start(FASTAPI_WEB3, BENCH_NODE_URL=base.rpc_url))
    for running in systems:
        running.wait_for(200, path=PATH, body=_body("base"))
        sample(here, running, table, in_flight=IN_FLIGHT, seconds=1, path=PATH, body=_body("base"))
    for _ in range(effort.rounds):
        for running in systems:
            node_s = proc.cpu_s(base.process.pid)
            values = sample(
                here, running, table, in_flight=IN_FLIGHT, seconds=effort.seconds, path=PATH, body=_body("base")
            )
            per_call = (proc.cpu_s(base.process.pid) - node_s) / (values["per_s"] * effort.seconds)
            table.add(str(IN_FLIGHT), running.system.label, **values, node_us=per_call * 1e6)


def _measure_slow(here: Stand, base: Chain, ethereum: Chain, effort: Effort, table: Table) -> None:
    """Loads with and without, in turns; each pair gives one ratio."""
    with _slow(ethereum.rpc_url) as slow_url:
        running = _ours(here, base.rpc_url, slow_url)
        running.wait_for(200, path=PATH, body=_body("base"))

        def load(row: str) -> float:
            seen = sample(
                here, running, table, in_flight=BESIDE_IN_FLIGHT, seconds=effort.seconds, path=PATH, body=_body("base")
            )
            if row:
                table.add(row, **{name: seen[name] for name in ("p50_ms", "p99_ms", "per_s")})
            return seen["p99_ms"]

        load("")
        for _ in range(effort.pairs):
            quiet = load(QUIET)
            with background(running.origin + PATH, in_flight=SLOW_CALLERS, body=_body("ethereum"), pause_s=PAUSE_S):
                time.sleep(3 * DELAY_S)  # until it is known to be slow
                table.add(SLOW, ratio=load(SLOW) / quiet)
            time.sleep(3 * DELAY_S)  # until the last of them is answered


def _ours(here: Stand, base: str, ethereum: str) -> Running:
    """The real application, with the worker of the chain pool."""
    running = here.start(UNPAID, "api", COINSLOT_RPC_BASE_URLS=base, COINSLOT_RPC_ETHEREUM_URLS=ethereum)
    environment = {**running.environment, "BENCH_POOL": Pool.CHAIN.value}
    running.children["worker"] = here.spawn(UNPAID, "slow_worker", environment)
    return running


def _body(chain: str) -> str:
    usdc = fixtures.USDC[fixtures.BASE if chain == "base" else fixtures.ETHEREUM]
    return json.dumps({"chain": chain, "token": usdc, "address": fixtures.HOLDER})


@contextlib.contextmanager
def _chains(here: Stand) -> Iterator[tuple[Chain, Chain]]:
    base, ethereum = start_chains(here.folder, node_folders=[ROOT / "var" / "node"])
    try:
        yield base, ethereum
    finally:
        base.stop()
        ethereum.stop()


@contextlib.contextmanager
def _slow(url: str) -> Iterator[str]:
    """The node behind something that takes its time."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(DELAY_S)
            with urllib.request.urlopen(
                urllib.request.Request(url, asked, {"Content-Type": "application/json"})
            ) as answer:
                body = answer.read()
            with contextlib.suppress(OSError):  # the caller may have left
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
