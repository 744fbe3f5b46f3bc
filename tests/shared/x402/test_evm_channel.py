"""The static verifier of channels: what the official client signs passes, and every property, set wrong alone, is refused."""

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from coincurve import PrivateKey

from shared.money import Price
from shared.x402 import evm, evm_channel, evm_channel_ids
from shared.x402.evm_channel import Deposit, RefundRequest, Voucher
from shared.x402.evm_channel_ids import PREFIX, ChannelConfig
from shared.x402.networks import EVM_USDC
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer, Payment
from tests.channel_signing import Payer
from tests.each import each
from tests.signing import rsv

OFFICIAL = msgspec.json.decode(Path(__file__).with_name("channels_official.json").read_bytes())
"""Messages of one run of PyPI x402 2.25 (client, server and facilitator)."""
TERMS = {"receiverAuthorizer": "0x" + 40 * "a", "withdrawDelay": 900, "minDeposit": "10000"}
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def an_offer(**terms: Any) -> Offer:
    offer = evm_channel.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), "0x" + 40 * "1")[0]
    completed = evm_channel.completed(offer, {**TERMS, **terms})
    assert completed is not None
    return completed


OFFER = an_offer()
PAYER = Payer(OFFER, PrivateKey(bytes(31) + b"\x07"))


@pytest.mark.parametrize(("name", "kind"), [("deposit", Deposit), ("voucher", Voucher), ("refund", RefundRequest)])
def test_what_the_official_client_signs_passes(name: str, kind: type) -> None:
    payment = msgspec.convert(OFFICIAL[name], Payment)
    checked = evm_channel.check(payment.accepted, payment.payload)
    assert type(checked) is kind
    voucher = checked if isinstance(checked, Voucher) else checked.voucher
    assert "0x" + voucher.channel_id.hex() == payment.payload["voucher"]["channelId"]


def test_what_the_official_server_signs_is_what_we_would_sign() -> None:
    """Its authorizer's signatures over a claim and a refund recover to the authorizer of the channel."""
    asked = OFFICIAL["claimRequest"]["paymentPayload"]["payload"]
    refund = OFFICIAL["refundRequest"]
    for message in (asked, refund["payload"]):
        rows, authorizer = [], ""
        for row in message["claims"]:
            config = msgspec.convert(row["voucher"]["channel"], ChannelConfig)
            authorizer = config.receiver_authorizer.lower()
            channel = evm_channel_ids.channel_id(8453, config)
            rows.append((channel, int(row["voucher"]["maxClaimableAmount"]), int(row["totalClaimed"])))
        signature = bytes.fromhex(message["claimAuthorizerSignature"][2:])
        assert evm.signer_of(evm_channel_ids.claim_digest(8453, rows), signature) == authorizer
    signature = bytes.fromhex(message["refundAuthorizerSignature"][2:])
    digest = evm_channel_ids.refund_digest(8453, rows[0][0], int(message["refundNonce"]), int(message["amount"]))
    assert evm.signer_of(digest, signature) == authorizer


def test_a_voucher_has_one_id_whatever_its_spelling() -> None:
    payload = PAYER.voucher(5_000)
    other = copy.deepcopy(payload)
    for name in ("payer", "payerAuthorizer", "receiver", "receiverAuthorizer", "token"):
        other["channelConfig"][name] = "0x" + other["channelConfig"][name][2:].upper()
    other["voucher"]["channelId"] = "0x" + other["voucher"]["channelId"][2:].upper()
    v = int(other["voucher"]["signature"][-2:], 16) - 27
    other["voucher"]["signature"] = other["voucher"]["signature"][:-2] + format(v, "02x")
    one, two = (evm_channel.check(OFFER, each) for each in (payload, other))
    assert (one.payment_id, one.signature) == (two.payment_id, two.signature)


def _high_s(signature: str) -> str:
    raw = bytes.fromhex(signature[2:])
    s = N - int.from_bytes(raw[32:64])
    return "0x" + (raw[:32] + s.to_bytes(32) + bytes([55 - raw[64]])).hex()


REFUSED: dict[str, tuple[str, Any]] = {
    **{
        f"amount {text!r}": ("voucher_payload", ("voucher", "maxClaimableAmount", text))
        for text in ("", " 1", "1 ", "+1", "-1", "01", "1.0", "1e9", "0x1", "1_0", "١", str(1 << 53), "9" * 78)
    },
    "another channel id": ("channel_id_mismatch", ("voucher", "channelId", "0x" + 64 * "1")),
    "another payer": ("channel_id_mismatch", ("channelConfig", "payer", "0x" + 40 * "2")),
    "a short address": ("voucher_payload", ("channelConfig", "payer", "0x12")),
    "a salt that is none": ("voucher_payload", ("channelConfig", "salt", "0x12")),
    "a delay in text": ("voucher_payload", ("channelConfig", "withdrawDelay", "900")),
    "a short delay": ("withdraw_delay_out_of_range", ("channelConfig", "withdrawDelay", 899)),
    "a signature of another": ("voucher_signature", ("voucher", "signature", "0x" + 63 * "1" + "2" + 64 * "1" + "1b")),
    "a short signature": ("voucher_payload", ("voucher", "signature", "0x1b")),
    "another type": ("voucher_payload", ("type", "claim")),
    "a deposit without its fields": ("voucher_payload", ("type", "deposit")),
}


