"""The static verifier of the Solana rail: a good payment passes, and every property of it, set wrong alone, is refused."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import MessageHeader, MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from shared.money import ExcessPrecision, Price
from shared.x402 import solana
from shared.x402.networks import SOLANA_USDC
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer
from tests.each import each
from tests.solana_signing import (
    BUDGET,
    LIGHTHOUSE,
    RANDOM_MEMO,
    SYSTEM,
    TOKEN_2022,
    Draft,
    ata,
    memo,
    payload_of,
    raw,
    unit_limit,
    unit_price,
)

MAINNET, DEVNET = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
TOKEN = SOLANA_USDC[MAINNET]
PAYER, FEE_PAYER, STRANGER = (Keypair.from_seed(bytes([n]) * 32) for n in (1, 2, 3))
PAY_TO = Keypair.from_seed(bytes([4]) * 32).pubkey()
MEMO = "Q29pbnNsb3QgdGFrZXMgY29pbnMu"
STATIC = solana.offers(TOKEN, Price.of("0.001"), str(PAY_TO))[0]
OFFER = solana.completed(STATIC, {"feePayer": str(FEE_PAYER.pubkey())})
assert OFFER is not None
BOUND = msgspec.structs.replace(OFFER, extra={**OFFER.extra, "memo": MEMO})
LIGHT = Instruction(LIGHTHOUSE, b"\x06\x00", [AccountMeta(PAYER.pubkey(), False, False)])
PREFIX = "invalid_exact_svm_payload_"
L = 2**252 + 27742317777372353535851937790883648493


def draft(offer: Offer = BOUND) -> Draft:
    return Draft(offer, PAYER)


def test_a_good_payment_passes() -> None:
    """Payer, value and replay key are the message's own."""
    payload = draft().payload()
    authorization = solana.check(BOUND, payload)
    assert authorization.payer == str(PAYER.pubkey())
    assert (authorization.value, authorization.pay_to, authorization.network) == (1000, str(PAY_TO), MAINNET)
    assert authorization.signature == bytes(VersionedTransaction.from_bytes(raw(payload)).signatures[1])
    digest = hashlib.sha256(raw(payload)[1 + 2 * 64 :]).hexdigest()
    assert authorization.payment_id == f"{MAINNET}:{TOKEN.mint}:{PAYER.pubkey()}:{digest}"
    assert (authorization.window_refusal(0), authorization.expires(1_000)) == (None, 1_300)


OFFICIAL = json.loads(Path(__file__).with_name("solana_official.json").read_text())


@each("payment", OFFICIAL["payments"])
def test_the_official_clients_payments_pass(payment: dict[str, str]) -> None:
    """With the random memo that they add, and with the one that they were given."""
    static = solana.offers(TOKEN, Price.of("0.001"), OFFICIAL["payTo"])[0]
    extra = {**static.extra, "feePayer": OFFICIAL["feePayer"]}
    if "memo" in payment:
        extra["memo"] = payment["memo"]
    offer = msgspec.structs.replace(static, extra=extra)
    assert solana.check(offer, {"transaction": payment["transaction"]}).payer == OFFICIAL["payer"]


@each(
    "optional",
    [
        [],
        [memo()],
        [memo(), memo(b"another")],
        [LIGHT],
        [LIGHT, LIGHT, LIGHT],
        [LIGHT, memo(), LIGHT],
        [memo(RANDOM_MEMO, PAYER.pubkey())],
    ],
    ids=["none", "memo", "memos", "assertion", "assertions", "both", "signed memo"],
)
def test_what_wallets_add_passes(optional: list[Instruction]) -> None:
    """Where no memo was offered any is tolerated, as are Lighthouse's assertions, three in all."""
    made = draft(OFFER)
    made.optional = optional
    assert solana.check(OFFER, made.payload()).value == 1000


def test_assertions_may_surround_the_offered_memo() -> None:
    """It is the only memo all the same."""
    made = draft()
    made.optional = [LIGHT, memo(MEMO.encode()), LIGHT]
    assert solana.check(BOUND, made.payload()).value == 1000


