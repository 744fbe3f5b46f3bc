"""The sandbox's XRP Ledger: what its history says of payments that deliver less, exchanges, deletions and gaps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from xrpl.utils import get_balance_changes
from xrpl.wallet import Wallet

from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_lookup import MethodError
from compose.sandbox.xrpl_methods import answer
from compose.sandbox.xrpl_node import provision
from compose.sandbox.xrpl_state import (
    BASE_FEE,
    CLEAR_FREEZE,
    CLEAR_NO_RIPPLE,
    DELETE_AFTER,
    PARTIAL_PAYMENT,
    RESERVE_INCREMENT,
    SET_FREEZE,
    SET_NO_RIPPLE,
)
from tests import xrpl_signing as signing
from tests.xrpl_recorded import MAKER, pay_through_maker
from tests.xrpl_signing import RLUSD, Json, amount

PAYER, PAYEE, OTHER, ISSUER = (Wallet.from_entropy(f"{number:032x}") for number in (1, 2, 3, 4))
LINE = RLUSD.issuer, RLUSD.currency


@pytest.fixture
def ledger() -> Ledger:
    """With a payer who has 1,000 of each token, and a recipient who has lines."""
    ledger = Ledger()
    provision(ledger, payer=PAYER.address, pay_to=PAYEE.address)
    return ledger


def send(ledger: Ledger, sender: Wallet, kind: str = "Payment", **fields: Any) -> str:
    """Sign and submit with the account's next sequence. Returns the result."""
    sequence = ledger.open.accounts[sender.address].sequence
    body = {"TransactionType": kind, "Account": sender.address, "Fee": "10", "Sequence": sequence, **fields}
    return ledger.submit(signing.blob(sender, body))[0]


def pay(ledger: Ledger, drops: int = 1) -> str:
    return send(ledger, PAYER, Destination=PAYEE.address, Amount=str(drops))


def history(ledger: Ledger, account: str = PAYER.address, version: int = 2, **parameters: Any) -> Json:
    return answer(ledger, "account_tx", {"account": account, "api_version": version, **parameters})


def moved(meta: Json) -> dict[tuple[str, str], Decimal]:
    """Account and currency to what xrpl-py says that changed."""
    return {
        (account["account"], change["currency"]): Decimal(change["value"])
        for account in get_balance_changes(meta)
        for change in account["balances"]
    }


@pytest.mark.parametrize(
    ("sender_has", "send_max", "least", "result", "arrived"),
    [
        ("1000", "5", None, "tesSUCCESS", "5"),
        ("3", "5", None, "tesSUCCESS", "3"),
        ("1000", "0.25", None, "tesSUCCESS", "0.25"),
        ("3", "5", "3", "tesSUCCESS", "3"),
        ("3", "5", "4", "tecPATH_PARTIAL", None),
        ("0", "5", None, "tecPATH_DRY", None),
    ],
)
def test_a_partial_payment_delivers_what_it_can(
    ledger: Ledger, sender_has: str, send_max: str, least: str | None, result: str, arrived: str | None
) -> None:
    """Its amount is what it says, `delivered_amount` what arrived."""
    ledger.trust(PAYER.address, *LINE, sender_has, "1000")
    fields: Json = {"Amount": amount("5"), "SendMax": amount(send_max), "Destination": PAYEE.address}
    fields |= {"DeliverMin": amount(least)} if least else {}
    assert send(ledger, PAYER, Flags=PARTIAL_PAYMENT, **fields) == result
    ledger.close()
    [entry] = history(ledger)["transactions"]
    assert entry["tx_json"]["DeliverMax"] == amount("5")
    assert entry["meta"].get("delivered_amount") == (amount(arrived) if arrived else None)
    assert ("DeliveredAmount" in entry["meta"]) == (arrived not in (None, "5"))
    changes = moved(entry["meta"])
    assert changes[PAYER.address, "XRP"] == Decimal("-0.00001")
    assert changes.get((PAYEE.address, RLUSD.currency)) == (Decimal(arrived) if arrived else None)


