"""The transaction, by the judgement of others: our verifier, solders, and the sandbox's ledger."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import pytest_socket
from solders.keypair import Keypair
from solders.transaction import VersionedTransaction

from coinslot.errors import Unreachable, WalletUnusable
from coinslot.signer import Unpayable
from coinslot.solana_signer import SolanaSigner
from compose.sandbox.local_ledger import LocalLedger
from compose.sandbox.solana import NETWORK, USDC, start_solana
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import solana
from shared.x402.networks import Rail
from shared.x402.wire import Offer
from tests.each import each

KEY = Keypair.from_seed(bytes(range(32)))
NOW = int(time.time())
DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalLedger]:
    """A ledger."""
    pytest_socket.enable_socket()
    sandbox = start_solana(tmp_path_factory.mktemp("solana"))
    yield sandbox
    sandbox.stop()


@pytest.fixture
def offer(sandbox: LocalLedger) -> Offer:
    """0.001 USDC."""
    (static,) = solana.offers(USDC, Price.of("0.001"), sandbox.pay_to)
    offer = solana.completed(static, {"feePayer": sandbox.settler})
    assert offer is not None
    return offer


@pytest.fixture
def signer(sandbox: LocalLedger) -> SolanaSigner:
    """The sandbox's payer."""
    return SolanaSigner(sandbox.payer_secret, network=NETWORK, rpc_url=sandbox.rpc_url)


def with_memo(offer: Offer, memo: Any) -> Offer:
    return msgspec.structs.replace(offer, extra={**offer.extra, "memo": memo})


@pytest.mark.parametrize("memo", [None, "Q29pbnNsb3QgdGFrZXMgY29pbnMu", "é" * 128])
def test_the_ledger_and_our_verifier_accept_it(
    sandbox: LocalLedger, signer: SolanaSigner, offer: Offer, memo: str | None
) -> None:
    """With an offered memo, however long, and with a random one; the fee payer's signature is all that is missing."""
    offer = with_memo(offer, memo) if memo else offer
    assert signer.quote(offer) == Price.of("0.001")

    checked = solana.check(offer, signer.sign(offer, now=NOW))
    settler = Keypair.from_seed(bytes.fromhex(sandbox.settler_key))
    raw = b"\2" + bytes(settler.sign_message(checked.message)) + checked.signature + checked.message
    answer = JsonRpc(sandbox.rpc_url)(
        "simulateTransaction", base64.b64encode(raw).decode(), {"encoding": "base64", "sigVerify": True}
    )

    assert (checked.payer, checked.value) == (signer.address, 1_000)
    assert answer["value"]["err"] is None


def test_no_two_payments_are_one(signer: SolanaSigner, offer: Offer) -> None:
    """Of the same amount in the same moment."""
    ids = {solana.check(offer, signer.sign(offer, now=NOW)).payment_id for _ in range(20)}
    assert len(ids) == 20


def test_the_payer_signs_nothing_but_the_payment(signer: SolanaSigner, offer: Offer, sandbox: LocalLedger) -> None:
    """Four instructions of three programs, by solders' reading; the place of the other signature is empty."""
    transaction = VersionedTransaction.from_bytes(base64.b64decode(signer.sign(offer, now=NOW)["transaction"]))
    message = transaction.message
    programs = [str(message.account_keys[one.program_id_index]) for one in message.instructions]
    assert programs == [
        "ComputeBudget111111111111111111111111111111",
        "ComputeBudget111111111111111111111111111111",
        "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
    ]
    assert [str(key) for key in message.account_keys[:2]] == [sandbox.settler, sandbox.payer]
    assert bytes(transaction.signatures[0]) == bytes(64)


