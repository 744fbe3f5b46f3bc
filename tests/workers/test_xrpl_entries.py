"""Entries of `account_tx` in the shapes that xrpl.org documents, read as they concern one account. The values are our own."""

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.ports.xrpl import Amount
from shared.x402.networks import XRPL_RLUSD
from shared.x402.xrpl_keys import address
from tests.each import each
from workers.adapters import xrpl_entries
from workers.adapters.xrpl_entries import READ_ERRORS, contiguous_from, held, trust_line, xrp_to_drops

RLUSD = XRPL_RLUSD["xrpl:0"]
WALLET, FRIEND, MAKER, COPYCAT = (address(bytes([number]) * 20) for number in (1, 2, 3, 4))
HASH = "AB" * 32
MPT = "00" * 24
NOBODY = "rrrrrrrrrrrrrrrrrrrrBZbvji"

Json = dict[str, Any]


def rlusd(value: str, issuer: str = RLUSD.issuer) -> Json:
    return {"currency": RLUSD.currency, "issuer": issuer, "value": value}


def root(account: str, before: int | None, after: int | None, **more: Any) -> Json:
    """An AccountRoot that was made, changed or deleted."""
    node: Json = {"LedgerEntryType": "AccountRoot", "LedgerIndex": HASH}
    fields = {"Account": account, "Balance": str(after or 0), "Flags": 0, "OwnerCount": 1, "Sequence": 7, **more}
    if before is None:
        return {"CreatedNode": {**node, "NewFields": fields}}
    changed = {**node, "FinalFields": fields, "PreviousFields": {"Balance": str(before), "Sequence": 6}}
    changed |= {"PreviousTxnID": HASH, "PreviousTxnLgrSeq": 90_000_000}
    return {"DeletedNode" if after is None else "ModifiedNode": changed}


def line(low: str, high: str, before: str, after: str, code: str = RLUSD.currency) -> Json:
    """A RippleState that changed, from the low account's side."""
    fields = {
        "Balance": {"currency": code, "issuer": NOBODY, "value": after},
        "Flags": 1114112,
        "HighLimit": {"currency": code, "issuer": high, "value": "0"},
        "LowLimit": {"currency": code, "issuer": low, "value": "1000000000"},
    }
    previous = {"Balance": {"currency": code, "issuer": NOBODY, "value": before}}
    node = {"LedgerEntryType": "RippleState", "LedgerIndex": HASH, "FinalFields": fields, "PreviousFields": previous}
    return {"ModifiedNode": node}


def entry(kind: str, nodes: list[Json], version: int = 2, *, meta: Json | None = None, **body: Any) -> Json:
    """As a server of either version writes it."""
    fields = {"Account": WALLET, "Fee": "12", "Flags": 0, "Sequence": 6, "TransactionType": kind, "date": 800_000_000}
    fields |= body
    result = {"AffectedNodes": nodes, "TransactionIndex": 17, "TransactionResult": "tesSUCCESS", **(meta or {})}
    if version == 1:
        whole = {**fields, "hash": HASH, "inLedger": 95_000_000, "ledger_index": 95_000_000}
        return {"meta": result, "tx": whole, "validated": True}
    if "Amount" in fields and kind == "Payment":
        fields["DeliverMax"] = fields.pop("Amount")
    beside = {"ledger_hash": HASH, "close_time_iso": "2025-05-08T14:13:20Z", "ledger_index": 95_000_000}
    return {"meta": result, "tx_json": fields, "hash": HASH, "validated": True, **beside}


def read(written: Json, account: str = WALLET) -> Any:
    return xrpl_entries.transaction(written, account, RLUSD)


FEE = root(WALLET, 25_000_000, 24_999_988)


@pytest.mark.parametrize("version", [1, 2])
def test_both_versions_of_the_api_say_the_same(version: int) -> None:
    """A payment in XRP."""
    nodes = [root(WALLET, 25_000_000, 22_999_988), root(FRIEND, 5_000_000, 7_000_000)]
    found = read(
        entry(
            "Payment",
            nodes,
            version,
            Amount="2000000",
            Destination=FRIEND,
            DestinationTag=5,
            meta={"delivered_amount": "2000000"},
        )
    )
    assert (found.hash, found.type, found.result, found.ledger, found.position) == (
        *(HASH, "Payment", "tesSUCCESS"),
        *(95_000_000, 17),
    )
    assert found.closed_at == 800_000_000 + 946_684_800
    assert (found.sender, found.destination, found.tag, found.fee) == (WALLET, FRIEND, 5, 12)
    assert (found.delivered, found.is_partial) == (Amount(Decimal(2), "XRP", None), False)
    assert (found.xrp, found.rlusd) == (Decimal("-2.000012"), 0)


