"""The static verifier of the Stellar rail: a good payment passes, and every property of it, set wrong alone, is refused."""

import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from stellar_sdk import Address, Asset, Keypair, MuxedAccount, scval, xdr
from stellar_sdk.auth import authorize_entry
from stellar_sdk.operation import BumpSequence, Payment

from shared.money import ExcessPrecision, Price
from shared.x402 import stellar
from shared.x402.authorization import KnownLedger
from shared.x402.networks import STELLAR_USDC, StellarToken
from shared.x402.refusal import PaymentRefused
from tests import stellar_signing as signing
from tests.each import each

TOKEN = STELLAR_USDC["stellar:pubnet"]
PASSPHRASE = TOKEN.passphrase
KEY, OTHER, SHOP = (Keypair.from_raw_ed25519_seed(bytes(31) + bytes([number])) for number in (7, 8, 9))
PAY_TO, PAYER = SHOP.public_key, KEY.public_key
OFFER = stellar.offers(TOKEN, Price.of("0.001"), PAY_TO)[0]
LEDGER = 60_000_000
EXPIRATION = LEDGER + 12
NONCE = -5_000_000_000_000_000_000
CUSTOMER = MuxedAccount(PAYER, 77).account_muxed
CONTRACT_WALLET = "CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA"
EMPTY_SIGNERS = scval.to_vec([])

Edit = Callable[[xdr.TransactionV1Envelope], None]


def signed(**how: Any) -> dict[str, Any]:
    """A payload signed over exactly these values."""
    return signing.payload(KEY, OFFER, **{"expiration": EXPIRATION, "nonce": NONCE, **how})


def reason(payload: dict[str, Any], offer: Any = OFFER) -> str:
    """Why it is refused."""
    with pytest.raises(PaymentRefused) as refused:
        stellar.check(offer, payload)
    return refused.value.reason


def operation(envelope: xdr.TransactionV1Envelope) -> Any:
    return envelope.tx.operations[0].body.invoke_host_function_op


def call(envelope: xdr.TransactionV1Envelope) -> Any:
    return operation(envelope).host_function.invoke_contract


def entry(envelope: xdr.TransactionV1Envelope) -> Any:
    return operation(envelope).auth[0]


def credentials(envelope: xdr.TransactionV1Envelope) -> Any:
    held = entry(envelope).credentials
    return held.address or held.address_v2


def signature_fields(envelope: xdr.TransactionV1Envelope) -> Any:
    return credentials(envelope).signature.vec.sc_vec[0].map.sc_map


def resigned(change: Callable[[Any, Any], None], *, key: Keypair = KEY) -> Edit:
    """Change the call and what is allowed of it, and sign that anew: only the property itself is wrong."""

    def edit(envelope: xdr.TransactionV1Envelope) -> None:
        allowed = entry(envelope).root_invocation.function.contract_fn
        change(call(envelope), allowed)
        operation(envelope).auth[0] = authorize_entry(entry(envelope), key, EXPIRATION, PASSPHRASE)

    return edit


def both(name: str, value: Any) -> Edit:
    """One member of the call, in both places."""

    def change(*calls: Any) -> None:
        for one in calls:
            setattr(one, name, value)

    return resigned(change)


def argument(index: int, value: xdr.SCVal) -> Edit:
    """One argument of the call, in both places."""

    def change(*calls: Any) -> None:
        for one in calls:
            one.args[index] = value

    return resigned(change)


def allowed(change: Callable[[Any], None]) -> Edit:
    """What is allowed differs from what is called, and is well signed."""
    return resigned(lambda _, of_entry: change(of_entry))


def beneath(envelope: xdr.TransactionV1Envelope) -> None:
    """A second transfer that the payer's signature allows as well."""
    root = entry(envelope).root_invocation
    args = [scval.to_address(PAYER), scval.to_address(OTHER.public_key), scval.to_int128(10**10)]
    root.sub_invocations.append(signing.invocation(signing.transfer(OFFER.asset, args)))
    operation(envelope).auth[0] = authorize_entry(entry(envelope), KEY, EXPIRATION, PASSPHRASE)


