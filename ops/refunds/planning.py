"""`coinslot-ops refunds plan`: unsigned transfers for everything that is owed, in a folder. No payment is in two open plans."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import redis

from ops import payments
from ops.chains import NODE_ERRORS
from ops.refunds import debts as ledger_debts
from ops.refunds import transfers
from ops.refunds.debts import Debt
from ops.refunds.transfers import NotPossible, Options
from shared.networks import name_of
from shared.servers.ledger_servers import connect_ledger
from shared.settings.rails import RailSettings
from shared.settings.service import PREFIX, Settings

PLAN = "plan.json"


def report(settings: Settings, folder: Path, *, again: bool, blockhash: str | None, sequence: int | None) -> int:
    """Make a plan. Returns the exit code. Raises RedisError.

    Args:
        folder: a folder for the plan is made in it.
        again: plan what is in an earlier plan, too.
    """
    now = int(time.time())
    plan_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(2)}"
    with connect_ledger(settings) as ledger:
        owed = ledger_debts.read(ledger)
        _print_waiting(ledger, now)
        planned = Counter(debt.plan for debt in owed if debt.plan)
        for earlier, count in sorted(planned.items()):
            print(f"plan {earlier} is open: {count} of its payments are not refunded.")
        if planned and not again:
            print(
                "No plan was made. Sign the open one, and close it with `coinslot-ops refunds done TX`. If it will never be "
                "signed, --again plans its payments anew: whoever signs both pays twice."
            )
            return 1
        files, left_out, notes = _built(settings, owed, Options(now, blockhash, sequence))
        kept = [debt for debt in owed if debt.payment not in left_out]
        for payment, why in left_out.items():
            print(f"not planned: {payment}: {why}")
        if not kept:
            print("Nothing was planned." if owed else "Nothing is owed.")
            return 1 if owed else 0
        place = folder / plan_id
        place.mkdir(parents=True)
        if not ledger_debts.plan(settings, kept, plan_id):
            print("The ledger changed meanwhile: nothing was written. Is another plan made? Try again with --again.")
            return 1
    files[PLAN] = {"plan": plan_id, "payments": [_described(debt) for debt in kept], "notPlanned": left_out}
    for name, content in files.items():
        (place / name).write_text(json.dumps(content, indent=2) + "\n")
    print(*_sums(kept), *notes, sep="\n")
    print(f"Unsigned, in {place}: {len(kept)}. When they are sent, close them with `coinslot-ops refunds done TX`.")
    return 1 if left_out else 0


def _print_waiting(ledger: redis.Redis, now: int) -> None:
    """What an API process has not given up yet."""
    found = payments.attention(ledger, now_ms=now * 1000)
    if waiting := sum(1 for one in found if one["kind"] == payments.REFUND and one["state"] != "FAILED"):
        print(f"{waiting} more payments become refundable as soon as an API process runs.")


def _built(
    settings: Settings, owed: Iterable[Debt], options: Options
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """The files by name, why payments are left out, and notes."""
    files: dict[str, Any] = {}
    senders: Counter[str] = Counter()
    left_out: dict[str, str] = {}
    notes: list[str] = []
    of_senders: dict[tuple[str, str], list[Debt]] = defaultdict(list)
    for debt in owed:
        of_senders[debt.network, debt.pay_to].append(debt)
    for (network, _), of_sender in of_senders.items():
        name = transfers.name_of(settings, network)
        if name is None:
            left_out |= dict.fromkeys((debt.payment for debt in of_sender), f"no setting has the network {network}")
            continue
        own, module = transfers.side(settings, name)
        try:
            left_out |= _lacks(own, module, of_sender)
            payable = [debt for debt in of_sender if debt.payment not in left_out]
            if payable:
                built = module.built(own, payable, options)
                senders[name] += 1
                stem = name if senders[name] == 1 else f"{name}-{senders[name]}"
                files |= {f"{stem}{end}": content for end, content in built.files.items()}
                notes += built.notes
        except NotPossible as error:
            left_out |= dict.fromkeys((debt.payment for debt in of_sender), str(error))
        except NODE_ERRORS:
            why = f"the node of {PREFIX}{name.upper()}_RPC_URL does not answer as it should"
            left_out |= dict.fromkeys((debt.payment for debt in of_sender), why)
        else:
            if not own.rpc_url:
                notes.append(f"No node is set for {name_of(network)}: nobody looked whether payers can be paid.")
    return files, left_out, notes


def _lacks(own: RailSettings, module: ModuleType, owed: Iterable[Debt]) -> dict[str, str]:
    """Why payments cannot be paid back, by payment."""
    if not own.rpc_url:
        return {}
    of_payers: dict[tuple[str, str], list[Debt]] = defaultdict(list)
    for debt in owed:
        of_payers[debt.payer, debt.asset].append(debt)
    found: dict[str, str] = {}
    for (payer, _), of_payer in of_payers.items():
        if why := module.lacks(own, payer, of_payer):
            found |= dict.fromkeys((debt.payment for debt in of_payer), f"{payer}: {why}")
    return found


def _described(debt: Debt) -> Mapping[str, str]:
    return {
        "payment": debt.payment,
        "network": debt.network,
        "asset": debt.asset,
        "amount": debt.amount,
        "from": debt.pay_to,
        "to": debt.payer,
    }


def _sums(owed: Iterable[Debt]) -> list[str]:
    sums: dict[tuple[str, str, str], list[Debt]] = defaultdict(list)
    for debt in owed:
        sums[debt.network, debt.asset, debt.pay_to].append(debt)
    return [
        f"{name_of(network)}: {format(sum(debt.value for debt in of_one), 'f')} of {asset} from {pay_to},"
        f" transfers: {len(of_one)}"
        for (network, asset, pay_to), of_one in sums.items()
    ]