def test_a_partial_payment_is_what_arrived() -> None:
    """A million is said, and a cent delivered, through the exchange and in the real RLUSD."""
    nodes = [
        root(FRIEND, 9_000_000, 8_989_988),
        root(MAKER, 1_000_000, 1_010_000, AMMID=HASH),
        line(WALLET, RLUSD.issuer, "1.25", "1.26"),
        line(RLUSD.issuer, MAKER, "-500", "-499.99"),
    ]
    for version in (1, 2):
        found = read(
            entry(
                "Payment",
                nodes,
                version,
                Account=FRIEND,
                Destination=WALLET,
                Amount=rlusd("1000000"),
                SendMax="20000",
                Flags=0x00020000,
                Paths=[[{"currency": RLUSD.currency, "issuer": RLUSD.issuer, "type": 48}]],
                meta={"delivered_amount": rlusd("0.01"), "DeliveredAmount": rlusd("0.01")},
            )
        )
        assert found.delivered == Amount(Decimal("0.01"), "RLUSD", RLUSD.issuer)
        assert (found.is_partial, found.xrp, found.rlusd) == (True, 0, Decimal("0.01"))


@each(
    ("fields", "meta", "delivered", "is_partial"),
    [
        (
            {"Amount": "5", "Flags": 0x00020000},
            {"delivered_amount": "5"},
            Amount(Decimal("0.000005"), "XRP", None),
            False,
        ),
        ({"Amount": "5", "Flags": 0x00020000}, {"delivered_amount": "unavailable"}, None, True),
        ({"Amount": "5", "Flags": 0x00020000}, {}, None, True),
        ({"Amount": "5"}, {}, Amount(Decimal("0.000005"), "XRP", None), False),
        ({"Amount": rlusd("5", COPYCAT)}, {}, Amount(Decimal(5), RLUSD.currency, COPYCAT), False),
        ({"Amount": {"mpt_issuance_id": MPT, "value": "7"}}, {}, Amount(Decimal(7), MPT, None), False),
        ({"Amount": rlusd("5")}, {"TransactionResult": "tecPATH_DRY"}, None, False),
        ({"Amount": rlusd("1e-7")}, {}, Amount(Decimal("1e-7"), "RLUSD", RLUSD.issuer), False),
    ],
)
def test_what_arrived(fields: Json, meta: Json, delivered: Amount | None, is_partial: bool) -> None:
    """Only the real RLUSD is called so, a failed payment delivers nothing, and before 2014 nobody knows."""
    found = read(entry("Payment", [FEE], Destination=FRIEND, meta=meta, **fields))
    assert (found.delivered, found.is_partial) == (delivered, is_partial)


