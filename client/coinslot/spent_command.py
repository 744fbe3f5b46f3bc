"""`coinslot spent`: what this user's calls have cost."""

import time
from decimal import Decimal
from pathlib import Path

import msgspec

from coinslot import configuration
from coinslot.options import Options
from coinslot.output import Output
from coinslot.spending import Spent
from shared.call_path import split
from shared.networks import name_of

SHOWN = 20


def run(options: Options, output: Output) -> int:
    """Print the newest payments and the sums by network and asset. Test money is summed up apart. Returns 0. Raises OSError."""
    payments: list[tuple[Spent, bool]] = []
    open_files: list[Path] = []
    for kept, is_sandbox in configuration.payment_folders(options):
        payments += [(spent, is_sandbox) for spent in kept.spending.read()]
        open_files += kept.files()
    payments.sort(key=lambda one: one[0].at)
    totals: dict[tuple[bool, str, str], Decimal] = {}
    for spent, is_sandbox in payments:
        key = (is_sandbox, spent.network, spent.asset)
        totals[key] = totals.get(key, Decimal(0)) + Decimal(spent.amount)
    machine = {
        "payments": [{**msgspec.to_builtins(spent), "sandbox": is_sandbox} for spent, is_sandbox in payments],
        "totals": [
            {"amount": format(total, "f"), "asset": asset, "network": network, "sandbox": is_sandbox}
            for (is_sandbox, network, asset), total in totals.items()
        ],
        "open": [str(path) for path in open_files],
    }
    rows = [_row(spent, is_sandbox) for spent, is_sandbox in payments[-SHOWN:]]
    output.table(machine, ("TIME", "CALL", "AMOUNT", "ON", "TRANSACTION"), rows)
    if output.as_json:
        return 0
    for (is_sandbox, network, asset), total in totals.items():
        output.note(f"spent {format(total, 'f')} {asset} on {_place(network, is_sandbox)} in all")
    if open_files:
        output.note(f"open payments: {len(open_files)}; run `coinslot resume` to fetch their answers")
    return 0


def _row(spent: Spent, is_sandbox: bool) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(spent.at))
    call = split(spent.url)[1] + ("" if spent.answered else " (failed)")
    return when, call, f"{spent.amount} {spent.asset}", _place(spent.network, is_sandbox), spent.transaction or "-"


def _place(network: str, is_sandbox: bool) -> str:
    return name_of(network) + (" (sandbox)" if is_sandbox else "")
