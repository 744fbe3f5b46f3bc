"""The transaction, by the judgement of others: our verifier, solders, and the sandbox's ledger."""

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

from coinslot import node
from coinslot.errors import Unreachable, WalletUnusable
from coinslot.signer import Unpayable
from coinslot.solana_signer import SolanaSigner
from compose.sandbox.child import LocalLedger
from compose.sandbox.solana import NETWORK, USDC, start_solana
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import solana
from shared.x402.networks import Rail
from shared.x402.wire import Offer
from tests.client.conftest import Canned, Shop
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

    checked, other = (solana.check(offer, signer.sign(offer, now=NOW)) for _ in range(2))
    settler = Keypair.from_seed(bytes.fromhex(sandbox.settler_key))
    raw = b"\2" + bytes(settler.sign_message(checked.message)) + checked.signature + checked.message
    answer = JsonRpc(sandbox.rpc_url)(
        "simulateTransaction", base64.b64encode(raw).decode(), {"encoding": "base64", "sigVerify": True}
    )

    assert (checked.payer, checked.value) == (signer.address, 1_000)
    assert memo or checked.payment_id != other.payment_id, "two payments of the same amount at once are not one"
    assert answer["value"]["err"] is None


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
        *(({"network": network}, "the wallet pays on") for network in (DEVNET, "eip155:8453")),
        ({"asset": "So11111111111111111111111111111111111111112"}, "mint"),
        ({"amount": "0"}, "amount"),
        *(({"pay_to": address}, "payTo") for address in ("nobody", str(KEY.pubkey()))),
        ({"extra": {"paymentFlow": "upfront"}}, "feePayer"),
        *(({"extra": {"feePayer": payer}}, "feePayer") for payer in (None, "x", str(KEY.pubkey()))),
        ({"more": {"assetTransferMethod": "delegate"}}, "method"),
        *(({"more": {"memo": memo}}, "memo") for memo in ("", 7, "x" * 257, "\ud800")),
    ],
)
def test_what_could_do_more_than_pay_is_not_signed(offer: Offer, changes: dict[str, Any], why: str) -> None:
    """Each with a reason for a person."""
    signer = SolanaSigner(str(KEY), network=NETWORK, rpc_url="http://127.0.0.1:1")
    changes = dict(changes)
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
        *("", "x", "z" * 88, str(KEY)[:-1], str(KEY) + "1", str(KEY.pubkey()), "[1,2]", "[" * 5_000),
        *("[" + ",".join([number] * 64) + "]" for number in ("256", "1")),
        *(json.dumps(list(content)) for content in (bytes(KEY)[:63], bytes(KEY)[:32] + bytes(32))),
        *(KEY.secret().hex()[:-1], "0x" + KEY.secret().hex()),
    ],
)
def test_anything_else_is_no_secret(secret: str) -> None:
    """And it is not repeated in the error. Nor is a network usable whose USDC mint is not known."""
    with pytest.raises(WalletUnusable) as refused:
        SolanaSigner(secret, network=NETWORK, rpc_url="http://127.0.0.1:1")
    assert str(refused.value) == "the wallet's key is not a Solana secret key"
    assert refused.value.__suppress_context__
    with pytest.raises(WalletUnusable, match="solana:4uhc"):
        SolanaSigner(str(KEY), network="solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z", rpc_url="http://127.0.0.1:1")


@pytest.mark.parametrize("rpc_url", ["http://127.0.0.1:1", "127.0.0.1", "", "http://[", "ftp://127.0.0.1"])
def test_without_a_node_nothing_is_signed(offer: Offer, rpc_url: str) -> None:
    """It says so, and nothing was sent."""
    signer = SolanaSigner(str(KEY), network=NETWORK, rpc_url=rpc_url)
    with pytest.raises(Unreachable, match="Solana node does not answer"):
        signer.sign(offer, now=NOW)


def test_a_node_may_want_a_password(shop: Shop) -> None:
    """The user and the password of its address go into a header, and not into the error."""
    shop.unpaid = [Canned(401)]
    with (
        pytest.raises(Unreachable) as refused,
        node.connected("Solana", shop.base_url.replace("//", "//me:p%40ss@")) as ask,
    ):
        ask({})
    (seen,) = shop.seen
    assert base64.b64decode(seen.headers["authorization"].removeprefix("Basic ")) == b"me:p@ss"
    assert seen.headers["host"] == shop.base_url.removeprefix("http://")
    assert "p@ss" not in refused.value.sentences