@each(
    ("kind", "fields", "nodes", "xrp", "held"),
    [
        ("TicketCreate", {"TicketCount": 2}, [FEE], "-0.000012", "0"),
        ("OfferCreate", {"Sequence": 0, "TicketSequence": 5}, [FEE], "-0.000012", "0"),
        # Somebody else's offer meets the wallet's: it sells RLUSD for XRP, and pays no fee.
        (
            "OfferCreate",
            {"Account": FRIEND},
            [root(WALLET, 1_000_000, 3_000_000), line(RLUSD.issuer, WALLET, "-1.25", "-0.25")],
            "2",
            "-1",
        ),
        # A copycat's RLUSD is no RLUSD.
        (
            "Payment",
            {"Account": FRIEND, "Destination": WALLET, "Amount": "1"},
            [line(WALLET, COPYCAT, "0", "5")],
            "0",
            "0",
        ),
        # Nor is another token of the same issuer.
        ("Clawback", {"Account": FRIEND}, [line(WALLET, RLUSD.issuer, "9", "5", "EUR")], "0", "0"),
        ("Clawback", {"Account": RLUSD.issuer}, [line(WALLET, RLUSD.issuer, "9", "5")], "0", "-4"),
        (
            "AccountDelete",
            {"Destination": FRIEND},
            [root(WALLET, 25_000_000, None), root(FRIEND, 1, 24_800_001)],
            "-25",
            "0",
        ),
        (
            "Payment",
            {"Account": FRIEND, "Destination": WALLET, "Amount": "9"},
            [root(WALLET, None, 5_000_000)],
            "5",
            "0",
        ),
        ("EscrowFinish", {"Account": FRIEND, "Owner": WALLET}, [root(WALLET, 1, 2_000_001)], "2", "0"),
        (
            "NFTokenMint",
            {},
            [{"CreatedNode": {"LedgerEntryType": "NFTokenPage", "LedgerIndex": HASH}}, FEE],
            "-0.000012",
            "0",
        ),
        (
            "AMMDeposit",
            {},
            [root(WALLET, 25_000_000, 15_000_000), line(WALLET, RLUSD.issuer, "20.5", "0.000000000000001")],
            "-10",
            "-20.499999999999999",
        ),
    ],
)
def test_what_a_transaction_moved(kind: str, fields: Json, nodes: list[Json], xrp: str, held: str) -> None:
    """By metadata alone, whatever its type, and from either side of a line."""
    found = read(entry(kind, nodes, **fields))
    assert (found.xrp, found.rlusd) == (Decimal(xrp), Decimal(held))


def test_a_trust_line_names_its_peer() -> None:
    """The issuer."""
    assert read(entry("TrustSet", [FEE], LimitAmount=rlusd("100"))).peer == RLUSD.issuer


GOOD = entry("Payment", [FEE], Amount="5", Destination=FRIEND)


@each(
    "damage",
    [
        {"validated": False},
        {"hash": "<script>"},
        {"hash": None},
        {"meta": "1200"},
        {"meta": {}},
        {"tx_json": []},
        {"ledger_index": "95000000"},
        {"ledger_index": -1},
        {"ledger_index": True},
        {"tx_json": {"TransactionType": "Pay me"}},
        {"tx_json": {"TransactionType": "X" * 99}},
        {"tx_json": {"Account": "rx"}},
        {"tx_json": {"Destination": 5}},
        {"tx_json": {"DestinationTag": 2**32}},
        {"tx_json": {"Fee": "1e9"}},
        {"tx_json": {"Fee": "٣"}},
        {"tx_json": {"date": 1e9}},
        {"meta": {"TransactionResult": "tesSUCCESS and more"}},
        {"meta": {"TransactionResult": "tefALREADY"}},
        {"meta": {"delivered_amount": 5}},
        {"meta": {"delivered_amount": {"currency": "US\n", "issuer": FRIEND, "value": "1"}}},
        {"meta": {"delivered_amount": {"currency": "USD", "issuer": FRIEND, "value": "nan"}}},
        {"meta": {"delivered_amount": {"currency": "USD", "issuer": FRIEND, "value": "1e999999"}}},
        {"meta": {"AffectedNodes": None}},
        {"meta": {"AffectedNodes": [{}]}},
        {"meta": {"AffectedNodes": [{"ModifiedNode": 5}]}},
        {"meta": {"AffectedNodes": [{"A": {}, "B": {}}]}},
        {"meta": {"AffectedNodes": [root(WALLET, 1, 10**30)]}},
        {"meta": {"AffectedNodes": [line(WALLET, RLUSD.issuer, "0", "1e999999")]}},
        {"meta": {"AffectedNodes": [line(WALLET, RLUSD.issuer, "0", "-inf")]}},
    ],
)
def test_what_no_node_should_say_is_an_error(damage: Json) -> None:
    """Of the kinds that the adapter knows."""
    written = {name: {**value} if isinstance(value, dict) else value for name, value in GOOD.items()}
    for name, value in damage.items():
        is_part = isinstance(value, dict) and value
        written[name] = {**written[name], **value} if is_part else value
    with pytest.raises(READ_ERRORS):
        read(written)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["AffectedNodes", "ModifiedNode", "FinalFields", "Balance", "value", "LedgerEntryType"]
                ),
                inner,
            )
        ),
    )
)
def test_metadata_is_anything(meta: Any) -> None:
    """xrpl-py raises what it likes; we know all of it."""
    with contextlib.suppress(*READ_ERRORS):
        xrpl_entries.balance_changes(meta, WALLET, RLUSD)


