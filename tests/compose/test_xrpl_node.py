"""The sandbox's XRP Ledger: strict about what the real one refuses, and spoken to by xrpl-py as if it were one."""

import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import pytest_socket
from xrpl.clients import JsonRpcClient
from xrpl.core.binarycodec import decode, encode
from xrpl.models.amounts import IssuedCurrencyAmount
from xrpl.models.requests import (
    AccountInfo,
    AccountLines,
    AccountObjects,
    AccountTx,
    Tx,
)
from xrpl.models.transactions import Payment, TicketCreate
from xrpl.transaction import submit_and_wait
from xrpl.wallet import Wallet

from compose.sandbox.xrpl_ledger import Ledger, NotATransaction
from compose.sandbox.xrpl_node import XrplServer, provision
from compose.sandbox.xrpl_state import (
    DEPOSIT_AUTH,
    DISABLE_MASTER,
    GLOBAL_FREEZE,
    PARTIAL_PAYMENT,
    REQUIRE_DESTINATION_TAG,
)
from tests import xrpl_signing as signing
from tests.xrpl_signing import RLUSD, USDC, Json, amount

# The same in every process of a run: tests are named after them.
PAYER, PAYEE, OTHER = (Wallet.from_entropy(f"{number:032x}") for number in (1, 2, 3))
OFFER = signing.offer(PAYEE.address)


@pytest.fixture
def ledger() -> Ledger:
    """With a payer who has 1,000 of each token."""
    ledger = Ledger()
    provision(ledger, payer=PAYER.address, pay_to=PAYEE.address)
    return ledger


def fields(ledger: Ledger, **changes: Any) -> Json:
    usual = {"Sequence": ledger.open.accounts[PAYER.address].sequence, "LastLedgerSequence": ledger.open_index + 5}
    return signing.transaction(PAYER, OFFER, **{**usual, **changes})


def submit(ledger: Ledger, *, payer: Wallet = PAYER, **changes: Any) -> str:
    return ledger.submit(signing.blob(payer, fields(ledger, **changes)))[0]


def balance(ledger: Ledger, account: str) -> Decimal:
    return ledger.state.lines[account, RLUSD.issuer, RLUSD.currency].balance


REFUSED: list[tuple[Json, str]] = [
    ({"Sequence": 1}, "tefPAST_SEQ"),
    ({"LastLedgerSequence": 5}, "tefMAX_LEDGER"),
    ({"Fee": "9"}, "telINSUF_FEE_P"),
    ({"Fee": "2000000000"}, "terINSUF_FEE_B"),
    ({"NetworkID": 0}, "telNETWORK_ID_MAKES_TX_NON_CANONICAL"),
    ({"NetworkID": 1025}, "telNETWORK_ID_MAKES_TX_NON_CANONICAL"),
    (
        {"TransactionType": "SetRegularKey", "Amount": None, "SendMax": None, "InvoiceID": None, "Destination": None},
        "temUNKNOWN",
    ),
    ({"Flags": 0x00040000}, "temINVALID_FLAG"),
    ({"Flags": PARTIAL_PAYMENT, "Amount": "5", "SendMax": None}, "temBAD_SEND_XRP_PARTIAL"),
    ({"Flags": PARTIAL_PAYMENT, "DeliverMin": amount("0.002")}, "temBAD_AMOUNT"),
    ({"Paths": [[{"account": OTHER.address}]]}, "temBAD_PATH"),
    ({"DeliverMin": amount("0.0001")}, "temBAD_AMOUNT"),
    ({"SendMax": amount("1", USDC)}, "temBAD_PATH"),
    ({"SendMax": "1000"}, "temBAD_PATH"),
    ({"Amount": amount("0")}, "temBAD_AMOUNT"),
    ({"Amount": amount("-1")}, "temBAD_AMOUNT"),
    ({"Amount": "0", "SendMax": None}, "temBAD_AMOUNT"),
    ({"Amount": "1000"}, "temBAD_SEND_XRP_MAX"),
    ({"Amount": None}, "temMALFORMED"),
    ({"Destination": PAYER.address}, "temREDUNDANT"),
    ({"TicketSequence": 5}, "temSEQ_AND_TICKET"),
    ({"Sequence": 0, "TicketSequence": 5}, "tefNO_TICKET"),
    ({"Sequence": 0, "TicketSequence": 2**32 - 1}, "terPRE_TICKET"),
    ({"Sequence": 2**32 - 1}, "terPRE_SEQ"),
    ({"Account": OTHER.address}, "terNO_ACCOUNT"),
    ({"Account": PAYEE.address, "Destination": PAYER.address}, "tefBAD_AUTH"),
    ({"Destination": OTHER.address}, "tecNO_DST"),
    ({"Destination": OTHER.address, "Amount": "999999", "SendMax": None}, "tecNO_DST_INSUF_XRP"),
    ({"Amount": "999000000", "SendMax": None}, "tecUNFUNDED_PAYMENT"),
    ({"Amount": amount("1001"), "SendMax": amount("1001")}, "tecPATH_PARTIAL"),
    ({"SendMax": {**amount("1"), "issuer": OTHER.address}}, "temBAD_PATH"),
]


