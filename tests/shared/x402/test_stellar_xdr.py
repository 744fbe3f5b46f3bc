"""Our reader and the network's own SDK read the same; and what ours takes has one spelling only."""

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stellar_sdk import Address as SdkAddress
from stellar_sdk import Keypair, LiquidityPoolId, MuxedAccount, SorobanDataBuilder, StrKey, scval, xdr

from shared.money import Price
from shared.x402 import stellar, stellar_envelope
from shared.x402.networks import STELLAR_USDC
from shared.x402.refusal import PaymentRefused
from shared.x402.stellar_address import ACCOUNT, CONTRACT, MUXED, Address, parse
from shared.x402.stellar_xdr import Malformed, Reader
from tests import stellar_signing as signing

KEY = Keypair.from_raw_ed25519_seed(bytes(31) + b"\x07")
PAY_TO = Keypair.from_raw_ed25519_seed(bytes(31) + b"\x08").public_key
OFFER = stellar.offers(STELLAR_USDC["stellar:pubnet"], Price.of("0.001"), PAY_TO)[0]
GOOD = [
    base64.b64decode(signing.payload(KEY, OFFER, expiration=1_000, nonce=5, credentials=kind)["transaction"])
    for kind in (signing.LEGACY, signing.V2)
]

keys = st.binary(min_size=32, max_size=32)
addresses = st.one_of(
    st.builds(lambda key: Address(ACCOUNT, key), keys),
    st.builds(lambda key: Address(CONTRACT, key), keys),
    st.builds(lambda key, number: Address(MUXED, key, number), keys, st.integers(0, (1 << 64) - 1)),
)
simple = st.one_of(
    st.builds(scval.to_bool, st.booleans()),
    st.builds(scval.to_void),
    st.builds(scval.to_uint32, st.integers(0, (1 << 32) - 1)),
    st.builds(scval.to_int32, st.integers(-(1 << 31), (1 << 31) - 1)),
    st.builds(scval.to_uint64, st.integers(0, (1 << 64) - 1)),
    st.builds(scval.to_int64, st.integers(-(1 << 63), (1 << 63) - 1)),
    st.builds(scval.to_timepoint, st.integers(0, (1 << 64) - 1)),
    st.builds(scval.to_duration, st.integers(0, (1 << 64) - 1)),
    st.builds(scval.to_uint128, st.integers(0, (1 << 128) - 1)),
    st.builds(scval.to_int128, st.integers(-(1 << 127), (1 << 127) - 1)),
    st.builds(scval.to_uint256, st.integers(0, (1 << 256) - 1)),
    st.builds(scval.to_int256, st.integers(-(1 << 255), (1 << 255) - 1)),
    st.builds(scval.to_bytes, st.binary(max_size=40)),
    st.builds(scval.to_string, st.binary(max_size=40)),
    st.builds(scval.to_symbol, st.from_regex(r"[a-zA-Z0-9_]{0,32}", fullmatch=True)),
    st.builds(lambda address: scval.to_address(address.text), addresses),
)
values = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(scval.to_vec, st.lists(inner, max_size=4)),
        st.builds(lambda pairs: xdr.SCVal(xdr.SCValType.SCV_MAP, map=xdr.SCMap([xdr.SCMapEntry(*p) for p in pairs])),
                  st.lists(st.tuples(inner, inner), max_size=3)),
    ),
    max_leaves=12,
)  # fmt: skip


def native(value: tuple[int, Any]) -> Any:
    """A value of ours in the terms of the SDK's `to_native`."""
    kind, held = value
    if kind == xdr.SCValType.SCV_VEC:
        return [native(each) for each in held]
    if kind == xdr.SCValType.SCV_MAP:
        return [(native(key), native(each)) for key, each in held]
    if kind == xdr.SCValType.SCV_ADDRESS:
        return held.text
    return held


def sdk_native(value: xdr.SCVal) -> Any:
    """The same of the SDK's."""
    if value.type == xdr.SCValType.SCV_VEC:
        assert value.vec is not None
        return [sdk_native(each) for each in value.vec.sc_vec]
    if value.type == xdr.SCValType.SCV_MAP:
        assert value.map is not None
        return [(sdk_native(each.key), sdk_native(each.val)) for each in value.map.sc_map]
    if value.type == xdr.SCValType.SCV_ADDRESS:
        return scval.from_address(value).address
    if value.type == xdr.SCValType.SCV_SYMBOL:
        return scval.from_symbol(value).encode()
    if value.type == xdr.SCValType.SCV_STRING:
        return scval.from_string(value)
    return scval.to_native(value)


@given(values)
def test_values_are_read_as_the_sdk_reads_them(value: xdr.SCVal) -> None:
    """Every type that a payment can have, nested."""
    reader = Reader(value.to_xdr_bytes())
    read = reader.value()
    reader.end()
    assert read[0] == value.type
    assert native(read) == sdk_native(value)