@each(
    ("written", "last", "first"),
    [
        ("5-10", 10, 5),
        ("5-10", 11, None),
        ("5-10", 4, None),
        ("5-10,12-20,22", 22, 22),
        ("5-10, 12-20,22", 15, 12),
        ("empty", 5, None),
        ("", 5, None),
        ("a-b,-5,5-", 5, None),
        (None, 5, None),
        ("1" * 20_000, 5, None),
    ],
)
def test_ledgers_without_a_gap(written: object, last: int, first: int | None) -> None:
    """Those that lead up to one."""
    assert contiguous_from(written, last) == first


@each(("written", "drops"), [(1, 10**6), (0.2, 200_000), (1e-05, 10), ("0.2", 200_000), (0, 0)])
def test_reserves_are_drops(written: object, drops: int) -> None:
    """However a server writes the number."""
    assert xrp_to_drops(written) == drops


@each("written", [None, True, -1, 1e-07, 1e99, float("nan"), "x", [1]])
def test_what_is_no_reserve(written: object) -> None:
    """Not a number of drops."""
    with pytest.raises(READ_ERRORS):
        xrp_to_drops(written)


@pytest.mark.parametrize("setting", ["freeze", "freeze_peer", "deep_freeze", "deep_freeze_peer"])
def test_a_line_is_frozen_from_either_side(setting: str) -> None:
    """Settings that are off are left out."""
    written = {"balance": "1", "limit": "5"}
    usual = {"is_globally_frozen": False, "needs_authorization": False, "allows_clawback": False}
    plain = trust_line(written, **usual)
    assert (plain.is_frozen, plain.no_ripple, plain.is_authorized, plain.allows_clawback) == (False, False, True, False)
    assert trust_line({**written, setting: True}, **usual).is_frozen
    assert trust_line(written, **{**usual, "is_globally_frozen": True}).is_frozen
    assert not trust_line(written, **{**usual, "needs_authorization": True}).is_authorized
    assert trust_line(written, **{**usual, "allows_clawback": True}).allows_clawback


@each(
    ("kind", "fields", "promised"),
    [
        ("EscrowCreate", {"Amount": "5000000"}, Amount(Decimal(5), "XRP", None)),
        ("EscrowCreate", {"Amount": rlusd("2.5")}, Amount(Decimal("2.5"), "RLUSD", RLUSD.issuer)),
        ("EscrowCreate", {"Amount": {"mpt_issuance_id": MPT, "value": "7"}}, Amount(Decimal(7), MPT, None)),
        ("CheckCreate", {"SendMax": rlusd("9", COPYCAT)}, Amount(Decimal(9), RLUSD.currency, COPYCAT)),
        ("PaymentChannelCreate", {"Amount": "1"}, Amount(Decimal("0.000001"), "XRP", None)),
        ("CheckCreate", {"SendMax": "1", "meta": {"TransactionResult": "tecNO_DST"}}, None),
        ("Payment", {"Amount": "1"}, None),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_what_is_promised_has_not_arrived(version: int, kind: str, fields: Json, promised: Amount | None) -> None:
    """An escrow, a check and a payment channel deliver nothing when they are made."""
    found = read(entry(kind, [FEE], version, Destination=FRIEND, **fields))
    assert found.promised == promised
    assert found.delivered is None or kind == "Payment"


@each(
    ("changes", "amount"),
    [
        ({}, Amount(Decimal(3), "USD", MAKER)),
        ({"balance": "0"}, Amount(Decimal(0), "USD", MAKER)),
        ({"balance": "0", "limit": "0"}, None),
        ({"balance": "-3"}, None),
    ],
)
def test_what_is_held_by_a_line(changes: Json, amount: Amount | None) -> None:
    """Nothing where the account is the issuer, and nothing where somebody else has opened a line for it."""
    assert held({"account": MAKER, "currency": "USD", "balance": "3", "limit": "9", **changes}) == amount
