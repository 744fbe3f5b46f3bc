"""`coinslot-ops refunds done TX`: closes the payments that a transaction on a chain has paid back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

from ops.chains import NODE_ERRORS
from ops.refunds import debts as ledger_debts
from ops.refunds.debts import Debt
from ops.refunds.transfers import Found, NotPossible, Transfer, side
from shared.servers.ledger_servers import connect_ledger
from shared.settings.rails import RailSettings
from shared.settings.service import PREFIX, Settings

_NOT_COUNTED = "Nothing was closed:"


def report(settings: Settings, transaction: str) -> int:
    """Close what it has paid back. Returns the exit code. Raises RedisError."""
    try:
        name, found = _find(settings, transaction)
    except NotPossible as error:
        print(f"{_NOT_COUNTED} {error}.")
        return 1
    own, module = side(settings, name)
    transfers = {f"{own.network}:{found.name}:{one.number}": one for one in found.transfers}
    with connect_ledger(settings) as ledger:
        before = ledger_debts.closed_by(ledger, list(transfers))
        for payment in before.values():
            print(f"closed before by this transaction: {payment}")
        owed = [debt for debt in ledger_debts.read(ledger) if debt.network == own.network]
        unused = {key: one for key, one in transfers.items() if key not in before}
        paid = list(_matched(unused, [debt for debt in owed if debt.settled_ms <= found.at * 1000], own, module))
        closed = ledger_debts.close(settings, ((debt, found.name, key) for debt, key in paid))
    for debt in closed:
        print(f"closed: {debt.payment}, {debt.amount} to {debt.payer}")
    if not closed:
        print(f"{_NOT_COUNTED} {_why(found, before, owed, own, module)}.")
        return 1
    _print_open(owed, closed)
    return 0


def _find(settings: Settings, transaction: str) -> tuple[str, Found]:
    """The network that knows a transaction, by the name of its settings, and what it shows. Raises NotPossible."""
    silent, asked = [], []
    for name in settings.rails:
        own, module = side(settings, name)
        if not module.FORM.fullmatch(transaction):
            continue
        variable = f"{PREFIX}{name.upper()}_RPC_URL"
        if not own.rpc_url:
            silent.append(f"{variable} names no node")
            continue
        try:
            found: Found | None = module.found(own, transaction)
        except NotPossible as error:
            raise NotPossible(f"the transaction {error}") from None
        except NODE_ERRORS:
            silent.append(f"the node of {variable} does not answer as it should")
            continue
        if found is not None:
            return name, found
        asked.append(variable)
    if not silent and not asked:
        raise NotPossible("this is no name of a transaction of any network")
    unknown = [f"the node of {variable} does not know the transaction" for variable in asked]
    raise NotPossible("; ".join(unknown + silent))


def _matched(
    transfers: dict[str, Transfer], owed: Sequence[Debt], own: RailSettings, module: ModuleType
) -> Iterator[tuple[Debt, str]]:
    """For each transfer the one debt that it pays: the largest that it is enough for, of those in a plan first."""
    left = list(owed)
    for key, transfer in sorted(transfers.items(), key=lambda item: item[1].value):
        paid = [debt for debt in left if _goes_to(transfer, debt, own, module) and debt.value <= transfer.value]
        if paid:
            best = max(paid, key=lambda debt: (debt.value, bool(debt.plan)))
            left.remove(best)
            yield best, key


def _goes_to(transfer: Transfer, debt: Debt, own: RailSettings, module: ModuleType) -> bool:
    """Whether it is from a recipient of payments to this payer, in this asset."""
    senders = {module.address(debt.pay_to), module.address(own.pay_to)}
    return (
        module.address(transfer.asset) == module.address(debt.asset)
        and transfer.sender in senders
        and transfer.to == module.address(debt.payer)
    )


def _why(found: Found, before: dict[str, str], owed: Sequence[Debt], own: RailSettings, module: ModuleType) -> str:
    if before:
        return f"the transaction has closed {len(before)} payments before, and has no other transfer that is owed"
    if not found.transfers:
        return "the transaction has no transfer of a token"
    to_payers = [debt for debt in owed for one in found.transfers if one.to == module.address(debt.payer)]
    if not to_payers:
        return f"no payer to whom {own.network} owes something got anything in this transaction"
    if not any(_goes_to(one, debt, own, module) for debt in to_payers for one in found.transfers):
        return "its transfers to payers have another sender than the recipient of payments, or another asset"
    if any(debt.settled_ms > found.at * 1000 for debt in to_payers):
        return "it is older than the payment"
    return "its transfers are less than what is owed"


def _print_open(owed: Iterable[Debt], closed: Sequence[Debt]) -> None:
    """What is still open of the plans."""
    done, plans = {debt.payment for debt in closed}, {debt.plan for debt in closed} - {""}
    for debt in owed:
        if debt.plan in plans and debt.payment not in done:
            print(f"still open in plan {debt.plan}: {debt.payment}, {debt.amount} to {debt.payer}")