@each(("units", "price"), [(400_000, 250_000), (20_000, 5_000_000), (0, 5_000_000), (400_000, 0)])
def test_the_caps_themselves_pass(units: int, price: int) -> None:
    """Each, as far as the product lets it."""
    made = draft()
    made.limit, made.price = unit_limit(units), unit_price(price)
    assert solana.check(BOUND, made.payload()).value == 1000


def test_a_legacy_message_passes() -> None:
    """It has the same instructions."""
    assert solana.check(BOUND, draft().legacy()).value == 1000


def test_other_spellings_are_the_same_payment() -> None:
    """The fee payer's signature is the client's filler: whatever it is, the replay key is one."""
    payload = draft().payload()
    ids = set()
    for filler in (bytes(64), b"\xff" * 64, bytes(range(64))):
        content = raw(payload)
        other = content[:1] + filler + content[65:]
        ids.add(solana.check(BOUND, {"transaction": base64.b64encode(other).decode()}).payment_id)
    assert len(ids) == 1


# Every property, set wrong alone.


def change(**fields: Any) -> Callable[[Draft], dict[str, Any]]:
    """Another value of the draft."""

    def build(made: Draft) -> dict[str, Any]:
        for name, value in fields.items():
            setattr(made, name, value)
        return made.payload()

    return build


def instructions(
    edit: Callable[[list[Instruction]], Any], *, signed: bool = False
) -> Callable[[Draft], dict[str, Any]]:
    """Other instructions.

    Args:
        signed: the payer signs the memo, too.
    """

    def build(made: Draft) -> dict[str, Any]:
        if signed:
            made.optional = [memo(MEMO.encode(), made.payer.pubkey())]
        chosen = made.instructions()
        edit(chosen)
        return made.payload(chosen)

    return build


def transfer(data: bytes | None = None, accounts: Callable[[list[AccountMeta]], list[AccountMeta]] = list) -> Any:
    """Another transfer instruction, and a memo that the payer signs."""

    def edit(chosen: list[Instruction]) -> None:
        old = chosen[2]
        chosen[2] = Instruction(old.program_id, bytes(old.data) if data is None else data, accounts(old.accounts))

    return instructions(edit, signed=True)


def transaction(edit: Callable[[bytes], bytes]) -> Callable[[Draft], dict[str, Any]]:
    """Other bytes."""
    return lambda made: {"transaction": base64.b64encode(edit(raw(made.payload()))).decode()}


def text(edit: Callable[[str], Any]) -> Callable[[Draft], dict[str, Any]]:
    """Another text of them."""
    return lambda made: {"transaction": edit(made.payload()["transaction"])}


def signature(edit: Callable[[bytes], bytes]) -> Callable[[Draft], dict[str, Any]]:
    """Another signature of the payer."""
    return transaction(lambda content: content[:65] + edit(content[65:129]) + content[129:])


def by_a_stranger(made: Draft) -> dict[str, Any]:
    """Somebody else signs, in the payer's place."""
    message = made.message()
    content = bytearray(raw(payload_of(message, [])))
    content[65:129] = bytes(STRANGER.sign_message(b"\x80" + bytes(message)))
    return {"transaction": base64.b64encode(bytes(content)).decode()}


def pays_its_own_fee(made: Draft) -> dict[str, Any]:
    """One signer only."""
    made.fee_payer = made.payer.pubkey()
    return made.payload()


def with_a_table(made: Draft) -> dict[str, Any]:
    """The destination comes from a lookup table."""
    table = AddressLookupTableAccount(STRANGER.pubkey(), [made.destination])
    message = MessageV0.try_compile(made.fee_payer, made.instructions(), [table], made.blockhash)
    return payload_of(message, [made.payer])


