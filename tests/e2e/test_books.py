"""The books of a running service: what they say was received and spent is what recipients got and settlers paid."""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

from coinslot import sandbox_file, wallet_source
from coinslot.buyer import Buyer
from coinslot.wallet import Wallet
from ops.books import history
from ops.books.revenue import Line, summed
from ops.books.store import Books, open_books
from ops.queries import get_json
from shared.ledger.keys import in_every_bucket
from shared.nodes.json_rpc import JsonRpc
from shared.nodes.xrpl_rpc import XrplRpc
from shared.servers.ledger_servers import connect_ledger
from shared.settings.service import Settings
from shared.x402.evm import selector
from shared.x402.networks import EVM_USDC, SOLANA_USDC, XRPL_RLUSD, XRPL_USDC, Rail
from shared.x402.solana_address import decode_base58, encode_base58, token_account
from tests.time_limits import patience

BUYERS = [
    *[((Rail.BASE,), 9)] * 4,
    ((Rail.SOLANA,), 12),
    ((Rail.STELLAR,), 6),
    # One account signs one payment after the other.
    ((Rail.XRPL_USDC, Rail.XRPL_RLUSD), 3),
]
"""Who buy at the same time: on which rails in turn, and how many calls on each."""
CALLS = sum(count * len(rails) for rails, count in BUYERS)
ALL_TIME = (0, 2**50)

Held = dict[str, Decimal]
"""By rail, what the recipient has of its token; by coin, what the settler has. In atomic units, on the XRP Ledger in tokens."""


def held(settings: Settings) -> Held:
    """As the ledgers themselves say it, without our readers of history."""
    _, told = get_json(f"{settings.evm.facilitator_url}/supported")
    assert told is not None
    (settler,), (fee_payer,), (payer, *_) = (told["signers"][f"{name}:*"] for name in ("eip155", "solana", "stellar"))
    evm, solana, stellar = (
        JsonRpc(own.rpc_url, timeout_s=9) for own in (settings.evm, settings.solana, settings.stellar)
    )
    data = "0x" + selector("balanceOf(address)").hex() + settings.evm.pay_to[2:].rjust(64, "0")
    usdc = EVM_USDC[settings.evm.network].address
    mint = SOLANA_USDC[settings.solana.network].mint
    account = encode_base58(token_account(decode_base58(settings.solana.pay_to, 32), decode_base58(mint, 32)))
    lines = XrplRpc(settings.xrpl.rpc_url, timeout_s=9)(
        "account_lines", account=settings.xrpl.pay_to, ledger_index="validated"
    )["lines"]
    xrpl = {(line["currency"], line["account"]): line["balance"] for line in lines}
    tokens = {Rail.XRPL_USDC: XRPL_USDC["xrpl:0"], Rail.XRPL_RLUSD: XRPL_RLUSD["xrpl:0"]}
    return {
        "base": Decimal(int(evm("eth_call", {"to": usdc, "data": data}, "latest"), 16)),
        "solana": Decimal(solana("getTokenAccountBalance", account)["value"]["amount"]),
        "stellar": Decimal(stellar.named("sandbox_balances", account=settings.stellar.pay_to)["units"]),
        **{rail: Decimal(xrpl[token.currency, token.issuer]) for rail, token in tokens.items()},
        "ETH": -Decimal(int(evm("eth_getBalance", settler, "latest"), 16)),
        "SOL": -Decimal(solana("getBalance", fee_payer)["value"]),
        "XLM": -Decimal(stellar.named("sandbox_balances", account=payer)["stroops"]),
    }


def written(lines: list[Line]) -> Held:
    """The same, as the books have it."""
    fees = {line.coin: Decimal(line.fees) for line in lines if line.coin != "XRP" and line.network}
    return {line.rail: line.received for line in lines if line.rail} | fees


def when(settings: Settings, is_so: Callable[[list[Line]], bool]) -> list[Line]:
    """The books, as soon as they are so."""
    give_up_at = time.monotonic() + patience(30)
    while True:
        with closing(open_books(settings, is_reader=True)) as books:
            lines = summed(books, *ALL_TIME, "rail")
        if is_so(lines):
            return lines
        assert time.monotonic() < give_up_at, lines
        time.sleep(0.1)


def settled_in(settings: Settings) -> int:
    """Payments of the ledger that were settled: earlier tests have bought, too."""
    with connect_ledger(settings) as ledger:
        return sum(ledger.hexists(key, "settled") for key in ledger.scan_iter(in_every_bucket("payment:*"), count=1000))