@pytest.mark.parametrize(("changes", "code"), REFUSED, ids=[f"{code} {next(iter(row))}" for row, code in REFUSED])
def test_every_refusal_has_its_code(ledger: Ledger, changes: Json, code: str) -> None:
    """And moves nothing; only a tec result costs the fee and is in the ledger."""
    before = ledger.state.accounts[PAYER.address]
    assert submit(ledger, **changes) == code
    ledger.close()
    after = ledger.state.accounts[PAYER.address]
    assert balance(ledger, PAYEE.address) == 0
    assert after.balance == before.balance - (10 if code.startswith("tec") else 0)
    assert len(ledger.validated.transactions) == code.startswith("tec")


@pytest.mark.parametrize(
    ("account", "flags", "code"),
    [
        (PAYEE.address, REQUIRE_DESTINATION_TAG, "tecDST_TAG_NEEDED"),
        (PAYEE.address, DEPOSIT_AUTH, "tecNO_PERMISSION"),
        (PAYER.address, DISABLE_MASTER, "tefMASTER_DISABLED"),
        (RLUSD.issuer, GLOBAL_FREEZE, "tecPATH_DRY"),
    ],
)
def test_flags_of_accounts_count(ledger: Ledger, account: str, flags: int, code: str) -> None:
    """Of the recipient, the payer and the issuer."""
    ledger.fund(account, ledger.state.accounts[account].balance, flags=flags)
    assert submit(ledger) == code


@pytest.mark.parametrize(
    ("holder", "balance", "limit", "frozen", "code"),
    [
        (PAYER.address, "0", "1000", False, "tecPATH_DRY"),
        (PAYER.address, "0.0009", "1000", False, "tecPATH_PARTIAL"),
        (PAYER.address, "10", "1000", True, "tecPATH_DRY"),
        (PAYEE.address, "10", "10", False, "tecPATH_DRY"),
        (PAYEE.address, "10", "10.0009", False, "tecPATH_PARTIAL"),
        (PAYEE.address, "10", "1000", True, "tecPATH_DRY"),
        (PAYEE.address, "10", "10.001", False, "tesSUCCESS"),
    ],
)
def test_trust_lines_count(ledger: Ledger, holder: str, balance: str, limit: str, frozen: bool, code: str) -> None:
    """Balances, limits and freezes."""
    ledger.trust(holder, RLUSD.issuer, RLUSD.currency, balance, limit, frozen=frozen)
    assert submit(ledger) == code


