"""The static verifier of the XRPL rail: good payments of both kinds of client pass, and every property set wrong is refused."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xrpl.core.binarycodec import decode, encode
from xrpl.models.transactions import Transaction
from xrpl.wallet import Wallet

from shared.money import ExcessPrecision, Price
from shared.x402 import xrpl
from shared.x402.authorization import KnownLedger
from shared.x402.networks import XrplToken
from shared.x402.refusal import PaymentRefused
from tests import xrpl_signing as signing
from tests.each import each
from tests.xrpl_signing import INVOICE, RLUSD, USDC, amount, memo

PREFIX = "invalid_exact_xrpl_payload_"
PAYER = Wallet.from_seed("sEdTM1uX8pu2do5XvTnutH6HsouMaM2")
OLDER = Wallet.from_seed("snoPBrXtMeMyMHUVTgbuqAfg1SUTb")
PAY_TO = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
OFFER = signing.offer("rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe")
OTHER = "r3kmLJN5D28dHuH8vZNUZpMC43pEHpaocV"
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def refusal(payload: Any, offer: Any = OFFER) -> str:
    with pytest.raises(PaymentRefused) as caught:
        xrpl.check(offer, payload)
    return caught.value.reason


@each("payer", [PAYER, OLDER], ids=["ed25519", "secp256k1"])
@each("make", [signing.payload, signing.t54_payload], ids=["foundation", "t54"])
@each("token", [RLUSD, USDC], ids=["RLUSD", "USDC"])
def test_a_good_payment_passes(payer: Wallet, make: Callable[..., Any], token: XrplToken) -> None:
    """In both dialects, with both kinds of key; hash and payer are those that xrpl-py finds."""
    offer = signing.offer(OFFER.pay_to, token=token)
    payload = make(payer, offer)
    payment = xrpl.check(offer, payload)
    transaction = Transaction.from_blob(payload["signedTxBlob"]).get_hash()
    assert payment.payer == payer.address
    assert payment.payment_id == f"xrpl:0:{payer.address}:114:{transaction}"
    assert (payment.transaction, payment.blob) == (transaction, payload["signedTxBlob"])
    assert payment.signature.hex().upper() == decode(payload["signedTxBlob"])["TxnSignature"]
    assert (payment.value, payment.send_max, payment.fee) == (Decimal("0.001"), Decimal("0.001"), 10)
    assert (payment.sequence, payment.ticket, payment.signature_checked) == (7, 0, True)


# What PyPI x402-xrpl 0.3.4 (t54) signs with PAYER's seed for OFFER, at ledger 95266517 and sequence 95266518.
T54_BLOB = (
    "1200002405ADA6D6201B05ADA6E350110EADC0C56C016C84CE1392D6CAE337B92C94695ABF3B75E82541FA715CEEE25A61D3C38D7EA4C68000524C"
    "555344000000000000000000000000000000E5E961C6A025C9404AA7B662DD1DF975BE75D13E68400000000000000A69D3C38D7EA4C68000524C55"
    "5344000000000000000000000000000000E5E961C6A025C9404AA7B662DD1DF975BE75D13E7321EDA57EBBCB502C2009EFE17229E8DC865DCCB192"
    "C52D7888D624DC9EBADDB815F07440B9342BC79B072EB144EE54C7D1A80927432566D81A618E03AC7EB1EEB3A10DD026763DA73F3E030CC6DED570"
    "D1B5F280A6C9900FBCA8DD215D4C48FB0A356F018114A6070B8A1822E3322676A99F0C804EE2D15B82708314F667B0CA50CC7709A220B0561B85E5"
    "3A48461FA8F9EA7D1776312E3967547157302D6578616D706C655F746F6B656EE1F1"
)


def test_what_t54s_own_client_signs_passes() -> None:
    """P32: golden, with the ledgers that it counted."""
    payment = xrpl.check(OFFER, {"signedTxBlob": T54_BLOB, "invoiceId": INVOICE})
    assert (payment.payer, payment.sequence, payment.last_ledger) == (PAYER.address, 95266518, 95266517 + 14)
    assert payment.ledger_refusal(95266517) is None


def test_other_spellings_are_the_same_payment() -> None:
    """Lower-case hex is another text of the same bytes."""
    payload = signing.payload(PAYER, OFFER)
    lower = {"signedTxBlob": payload["signedTxBlob"].lower()}
    assert xrpl.check(OFFER, lower) == xrpl.check(OFFER, payload)


def test_what_is_offered() -> None:
    """Issuer, sponsorship and flow; the value is decimal text, and the binding is not in it yet."""
    [offer] = xrpl.offers(USDC, Price.of("0.0010"), PAY_TO)
    assert (offer.amount, offer.asset, offer.network) == ("0.001", "5553444300000000000000000000000000000000", "xrpl:0")
    issuer = "rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE"
    assert offer.extra == {"issuer": issuer, "areFeesSponsored": False, "paymentFlow": "upfront"}
    assert xrpl.is_payable(offer)
    with pytest.raises(ExcessPrecision):
        xrpl.offers(USDC, Price.of("1.123456789012345678"), PAY_TO)


# One property at a time. Each row is signed again over what it changes, so that nothing else is wrong.
FIELDS: list[tuple[str, dict[str, Any], str]] = [
    ("P29 partial payment", {"Flags": 0x00020000}, "partial_payment_not_allowed"),
    ("P29 partial, canonical", {"Flags": 0x80020000}, "partial_payment_not_allowed"),
    ("P29 no direct path", {"Flags": 0x00010000}, "flags_not_allowed"),
    ("P29 limit quality", {"Flags": 0x00040000}, "flags_not_allowed"),
    ("P29 inner batch", {"Flags": 0x40000000}, "flags_not_allowed"),
    ("P29 paths", {"Paths": [[{"account": OTHER}]]}, "paths_not_allowed"),
    ("P29 deliver min", {"DeliverMin": amount("0.0001")}, "delivermin_not_allowed"),
    ("P29 delegate", {"Delegate": OTHER}, "delegate_not_allowed"),
    ("P29 account txn id", {"AccountTxnID": "AB" * 32}, "field_not_allowed"),
    ("P29 domain", {"DomainID": "AB" * 32}, "field_not_allowed"),
    ("P29 credentials", {"CredentialIDs": ["AB" * 32]}, "field_not_allowed"),
    ("P29 sponsor", {"Sponsor": OTHER}, "field_not_allowed"),
    ("P29 operation limit", {"OperationLimit": 1}, "field_not_allowed"),
    ("P29 no SendMax", {"SendMax": None}, "sendmax_required"),
    ("P29 SendMax in XRP", {"SendMax": "1000000"}, "sendmax_required"),
    ("P29 SendMax of other issuer", {"SendMax": {**amount("0.001"), "issuer": OTHER}}, "sendmax_iou_mismatch"),
    ("P29 SendMax of other token", {"SendMax": amount("0.001", USDC)}, "sendmax_iou_mismatch"),
    ("P29 SendMax too low", {"SendMax": amount("0.0009")}, "sendmax_too_low"),
    ("P30 other issuer", {"Amount": {**amount("0.001"), "issuer": OTHER}}, "iou_issuer_mismatch"),
    ("P30 other token", {"Amount": amount("0.001", USDC)}, "iou_currency_mismatch"),
    ("P30 three letters", {"Amount": {**amount("0.001"), "currency": "USD"}}, "iou_currency_mismatch"),
    ("P35 native XRP", {"Amount": "1000"}, "iou_amount"),
    ("P35 native XRP without SendMax", {"Amount": "1000", "SendMax": None}, "iou_amount"),
    ("no amount", {"Amount": None}, "iou_amount"),
    ("P6 underpaid", {"Amount": amount("0.0009999999999999")}, "iou_value_mismatch"),
    ("P6 overpaid", {"Amount": amount("0.001000000000000001")}, "iou_value_mismatch"),
    ("P6 a thousand times", {"Amount": amount("1"), "SendMax": amount("1")}, "iou_value_mismatch"),
    ("P6 nothing", {"Amount": amount("0")}, "transaction_could_not_be_decoded"),
    ("P6 negative", {"Amount": amount("-0.001")}, "transaction_could_not_be_decoded"),
    ("P31 no last ledger", {"LastLedgerSequence": None}, "lastledgersequence_missing"),
    ("P31 last ledger zero", {"LastLedgerSequence": 0}, "lastledgersequence_missing"),
    ("P31 sequence and ticket", {"TicketSequence": 5}, "sequence_must_be_zero"),
    ("P31 ticket zero", {"Sequence": 0, "TicketSequence": 0}, "sequence_must_be_zero"),
    ("P31 no sequence", {"Sequence": None}, "sequence_missing"),
    ("P31 sequence zero", {"Sequence": 0}, "sequence_missing"),
    ("P32 a tag that was not offered", {"DestinationTag": 1}, "destination_tag_mismatch"),
    ("P32 a source tag that was not offered", {"SourceTag": 804681468}, "source_tag_mismatch"),
    ("P33 network 0", {"NetworkID": 0}, "network_id_for_standard_network"),
    ("P33 network 1", {"NetworkID": 1}, "network_id_for_standard_network"),
    ("P33 network 1025", {"NetworkID": 1025}, "network_id_for_standard_network"),
    ("no invoice", {"InvoiceID": None}, "invoice_missing"),
    ("other invoice", {"InvoiceID": "00" * 32}, "invoice_id_mismatch"),
    ("other memo", {"Memos": [memo("other")]}, "memos_not_allowed"),
    ("two memos", {"Memos": [memo(INVOICE), memo("other")]}, "memos_not_allowed"),
    ("the memo twice", {"Memos": [memo(INVOICE), memo(INVOICE)]}, "memos_not_allowed"),
    ("three memos", {"Memos": [memo(INVOICE)] * 3}, "transaction_could_not_be_decoded"),
    ("a typed memo", {"Memos": [memo(INVOICE, MemoType="AB")]}, "memos_not_allowed"),
    ("a memo with a format", {"Memos": [memo(INVOICE, MemoFormat="AB")]}, "memos_not_allowed"),
    ("empty memos", {"Memos": []}, "memos_not_allowed"),
    ("other recipient", {"Destination": OTHER}, "destination_mismatch"),
    ("to itself", {"Destination": PAYER.address}, "destination_mismatch"),
    ("another type", {"TransactionType": "CheckCreate", "Amount": None}, "transaction_type"),
    ("a fee of nothing", {"Fee": "0"}, "fee_missing"),
    ("P6 a fee beyond reason", {"Fee": "10001"}, "fee_too_high"),
    ("no fee", {"Fee": None}, "fee_missing"),
    ("a fee in a token", {"Fee": amount("0.00001")}, "fee_missing"),
]


@each(("changes", "reason"), [row[1:] for row in FIELDS], ids=[row[0] for row in FIELDS])
def test_every_field_set_wrong_alone_is_refused(changes: dict[str, Any], reason: str) -> None:
    """Well signed, and not what was offered."""
    assert refusal(signing.payload(PAYER, OFFER, **changes)) == PREFIX + reason


def _edited(**changes: Any) -> str:
    """The good payment with fields changed after it was signed."""
    fields = decode(signing.payload(PAYER, OFFER)["signedTxBlob"])
    return encode({name: value for name, value in (fields | changes).items() if value is not None})


def _multisigned() -> str:
    signer = {"Account": OTHER, "SigningPubKey": PAYER.public_key, "TxnSignature": "AB" * 64}
    return encode({**signing.transaction(PAYER, OFFER), "SigningPubKey": "", "Signers": [{"Signer": signer}]})


def _high_s() -> str:
    raw = bytes.fromhex(decode(signing.payload(OLDER, OFFER)["signedTxBlob"])["TxnSignature"])
    r, s = raw[4 : 4 + raw[3]], int.from_bytes(raw[6 + raw[3] :], "big")
    high = (N - s).to_bytes(33, "big").lstrip(b"\0")
    high = b"\0" * (high[0] >> 7) + high
    content = b"\x02" + bytes([len(r)]) + r + b"\x02" + bytes([len(high)]) + high
    fields = decode(signing.payload(OLDER, OFFER)["signedTxBlob"])
    return encode({**fields, "TxnSignature": (b"\x30" + bytes([len(content)]) + content).hex().upper()})


def _padded_r() -> str:
    fields = decode(signing.payload(OLDER, OFFER)["signedTxBlob"])
    raw = bytes.fromhex(fields["TxnSignature"])
    content = b"\x02" + bytes([raw[3] + 1]) + b"\0" + raw[4:]
    return encode({**fields, "TxnSignature": (b"\x30" + bytes([len(content)]) + content).hex().upper()})


GOOD = signing.payload(PAYER, OFFER)["signedTxBlob"]
BLOBS: list[tuple[str, Any, str]] = [
    ("nothing", "", "invalid_payload"),
    ("no text", 12, "invalid_payload"),
    ("not hex", "12000Z", "invalid_payload"),
    ("half a byte", GOOD[:-1], "invalid_payload"),
    ("spaces", GOOD[:8] + " " + GOOD[8:], "invalid_payload"),
    ("a newline", GOOD + "\n", "invalid_payload"),
    ("0x", "0x" + GOOD, "invalid_payload"),
    ("too long", "AB" * 2049, "invalid_payload"),
    ("cut off", GOOD[:-2], PREFIX + "transaction_could_not_be_decoded"),
    ("a byte too many", GOOD + "00", PREFIX + "transaction_could_not_be_decoded"),
    ("an end marker too many", GOOD + "F1", PREFIX + "field_not_allowed"),
    ("twice", GOOD + GOOD, PREFIX + "transaction_could_not_be_decoded"),
    ("a field twice", GOOD[:6] + GOOD, PREFIX + "transaction_could_not_be_decoded"),
    ("fields in another order", GOOD[6:16] + GOOD[:6] + GOOD[16:], PREFIX + "transaction_could_not_be_decoded"),
    ("a long header", "1002" + GOOD[2:], PREFIX + "transaction_could_not_be_decoded"),
    ("not signed", _edited(TxnSignature=None), PREFIX + "signature"),
    ("empty signature", _edited(TxnSignature=""), PREFIX + "signature"),
    ("zero signature", _edited(TxnSignature="00" * 64), PREFIX + "signature"),
    ("no key", _edited(SigningPubKey=None), PREFIX + "signing_pub_key"),
    ("empty key", _edited(SigningPubKey=""), PREFIX + "signing_pub_key"),
    ("uncompressed key", _edited(SigningPubKey="04" + "AB" * 64), PREFIX + "signing_pub_key"),
    ("key of a third kind", _edited(SigningPubKey="05" + "AB" * 32), PREFIX + "signing_pub_key"),
    ("other key", _edited(SigningPubKey=OLDER.public_key), PREFIX + "signature"),
    ("key that is no point", _edited(SigningPubKey="02" + "FF" * 32), PREFIX + "signature"),
    ("multi-signed", _multisigned(), PREFIX + "multisig_not_supported"),
    ("high s", _high_s(), PREFIX + "signature"),
    ("padded r", _padded_r(), PREFIX + "signature"),
    ("other sequence than signed", _edited(Sequence=8), PREFIX + "signature"),
    ("other fee than signed", _edited(Fee="12"), PREFIX + "signature"),
    ("other last ledger than signed", _edited(LastLedgerSequence=115), PREFIX + "signature"),
    ("other account than signed", _edited(Account=OTHER), PREFIX + "signature"),
    ("no account", _edited(Account=None), PREFIX + "account_missing"),
]


@each(("blob", "reason"), [row[1:] for row in BLOBS], ids=[row[0] for row in BLOBS])
def test_every_other_blob_is_refused(blob: Any, reason: str) -> None:
    """Shape, canonical form and signature."""
    assert refusal({"signedTxBlob": blob}) == reason


def test_what_lies_beside_the_blob() -> None:
    """t54's copy of the invoice may be missing, and may not be another; there is nothing instead of the blob."""
    payload = signing.t54_payload(PAYER, OFFER)
    assert refusal({**payload, "invoiceId": "other"}) == PREFIX + "invoice_id_mismatch"
    assert refusal({**payload, "invoiceId": 5}) == "invalid_payload"
    assert refusal({"invoiceId": INVOICE}) == "invalid_payload"
    assert refusal({}) == "invalid_payload"
    assert xrpl.check(OFFER, {"signedTxBlob": payload["signedTxBlob"]}).payer == PAYER.address


def test_without_an_invoice_in_the_offer_none_is_needed() -> None:
    """An InvoiceID of the payer's own does no harm; a memo has nothing to say."""
    offer = msgspec.structs.replace(OFFER, extra={k: v for k, v in OFFER.extra.items() if k != "invoiceId"})
    assert xrpl.check(offer, signing.payload(PAYER, offer)).payer == PAYER.address
    assert xrpl.check(offer, signing.payload(PAYER, OFFER)).payer == PAYER.address
    assert refusal(signing.t54_payload(PAYER, OFFER), offer) == PREFIX + "memos_not_allowed"


@pytest.mark.parametrize("invoice", ["INV-2025-001", "ä€😀", "x" * 256])
def test_any_invoice_is_bound(invoice: str) -> None:
    """As InvoiceID, and as t54's memo, whose length may take two bytes."""
    offer = signing.offer(OFFER.pay_to, invoiceId=invoice)
    assert xrpl.is_payable(offer)
    assert xrpl.check(offer, signing.t54_payload(PAYER, offer)).payer == PAYER.address
    assert refusal(signing.payload(PAYER, OFFER), offer) == PREFIX + "invoice_id_mismatch"


def test_tags_are_those_of_the_offer() -> None:
    """A destination tag must be there; t54's source tag may be missing, as the foundation's older clients leave it out."""
    offer = signing.offer(OFFER.pay_to, destinationTag=77, sourceTag=804681468)
    for tags in ({"DestinationTag": 77}, {"DestinationTag": 77, "SourceTag": 804681468}):
        assert xrpl.check(offer, signing.payload(PAYER, offer, **tags)).destination_tag == 77
    assert refusal(signing.payload(PAYER, offer), offer) == PREFIX + "destination_tag_mismatch"
    tags = {"DestinationTag": 77, "SourceTag": 1}
    assert refusal(signing.payload(PAYER, offer, **tags), offer) == PREFIX + "source_tag_mismatch"