def exporter_of(var: Path) -> int:
    """The process that keeps the books."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            if command.endswith(b"-m\0ops.exporter\0") and f"COINSLOT_VAR={var}\0".encode() in environment:
                return int(folder.name)
    raise AssertionError("no exporter runs")


def are_whole(lines: list[Line]) -> bool:
    return not any("not read yet" in line.fees_of for line in lines)


def calls_in(lines: list[Line]) -> int:
    return sum(line.calls for line in lines)


def test_the_sums_are_the_ledgers(service: Any, tmp_path: Path) -> None:
    """60 calls on five rails. The process that keeps the books is killed meanwhile. Then recipients have what is written,
    settlers have paid what is written, and each transfer on the chains is in the books."""
    environment = dict(line.split("=", 1) for line in service.environment)
    settings = Settings.from_env(environment)
    wallets = sandbox_file.read(service.var / "sandbox.json")
    earlier = settled_in(settings)
    known = when(settings, lambda lines: calls_in(lines) == earlier and are_whole(lines))
    before, began, had = held(settings), calls_in(known), written(known)

    def buy(rails: Sequence[Rail], count: int) -> None:
        with contextlib.ExitStack() as stack:
            of_rails = [Wallet((wallet_source.sandbox_signer(wallets, rail),)) for rail in rails]
            buyers = [stack.enter_context(Buyer(service.base_url, each, max_price=None)) for each in of_rails]
            for number in range(count):
                name, body = ("json-repair", {"malformed": "{a: 1"}) if number % 3 else ("echo", {"message": "a"})
                for buyer in buyers:
                    buyer.call(name, body)

    with ThreadPoolExecutor(len(BUYERS)) as threads:
        buying = [threads.submit(buy, *each) for each in BUYERS]
        when(settings, lambda lines: calls_in(lines) > began + CALLS // 4)
        os.kill(exporter_of(service.var), signal.SIGKILL)
        for each in buying:
            each.result()
    lines = when(settings, lambda lines: calls_in(lines) == began + CALLS and are_whole(lines))

    after, has = held(settings), written(lines)
    assert {name: has[name] - had.get(name, 0) for name in has} == {name: after[name] - before[name] for name in has}
    assert has.keys() == after.keys()
    with closing(open_books(settings, is_reader=True)) as books:
        compared = list(history.compare(settings, books, 0, int(time.time()) + 60))
        assert [one.differences for one in compared] == [[]] * len(compared)
        assert sum(one.transfers for one in compared) == began + CALLS
        assert_rebuilt(settings, environment, books, tmp_path)
    told = {row["key"]: row for row in reported(environment, "--csv", "--by", "endpoint") if row["rail"] == "stellar"}
    assert int(told["echo"]["received_atomic"]) == int(told["echo"]["calls"]) * 10_000
    assert any(int(row["challenges"]) for row in reported(environment, "--csv") if not row["rail"])


def assert_rebuilt(settings: Settings, environment: dict[str, str], books: Books, folder: Path) -> None:
    """Books that are made anew from ledger and chains are the same; those made from the chains alone have the same sums."""
    question = "SELECT entries.*, fees.amount, fees.sender FROM entries JOIN fees USING (network, tx) ORDER BY id"
    run({**environment, "COINSLOT_BOOKS_DIR": str(folder / "made")}, "books", "--rebuild", "--since", "2020-01-01")
    with closing(Books(folder / "made", is_reader=True)) as rebuilt:
        assert list(rebuilt.rows(question)) == list(books.rows(question))
    with closing(Books(folder)) as found:
        list(history.complete(settings, found, 0))
        assert [(one.key, one.received, one.calls) for one in summed(found, *ALL_TIME, "rail")] == [
            (one.key, one.received, one.calls) for one in summed(books, *ALL_TIME, "rail") if one.rail
        ]
        assert {one.key for one in summed(found, *ALL_TIME, "endpoint")} == {"unknown"}


def reported(environment: dict[str, str], *options: str) -> Iterator[dict[str, str]]:
    """As `coinslot-ops revenue` prints it."""
    return csv.DictReader(run(environment, "revenue", *options).splitlines())


def run(environment: dict[str, str], *words: str) -> str:
    command = [str(Path(sys.executable).with_name("coinslot-ops")), *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(60), check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout
