"""The signer of the XRPL rails: what it signs passes our verifier and the ledger, and it signs nothing else."""

import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import pytest_socket
from xrpl.core.binarycodec import decode
from xrpl.wallet import Wallet

from coinslot.errors import CoinslotError, NoPayableOffer, Unreachable, WalletUnusable
from coinslot.signer import Unpayable
from coinslot.xrpl_signer import XrplSigner
from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_node import XrplServer, provision
from shared.money import Price
from shared.x402 import xrpl
from shared.x402.networks import Rail
from tests import xrpl_signing as signing
from tests.each import each
from tests.xrpl_signing import INVOICE, RLUSD, USDC

PAYER = Wallet.from_entropy("01" * 16)
OLDER = Wallet.from_entropy("02" * 16, algorithm=signing.SECP256K1)
PAY_TO = Wallet.from_entropy("03" * 16).address
OFFER = signing.offer(PAY_TO)


@pytest.fixture(scope="module")
def node() -> Iterator[XrplServer]:
    """A ledger with both accounts, whose ledgers close on demand."""
    pytest_socket.enable_socket()
    ledger = Ledger()
    for account in (PAYER, OLDER):
        provision(ledger, payer=account.address, pay_to=PAY_TO)
    server = XrplServer(ledger, close_every_s=0)
    threading.Thread(target=server.serve, daemon=True).start()
    yield server
    server.stop()


def signer(node: XrplServer, payer: Wallet = PAYER, rail: Rail = Rail.XRPL_RLUSD, **changes: Any) -> XrplSigner:
    return XrplSigner(str(payer.seed), **{"network": "xrpl:0", "rpc_url": node.url, "rail": rail, **changes})


@each("payer", [PAYER, OLDER], ids=["sEd", "s"])
@each(("rail", "token"), [(Rail.XRPL_RLUSD, RLUSD), (Rail.XRPL_USDC, USDC)])
def test_what_it_signs_is_paid(node: XrplServer, payer: Wallet, rail: Rail, token: Any) -> None:
    """Our verifier passes it, the ledger takes it, and exactly the price arrives."""
    buyer, offer = signer(node, payer, rail), signing.offer(PAY_TO, token=token, price="0.0123")
    assert buyer.quote(offer) == Price.of("0.0123")
    payload = buyer.sign(offer, now=0)
    payment = xrpl.check(offer, payload)
    assert (payment.payer, payload["invoiceId"]) == (buyer.address, INVOICE)
    assert payment.ledger_refusal(node.ledger.validated.index) is None
    before = node.ledger.state.lines[PAY_TO, token.issuer, token.currency].balance
    assert node.ledger.submit(payload["signedTxBlob"])[0] == "tesSUCCESS"
    node.close_ledgers()
    assert str(node.ledger.state.lines[PAY_TO, token.issuer, token.currency].balance - before) == "0.0123"


def test_it_is_the_foundations_payment(node: XrplServer) -> None:
    """InvoiceID and no memo, no flags, no network, SendMax of the amount, and a life of as many ledgers as offered.

    Other servers may not ask for an invoice: then none is signed.
    """
    buyer = signer(node)
    assert str(PAYER.seed) not in repr(buyer) + str(buyer)
    fields = decode(buyer.sign(OFFER, now=0)["signedTxBlob"])
    assert set(fields) == {
        *("TransactionType", "Account", "Destination", "Amount", "SendMax", "Fee", "Sequence", "LastLedgerSequence"),
        *("InvoiceID", "SigningPubKey", "TxnSignature"),
    }
    assert fields["SendMax"] == fields["Amount"] == signing.amount("0.001")
    assert fields["LastLedgerSequence"] == node.ledger.validated.index + 14
    offer = msgspec.structs.replace(OFFER, extra={k: v for k, v in OFFER.extra.items() if k != "invoiceId"})
    payload = buyer.sign(offer, now=0)
    assert set(payload) == {"signedTxBlob"}
    assert "InvoiceID" not in decode(payload["signedTxBlob"])