def test_a_private_network_is_named() -> None:
    """Above 1024 the transaction must name it."""
    offer = msgspec.structs.replace(OFFER, network="xrpl:21337")
    assert xrpl.check(offer, signing.payload(PAYER, offer, NetworkID=21337)).network == "xrpl:21337"
    assert refusal(signing.payload(PAYER, offer), offer) == PREFIX + "network_id_mismatch"
    assert refusal(signing.payload(PAYER, offer, NetworkID=21338), offer) == PREFIX + "network_id_mismatch"


def test_tickets_are_taken_unless_the_offer_says_otherwise() -> None:
    """An offer that names no method leaves it to the payer."""
    by_ticket = {"Sequence": 0, "TicketSequence": 12}
    payment = xrpl.check(OFFER, signing.payload(PAYER, OFFER, **by_ticket))
    assert (payment.sequence, payment.ticket) == (0, 12)
    pinned = signing.offer(OFFER.pay_to, assetTransferMethod="sequence")
    assert refusal(signing.payload(PAYER, pinned, **by_ticket), pinned) == PREFIX + "ticket_sequence_not_allowed"
    other = signing.offer(OFFER.pay_to, assetTransferMethod="ticketSequence")
    assert xrpl.check(other, signing.payload(PAYER, other, **by_ticket)).ticket == 12
    assert refusal(signing.payload(PAYER, other), other) == PREFIX + "ticket_sequence_missing"


