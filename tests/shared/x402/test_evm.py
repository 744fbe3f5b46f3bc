"""The static verifier of the EVM rail: a good payment passes, and every property of it, set wrong alone, is refused."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from coincurve import PrivateKey

from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from shared.x402.refusal import PaymentRefused
from tests import signing
from tests.each import each

NOW = 1_900_000_000
PAY_TO = "0x1111111111111111111111111111111111111111"
TOKEN = EVM_USDC["eip155:8453"]
OFFER = evm.offers(TOKEN, Price.of("0.001"), PAY_TO)[0]
KEY = PrivateKey(bytes(31) + b"\x07")
PAYER = evm.address_of(KEY.public_key)
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def signed(**fields: str) -> dict[str, Any]:
    """A payload signed over exactly these fields."""
    return signing.payload(KEY, OFFER, now=NOW, **fields)


def test_constants_are_those_of_the_chain() -> None:
    """Typehash and domain separators equal the values that the deployed contracts return."""
    assert evm.TRANSFER_TYPEHASH.hex() == "7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"
    separators = {
        network: evm.domain_separator(token.name, token.version, token.chain_id, token.address).hex()
        for network, token in EVM_USDC.items()
    }
    assert separators["eip155:8453"] == "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f"
    assert separators["eip155:84532"] == "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818"


def test_a_good_payment_passes() -> None:
    """Payer and replay key come out in lower case."""
    payload = signed()
    authorization = evm.check(OFFER, payload)
    assert authorization.payer == PAYER
    assert (
        authorization.payment_id == f"eip155:8453:{TOKEN.address.lower()}:{PAYER}:{payload['authorization']['nonce']}"
    )
    assert authorization.signature_checked
    assert authorization.window_refusal(NOW) is None


def test_other_spellings_are_the_same_payment() -> None:
    """Upper-case hex, v of 0 or 1 and checksummed addresses do not make another payment id."""
    payload = signed()
    other = copy.deepcopy(payload)
    fields = other["authorization"]
    fields["from"], fields["nonce"] = "0x" + fields["from"][2:].upper(), "0x" + fields["nonce"][2:].upper()
    v = int(other["signature"][-2:], 16) - 27
    other["signature"] = "0x" + other["signature"][2:-2].upper() + format(v, "02x")
    assert evm.check(OFFER, other).payment_id == evm.check(OFFER, payload).payment_id


def put(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(payload: dict[str, Any]) -> None:
        *parents, last = path
        for key in parents:
            payload = payload[key]
        payload[last] = value

    return change


def drop(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(payload: dict[str, Any]) -> None:
        *parents, last = path
        for key in parents:
            payload = payload[key]
        del payload[last]

    return change


def high_s(payload: dict[str, Any]) -> None:
    raw = bytes.fromhex(payload["signature"][2:])
    s = N - int.from_bytes(raw[32:64], "big")
    payload["signature"] = "0x" + raw[:32].hex() + s.to_bytes(32, "big").hex() + format(55 - raw[64], "02x")


MALFORMED = [
    "1_000",
    " 1000",
    "1000 ",
    "+1000",
    "01000",
    "1e3",
    "0x3e8",
    "",
    "-1",
    "１０００",
    "1000.0",
    str(1 << 256),
    "9" * 79,
    1000,
    None,
    True,
]
SIGNATURE, VALUE_MISMATCH = (
    "invalid_exact_evm_payload_signature",
    "invalid_exact_evm_payload_authorization_value_mismatch",
)
MUTATIONS: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("no signature", drop("signature"), "invalid_payload"),
    ("no authorization", drop("authorization"), "invalid_payload"),
    ("authorization is a list", put("authorization", value=[]), "invalid_payload"),
    *(
        (f"no {f}", drop("authorization", f), "invalid_payload")
        for f in ("from", "to", "value", "validAfter", "validBefore", "nonce")
    ),
    *((f"value {v!r}", put("authorization", "value", value=v), "invalid_payload") for v in MALFORMED),
    *((f"validBefore {v!r}", put("authorization", "validBefore", value=v), "invalid_payload") for v in MALFORMED),
    *((f"validAfter {v!r}", put("authorization", "validAfter", value=v), "invalid_payload") for v in MALFORMED),
    ("value above", put("authorization", "value", value="1001"), VALUE_MISMATCH),
    ("value below", put("authorization", "value", value="999"), VALUE_MISMATCH),
    (
        "other recipient",
        put("authorization", "to", value="0x" + "22" * 20),
        "invalid_exact_evm_payload_recipient_mismatch",
    ),
    ("recipient too short", put("authorization", "to", value="0x1111"), "invalid_payload"),
    ("other payer", put("authorization", "from", value="0x" + "22" * 20), SIGNATURE),
    ("payer without 0x", put("authorization", "from", value=PAYER[2:]), "invalid_payload"),
    ("other validAfter", put("authorization", "validAfter", value="1"), SIGNATURE),
    ("other validBefore", put("authorization", "validBefore", value=str(NOW + 61)), SIGNATURE),
    ("other nonce", put("authorization", "nonce", value="0x" + "00" * 32), SIGNATURE),
    ("nonce of 31 bytes", put("authorization", "nonce", value="0x" + "00" * 31), "invalid_payload"),
    ("nonce of 33 bytes", put("authorization", "nonce", value="0x" + "00" * 33), "invalid_payload"),
    ("nonce with a newline", put("authorization", "nonce", value="0x" + "00" * 32 + "\n"), "invalid_payload"),
    ("zero signature", put("signature", value="0x" + "00" * 65), SIGNATURE),
    ("signature of ones", put("signature", value="0x" + "ff" * 65), SIGNATURE),
    ("signature without 0x", put("signature", value="00" * 65), "invalid_payload"),
    ("empty signature", put("signature", value="0x"), "invalid_payload"),
    ("odd signature", put("signature", value="0x0"), "invalid_payload"),
    ("huge signature", put("signature", value="0x" + "00" * 5000), "invalid_payload"),
    ("high s", high_s, SIGNATURE),
    (
        "undeployed wallet",
        put("signature", value="0x" + "00" * 64 + "6492" * 16),
        "invalid_exact_evm_payload_undeployed_smart_wallet",
    ),
]


@each(("change", "reason"), [m[1:] for m in MUTATIONS], ids=[m[0] for m in MUTATIONS])
def test_every_property_set_wrong_alone_is_refused(change: Callable[[dict[str, Any]], None], reason: str) -> None:
    """Each with the reason of the specification."""
    payload = signed()
    change(payload)
    with pytest.raises(PaymentRefused) as refused:
        evm.check(OFFER, payload)
    assert refused.value.reason == reason


@each("v", [2, 26, 29, 255])
def test_a_recovery_id_that_the_token_refuses_is_refused(v: int) -> None:
    """USDC takes 27 and 28 only; 0 and 1 are the same two."""
    payload = signed()
    payload["signature"] = payload["signature"][:-2] + format(v, "02x")
    with pytest.raises(PaymentRefused, match="signature"):
        evm.check(OFFER, payload)


@each(
    ("field", "value"),
    [
        ("network", "eip155:1"),
        ("asset", "0x" + "33" * 20),
        ("extra", {**OFFER.extra, "name": "USDC"}),
        ("extra", {**OFFER.extra, "version": "1"}),
    ],
)
def test_the_signature_is_for_one_token_on_one_chain(field: str, value: Any) -> None:
    """The same authorization presented for another chain, token or domain does not verify."""
    with pytest.raises(PaymentRefused, match="signature"):
        evm.check(msgspec.structs.replace(OFFER, **{field: value}), signed())


@each(
    ("fields", "refusal"),
    [
        ({"validAfter": str(NOW - 1)}, None),
        ({"validAfter": str(NOW)}, "valid_after"),
        ({"validAfter": str(NOW + 3600)}, "valid_after"),
        ({"validBefore": str(NOW - 1)}, "valid_before"),
        ({"validBefore": str(NOW + 5)}, "valid_before"),
        ({"validBefore": str(NOW + 6)}, None),
        ({"validBefore": str(NOW + 360)}, None),
        ({"validBefore": str(NOW + 361)}, "valid_before"),
        ({"validBefore": str((1 << 256) - 1)}, "valid_before"),
    ],
)
def test_the_window_is_exact_to_the_second(fields: dict[str, str], refusal: str | None) -> None:
    """Started already, ending late enough to settle, and not so late that its replay key had to be kept for ever."""
    found = evm.check(OFFER, signed(**fields)).window_refusal(NOW)
    assert found == (refusal and f"invalid_exact_evm_payload_authorization_{refusal}")


def test_none_is_claimed_that_may_have_been_refused() -> None:
    """It may be claimed until the second begins in which the last check lets it pass."""
    authorization = evm.check(OFFER, signed(validBefore=str(NOW + 60)))
    at, reason = authorization.last_claim()
    assert [authorization.window_refusal(now) for now in (at, at + 1)] == [None, reason]


def test_a_contract_wallets_signature_is_left_to_the_chain() -> None:
    """A signature that is not 65 bytes cannot be judged offline, and says so."""
    payload = signed()
    payload["signature"] = "0x" + "ab" * 96
    assert not evm.check(OFFER, payload).signature_checked


@each(
    ("changes", "same"),
    [
        ({"asset": OFFER.asset.lower(), "pay_to": OFFER.pay_to.upper().replace("0X", "0x")}, True),
        ({"network": "eip155:08453"}, False),
        ({"amount": "01000"}, False),
    ],
)
def test_only_addresses_may_be_respelled(changes: dict[str, Any], same: bool) -> None:
    """In any case of their letters."""
    assert evm.matches(OFFER, msgspec.structs.replace(OFFER, **changes)) is same


@each("amount", [text for text in MALFORMED if isinstance(text, str) and len(text) < 78])
def test_an_amount_of_another_form_is_not_payable(amount: str) -> None:
    """A facilitator is handed anybody's offers."""
    assert evm.is_payable(OFFER)
    assert not evm.is_payable(msgspec.structs.replace(OFFER, amount=amount))


@each("pay_to", ["", "garbage", "0x" + "11" * 19, "11" * 20, "0x" + "11" * 20 + "\n"])
def test_a_recipient_of_another_form_is_not_payable(pay_to: str) -> None:
    """Nor one that is too short, or has a line end."""
    assert not evm.is_payable(msgspec.structs.replace(OFFER, pay_to=pay_to))