def more_auth(address: Keypair, *, sign: bool) -> Edit:
    def edit(envelope: xdr.TransactionV1Envelope) -> None:
        more = signing.unsigned(address.public_key, entry(envelope).root_invocation, 1)
        if sign:
            more = authorize_entry(more, address, EXPIRATION, PASSPHRASE)
        operation(envelope).auth.append(more)

    return edit


def by_another(envelope: xdr.TransactionV1Envelope) -> None:
    """Signed in the name of another account than the one that pays."""
    other = signing.unsigned(OTHER.public_key, entry(envelope).root_invocation, NONCE)
    operation(envelope).auth[0] = authorize_entry(other, OTHER, EXPIRATION, PASSPHRASE)


def as_source(envelope: xdr.TransactionV1Envelope) -> None:
    entry(envelope).credentials = xdr.SorobanCredentials(xdr.SorobanCredentialsType.SOROBAN_CREDENTIALS_SOURCE_ACCOUNT)


def delegates(envelope: xdr.TransactionV1Envelope) -> None:
    kind = xdr.SorobanCredentialsType.SOROBAN_CREDENTIALS_ADDRESS_WITH_DELEGATES
    held = xdr.SorobanAddressCredentialsWithDelegates(credentials(envelope), [])
    entry(envelope).credentials = xdr.SorobanCredentials(kind, address_with_delegates=held)


def relabelled(envelope: xdr.TransactionV1Envelope) -> None:
    """A signature of the older kind presented as one of the newer."""
    kind = xdr.SorobanCredentialsType.SOROBAN_CREDENTIALS_ADDRESS_V2
    entry(envelope).credentials = xdr.SorobanCredentials(kind, address_v2=credentials(envelope))


def classic(envelope: xdr.TransactionV1Envelope) -> None:
    envelope.tx.operations = [Payment(PAY_TO, Asset.native(), "10").to_xdr_object()]


def twice(envelope: xdr.TransactionV1Envelope) -> None:
    envelope.tx.operations *= 2


def one_more(envelope: xdr.TransactionV1Envelope) -> None:
    envelope.tx.operations.append(BumpSequence(5).to_xdr_object())


def none(envelope: xdr.TransactionV1Envelope) -> None:
    envelope.tx.operations = []


def upload(envelope: xdr.TransactionV1Envelope) -> None:
    kind = xdr.HostFunctionType.HOST_FUNCTION_TYPE_UPLOAD_CONTRACT_WASM
    operation(envelope).host_function = xdr.HostFunction(kind, wasm=b"\0asm")


def without_data(envelope: xdr.TransactionV1Envelope) -> None:
    envelope.tx.ext = xdr.TransactionExt(0)


def put(target: Callable[[Any], Any], name: str, value: Any) -> Edit:
    return lambda envelope: setattr(target(envelope), name, value)


def in_signature(index: int, value: xdr.SCVal) -> Edit:
    return lambda envelope: setattr(signature_fields(envelope)[index], "val", value)


def key_name(envelope: xdr.TransactionV1Envelope) -> None:
    signature_fields(envelope)[0].key = scval.to_symbol("publickey")


def swapped(envelope: xdr.TransactionV1Envelope) -> None:
    signature_fields(envelope).reverse()