def test_another_key_than_the_accounts_own_is_for_the_ledger_to_judge() -> None:
    """A regular key: its signature is checked, that it may sign is not known here."""
    fields = signing.transaction(PAYER, OFFER)
    payment = xrpl.check(OFFER, {"signedTxBlob": signing.blob(OLDER, fields)})
    assert (payment.payer, payment.signer, payment.signature_checked) == (PAYER.address, OLDER.address, False)


def test_more_may_be_allowed_than_is_spent() -> None:
    """A SendMax above the amount is for an issuer's transfer fee, and flags may say what is true anyway."""
    payload = signing.payload(PAYER, OFFER, SendMax=amount("0.002"), Flags=0x80000000)
    assert xrpl.check(OFFER, payload).send_max == Decimal("0.002")
    assert xrpl.check(OFFER, signing.payload(PAYER, OFFER, Flags=0)).payer == PAYER.address


def test_the_window_is_counted_in_ledgers() -> None:
    """P31: 14 ledgers for 60 s, and 25 more where the reported ledger may be old; none where none is reported."""
    payment = xrpl.check(OFFER, signing.payload(PAYER, OFFER))
    assert payment.window_refusal(0) is None
    assert payment.window_refusal(0, KnownLedger(113)) is None
    assert payment.window_refusal(0, KnownLedger(114)) == PREFIX + "expired"
    assert payment.window_refusal(0, KnownLedger(10**9)) == PREFIX + "expired"
    assert payment.window_refusal(0, KnownLedger(114 - 14 - 25)) is None
    assert payment.window_refusal(0, KnownLedger(114 - 14 - 26)) == PREFIX + "lastledgersequence_too_large"
    assert payment.ledger_refusal(100) is None
    assert payment.ledger_refusal(99) == PREFIX + "lastledgersequence_too_large"
    assert payment.expires(1_000) == 1_000 + 39 * 10


