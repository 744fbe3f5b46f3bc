"""What contracts answer: reverts, tokens, code, transactions."""

import eth_abi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.engines.evm import code, signatures, tokens, transactions
from jobs.engines.evm.reverts import PANICS, explain
from jobs.engines.evm.selectors import IMPLEMENTATION_SLOT, TRANSFER_TOPIC, selector
from jobs.engines.evm.unlimited import unlimited_form
from jobs.ports.chains import Reverted
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs.engines.evm.fake_chains import text, word

ERROR = selector("Error(string)")


def test_a_text_without_padding_is_read() -> None:
    """Hand-written contracts leave the padding out."""
    found = explain(Reverted(ERROR + word(32) + word(8) + b"too poor"))
    assert (found.kind, found.reason, found.signature) == ("error", "too poor", "Error(string)")


@each(
    ("body", "reason"),
    [
        (word(32) + word(8) + b"too p", "too p"),
        (word(32) + word(2**255) + b"too p".ljust(32, b"\0"), "too p"),
        (word(32) + word(5) + b"caf\xe9!", "caf\ufffd!"),
    ],
)
def test_a_text_that_was_cut_off_or_is_not_utf_8_is_read(body: bytes, reason: str) -> None:
    """Callers in between may pass on a part, and authors write what they like."""
    found = explain(Reverted(ERROR + body))
    assert (found.kind, found.reason) == ("error", reason)


def test_a_text_is_shown_without_what_hides_in_it() -> None:
    """The author of a contract wrote it."""
    found = explain(Reverted(ERROR + text("no\u202e money")))
    assert (found.kind, found.reason) == ("error", "no money")


@each(("number", "meaning"), PANICS.items())
def test_panics_have_meanings(number: int, meaning: str) -> None:
    """As Solidity documents them."""
    found = explain(Reverted(selector("Panic(uint256)") + word(number)))
    assert (found.kind, found.reason) == ("panic", f"Panic(0x{number:02x}): {meaning}")


def test_custom_errors_are_decoded_by_the_table() -> None:
    """With names and values."""
    data = selector("ERC20InsufficientBalance(address,uint256,uint256)") + eth_abi.encode(
        ["address", "uint256", "uint256"], ["0x" + "11" * 20, 1, 2]
    )
    found = explain(Reverted(data))
    assert found.kind == "custom"
    assert found.signature == "ERC20InsufficientBalance(address,uint256,uint256)"
    assert found.reason == f"ERC20InsufficientBalance(sender=0x{'11' * 20}, balance=1, needed=2)"
    assert [(each.name, each.value) for each in found.args][1:] == [("balance", "1"), ("needed", "2")]


@each(
    ("reverted", "kind", "reason"),
    [
        (Reverted(b""), "empty", None),
        (Reverted(b"", "out_of_gas"), "out_of_gas", "out of gas"),
        (Reverted(b"", "invalid_opcode"), "invalid_opcode", "invalid opcode"),
        (Reverted(b"", "insufficient_funds"), "insufficient_funds", "the sender does not have the value"),
        (Reverted(b"\x01"), "unknown", None),
        (Reverted(bytes.fromhex("deadbeef")), "unknown", "custom error 0xdeadbeef"),
        (Reverted(ERROR + b"short"), "unknown", "custom error 0x08c379a0"),
        (Reverted(selector("ERC20InsufficientBalance(address,uint256,uint256)")), "unknown", "custom error 0xe450d38c"),
    ],
)
def test_other_reverts_have_an_answer(reverted: Reverted, kind: str, reason: str | None) -> None:
    """None, unknown, or cut off."""
    found = explain(reverted)
    assert (found.kind, found.reason) == (kind, reason)


@given(st.binary(max_size=300))
def test_any_return_data_is_explained(data: bytes) -> None:
    """No bytes break it."""
    for head in (b"", ERROR, selector("Panic(uint256)"), selector("ERC721NonexistentToken(uint256)")):
        explain(Reverted(head + data))