def test_tags_and_tickets_where_they_are_wanted(node: XrplServer) -> None:
    """And a refusal where there is no ticket."""
    fields = decode(signer(node).sign(signing.offer(PAY_TO, destinationTag=5, sourceTag=6), now=0)["signedTxBlob"])
    assert (fields["DestinationTag"], fields["SourceTag"]) == (5, 6)
    offer = signing.offer(PAY_TO, assetTransferMethod="ticketSequence")
    with pytest.raises(NoPayableOffer, match="has none"):
        signer(node).sign(offer, now=0)
    with node.lock:
        node.ledger.fund(PAYER.address, 10**9, tickets=frozenset({5, 9}))
    assert xrpl.check(offer, signer(node).sign(offer, now=0)).ticket == 5


@each(
    ("changes", "why"),
    [
        ({"network": "xrpl:1"}, "pays on xrpl:0"),
        ({"asset": "XRP"}, "asset"),
        ({"asset": USDC.currency}, "asset"),
        ({"extra": {"issuer": USDC.issuer}}, "asset"),
        ({"extra": {"areFeesSponsored": True}}, "fee"),
        ({"extra": {"areFeesSponsored": None}}, "fee"),
        ({"extra": {"crossCurrency": True}}, "form"),
        ({"extra": {"facilitator": {"id": "x"}}}, "form"),
        ({"extra": {"assetTransferMethod": "check"}}, "form"),
        ({"extra": {"invoiceId": ""}}, "form"),
        ({"extra": {"destinationTag": "5"}}, "form"),
        ({"amount": "1e-3"}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"pay_to": "nobody"}, "payTo"),
        ({"pay_to": PAYER.address}, "own account"),
    ],
)
def test_it_pays_nothing_that_could_do_more(node: XrplServer, changes: dict[str, Any], why: str) -> None:
    """Each refused with a reason for people."""
    if "extra" in changes:
        changes = {"extra": {**OFFER.extra, **changes["extra"]}}
    with pytest.raises(Unpayable, match=why):
        signer(node).quote(msgspec.structs.replace(OFFER, **changes))


@each(
    ("secret", "network", "rail"),
    [
        ("", "xrpl:0", Rail.XRPL_USDC),
        ("snoPBrXtMeMyMHUVTgbuqAfg1SUTc", "xrpl:0", Rail.XRPL_USDC),
        ("sEdTM1uX8pu2do5XvTnutH6HsouMaM2\n", "xrpl:0", Rail.XRPL_USDC),
        ("00" * 32, "xrpl:0", Rail.XRPL_USDC),
        (str(PAYER.seed), "xrpl:2", Rail.XRPL_USDC),
        (str(PAYER.seed), "xrpl:0", Rail.BASE),
    ],
)
def test_a_wallet_that_cannot_pay_is_refused_at_once(secret: str, network: str, rail: Rail) -> None:
    """Without showing its key."""
    with pytest.raises(WalletUnusable) as caught:
        XrplSigner(secret, network=network, rpc_url="http://127.0.0.1:1", rail=rail)
    assert not secret or secret not in str(caught.value)


def test_a_node_that_does_not_help(node: XrplServer) -> None:
    """Down, of another network, or without the account: nothing is signed."""
    cases: list[tuple[XrplSigner, type[CoinslotError], str]] = [
        (signer(node, rpc_url="http://127.0.0.1:1"), Unreachable, "does not answer"),
        (signer(node, rpc_url="not a url"), Unreachable, "does not answer"),
        (signer(node, Wallet.create()), NoPayableOffer, "knows no account"),
        (signer(node, network="xrpl:1"), WalletUnusable, "serves network 0"),
    ]
    for buyer, kind, why in cases:
        with pytest.raises(kind, match=why):
            buyer.sign(OFFER, now=0)


def test_a_fee_beyond_reason_is_not_paid(node: XrplServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node could otherwise burn the wallet's XRP."""
    monkeypatch.setattr("compose.sandbox.xrpl_methods.BASE_FEE", 10_001)
    with pytest.raises(NoPayableOffer, match="10001 drops"):
        signer(node).sign(OFFER, now=0)