def with_an_unused_signer(made: Draft) -> dict[str, Any]:
    """A third signature is required, of an account in no instruction."""
    old = made.message()
    header = MessageHeader(3, 1, old.header.num_readonly_unsigned_accounts)
    keys = [*old.account_keys[:2], STRANGER.pubkey(), *old.account_keys[2:]]
    shifted = [
        type(one)(one.program_id_index + 1, bytes(one.data), bytes(n + (n >= 2) for n in one.accounts))
        for one in old.instructions
    ]
    return payload_of(MessageV0(header, keys, old.recent_blockhash, shifted, []), [made.payer, STRANGER])


def borrowed(made: Draft) -> dict[str, Any]:
    """The payer spends another's account, which may have allowed it."""
    made.source = ata(STRANGER.pubkey(), made.mint)
    return made.payload()


def add(account: Pubkey, *, to: int) -> Callable[[Draft], dict[str, Any]]:
    """One more account in an instruction."""

    def edit(chosen: list[Instruction]) -> None:
        old = chosen[to]
        more = [*old.accounts, AccountMeta(account, False, False)]
        chosen[to] = Instruction(old.program_id, bytes(old.data), more)

    return instructions(edit)


def moves_sol(made: Draft) -> dict[str, Any]:
    """The fee payer's money, in an instruction of its own."""
    accounts = [AccountMeta(made.fee_payer, True, True), AccountMeta(STRANGER.pubkey(), False, True)]
    return made.payload([*made.instructions(), Instruction(SYSTEM, b"\2\0\0\0" + bytes(8), accounts)])


def fee_payers_own(made: Draft) -> dict[str, Any]:
    """The fee payer as the authority of the transfer, with the payer as a signer of the memo."""
    made.authority, made.source = made.fee_payer, ata(made.fee_payer, made.mint)
    made.optional = [memo(MEMO.encode(), made.payer.pubkey())]
    return made.payload()