def test_payment_ids_are_read_back() -> None:
    """And nothing else is one."""
    text = xrpl.check(OFFER, signing.payload(PAYER, OFFER)).payment_id
    parsed = xrpl.PaymentId.parse(text)
    assert parsed is not None
    assert (str(parsed), parsed.last_ledger, parsed.payer) == (text, 114, PAYER.address)
    network, payer, last, transaction = text.rpartition(":")[0].rsplit(":", 2)[0], *text.split(":")[2:]
    for wrong in (
        text.lower(),
        text + "\n",
        text[:-1],
        f"{network}:{payer[:-1]}a:{last}:{transaction}",
        f"{network}:{payer}:0{last}:{transaction}",
        f"{network}:{payer}:4294967296:{transaction}",
        f"eip155:0:{payer}:{last}:{transaction}",
    ):
        assert xrpl.PaymentId.parse(wrong) is None


AMOUNTS = (
    "1e-3",
    " 0.001",
    "0.001 ",
    "+0.001",
    "00.001",
    "0.001_0",
    "０.001",
    ".001",
    "0.001.",
    "-0.001",
    "",
    "NaN",
    "Infinity",
)


def test_what_matches_an_offer() -> None:
    """P6: amounts are equal as decimals, everything else to the letter; the invoice is judged elsewhere."""

    def with_(**changes: Any) -> Any:
        return msgspec.structs.replace(OFFER, **changes)

    extra = OFFER.extra
    for same in ("0.001", "0.0010", "0.001000000000000000"):
        assert xrpl.matches(OFFER, with_(amount=same))
    assert xrpl.matches(OFFER, with_(extra={**extra, "invoiceId": "another"}))
    for other in (*AMOUNTS, "0.0009", "1000"):
        assert not xrpl.matches(OFFER, with_(amount=other)), other
    for changed in (
        with_(asset=USDC.currency),
        with_(asset=OFFER.asset.lower()),
        with_(asset="RLUSD"),
        with_(extra={**extra, "issuer": OTHER}),
        with_(extra={**extra, "areFeesSponsored": 0}),
    ):
        assert not xrpl.matches(OFFER, changed), changed