@each(
    ("changes", "why"),
    [
        ({"network": DEVNET}, "the wallet pays on"),
        ({"network": "eip155:8453"}, "the wallet pays on"),
        ({"scheme": "upto"}, "scheme"),
        ({"asset": "So11111111111111111111111111111111111111112"}, "mint"),
        ({"amount": "0"}, "amount"),
        ({"amount": "01000"}, "amount"),
        ({"amount": "1e3"}, "amount"),
        ({"amount": "9" * 19}, "amount"),
        ({"pay_to": "nobody"}, "payTo"),
        ({"pay_to": str(KEY.pubkey())}, "payTo"),
        ({"max_timeout_seconds": 0}, "maxTimeoutSeconds"),
        ({"max_timeout_seconds": 601}, "maxTimeoutSeconds"),
        ({"extra": {"paymentFlow": "upfront"}}, "feePayer"),
        ({"extra": {"feePayer": None}}, "feePayer"),
        ({"extra": {"feePayer": "x"}}, "feePayer"),
        ({"extra": {"feePayer": str(KEY.pubkey())}}, "feePayer"),
        ({"more": {"paymentFlow": "escrow"}}, "flow"),
        ({"more": {"assetTransferMethod": "delegate"}}, "method"),
        ({"more": {"memo": ""}}, "memo"),
        ({"more": {"memo": 7}}, "memo"),
        ({"more": {"memo": "x" * 257}}, "memo"),
        ({"more": {"memo": "\ud800"}}, "memo"),
    ],
)
def test_what_could_do_more_than_pay_is_not_signed(offer: Offer, changes: dict[str, Any], why: str) -> None:
    """Each with a reason for a person."""
    signer = SolanaSigner(str(KEY), network=NETWORK, rpc_url="http://127.0.0.1:1")
    extra = {**offer.extra, **changes.pop("more", {})}
    offer = msgspec.structs.replace(offer, **{"extra": extra, **changes})
    with pytest.raises(Unpayable, match=why):
        signer.quote(offer)


@each(
    "secret",
    [str(KEY), json.dumps(list(bytes(KEY))), KEY.secret().hex(), KEY.secret().hex().upper(), f" {KEY}\n"],
    ids=["base58", "solana-keygen", "hex", "HEX", "spaces"],
)
def test_a_secret_has_three_forms(secret: str) -> None:
    """All of the same account, which repr() shows, and never the secret."""
    signer = SolanaSigner(secret, network=NETWORK, rpc_url="http://127.0.0.1:1")
    assert (signer.address, signer.rail, signer.asset) == (str(KEY.pubkey()), Rail.SOLANA, "USDC")
    assert repr(signer) == f"SolanaSigner({KEY.pubkey()} on {NETWORK})"


@each(
    "secret",
    [
        "",
        "x",
        "z" * 88,
        str(KEY)[:-1],
        str(KEY) + "1",
        str(KEY.pubkey()),
        "[1,2]",
        "[" + ",".join(["256"] * 64) + "]",
        "[" + ",".join(["1"] * 64) + "]",
        json.dumps(list(bytes(KEY))[:63]),
        json.dumps(list(bytes(KEY)[:32] + bytes(32))),
        "[" * 5_000,
        KEY.secret().hex()[:-1],
        "0x" + KEY.secret().hex(),
    ],
)
def test_anything_else_is_no_secret(secret: str) -> None:
    """And it is not repeated in the error."""
    with pytest.raises(WalletUnusable) as refused:
        SolanaSigner(secret, network=NETWORK, rpc_url="http://127.0.0.1:1")
    assert str(refused.value) == "the wallet's key is not a Solana secret key"
    assert refused.value.__suppress_context__


def test_a_network_without_known_usdc_is_refused() -> None:
    """There is no mint that we could insist on."""
    with pytest.raises(WalletUnusable, match="solana:4uhc"):
        SolanaSigner(str(KEY), network="solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z", rpc_url="http://127.0.0.1:1")


@pytest.mark.parametrize("rpc_url", ["http://127.0.0.1:1", "127.0.0.1", "", "http://[", "ftp://127.0.0.1"])
def test_without_a_node_nothing_is_signed(offer: Offer, rpc_url: str) -> None:
    """It says so, and nothing was sent."""
    signer = SolanaSigner(str(KEY), network=NETWORK, rpc_url=rpc_url)
    with pytest.raises(Unreachable, match="no blockhash"):
        signer.sign(offer, now=NOW)