FEE = FEE_PAYER.pubkey()
DECODED, LENGTH = PREFIX + "transaction_could_not_be_decoded", PREFIX + "transaction_instructions_length"
LIMIT = PREFIX + "transaction_instructions_compute_limit_instruction"
PRICE = PREFIX + "transaction_instructions_compute_price_instruction"
NO_TRANSFER, SIGNATURE = PREFIX + "no_transfer_instruction", PREFIX + "signature_invalid"
IN_ACCOUNTS = PREFIX + "transaction_fee_payer_in_instruction_accounts"
TRANSFERRING = PREFIX + "transaction_fee_payer_transferring_funds"
TRANSFER = b"\x0c" + (1000).to_bytes(8, "little") + b"\6"
MUTATIONS: list[tuple[str, Callable[[Draft], Any], str]] = [
    ("no transaction", lambda made: {}, "invalid_payload"),
    ("transaction is a number", lambda made: {"transaction": 1}, "invalid_payload"),
    ("transaction is a list", lambda made: {"transaction": []}, "invalid_payload"),
    ("empty text", text(lambda old: ""), DECODED),
    ("a newline", text(lambda old: old + "\n"), DECODED),
    ("other last bits", lambda made: other_last_bits(made), DECODED),
    ("a surrogate", text(lambda old: "\ud800" + old[1:]), DECODED),
    ("too long", text(lambda old: base64.b64encode(bytes(1233)).decode()), DECODED),
    ("cut off", transaction(lambda old: old[:-1]), DECODED),
    ("a byte more", transaction(lambda old: old + b"\0"), DECODED),
    ("a lookup table", with_a_table, PREFIX + "address_lookup_tables"),
    ("a third signer", with_an_unused_signer, PREFIX + "excessive_signers"),
    ("one signer", pays_its_own_fee, PREFIX + "missing_payer_signature"),
    ("another fee payer", change(fee_payer=STRANGER.pubkey()), PREFIX + "fee_payer_mismatch"),
    ("two instructions", instructions(lambda chosen: chosen.__delitem__(slice(1, 3)), signed=True), LENGTH),
    ("no transfer", instructions(lambda chosen: chosen.insert(2, chosen.pop()), signed=True), NO_TRANSFER),
    ("seven instructions", instructions(lambda chosen: chosen.extend([LIGHT] * 3)), LENGTH),
    ("fee payer in the limit", add(FEE, to=0), IN_ACCOUNTS),
    ("fee payer in the price", add(FEE, to=1), IN_ACCOUNTS),
    ("fee payer in the transfer", add(FEE, to=2), TRANSFERRING),
    ("fee payer as authority", fee_payers_own, TRANSFERRING),
    ("fee payer as source", change(source=FEE), TRANSFERRING),
    ("fee payer as destination", change(destination=FEE), TRANSFERRING),
    ("fee payer in the memo", add(FEE, to=3), IN_ACCOUNTS),
    (
        "fee payer in an assertion",
        change(optional=[memo(MEMO.encode()), Instruction(LIGHTHOUSE, b"", [AccountMeta(FEE, False, False)])]),
        IN_ACCOUNTS,
    ),
    ("fee payer's SOL", moves_sol, IN_ACCOUNTS),
    ("limit of another program", change(limit=Instruction(LIGHTHOUSE, bytes(unit_limit().data), [])), LIMIT),
    ("no limit", change(limit=memo()), LIMIT),
    ("limit of four bytes", change(limit=Instruction(BUDGET, b"\2\0\0\0", [])), LIMIT),
    ("heap frame", change(limit=Instruction(BUDGET, b"\1\0\0\4\0", [])), LIMIT),
    ("account in the limit", add(PAYER.pubkey(), to=0), LIMIT),
    ("limit above the cap", change(limit=unit_limit(400_001)), LIMIT + "_too_high"),
    ("price of another program", change(price=Instruction(LIGHTHOUSE, bytes(unit_price().data), [])), PRICE),
    ("price of eight bytes", change(price=Instruction(BUDGET, b"\3" + bytes(7), [])), PRICE),
    ("account in the price", add(PAYER.pubkey(), to=1), PRICE),
    ("another setting instead of the price", change(price=Instruction(BUDGET, b"\4" + bytes(8), [])), PRICE),
    ("price above the cap", change(price=unit_price(5_000_001)), PRICE + "_too_high"),
    ("both caps at once", change(limit=unit_limit(400_000), price=unit_price(5_000_000)), PRICE + "_too_high"),
    ("fee above the cap", change(limit=unit_limit(20_001), price=unit_price(5_000_000)), PRICE + "_too_high"),
    ("another program's transfer", change(program=SYSTEM), NO_TRANSFER),
    ("Token-2022, which has no USDC", change(program=TOKEN_2022), NO_TRANSFER),
    ("Transfer, unchecked", transfer(b"\3" + TRANSFER[1:9]), NO_TRANSFER),
    ("Approve", transfer(b"\4" + TRANSFER[1:]), NO_TRANSFER),
    ("transfer of nine bytes", transfer(TRANSFER[:9]), NO_TRANSFER),
    ("transfer of three accounts", transfer(accounts=lambda old: [*old[:2], old[3]]), NO_TRANSFER),
    ("transfer of five accounts", add(STRANGER.pubkey(), to=2), NO_TRANSFER),
    (
        "authority that does not sign",
        lambda made: made.payload(
            [
                *made.instructions()[:2],
                Instruction(
                    made.program,
                    TRANSFER,
                    [*made.transfer().accounts[:3], AccountMeta(STRANGER.pubkey(), False, False)],
                ),
                memo(MEMO.encode(), made.payer.pubkey()),
            ]
        ),
        NO_TRANSFER,
    ),
    ("another mint", change(mint=Pubkey.from_string(SOLANA_USDC[DEVNET].mint)), PREFIX + "mint_mismatch"),
    ("fewer decimals", change(decimals=5), PREFIX + "decimals_mismatch"),
    (
        "another recipient",
        change(destination=ata(STRANGER.pubkey(), Pubkey.from_string(TOKEN.mint))),
        PREFIX + "recipient_mismatch",
    ),
    ("the recipient's wallet itself", change(destination=PAY_TO), PREFIX + "recipient_mismatch"),
    (
        "the recipient's account of Token-2022",
        change(destination=ata(PAY_TO, Pubkey.from_string(TOKEN.mint), TOKEN_2022)),
        PREFIX + "recipient_mismatch",
    ),
    ("amount below", change(amount=999), PREFIX + "amount_insufficient"),
    ("amount above", change(amount=1001), PREFIX + "amount_mismatch"),
    ("another's account", borrowed, PREFIX + "source_mismatch"),
    ("payer's wallet as source", change(source=PAYER.pubkey()), PREFIX + "source_mismatch"),
    ("unknown fourth", change(optional=[LIGHT.__class__(SYSTEM, b"", [])]), PREFIX + "unknown_fourth_instruction"),
    (
        "unknown fifth",
        change(optional=[memo(MEMO.encode()), Instruction(SYSTEM, b"", [])]),
        PREFIX + "unknown_fifth_instruction",
    ),
    (
        "unknown sixth",
        change(optional=[memo(MEMO.encode()), LIGHT, Instruction(SYSTEM, b"", [])]),
        PREFIX + "unknown_sixth_instruction",
    ),
    ("price once more", change(optional=[unit_price()]), PREFIX + "unknown_fourth_instruction"),
    ("a second transfer", instructions(lambda chosen: chosen.append(chosen[2])), PREFIX + "unknown_fifth_instruction"),
    ("no memo", change(optional=[]), PREFIX + "memo_count"),
    ("the memo twice", change(optional=[memo(MEMO.encode())] * 2), PREFIX + "memo_count"),
    ("a second memo", change(optional=[memo(MEMO.encode()), memo()]), PREFIX + "memo_count"),
    ("another memo", change(optional=[memo()]), PREFIX + "memo_mismatch"),
    ("a shorter memo", change(optional=[memo(MEMO.encode()[:-1])]), PREFIX + "memo_mismatch"),
    ("a memo that is no text", change(optional=[memo(b"\xff\xfe")]), PREFIX + "memo_mismatch"),
    ("signed by a stranger", by_a_stranger, SIGNATURE),
    ("not signed", signature(lambda old: bytes(64)), SIGNATURE),
    ("a bit of R", signature(lambda old: bytes([old[0] ^ 1]) + old[1:]), SIGNATURE),
    ("a bit of s", signature(lambda old: old[:32] + bytes([old[32] ^ 1]) + old[33:]), SIGNATURE),
    (
        "s in its longer form",
        signature(lambda old: old[:32] + (int.from_bytes(old[32:], "little") + L).to_bytes(32, "little")),
        SIGNATURE,
    ),
    (
        "the signatures swapped",
        transaction(lambda old: old[:1] + old[65:129] + old[1:65] + old[129:]),
        SIGNATURE,
    ),
    ("another blockhash, signed before", transaction(lambda old: blockhash_changed(old)), SIGNATURE),
]