def test_what_is_payable() -> None:
    """A facilitator is handed anybody's offers: what `check` relies on is looked at first. P35: never native XRP."""
    extra = OFFER.extra
    wrong: list[dict[str, Any]] = [
        {"asset": "XRP"},
        {"asset": "USD"},
        {"asset": OFFER.asset.lower()},
        {"asset": "0" * 40},
        {"network": "xrpl:00"},
        {"network": "xrpl:9999999999"},
        {"network": "xrpl"},
        {"pay_to": "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYf"},
        {"pay_to": "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ"},
        {"max_timeout_seconds": 0},
        {"amount": "0"},
        {"amount": "1.123456789012345678"},
        *({"amount": text} for text in AMOUNTS),
        *(
            {"extra": {**extra, key: value}}
            for key, value in [
                ("issuer", "not an address"),
                ("issuer", None),
                ("areFeesSponsored", True),
                ("areFeesSponsored", 0),
                ("assetTransferMethod", "other"),
                ("invoiceId", 5),
                ("invoiceId", ""),
                ("invoiceId", "x" * 257),
                ("invoiceId", "\ud800"),
                ("destinationTag", -1),
                ("destinationTag", 1 << 32),
                ("destinationTag", True),
                ("sourceTag", "1"),
                ("crossCurrency", True),
                ("facilitator", {"id": "t54"}),
            ]
        ),
    ]
    assert xrpl.is_payable(OFFER)
    assert xrpl.is_payable(msgspec.structs.replace(OFFER, amount="0.0010"))
    for changes in wrong:
        assert not xrpl.is_payable(msgspec.structs.replace(OFFER, **changes)), changes


HEX = st.text("0123456789abcdefABCDEFxé ", max_size=80)


@given(st.dictionaries(st.sampled_from(["signedTxBlob", "invoiceId", "x"]), HEX | st.integers() | st.none()))
def test_whatever_is_sent_is_refused_with_a_reason(payload: dict[str, Any]) -> None:
    """Nothing but Refused is ever raised."""
    assert refusal(payload)


@given(st.data())
def test_a_payment_that_was_touched_is_refused(data: st.DataObject) -> None:
    """Any byte changed, dropped, doubled or cut off: no other form of it passes."""
    raw = bytearray.fromhex(GOOD)
    at = data.draw(st.integers(0, len(raw) - 1))
    match data.draw(st.sampled_from(["change", "drop", "double", "cut"])):
        case "change":
            raw[at] ^= data.draw(st.integers(1, 255))
        case "drop":
            del raw[at]
        case "double":
            raw.insert(at, raw[at])
        case _:
            del raw[at:]
    blob = raw.hex()
    assert blob.upper() == GOOD or refusal({"signedTxBlob": blob})
