"""What is signed on Stellar, by the judgement of others: the network's SDK, a network, and our own verifier."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from stellar_sdk import Keypair, MuxedAccount, StrKey, TransactionEnvelope, scval, xdr
from stellar_sdk.auth import authorization_payload_hash, build_authorization_preimage

from coinslot.errors import NothingPaid, Unreachable, WalletUnusable
from coinslot.signer import Unpayable
from coinslot.stellar_signer import StellarSigner
from compose.sandbox import stellar_node
from compose.sandbox.stellar_node import TOKEN, StellarServer, new_ledger
from shared.money import Price
from shared.x402 import stellar
from shared.x402.networks import Rail
from tests import stellar_signing as signing
from tests.each import each

# The same in every process of a run: tests are named after them.
KEY, SHOP = (Keypair.from_raw_ed25519_seed(bytes([number] * 32)) for number in (1, 2))
OFFER = stellar.offers(TOKEN, Price.of("0.001"), SHOP.public_key)[0]


@pytest.fixture
def network(sockets: None) -> Iterator[StellarServer]:
    """A network whose ledgers do not close, on which the payer has ten calls' worth."""
    ledger = new_ledger()
    ledger.fund(KEY.public_key, units=100_000)
    ledger.fund(SHOP.public_key, units=0)
    server = StellarServer(0, ledger, 1.0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def signer(network: StellarServer) -> StellarSigner:
    return StellarSigner(KEY.secret, rpc_url=f"http://127.0.0.1:{network.server_address[1]}")


def sign(signer: StellarSigner, offer: Any = OFFER) -> dict[str, Any]:
    return signer.sign(offer, now=int(time.time()))


def test_our_own_verifier_accepts_it(signer: StellarSigner, network: StellarServer) -> None:
    """For as many ledgers as a minute is by the network's own time; every payment has another nonce."""
    assert (signer.rail, repr(signer)) == (Rail.STELLAR, f"StellarSigner({KEY.public_key} on stellar:pubnet)")
    assert signer.quote(OFFER) == Price.of("0.001")
    checked = [stellar.check(OFFER, sign(signer)) for _ in range(5)]
    assert {each.payer for each in checked} == {KEY.public_key}
    assert len({each.nonce for each in checked}) == 5
    assert {each.expiration_ledger - network.ledger.sequence for each in checked} == {30}
    assert {each.source for each in checked} == {signing.NOBODY}
    assert all(each.ledger_refusal(network.ledger.sequence, 2.0) is None for each in checked)


def test_the_networks_sdk_accepts_it(signer: StellarSigner, network: StellarServer) -> None:
    """One operation, one entry, the legacy credentials, a signature over the SDK's own hash, and the fee that was measured."""
    envelope = TransactionEnvelope.from_xdr(sign(signer)["transaction"], TOKEN.passphrase)
    [operation] = envelope.transaction.operations
    [entry] = operation.auth  # type: ignore[attr-defined]
    credentials = entry.credentials.address
    until = credentials.signature_expiration_ledger.uint32
    [fields] = scval.to_native(credentials.signature)  # type: ignore[misc]
    digest = authorization_payload_hash(build_authorization_preimage(entry, until, TOKEN.passphrase))
    KEY.verify(digest, fields["signature"])  # type: ignore[index]
    assert entry.credentials.type == signing.LEGACY
    assert entry.root_invocation.sub_invocations == []
    assert envelope.signatures == []
    assert envelope.transaction.soroban_data is not None
    assert envelope.transaction.fee == 100 + envelope.transaction.soroban_data.resource_fee.int64 <= 50_000


def test_credentials_of_cap_71_where_the_network_has_no_others(
    signer: StellarSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From protocol 28 on the flag does nothing."""
    plain = stellar_node._METHODS["simulateTransaction"]
    monkeypatch.setitem(
        stellar_node._METHODS, "simulateTransaction", lambda of, quote: plain(of, quote | {"useUpgradedAuth": True})
    )
    payload = sign(signer)
    envelope = TransactionEnvelope.from_xdr(payload["transaction"], TOKEN.passphrase)
    [operation] = envelope.transaction.operations
    assert operation.auth[0].credentials.type == signing.V2  # type: ignore[attr-defined]
    assert stellar.check(OFFER, payload).payer == KEY.public_key


@pytest.mark.parametrize("pay_to", [TOKEN.contract, MuxedAccount(SHOP.public_key, 5).account_muxed])
def test_other_recipients(signer: StellarSigner, pay_to: str) -> None:
    """A contract, and a multiplexed account."""
    offer = msgspec.structs.replace(OFFER, pay_to=pay_to)
    assert signer.quote(offer) == Price.of("0.001")
    assert stellar.check(offer, sign(signer, offer)).pay_to == pay_to


UNPAYABLE: list[tuple[dict[str, Any], str]] = [
    ({"network": "stellar:testnet"}, "pays on stellar:pubnet"),
    ({"asset": "CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA"}, "asset"),
    ({"asset": TOKEN.contract.lower()}, "asset"),
    ({"extra": {}}, "fees"),
    ({"extra": {"areFeesSponsored": False}}, "fees"),
    ({"extra": {"areFeesSponsored": "true"}}, "fees"),
    ({"extra": {"areFeesSponsored": True, "assetTransferMethod": "approve"}}, "method"),
    *(({"amount": text}, "amount") for text in ("0", "１")),
    *(
        ({"pay_to": text}, "payTo")
        for text in ("", KEY.secret, SHOP.public_key[:-1], StrKey.encode_sha256_hash(bytes(32)))
    ),
]


@each(("changes", "why"), UNPAYABLE)
def test_whatever_could_do_more_than_pay_the_price_is_refused(
    signer: StellarSigner, changes: dict[str, Any], why: str
) -> None:
    """Before anything is signed."""
    with pytest.raises(Unpayable, match=why):
        signer.quote(msgspec.structs.replace(OFFER, **changes))


def test_the_network_reports_too_little_money(signer: StellarSigner, network: StellarServer) -> None:
    """And nothing is handed out."""
    network.ledger.state.lines[KEY.public_key].balance = 9_999
    with pytest.raises(NothingPaid, match="would not make the transfer: HostError"):
        sign(signer)


def edited(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """A node that answers simulations with something else."""
    plain = stellar_node._METHODS["simulateTransaction"]
    monkeypatch.setitem(stellar_node._METHODS, "simulateTransaction", lambda of, quote: change(plain(of, quote)))


def test_a_node_that_wants_more_signed_gets_nothing_more(
    signer: StellarSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a node whose answer names another recipient, a hundred times the amount and a second call, then the transfer is
    signed as it was offered."""

    def greedy(answer: Any) -> Any:
        entry = xdr.SorobanAuthorizationEntry.from_xdr(answer["results"][0]["auth"][0])
        call = entry.root_invocation.function.contract_fn
        assert call is not None
        call.args = [call.args[0], scval.to_address(KEY.public_key), scval.to_int128(1_000_000)]
        entry.root_invocation.sub_invocations.append(signing.invocation(call))
        return {**answer, "results": [{**answer["results"][0], "auth": [entry.to_xdr()]}]}

    edited(monkeypatch, greedy)
    assert stellar.check(OFFER, sign(signer)).value == 10_000


@pytest.mark.parametrize("auth", [[], ["twice"], None], ids=["none", "two", "absent"])
def test_a_node_that_wants_other_signatures_gets_none(
    signer: StellarSigner, monkeypatch: pytest.MonkeyPatch, auth: Any
) -> None:
    """A transfer of ours needs our own signature and no other."""

    def other(answer: Any) -> Any:
        [result] = answer["results"]
        entries = result["auth"] * 2 if auth else auth
        return {**answer, "results": [{**result, "auth": entries}]}

    edited(monkeypatch, other)
    with pytest.raises(NothingPaid, match="other signatures"):
        sign(signer)


def test_a_node_that_does_not_answer() -> None:
    """Nothing was sent, and the key that the address may hold is not shown."""
    signer = StellarSigner(KEY.secret, rpc_url="http://127.0.0.1:1/v1/hunter2")
    with pytest.raises(Unreachable, match="the Stellar node does not answer") as unreachable:
        sign(signer)
    assert "hunter2" not in unreachable.value.sentences


@each("secret", ["", "S", KEY.public_key, KEY.secret[:-1] + "1", "0x" + "11" * 32, "11" * 32])
def test_what_is_no_secret_key_is_refused(secret: str) -> None:
    """With a word about its form, and none of it. Nor is a network usable whose USDC contract is not known."""
    with pytest.raises(WalletUnusable) as refused:
        StellarSigner(secret, rpc_url="http://127.0.0.1:1")
    assert len(secret) < 2 or secret not in str(refused.value)
    with pytest.raises(WalletUnusable, match="stellar:futurenet"):
        StellarSigner(KEY.secret, network="stellar:futurenet", rpc_url="http://127.0.0.1:1")