def other_last_bits(made: Draft) -> dict[str, Any]:
    """The same bytes in another text: the bits that the padding leaves over are not zero."""
    while not (written := made.payload()["transaction"]).endswith("="):
        made.optional = [memo(MEMO.encode()), Instruction(LIGHTHOUSE, bytes(len(made.optional[-1].data) + 1), [])]
    at = len(written.rstrip("=")) - 1
    other = written[:at] + chr(ord(written[at]) + 1) + written[at + 1 :]
    assert base64.b64decode(other) == base64.b64decode(written)
    assert solana.check(BOUND, {"transaction": written}).value == 1000
    return {"transaction": other}


def blockhash_changed(content: bytes) -> bytes:
    """In a signed transaction."""
    old = bytes(VersionedTransaction.from_bytes(content).message.recent_blockhash)
    return content.replace(old, bytes(reversed(old)))


@each(("build", "reason"), [m[1:] for m in MUTATIONS], ids=[m[0] for m in MUTATIONS])
def test_every_property_set_wrong_alone_is_refused(build: Callable[[Draft], dict[str, Any]], reason: str) -> None:
    """Each with the reason of the specification, or one in its manner."""
    with pytest.raises(PaymentRefused) as refused:
        solana.check(BOUND, build(draft()))
    assert refused.value.reason == reason