def test_an_issuers_transfer_rate_is_the_payers_to_spend(ledger: Ledger) -> None:
    """SendMax must cover it."""
    ledger.fund(RLUSD.issuer, 10**9, transfer_rate=Decimal("1.5"))
    assert submit(ledger) == "tecPATH_PARTIAL"
    assert submit(ledger, SendMax=amount("0.0015")) == "tesSUCCESS"
    ledger.close()
    assert balance(ledger, PAYER.address) == Decimal("999.9985")
    assert balance(ledger, PAYEE.address) == Decimal("0.001")


@pytest.mark.parametrize("change", [{"Fee": "11"}, {"TxnSignature": "00" * 64}, {"SigningPubKey": OTHER.public_key}])
def test_a_bad_signature_is_not_looked_at(ledger: Ledger, change: Json) -> None:
    """As rippled has it, that is no result."""
    signed = decode(signing.blob(PAYER, fields(ledger)))
    with pytest.raises(NotATransaction, match="Invalid signature"):
        ledger.submit(encode({**signed, **change}))


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[JsonRpcClient, XrplServer]]:
    """The ledger behind HTTP, with xrpl-py's own client."""
    pytest_socket.enable_socket()
    ledger = Ledger()
    provision(ledger, payer=PAYER.address, pay_to=PAYEE.address)
    server = XrplServer(ledger, close_every_s=0.2)
    threading.Thread(target=server.serve, daemon=True).start()
    yield JsonRpcClient(server.url), server
    server.stop()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """xrpl-py looks for its transaction as often as ledgers close here."""
    monkeypatch.setattr("xrpl.asyncio.transaction.reliable_submission._LEDGER_CLOSE_TIME", 0.1)


def test_xrpl_py_pays_reads_and_makes_tickets(served: tuple[JsonRpcClient, XrplServer]) -> None:
    """Autofill, reliable submission, lines, tickets and history, in both versions of the API."""
    client, _ = served
    token = IssuedCurrencyAmount(currency=RLUSD.currency, issuer=RLUSD.issuer, value="0.001")
    payment = Payment(account=PAYER.address, destination=PAYEE.address, amount=token, send_max=token)
    paid = submit_and_wait(payment, client, PAYER).result
    assert paid["meta"]["TransactionResult"] == "tesSUCCESS"
    assert paid["meta"]["delivered_amount"] == amount("0.001")
    assert paid["tx_json"]["DeliverMax"] == amount("0.001")
    assert "Amount" not in paid["tx_json"]

    older = client.request(Tx(transaction=paid["hash"], api_version=1)).result
    assert (older["Amount"], older["hash"], older["validated"]) == (amount("0.001"), paid["hash"], True)

    made = submit_and_wait(TicketCreate(account=PAYER.address, ticket_count=2), client, PAYER).result
    assert made["meta"]["TransactionResult"] == "tesSUCCESS"
    tickets = client.request(AccountObjects(account=PAYER.address, type="ticket")).result["account_objects"]
    assert len(tickets) == 2
    by_ticket = Payment(
        account=PAYER.address,
        destination=PAYEE.address,
        amount="5",
        sequence=0,
        ticket_sequence=tickets[1]["TicketSequence"],
    )
    assert submit_and_wait(by_ticket, client, PAYER).result["meta"]["TransactionResult"] == "tesSUCCESS"
    info = client.request(AccountInfo(account=PAYER.address)).result["account_data"]
    assert info["TicketCount"] == 1

    lines = client.request(AccountLines(account=PAYEE.address, peer=RLUSD.issuer)).result["lines"]
    assert [(line["balance"], line["currency"]) for line in lines] == [("0.001", RLUSD.currency)]
    issued = client.request(AccountLines(account=RLUSD.issuer, peer=PAYEE.address)).result["lines"]
    assert issued[0]["balance"] == "-0.001"

    history = client.request(AccountTx(account=PAYER.address)).result["transactions"]
    assert [entry["hash"] for entry in history][-1] == paid["hash"]
    assert {"tx_json", "meta", "validated"} <= set(history[0])
    older_history = client.request(AccountTx(account=PAYER.address, api_version=1, forward=True)).result["transactions"]
    assert older_history[0]["tx"]["hash"] == paid["hash"]