def test_an_issuers_rate_lessens_a_partial_payment(ledger: Ledger) -> None:
    """SendMax is what leaves the sender, the rate included."""
    ledger.fund(RLUSD.issuer, 10**9, transfer_rate=Decimal("1.25"))
    fields = {"Amount": amount("5"), "SendMax": amount("5"), "Destination": PAYEE.address}
    assert send(ledger, PAYER, Flags=PARTIAL_PAYMENT, **fields) == "tesSUCCESS"
    ledger.close()
    [entry] = history(ledger)["transactions"]
    assert entry["meta"]["delivered_amount"] == amount("4")
    assert moved(entry["meta"])[PAYER.address, RLUSD.currency] == -5


def test_lines_have_settings_of_either_side(ledger: Ledger) -> None:
    """The holder's no-ripple, and the issuer's freeze; setting and clearing at once is refused."""
    token = {"currency": "FOO", "issuer": ISSUER.address, "value": "100"}
    of_holder = {**token, "issuer": OTHER.address, "value": "0"}
    for wallet in (ISSUER, OTHER):
        ledger.fund(wallet.address, 10**9)
    steps = [
        (OTHER, token, SET_NO_RIPPLE, {"no_ripple": True}),
        (ISSUER, of_holder, SET_FREEZE, {"no_ripple": True, "freeze_peer": True}),
        (OTHER, token, CLEAR_NO_RIPPLE, {"freeze_peer": True}),
        (ISSUER, of_holder, CLEAR_FREEZE, {}),
    ]
    for wallet, limit, flags, expected in steps:
        assert send(ledger, wallet, "TrustSet", LimitAmount=limit, Flags=flags) == "tesSUCCESS"
        ledger.close()
        [line] = answer(ledger, "account_lines", {"account": OTHER.address, "ledger_index": "validated"})["lines"]
        assert {name: line[name] for name in ("no_ripple", "freeze_peer") if line.get(name)} == expected
    both = SET_NO_RIPPLE | CLEAR_NO_RIPPLE
    assert send(ledger, OTHER, "TrustSet", LimitAmount=token, Flags=both) == "temINVALID_FLAG"


def test_a_deleted_account_is_gone_and_its_history_is_not(ledger: Ledger) -> None:
    """It is deleted at a special cost, when it is old and empty, and what it had arrives at its heir."""
    ledger.fund(OTHER.address, 10 * 10**6)
    fields = {"Destination": PAYEE.address, "Fee": str(RESERVE_INCREMENT)}
    assert send(ledger, OTHER, "AccountDelete", **{**fields, "Fee": "10"}) == "telINSUF_FEE_P"
    assert send(ledger, OTHER, "AccountDelete", **{**fields, "Destination": OTHER.address}) == "temDST_IS_SRC"
    assert send(ledger, OTHER, "AccountDelete", **fields) == "tecTOO_SOON"
    assert send(ledger, OTHER, "AccountDelete", **{**fields, "Destination": ISSUER.address}) == "tecNO_DST"
    for _ in range(DELETE_AFTER + 5):
        ledger.close()
    ledger.trust(OTHER.address, *LINE, "0", "5")
    assert send(ledger, OTHER, "AccountDelete", **fields) == "tecHAS_OBLIGATIONS"
    for state in (ledger.state, ledger.open):
        del state.lines[OTHER.address, *LINE]
    before = ledger.open.accounts[OTHER.address].balance
    assert send(ledger, OTHER, "AccountDelete", **fields) == "tesSUCCESS"
    ledger.close()
    with pytest.raises(MethodError, match="actNotFound"):
        answer(ledger, "account_info", {"account": OTHER.address, "ledger_index": "validated"})
    newest = history(ledger, OTHER.address)["transactions"][0]
    arrived = before - RESERVE_INCREMENT
    assert newest["meta"]["delivered_amount"] == str(arrived)
    assert moved(newest["meta"]) == {
        (OTHER.address, "XRP"): -Decimal(before) / 10**6,
        (PAYEE.address, "XRP"): Decimal(arrived) / 10**6,
    }