def test_paying_oneself_is_no_payment() -> None:
    """The transfer would succeed, and nothing would move."""
    offer = msgspec.structs.replace(BOUND, pay_to=str(PAYER.pubkey()))
    with pytest.raises(PaymentRefused, match="source_is_destination"):
        solana.check(offer, draft(offer).payload())


def test_a_key_that_has_signed_everything_pays_nothing() -> None:
    """The neutral point as the payer: any message has its signature (R neutral, s zero), which nodes refuse."""
    neutral = (1).to_bytes(32, "little")
    made = draft()
    made.authority = Pubkey(neutral)
    made.source = ata(made.authority, made.mint)
    content = bytearray(raw(payload_of(made.message(), [])))
    content[65:129] = neutral + bytes(32)
    with pytest.raises(PaymentRefused, match="signature_invalid"):
        solana.check(BOUND, {"transaction": base64.b64encode(bytes(content)).decode()})


@given(st.data())
def test_no_change_of_a_signed_payment_passes(data: st.DataObject) -> None:
    """Whatever is changed from the payer's signature on: it is refused, and nothing but Refused is raised."""
    content = raw(draft().payload())
    at = data.draw(st.integers(65, len(content) - 1))
    patch = data.draw(st.binary(min_size=1, max_size=3))
    other = content[:at] + patch + content[at + data.draw(st.integers(0, 3)) :]
    if other != content:
        with pytest.raises(PaymentRefused):
            solana.check(BOUND, {"transaction": base64.b64encode(other).decode()})


@given(
    st.dictionaries(
        st.sampled_from(["transaction", "x"]), st.one_of(st.none(), st.text(), st.integers(), st.lists(st.none()))
    )
)
def test_any_payload_is_refused_and_no_more(payload: dict[str, Any]) -> None:
    """Never another exception."""
    with pytest.raises(PaymentRefused):
        solana.check(BOUND, payload)


@each(
    "offer",
    [
        msgspec.structs.replace(BOUND, network=DEVNET, asset=SOLANA_USDC[DEVNET].mint),
        msgspec.structs.replace(BOUND, amount="1001"),
        msgspec.structs.replace(BOUND, pay_to=str(STRANGER.pubkey())),
        msgspec.structs.replace(BOUND, extra={**BOUND.extra, "feePayer": str(STRANGER.pubkey())}),
        msgspec.structs.replace(BOUND, extra={**BOUND.extra, "memo": MEMO.lower()}),
    ],
    ids=["network", "amount", "payTo", "feePayer", "memo"],
)
def test_a_payment_is_for_one_offer(offer: Offer) -> None:
    """Presented for another one it is refused."""
    assert solana.is_payable(offer)
    with pytest.raises(PaymentRefused):
        solana.check(offer, draft().payload())


@each(
    "changes",
    [
        {"amount": "01000"},
        {"amount": "-1"},
        {"amount": "1e3"},
        {"amount": ""},
        {"amount": "１０００"},
        {"amount": str(2**64)},
        {"amount": "9" * 10**5},
        {"network": "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z"},
        {"network": "eip155:8453"},
        {"asset": SOLANA_USDC[DEVNET].mint},
        {"asset": TOKEN.mint.lower()},
        {"pay_to": ""},
        {"pay_to": str(PAY_TO) + "1"},
        {"pay_to": "0x" + "11" * 20},
        {"pay_to": "z" * 10**6},
        {"extra": {}},
        {"extra": {"feePayer": None}},
        {"extra": {"feePayer": ["x"]}},
        {"extra": {"feePayer": "abc"}},
        {"extra": {**BOUND.extra, "memo": ""}},
        {"extra": {**BOUND.extra, "memo": 7}},
        {"extra": {**BOUND.extra, "memo": "é" * 129}},
        {"extra": {**BOUND.extra, "memo": "\ud800"}},
    ],
)
def test_an_offer_of_anybody_is_payable_or_not(changes: dict[str, Any]) -> None:
    """A facilitator is handed all kinds; checking a payment of one that is not is a refusal, too."""
    offer = msgspec.structs.replace(BOUND, **changes)
    assert solana.is_payable(BOUND)
    assert not solana.is_payable(offer)
    with pytest.raises(PaymentRefused):
        solana.check(offer, draft().payload())