@given(addresses)
def test_addresses_are_spelled_as_the_sdk_spells_them(address: Address) -> None:
    """And read back to the same."""
    assert parse(address.text) == address
    assert SdkAddress(address.text).to_xdr_sc_address().to_xdr_bytes()
    if address.kind == MUXED:
        assert MuxedAccount(address.account.text, address.muxed_id).account_muxed == address.text
    else:
        encode = StrKey.encode_contract if address.kind == CONTRACT else StrKey.encode_ed25519_public_key
        assert encode(address.key) == address.text


@given(addresses, st.integers(0, 68), st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567abc =018"))
def test_a_misspelled_address_is_none(address: Address, index: int, letter: str) -> None:
    """One letter changed: the checksum, or the letter itself, says so."""
    text = address.text
    changed = text[: index % len(text)] + letter + text[index % len(text) + 1 :]
    assert (parse(changed) is not None) == (changed == text)


def test_an_address_has_one_spelling() -> None:
    """69 characters hold a bit more than 43 bytes; other kinds of keys are no addresses."""
    text = MuxedAccount(PAY_TO, 5).account_muxed
    assert text is not None
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".index(text[-1])
    assert parse(text[:-1] + "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[last ^ 1]) is None
    for other in (
        KEY.secret,
        StrKey.encode_pre_auth_tx(bytes(32)),
        StrKey.encode_sha256_hash(bytes(32)),
        PAY_TO + "\n",
    ):
        assert parse(other) is None


def read(data: bytes) -> stellar_envelope.Envelope | None:
    """None when it is refused, for whatever reason. Anything else that is raised is a fault."""
    try:
        return stellar_envelope.read(data)
    except (Malformed, PaymentRefused):
        return None


def agree(data: bytes) -> bool:
    """Whether ours takes it; if so, the SDK reads the same from it and writes the very same bytes."""
    ours = read(data)
    if ours is None:
        return False
    theirs = xdr.TransactionEnvelope.from_xdr_bytes(data)
    assert theirs.to_xdr_bytes() == data
    assert theirs.v1 is not None
    operation = theirs.v1.tx.operations[0]
    body = operation.body.invoke_host_function_op
    assert body is not None
    call = body.host_function.invoke_contract
    assert call is not None
    source = MuxedAccount.from_xdr_object(theirs.v1.tx.source_account)
    assert (ours.source.account.text, ours.fee) == (source.account_id, theirs.v1.tx.fee.uint32)
    assert ours.call.contract.text == SdkAddress.from_xdr_sc_address(call.contract_address).address
    assert (ours.call.function, ours.call.raw) == (call.function_name.sc_symbol, call.to_xdr_bytes())
    assert (ours.operation_source is None) == (operation.source_account is None)
    assert len(ours.entries) == len(body.auth)
    for entry, theirs_entry in zip(ours.entries, body.auth, strict=True):
        held = theirs_entry.credentials.address or theirs_entry.credentials.address_v2
        assert held is not None
        assert entry.address.text == SdkAddress.from_xdr_sc_address(held.address).address
        assert (entry.nonce, entry.expiration_ledger) == (held.nonce.int64, held.signature_expiration_ledger.uint32)
        assert entry.invocation_raw == theirs_entry.root_invocation.to_xdr_bytes()
        assert entry.address_raw == held.address.to_xdr_bytes()
        assert entry.signature[0] == held.signature.type
    return True


@pytest.mark.parametrize("data", GOOD, ids=["legacy", "v2"])
def test_a_payment_is_read_as_the_sdk_reads_it(data: bytes) -> None:
    """Each field."""
    assert agree(data)


@settings(max_examples=400)
@given(st.sampled_from(GOOD), st.lists(st.tuples(st.integers(0, 2_000), st.integers(1, 255)), min_size=1, max_size=3))
def test_changed_bytes_are_refused_or_read_alike(data: bytes, changes: list[tuple[int, int]]) -> None:
    """Random changes: never another error, never another reading."""
    changed = bytearray(data)
    for place, mask in changes:
        changed[place % len(data)] ^= mask
    agree(bytes(changed))


@settings(max_examples=200)
@given(st.sampled_from(GOOD), st.integers(0, 2_000), st.integers(0, 2_000), st.binary(max_size=12))
def test_cut_and_pasted_bytes_are_refused_or_read_alike(data: bytes, start: int, end: int, put: bytes) -> None:
    """Something cut out, something put in."""
    start, end = sorted((start % len(data), end % len(data)))
    agree(data[:start] + put + data[end:])


@given(st.binary(max_size=300))
def test_noise_is_refused(data: bytes) -> None:
    """Without any other error."""
    assert not agree(data)


@pytest.mark.parametrize("data", GOOD, ids=["legacy", "v2"])
def test_every_single_bit_counts(data: bytes) -> None:
    """Whatever bit is changed, the payment is refused, or it is one of those that nobody has signed: the envelope's own."""
    offered, unsigned = {"transaction": base64.b64encode(data).decode()}, set()
    for bit in range(len(data) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            checked = stellar.check(OFFER, {"transaction": base64.b64encode(changed).decode()})
        except PaymentRefused:
            continue
        assert checked.payment_id == stellar.check(OFFER, offered).payment_id
        unsigned.add(bit // 8 // 4)
    # Source account, fee, sequence number, time bounds; footprint and resources: words of four bytes.
    end = len(data) // 4
    assert unsigned <= {*range(2, 18), *range(end - 40, end)}


def test_every_part_that_is_cut_off_is_missed() -> None:
    """Each length but the whole one."""
    assert [length for length in range(len(GOOD[0]) + 1) if read(GOOD[0][:length])] == [len(GOOD[0])]
    assert read(GOOD[0] + b"\0\0\0\0") is None


def with_footprint(*ledger_keys: xdr.LedgerKey) -> bytes:
    """A good payment whose Soroban data names these."""

    def edit(envelope: xdr.TransactionV1Envelope) -> None:
        data = SorobanDataBuilder().set_read_only(list(ledger_keys)).set_read_write(list(ledger_keys)).build()
        envelope.tx.ext = xdr.TransactionExt(1, soroban_data=data)

    return signing.envelope(KEY, OFFER, expiration=1_000, edit=edit).to_xdr_bytes()


def test_footprints() -> None:
    """Whatever a transfer touches may be named there; what no transaction may name is refused."""
    account = KEY.xdr_account_id()
    issuer = Keypair.from_public_key(PAY_TO).xdr_account_id()
    four = xdr.AlphaNum4(xdr.AssetCode4(b"USDC"), issuer)
    twelve = xdr.AlphaNum12(xdr.AssetCode12(b"LONGNAME\0\0\0\0"), issuer)
    pool = LiquidityPoolId("ab" * 32).to_trust_line_asset_xdr_object()
    kinds = xdr.LedgerEntryType
    lines = [
        xdr.TrustLineAsset(xdr.AssetType.ASSET_TYPE_NATIVE),
        xdr.TrustLineAsset(xdr.AssetType.ASSET_TYPE_CREDIT_ALPHANUM4, alpha_num4=four),
        xdr.TrustLineAsset(xdr.AssetType.ASSET_TYPE_CREDIT_ALPHANUM12, alpha_num12=twelve),
        pool,
    ]
    fine = [
        xdr.LedgerKey(kinds.ACCOUNT, account=xdr.LedgerKeyAccount(account)),
        *(xdr.LedgerKey(kinds.TRUSTLINE, trust_line=xdr.LedgerKeyTrustLine(account, line)) for line in lines),
        xdr.LedgerKey(kinds.CONTRACT_CODE, contract_code=xdr.LedgerKeyContractCode(xdr.Hash(bytes(32)))),
        signing.nonce_key(KEY.public_key, 5),
    ]
    assert agree(with_footprint(*fine))
    setting = xdr.LedgerKeyConfigSetting(xdr.ConfigSettingID(0))
    assert read(with_footprint(xdr.LedgerKey(kinds.CONFIG_SETTING, config_setting=setting))) is None
    assert read(with_footprint(xdr.LedgerKey(kinds.TTL, ttl=xdr.LedgerKeyTtl(xdr.Hash(bytes(32)))))) is None


def test_other_spellings_of_one_value_are_refused() -> None:
    """Padding, truth values and lengths."""
    for spelled in (
        b"\0\0\0\x0d\0\0\0\1\xaa\0\0\1",
        b"\0\0\0\0\0\0\0\2",
        b"\0\0\0\x10\0\0\0\2",
        b"\0\0\0\x0f\0\0\0\x21" + bytes(36),
    ):
        with pytest.raises(Malformed):
            Reader(spelled).value()


def test_depth_and_size_are_bounded() -> None:
    """Deep nesting, and arrays that claim to be endless, end at once."""
    for hostile in (
        b"\0\0\0\x10\0\0\0\1\0\0\0\1" * 600,
        b"\0\0\0\x10\0\0\0\1\xff\xff\xff\xff",
        b"\0\0\0\x11\0\0\0\1\xff\xff\xff\xff" + bytes(4_000),
        b"\0\0\0\x0d\xff\xff\xff\xff",
        b"\0\0\0\x10\0\0\0\1" + (2_000).to_bytes(4, "big") + b"\0\0\0\1" * 1_999,
    ):
        with pytest.raises(Malformed):
            Reader(hostile).value()