def test_a_payment_through_a_market_maker_is_as_it_was_recorded(ledger: Ledger) -> None:
    """XRP leaves one account, a token arrives at another, and balances agree with the metadata."""
    drops = ledger.open.accounts[PAYER.address].balance
    name = pay_through_maker(ledger, PAYER.address, PAYEE.address, RLUSD, drops=4_000_000, value="2.5")
    ledger.close()
    [entry] = history(ledger, PAYEE.address)["transactions"]
    assert (entry["hash"], entry["meta"]["delivered_amount"]) == (name, amount("2.5"))
    assert entry["tx_json"]["DeliverMax"] == amount("25")
    assert moved(entry["meta"]) == {
        (PAYER.address, "XRP"): Decimal("-4.00001"),
        (MAKER, "XRP"): 4,
        (MAKER, RLUSD.currency): Decimal("-2.5"),
        (PAYEE.address, RLUSD.currency): Decimal("2.5"),
        (RLUSD.issuer, RLUSD.currency): entry_of_issuer(entry["meta"]),
    }
    assert ledger.state.accounts[PAYER.address].balance == drops - 4_000_000 - BASE_FEE
    assert ledger.state.lines[PAYEE.address, *LINE].balance == Decimal("2.5")


def entry_of_issuer(meta: Json) -> Decimal:
    """The issuer owes one holder more and another less; the last of them is what `moved` keeps."""
    [account] = [account for account in get_balance_changes(meta) if account["account"] == RLUSD.issuer]
    assert sum(Decimal(change["value"]) for change in account["balances"]) == 0
    return Decimal(account["balances"][-1]["value"])


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_pages_are_those_of_one_list(ledger: Ledger, version: int, forward: bool) -> None:
    """Markers lead through everything once, also within a ledger."""
    for _ in range(3):
        for _ in range(9):
            assert pay(ledger) == "tesSUCCESS"
        ledger.close()
    places, marker = [], {}
    while True:
        page = history(ledger, version=version, forward=forward, limit=10, **marker)
        places += [
            (entry.get("ledger_index") or entry["tx"]["ledger_index"], entry["meta"]["TransactionIndex"])
            for entry in page["transactions"]
        ]
        if "marker" not in page:
            break
        marker = {"marker": page["marker"]}
    assert len(places) == 27
    assert places == sorted(set(places), reverse=not forward)


def test_a_range_is_made_smaller_or_refused(ledger: Ledger) -> None:
    """Version 1 answers with what it has, and says so; version 2 does not."""
    pay(ledger)
    newest = ledger.close().index
    least = ledger.chain[0].index
    clipped = history(ledger, version=1, ledger_index_min=5, ledger_index_max=newest + 1000)
    assert (clipped["ledger_index_min"], clipped["ledger_index_max"]) == (least, newest)
    assert len(clipped["transactions"]) == 1
    of_one = history(ledger, ledger_index=newest)
    assert (of_one["ledger_index_min"], of_one["ledger_index_max"], len(of_one["transactions"])) == (newest, newest, 1)
    assert history(ledger, ledger_index_min=-1, ledger_index_max=newest - 1)["transactions"] == []
    with pytest.raises(MethodError, match="invalidLgrRange"):
        history(ledger, ledger_index_min=newest, ledger_index_max=newest - 1)
    with pytest.raises(MethodError, match="invalidParams"):
        history(ledger, ledger_index_min=newest, ledger_index=newest)


def test_a_gap_is_reported_and_nothing_before_it_is_searched(ledger: Ledger) -> None:
    """`complete_ledgers` has it, and `account_tx` begins after it."""
    for _ in range(4):
        pay(ledger)
        ledger.close()
    first, newest = ledger.chain[0].index, ledger.validated.index
    lost = ledger.validated.index - 1
    gone = ledger.chain[lost - first].transactions[0].hash
    ledger.missing.add(lost)
    info = answer(ledger, "server_info", {})["info"]
    assert info["complete_ledgers"] == f"{first}-{lost - 1},{newest}"
    page = history(ledger, version=1, ledger_index_min=lost - 1)
    assert (page["ledger_index_min"], len(page["transactions"])) == (newest, 1)
    with pytest.raises(MethodError, match="lgrIdxMalformed"):
        history(ledger, ledger_index_min=lost)
    with pytest.raises(MethodError, match="lgrNotFound"):
        answer(ledger, "ledger", {"ledger_index": lost})
    with pytest.raises(MethodError) as missing:
        answer(ledger, "tx", {"transaction": gone, "min_ledger": lost, "max_ledger": newest})
    assert missing.value.result["searched_all"] is False