def test_an_offer_without_a_fee_payer_says_so() -> None:
    """In the specification's word."""
    with pytest.raises(PaymentRefused, match=PREFIX + "missing_fee_payer"):
        solana.check(STATIC, draft().payload())


def test_the_longest_memo_fits() -> None:
    """256 bytes of UTF-8."""
    offer = msgspec.structs.replace(BOUND, extra={**BOUND.extra, "memo": "é" * 128})
    assert solana.check(offer, draft(offer).payload()).value == 1000


def test_the_offer_is_exact() -> None:
    """Six decimals, and the flow."""
    assert (
        Offer(
            scheme="exact",
            network=MAINNET,
            amount="1000",
            asset=TOKEN.mint,
            pay_to=str(PAY_TO),
            max_timeout_seconds=60,
            extra={"paymentFlow": "upfront"},
        )
        == STATIC
    )
    with pytest.raises(ExcessPrecision):
        solana.offers(TOKEN, Price.of("0.0000001"), str(PAY_TO))


@each("extra", [{}, {"feePayer": None}, {"feePayer": 1}, {"feePayer": "x"}, {"feePayer": "1" * 33}])
def test_without_a_usable_fee_payer_there_is_no_offer(extra: dict[str, Any]) -> None:
    """What the facilitator's /supported says may be anything."""
    assert solana.completed(STATIC, extra) is None


def test_the_fee_payer_completes_the_offer() -> None:
    """And nothing else that the facilitator says gets into it."""
    offer = solana.completed(STATIC, {"feePayer": str(FEE), "memo": "mine", "paymentFlow": "escrow"})
    assert offer == msgspec.structs.replace(STATIC, extra={"paymentFlow": "upfront", "feePayer": str(FEE)})


@each(
    ("changes", "same"),
    [
        ({"extra": {**BOUND.extra, "memo": "another"}}, True),
        ({"extra": {**OFFER.extra}}, True),
        ({"network": DEVNET}, False),
        ({"amount": "01000"}, False),
        ({"asset": TOKEN.mint.lower()}, False),
        ({"pay_to": str(PAY_TO).lower()}, False),
        ({"extra": {"feePayer": str(FEE)}}, False),
        ({"extra": {**BOUND.extra, "feePayer": str(STRANGER.pubkey())}}, False),
    ],
)
def test_an_accepted_offer_is_ours_or_not(changes: dict[str, Any], same: bool) -> None:
    """The memo is judged elsewhere; addresses are exact to the letter."""
    assert solana.matches(BOUND, msgspec.structs.replace(BOUND, **changes)) is same


def test_a_message_with_the_fee_payer_hidden_behind_a_second_number_is_refused() -> None:
    """The same key twice in the list: as number 0, which pays, and as one that an instruction moves money from."""
    old = draft().message()
    assert isinstance(old, MessageV0)
    keys = [*old.account_keys]
    keys[2] = keys[0]
    message = MessageV0(old.header, keys, old.recent_blockhash, old.instructions, [])
    with pytest.raises(PaymentRefused, match="could_not_be_decoded"):
        solana.check(BOUND, payload_of(message, [PAYER]))


def test_a_program_is_never_the_fee_payer() -> None:
    """An instruction whose program is number 0."""
    old = draft().message()
    called = [type(one)(0, bytes(one.data), bytes(one.accounts)) for one in old.instructions[3:]]
    message = MessageV0(old.header, old.account_keys, old.recent_blockhash, [*old.instructions[:3], *called], [])
    with pytest.raises(PaymentRefused, match="could_not_be_decoded"):
        solana.check(BOUND, payload_of(message, [PAYER]))