def flipped(bit: int) -> Edit:
    def edit(envelope: xdr.TransactionV1Envelope) -> None:
        held = signature_fields(envelope)[1].val.bytes
        changed = bytearray(held.sc_bytes)
        changed[bit // 8] ^= 1 << bit % 8
        held.sc_bytes = bytes(changed)

    return edit


def high_s(envelope: xdr.TransactionV1Envelope) -> None:
    """The other number that the same equation has: S + L."""
    held = signature_fields(envelope)[1].val.bytes
    order = (1 << 252) + 27742317777372353535851937790883648493
    s = int.from_bytes(held.sc_bytes[32:], "little") + order
    held.sc_bytes = held.sc_bytes[:32] + s.to_bytes(32, "little")


def two_signers(envelope: xdr.TransactionV1Envelope) -> None:
    held = credentials(envelope).signature.vec.sc_vec
    held.append(held[0])


P = "invalid_exact_stellar_payload_"
PROPERTIES: list[tuple[str, Edit, str]] = [
    ("two operations", twice, "wrong_operation"),
    ("a second operation of another kind", one_more, "wrong_operation"),
    ("no operation", none, "wrong_operation"),
    ("a classic payment of XLM", classic, "wrong_operation"),
    ("another host function", upload, "wrong_operation"),
    (
        "an operation source",
        lambda e: setattr(e.tx.operations[0], "source_account", MuxedAccount(OTHER.public_key).to_xdr_object()),
        "unsafe_tx_or_op_source",
    ),
    ("another contract", both("contract_address", Address(CONTRACT_WALLET).to_xdr_sc_address()), "wrong_asset"),
    ("another function", both("function_name", scval.to_symbol("transfer_from").sym), "wrong_function_name"),
    ("four arguments", resigned(lambda *calls: [c.args.append(scval.to_void()) for c in calls]), "wrong_function_name"),
    ("two arguments", resigned(lambda *calls: [c.args.pop() for c in calls]), "wrong_function_name"),
    ("another recipient", argument(1, scval.to_address(OTHER.public_key)), "wrong_recipient"),
    (
        "a customer of the recipient",
        argument(1, scval.to_address(MuxedAccount(PAY_TO, 1).account_muxed)),
        "wrong_recipient",
    ),
    ("one unit less", argument(2, scval.to_int128(9_999)), "wrong_amount"),
    ("one unit more", argument(2, scval.to_int128(10_001)), "wrong_amount"),
    ("a negative amount", argument(2, scval.to_int128(-10_000)), "wrong_amount"),
    ("2^64 more", argument(2, scval.to_int128((1 << 64) + 10_000)), "wrong_amount"),
    ("the amount as u128", argument(2, scval.to_uint128(10_000)), "wrong_amount"),
    ("the payer as text", argument(0, scval.to_string(PAYER)), "malformed"),
    ("another payer", argument(0, scval.to_address(OTHER.public_key)), "missing_payer_signature"),
    ("a contract that pays", argument(0, scval.to_address(CONTRACT_WALLET)), "unsupported_payer"),
    ("no entries", lambda e: operation(e).auth.clear(), "no_auth_entries"),
    ("the source's credentials", as_source, "unsupported_credential_type"),
    ("credentials with delegates", delegates, "unsupported_credential_type"),
    ("a call beneath", beneath, "has_subinvocations"),
    (
        "allowed: another contract",
        allowed(lambda c: setattr(c, "contract_address", Address(CONTRACT_WALLET).to_xdr_sc_address())),
        "wrong_invocation",
    ),
    ("allowed: another amount", allowed(lambda c: c.args.__setitem__(2, scval.to_int128(10**9))), "wrong_invocation"),
    ("not signed", lambda e: setattr(credentials(e), "signature", scval.to_void()), "missing_payer_signature"),
    ("signed by another account alone", by_another, "missing_payer_signature"),
    ("one more to be signed", more_auth(OTHER, sign=False), "unexpected_pending_signatures"),
    ("one more that is signed", more_auth(OTHER, sign=True), "unexpected_auth_entries"),
    ("the payer's entry twice", more_auth(KEY, sign=True), "unexpected_auth_entries"),
    ("another nonce", lambda e: setattr(credentials(e), "nonce", xdr.Int64(1)), "signature"),
    (
        "a later expiration",
        lambda e: setattr(credentials(e), "signature_expiration_ledger", xdr.Uint32(EXPIRATION + 1)),
        "signature",
    ),
    ("the older signature as the newer", relabelled, "signature"),
    ("another key in the signature", in_signature(0, scval.to_bytes(OTHER.raw_public_key())), "signature"),
    ("a key of 31 bytes", in_signature(0, scval.to_bytes(KEY.raw_public_key()[:31])), "signature"),
    ("a signature of 63 bytes", in_signature(1, scval.to_bytes(bytes(63))), "signature"),
    ("a zero signature", in_signature(1, scval.to_bytes(bytes(64))), "signature"),
    ("a bit of R", flipped(3), "signature"),
    ("S beyond the order", high_s, "signature"),
    ("another name in the signature", key_name, "signature"),
    ("the signature's fields in another order", swapped, "signature"),
    ("a signature twice", two_signers, "signature"),
    ("no signer in the signature", lambda e: setattr(credentials(e), "signature", EMPTY_SIGNERS), "signature"),
    ("an absent list", lambda e: setattr(credentials(e).signature, "vec", None), "signature"),
    ("no Soroban data", without_data, "malformed"),
]


@each(("edit", "why"), [row[1:] for row in PROPERTIES], ids=[row[0] for row in PROPERTIES])
def test_every_property_set_wrong_alone_is_refused(edit: Edit, why: str) -> None:
    """P34, P35, P6: each with the reason of the specification, by either kind of credentials where that matters."""
    assert reason(signed(edit=edit)) == P + why


@pytest.mark.parametrize("kind", [signing.LEGACY, signing.V2], ids=["legacy", "v2"])
def test_a_good_payment_passes(kind: Any) -> None:
    """By the credentials that Soroban began with, and by those of CAP-71, which newer clients send."""
    checked = stellar.check(OFFER, signed(credentials=kind))
    assert checked.payment_id == f"stellar:pubnet:{TOKEN.contract}:{PAYER}:{NONCE}"
    assert (checked.payer, checked.value, checked.expiration_ledger) == (PAYER, 10_000, EXPIRATION)
    assert (checked.source, checked.fee, len(checked.signature)) == (signing.NOBODY, 30_100, 64)
    assert checked.signature_checked


def test_seven_decimals() -> None:
    """P7: a tenth of a cent is ten thousand units, and what has an eighth decimal cannot be offered."""
    assert OFFER.amount == "10000"
    assert OFFER.extra == {"areFeesSponsored": True, "paymentFlow": "upfront"}
    with pytest.raises(ExcessPrecision):
        stellar.offers(TOKEN, Price.of("0.00000001"), PAY_TO)


def test_only_the_call_and_its_nonce_make_the_payment() -> None:
    """Whatever the unsigned envelope says beside them, it is the same payment: fee, source, memo, time and its signatures."""

    def dressed_up(envelope: xdr.TransactionV1Envelope) -> None:
        envelope.tx.fee = xdr.Uint32(77)
        envelope.tx.source_account = MuxedAccount(OTHER.public_key, 3).to_xdr_object()
        envelope.tx.memo = xdr.Memo(xdr.MemoType.MEMO_TEXT, text=b"thanks")
        envelope.tx.cond = xdr.Preconditions(xdr.PreconditionType.PRECOND_NONE)
        envelope.tx.seq_num = xdr.SequenceNumber(xdr.Int64(9))
        envelope.signatures.append(OTHER.sign_decorated(bytes(32)).to_xdr_object())

    plain, dressed = stellar.check(OFFER, signed()), stellar.check(OFFER, signed(edit=dressed_up))
    assert (plain.payment_id, plain.signature) == (dressed.payment_id, dressed.signature)
    assert (dressed.source, dressed.fee) == (OTHER.public_key, 77)


def test_a_multiplexed_payer_is_its_account() -> None:
    """M… is a name that an account gives a customer: limits and payment ids are the account's."""
    checked = stellar.check(OFFER, signed(edit=argument(0, scval.to_address(CUSTOMER))))
    assert checked.payer == PAYER
    assert checked.payment_id == stellar.check(OFFER, signed()).payment_id


@pytest.mark.parametrize("pay_to", [PAY_TO, CONTRACT_WALLET, MuxedAccount(PAY_TO, 1 << 63).account_muxed])
def test_every_kind_of_recipient(pay_to: str) -> None:
    """An account, a contract and a multiplexed account, each to the letter."""
    offer = msgspec.structs.replace(OFFER, pay_to=pay_to)
    assert stellar.is_payable(offer)
    assert stellar.check(offer, signing.payload(KEY, offer, expiration=EXPIRATION)).pay_to == pay_to
    if pay_to != PAY_TO:
        assert reason(signed(), offer) == P + "wrong_recipient"


@each(
    ("changes", "why"),
    [
        ({"network": "stellar:testnet"}, "signature"),
        ({"asset": CONTRACT_WALLET}, "wrong_asset"),
        ({"pay_to": OTHER.public_key}, "wrong_recipient"),
        ({"amount": "10001"}, "wrong_amount"),
    ],
)
def test_the_signature_is_for_one_offer_on_one_network(changes: dict[str, str], why: str) -> None:
    """P8: the same payment presented for another network, token, recipient or price."""
    assert reason(signed(), msgspec.structs.replace(OFFER, **changes)) == P + why


GOOD = signed()["transaction"]


@each(
    "payload",
    [
        {},
        {"transaction": None},
        {"transaction": 5},
        {"transaction": [GOOD]},
        {"transaction": ""},
        {"transaction": "AAAA"},
        {"transaction": GOOD[:-4]},
        {"transaction": GOOD + "AAAA"},
        {"transaction": GOOD + "\n"},
        {"transaction": " " + GOOD},
        {"transaction": GOOD.rstrip("=") + "==="},
        {"transaction": GOOD.replace("A", "-", 1)},
        {"transaction": GOOD[:8] + "\n" + GOOD[8:]},
        {"transaction": GOOD[:40] + "é" + GOOD[41:]},
        {"transaction": "A" * 20_000_000},
        {"transaction": base64.b64encode(b"\0\0\0\5" + base64.b64decode(GOOD)[4:]).decode()},
        {"transaction": base64.b64encode(b"\0\0\0\0" + base64.b64decode(GOOD)[4:]).decode()},
        {"signature": "0x00", "authorization": {}},
    ],
)
def test_what_is_no_envelope_is_malformed(payload: dict[str, Any]) -> None:
    """Other types, other spellings of base64, too short, too long, another kind of envelope."""
    assert reason(payload) == P + "malformed"


@each(
    ("expiration", "ledger", "refusal"),
    [
        (EXPIRATION, None, None),
        (EXPIRATION, LEDGER, None),
        (EXPIRATION, EXPIRATION - 1, None),
        (EXPIRATION, EXPIRATION, "expired"),
        (EXPIRATION, EXPIRATION + 9, "expired"),
        (LEDGER + 35, LEDGER, None),
        (LEDGER + 36, LEDGER, "expiration_too_far"),
        ((1 << 32) - 1, LEDGER, "expiration_too_far"),
        ((1 << 32) - 1, None, None),
    ],
)
def test_the_window_by_hearsay(expiration: int, ledger: int | None, refusal: str | None) -> None:
    """What has surely passed is refused, and what is beyond the offered time on the fastest network that there may be."""
    checked = stellar.check(OFFER, signed(expiration=expiration))
    known = None if ledger is None else KnownLedger(ledger)
    assert checked.window_refusal(0, known) == (refusal and f"invalid_exact_stellar_signature_{refusal}")


@each("is_seen", [True, False])
@each("ledger_s", [1.0, 2.0, 2.5, 5.0, 5.8])
@each("age_s", [0, 1, 5, 9, 10, 20, 30])
def test_a_buyer_who_knows_the_newest_ledger_is_not_refused(age_s: float, ledger_s: float, is_seen: bool) -> None:
    """However old the reported ledger is, and however fast the network: ours closes a ledger a second."""
    behind = int((age_s + stellar.REPORTED_AFTER_S) / ledger_s)
    lasts = stellar.lifetime(OFFER.max_timeout_seconds, stellar.within_bounds(ledger_s))
    checked = stellar.check(OFFER, signed(expiration=LEDGER + behind + lasts))
    known = KnownLedger(LEDGER, age_s, ledger_s if is_seen else None)
    assert checked.window_refusal(0, known) is None


def test_what_a_slow_network_is_known_for_bounds_a_payment() -> None:
    """Twelve ledgers in a minute, two that nodes may differ by, and three that may have been closed in thirteen seconds."""
    known = KnownLedger(LEDGER, 10.0, 5.0)
    for after, refusal in ((17, None), (18, stellar.EXPIRED.replace("expired", "expiration_too_far"))):
        assert stellar.check(OFFER, signed(expiration=LEDGER + after)).window_refusal(0, known) == refusal


@each(
    ("after", "ledger_s", "refusal"),
    [
        (0, 5, "expired"),
        (1, 5, None),
        (14, 5, None),
        (15, 5, "expiration_too_far"),
        (26, 2.5, None),
        (27, 2.5, "expiration_too_far"),
    ],
)
def test_the_window_is_exact_to_the_ledger(after: int, ledger_s: float, refusal: str | None) -> None:
    """P34: as many ledgers as sixty seconds are, and the two that nodes may differ by."""
    checked = stellar.check(OFFER, signed(expiration=LEDGER + after))
    assert checked.ledger_refusal(LEDGER, ledger_s) == (refusal and f"invalid_exact_stellar_signature_{refusal}")


def test_it_is_over_when_its_last_ledger_must_have_passed() -> None:
    """However slow the ledgers are."""
    assert stellar.check(OFFER, signed()).expires(1_000) == 1_000 + 72 * 10


@each(
    "changes",
    [
        {"network": "stellar:testnet"},
        {"amount": "010000"},
        {"asset": TOKEN.contract.lower()},
        {"pay_to": PAY_TO.lower()},
        {"pay_to": MuxedAccount(PAY_TO, 0).account_muxed},
        {"extra": {**OFFER.extra, "areFeesSponsored": False}},
    ],
)
def test_an_offer_has_one_spelling(changes: dict[str, Any]) -> None:
    """Of its addresses and of its amount."""
    assert not stellar.matches(OFFER, msgspec.structs.replace(OFFER, **changes))


NOT_PAYABLE: list[dict[str, Any]] = [
    *(
        {"amount": text}
        for text in ("", "0", "-1", "+1", " 1", "1 ", "01", "1_0", "1e3", "1.0", "１", "9" * 39, "9" * 5000)
    ),
    *({"pay_to": text} for text in ("", PAY_TO.lower(), PAY_TO[:-1], PAY_TO + "A", PAY_TO[:-1] + "A", KEY.secret)),
    *({"asset": text} for text in ("", "native", "XLM", PAY_TO, TOKEN.contract[:-1] + "A")),
    *({"network": text} for text in ("stellar:futurenet", "stellar", "", "eip155:8453")),
    *({"max_timeout_seconds": seconds} for seconds in (0, -1, 601)),
    *(
        {"extra": extra}
        for extra in ({}, {"areFeesSponsored": False}, {"areFeesSponsored": 1}, {"areFeesSponsored": "true"})
    ),
]


@each("changes", NOT_PAYABLE)
def test_an_offer_of_another_form_is_not_payable(changes: dict[str, Any]) -> None:
    """P6, P35: a facilitator is handed anybody's offers."""
    assert stellar.is_payable(OFFER)
    assert not stellar.is_payable(msgspec.structs.replace(OFFER, **changes))


@pytest.mark.parametrize("token", STELLAR_USDC.values(), ids=STELLAR_USDC)
def test_the_contract_is_that_of_the_issuers_asset(token: StellarToken) -> None:
    """It follows from code, issuer and network, so a wrong issuer would give another contract."""
    assert Asset("USDC", token.issuer).contract_id(token.passphrase) == token.contract