@each(
    ("answer", "symbol"),
    [
        (text("USDC"), "USDC"),
        (b"MKR".ljust(32, b"\0"), "MKR"),
        (text(""), None),
        (bytes(32), None),
        (b"", None),
        (Reverted(b""), None),
        (b"\xff" * 32, None),
        (text("x" * 50), "x" * 32),
        (text("a\u200bb"), "ab"),
        (text("USDC")[:64], None),
        (word(32) + word(4) + b"USDC", "USDC"),
        (word(2**255) + word(4), None),
        (text("x" * 100_000), None),
        # A name behind hundreds of invisible characters is that name: wallets show it so.
        *((text(hidden * 1_000 + "USDC"), "USDC") for hidden in "\u200b\u202e\ufe0f\u3164\U000e0041\n"),
    ],
)
def test_symbols_in_every_form(answer: object, symbol: str | None) -> None:
    """bytes32, unpadded, missing, too long, hostile."""
    assert tokens.token_of("0x", word(6), answer).symbol == symbol


@each(
    ("answer", "decimals"),
    [
        (word(6), 6),
        (word(0), 0),
        (word(255), 255),
        (word(256), None),
        (b"", None),
        (Reverted(b""), None),
        (b"\x06", None),
    ],
)
def test_decimals_may_be_missing(answer: object, decimals: int | None) -> None:
    """Then nothing is formatted."""
    token = tokens.token_of("0x", answer, b"")
    assert token.decimals == decimals
    assert (token.formatted(10) is None) == (decimals is None)


@given(st.binary(max_size=200))
def test_any_answer_of_a_token_is_read(answer: bytes) -> None:
    """No bytes break it."""
    tokens.token_of("0x", answer, answer, answer)
    tokens.truth(answer)


def test_minimal_proxies_and_delegations_are_told_by_their_code() -> None:
    """ERC-1167, its shorter forms, and EIP-7702."""
    target = "11" * 20
    for before, after in (
        ("363d3d373d3d3d363d73", "5af43d82803e903d91602b57fd5bf3"),
        ("3d3d3d3d363d3d37363d73", "5af43d3d93803e602a57fd5bf3"),
        ("365f5f375f5f365f73", "5af43d5f5f3e5f3d91602a57fd5bf3"),
    ):
        assert code.minimal_target(bytes.fromhex(before + target + after)) == "0x" + target
        assert code.minimal_target(bytes.fromhex(before + target + after + "0102")) == "0x" + target
        assert code.minimal_target(bytes.fromhex(before + target)) is None
    assert code.delegate_of(bytes.fromhex("ef0100" + target)) == "0x" + target
    assert code.delegate_of(bytes.fromhex("ef0100" + target + "00")) is None


def test_known_constants() -> None:
    """Computed here, published there: ERC-1967, and the topic that every explorer shows."""
    assert hex(IMPLEMENTATION_SLOT) == "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
    assert TRANSFER_TOPIC == "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert signatures.known(bytes.fromhex("a9059cbb"), "function").text == "transfer(address,uint256)"  # type: ignore[union-attr]


@each(
    ("amount", "supply", "form"),
    [
        (2**256 - 1, None, "max_uint256"),
        (2**160 - 1, None, "max_uint160"),
        (2**96 - 1, None, "max_uint96"),
        (2**255, None, "over_half_of_uint256"),
        (2**255 - 1, None, None),
        (101, 100, "over_total_supply"),
        (100, 100, None),
        (1, 0, None),
    ],
)
def test_forms_without_limit(amount: int, supply: int | None, form: str | None) -> None:
    """The usual numbers, and more than there is."""
    assert unlimited_form(amount, supply) == form


@each("node", [None, [], "0x", {}, {"hash": "0x1"}, {"hash": "0x" + "1" * 64, "from": 5, "value": "0x0", "gas": "0x0"}])
def test_what_is_no_transaction_is_the_nodes_fault(node: object) -> None:
    """A 502, and no crash."""
    for read in (transactions.transaction, transactions.receipt):
        with pytest.raises(UpstreamFailed) as failed:
            read(node)
        assert failed.value.reason == "bad_content"