@each(("reason", "change"), REFUSED.values(), ids=REFUSED)
def test_whatever_is_wrong_is_refused(reason: str, change: tuple[str, ...]) -> None:
    payload = PAYER.voucher(5_000)
    *parents, last, value = change
    place = payload
    for key in parents:
        place = place[key]
    place[last] = value
    with pytest.raises(PaymentRefused) as refused:
        evm_channel.check(OFFER, payload)
    assert refused.value.reason == PREFIX + reason


def test_the_twin_of_a_signature_is_refused() -> None:
    """The contract takes a low s only, and one voucher must have one id."""
    payload = PAYER.voucher(5_000)
    payload["voucher"]["signature"] = _high_s(payload["voucher"]["signature"])
    with pytest.raises(PaymentRefused, match="voucher_signature"):
        evm_channel.check(OFFER, payload)


@pytest.mark.parametrize(
    ("reason", "offer"),
    [
        ("receiver_authorizer_mismatch", an_offer(receiverAuthorizer="0x" + 40 * "b")),
        ("withdraw_delay_mismatch", an_offer(withdrawDelay=901)),
        ("receiver_mismatch", msgspec.structs.replace(OFFER, pay_to="0x" + 40 * "c")),
        ("token_mismatch", msgspec.structs.replace(OFFER, asset="0x" + 40 * "d")),
    ],
)
def test_a_channel_of_other_terms_is_refused(reason: str, offer: Offer) -> None:
    """A channel with another shop, or with an earlier authorizer of this one, pays nothing here."""
    with pytest.raises(PaymentRefused) as refused:
        evm_channel.check(offer, PAYER.voucher(5_000))
    assert refused.value.reason == PREFIX + reason


def test_nobody_asks_the_chain_who_signs() -> None:
    """`payerAuthorizer` zero means: ask the payer's contract. No signature passes for it."""
    payload = PAYER.voucher(5_000)
    config = msgspec.structs.replace(PAYER.config, payer_authorizer="0x" + 40 * "0")
    payload["channelConfig"] = msgspec.to_builtins(config)
    payload["voucher"]["channelId"] = "0x" + evm_channel_ids.channel_id(8453, config).hex()
    with pytest.raises(PaymentRefused, match="voucher_signature"):
        evm_channel.check(OFFER, payload)


def test_a_deposit_is_signed_for_its_channel_and_large_enough() -> None:
    """Its nonce names the channel, so it settles into no other; and it is an authorization as `exact` has them."""
    deposit = evm_channel.check(OFFER, PAYER.deposit(10_000, 1_000))
    assert isinstance(deposit, Deposit)
    assert (deposit.pay_to, deposit.value, deposit.window_refusal(deposit.valid_before - 30)) == (
        evm_channel_ids.COLLECTOR,
        10_000,
        None,
    )
    with pytest.raises(PaymentRefused, match="deposit_below_min_deposit"):
        evm_channel.check(OFFER, PAYER.deposit(9_999, 1_000))
    of_another = PAYER.deposit(10_000, 1_000)
    of_another["deposit"] = Payer(OFFER, PAYER.key, "0x" + 64 * "1").deposit(10_000, 1_000)["deposit"]
    with pytest.raises(PaymentRefused, match="deposit_signature"):
        evm_channel.check(OFFER, of_another)


def test_who_signs_in_the_name_of_a_payer_is_known() -> None:
    """Anybody can deposit into a channel of another payer, and sign its vouchers."""
    key = PrivateKey(bytes(31) + b"\x08")
    signer = evm.address_of(key.public_key)
    config = msgspec.structs.replace(PAYER.config, payer_authorizer=signer)
    channel = evm_channel_ids.channel_id(8453, config)
    payload = {
        "type": "voucher",
        "channelConfig": msgspec.to_builtins(config),
        "voucher": {
            "channelId": "0x" + channel.hex(),
            "maxClaimableAmount": "1000",
            "signature": "0x" + rsv(key, evm_channel_ids.voucher_digest(8453, channel, 1000)).hex(),
        },
    }
    assert PAYER.checked(1000).other_signer == ""
    voucher = evm_channel.check(OFFER, payload)
    assert isinstance(voucher, Voucher)
    assert (voucher.payer, voucher.other_signer) == (PAYER.config.payer.lower(), signer.lower())


def test_terms_that_are_none_make_no_offer() -> None:
    """Before the claimer has said who signs for us, nothing is offered; and the least deposit pays ten calls."""
    bare = evm_channel.offers(EVM_USDC["eip155:8453"], Price.of("0.05"), "0x" + 40 * "1")[0]
    dear = evm_channel.completed(bare, TERMS)
    assert dear is not None
    assert dear.extra["minDeposit"] == "500000"
    for wrong in (
        {"receiverAuthorizer": None},
        {"withdrawDelay": True},
        {"withdrawDelay": "900"},
        {"minDeposit": "-1"},
    ):
        assert evm_channel.completed(bare, {**TERMS, **wrong}) is None
