"""The sandbox's Solana ledger is strict: what the network would refuse, it refuses, in the network's words."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from solana.rpc.async_api import AsyncClient
from solana.rpc.commitment import Confirmed
from solders.hash import Hash
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from spl.token.instructions import get_associated_token_address

from compose.sandbox.child import LocalLedger, StartFailed
from compose.sandbox.solana import NETWORK, USDC, start_solana
from compose.sandbox.solana_ledger import FINAL_AFTER, SLOT_S, Ledger
from compose.sandbox.solana_node import GENESIS_HASH, answer
from compose.sandbox.solana_wire import RpcError
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import solana
from shared.x402.wire import Offer
from tests.each import each
from tests.solana_signing import Draft, ata, memo, raw_of, sign

MINT = Pubkey.from_string(USDC.mint)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """A ledger, somebody who pays the fees, a payer with 0.01 USDC, and a recipient."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.ledger = Ledger(self.clock)
        self.fee_payer, self.payer, self.recipient = Keypair(), Keypair(), Keypair().pubkey()
        self.ledger.fund(self.fee_payer.pubkey(), lamports=10**9)
        self.ledger.fund(self.payer.pubkey(), usdc=10_000)
        self.ledger.fund(self.recipient, usdc=0)

    def __call__(self, method: str, *params: Any) -> Any:
        return answer(self.ledger, method, params)

    def offer(self) -> Offer:
        (static,) = solana.offers(USDC, Price.of("0.001"), str(self.recipient))
        offer = solana.completed(static, {"feePayer": str(self.fee_payer.pubkey())})
        assert offer is not None
        return offer

    def draft(self, **changes: Any) -> Draft:
        draft = Draft(self.offer(), self.payer, self.ledger.blockhash()[0])
        draft.optional = [memo(str(Keypair().pubkey())[:32].encode())]
        for name, value in changes.items():
            setattr(draft, name, value)
        return draft

    def written(self, draft: Draft, *, keys: list[Keypair] | None = None) -> str:
        message = draft.message()
        signatures = sign(message, [self.fee_payer, self.payer] if keys is None else keys)
        return base64.b64encode(bytes(VersionedTransaction.populate(message, signatures))).decode()

    def send(self, text: str, **config: Any) -> str:
        signature: str = self("sendTransaction", text, {"encoding": "base64", **config})
        return signature

    def simulate(self, text: str, **config: Any) -> Any:
        return self("simulateTransaction", text, {"encoding": "base64", "sigVerify": True, **config})["value"]

    def balance(self, owner: Pubkey) -> int:
        return int(self("getTokenAccountBalance", str(ata(owner, MINT)))["value"]["amount"])

    def status(self, signature: str) -> Any:
        (found,) = self("getSignatureStatuses", [signature])["value"]
        return found


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_payment_moves_money_and_has_a_history(desk: Desk) -> None:
    """Status, balances and history agree."""
    text = desk.written(desk.draft())
    assert desk.simulate(text)["err"] is None

    signature = desk.send(text)

    assert (desk.balance(desk.payer.pubkey()), desk.balance(desk.recipient)) == (9_000, 1_000)
    assert desk("getBalance", str(desk.fee_payer.pubkey()))["value"] == 10**9 - 10_001
    status = desk.status(signature)
    assert (status["err"], status["confirmationStatus"]) == (None, "confirmed")
    for account in (desk.payer.pubkey(), ata(desk.recipient, MINT)):
        (entry,) = desk("getSignaturesForAddress", str(account))
        assert (entry["signature"], entry["slot"], entry["err"]) == (signature, status["slot"], None)
    shown = desk("getTransaction", signature, {"encoding": "base64", "maxSupportedTransactionVersion": 0})
    assert shown["transaction"] == [text, "base64"]
    before, after = (
        {one["owner"]: one["uiTokenAmount"]["amount"] for one in shown["meta"][name]}
        for name in ("preTokenBalances", "postTokenBalances")
    )
    assert before == {str(desk.payer.pubkey()): "10000", str(desk.recipient): "0"}
    assert after == {str(desk.payer.pubkey()): "9000", str(desk.recipient): "1000"}


def test_a_message_is_executed_once(desk: Desk) -> None:
    """Sent again it is refused in the simulation, and without one it changes nothing; whatever its signatures are."""
    text = desk.written(desk.draft())
    signature = desk.send(text)

    assert desk.simulate(text)["err"] == "AlreadyProcessed"
    with pytest.raises(RpcError) as refused:
        desk.send(text)
    assert "AlreadyProcessed" in refused.value.message
    assert (refused.value.code, refused.value.data["err"]) == (-32002, "AlreadyProcessed")
    assert desk.send(text, skipPreflight=True) == signature
    assert desk.balance(desk.recipient) == 1_000


@pytest.mark.parametrize("signer", ["fee payer", "payer"])
def test_every_signature_counts(desk: Desk, signer: str) -> None:
    """A missing one is refused by name, and never executed."""
    text = desk.written(desk.draft(), keys=[desk.payer if signer == "fee payer" else desk.fee_payer])

    for call in (desk.simulate, desk.send):
        with pytest.raises(RpcError) as refused:
            call(text)
        assert "signature verification failure" in refused.value.message
        assert refused.value.code == -32003
    desk.send(text, skipPreflight=True)
    assert desk.balance(desk.recipient) == 0
    assert desk.simulate(text, sigVerify=False)["err"] is None


@pytest.mark.parametrize(
    ("changes", "err"),
    [
        ({"amount": 10_001}, {"InstructionError": [2, {"Custom": 1}]}),
        ({"decimals": 5}, {"InstructionError": [2, {"Custom": 18}]}),
        ({"destination": Keypair().pubkey()}, {"InstructionError": [2, "InvalidAccountData"]}),
        ({"optional": [memo(b"\xff")]}, {"InstructionError": [3, "InvalidInstructionData"]}),
        ({"blockhash": Hash.new_unique()}, "BlockhashNotFound"),
    ],
    ids=["more than there is", "decimals", "no recipient", "memo that is no text", "blockhash"],
)
def test_what_would_fail_is_not_sent(desk: Desk, changes: dict[str, Any], err: Any) -> None:
    """In the network's own errors."""
    text = desk.written(desk.draft(**changes))

    assert desk.simulate(text)["err"] == err
    with pytest.raises(RpcError) as refused:
        desk.send(text)
    assert (refused.value.code, refused.value.data["err"]) == (-32002, err)
    assert desk.balance(desk.payer.pubkey()) == 10_000


def test_what_fails_in_its_block_costs_the_fee(desk: Desk) -> None:
    """Sent without a simulation it is in a block, with its error, and can never be executed again."""
    text = desk.written(desk.draft(amount=10_001))
    signature = desk.send(text, skipPreflight=True)

    assert desk.status(signature)["err"] == {"InstructionError": [2, {"Custom": 1}]}
    assert desk("getBalance", str(desk.fee_payer.pubkey()))["value"] == 10**9 - 10_001
    desk.ledger.fund(desk.payer.pubkey(), usdc=20_000)
    assert desk.simulate(text)["err"] == "AlreadyProcessed"


def test_a_fee_payer_without_sol_pays_no_fee(desk: Desk) -> None:
    """An account that is not there, and one that would be left with less than the rent."""
    desk.fee_payer = Keypair()
    text = desk.written(desk.draft())
    assert desk.simulate(text)["err"] == "AccountNotFound"
    desk.ledger.fund(desk.fee_payer.pubkey(), lamports=9_999)
    assert desk.simulate(text)["err"] == "InsufficientFundsForFee"
    desk.ledger.fund(desk.fee_payer.pubkey(), lamports=890_880 + 10_000)
    assert desk.simulate(text)["err"] == {"InsufficientFundsForRent": {"account_index": 0}}
    desk.ledger.fund(desk.fee_payer.pubkey(), lamports=890_880 + 10_001)
    assert desk.simulate(text)["err"] is None


def test_slots_go_by_the_clock(desk: Desk) -> None:
    """And with them the block height, which is another number, and the time of blocks."""
    slot, height, block_time = desk("getSlot"), desk("getBlockHeight"), desk("getBlockTime", desk("getSlot"))
    desk.clock.now += 10 * SLOT_S + 0.01

    assert (desk("getSlot"), desk("getBlockHeight")) == (slot + 10, height + 10)
    assert height < slot
    assert desk("getBlockTime", slot + 10) == pytest.approx(block_time + 4, abs=1)
    assert abs(block_time - time.time()) < 5
    assert desk("getBlockTime", slot + 11) is None


@pytest.mark.parametrize(("slots", "alive"), [(0, True), (150, True), (151, False), (100_000, False)])
def test_a_blockhash_lives_for_150_blocks(desk: Desk, slots: int, alive: bool) -> None:
    """To the block."""
    text = desk.written(desk.draft())
    found = desk("getLatestBlockhash", {"commitment": "confirmed"})["value"]
    desk.clock.now += slots * SLOT_S + 0.001

    assert desk("isBlockhashValid", found["blockhash"])["value"] is alive
    assert (desk("getBlockHeight") <= found["lastValidBlockHeight"]) is alive
    assert desk.simulate(text)["err"] == (None if alive else "BlockhashNotFound")
    desk.send(text, skipPreflight=True)
    assert desk.balance(desk.recipient) == (1_000 if alive else 0)


def test_a_final_blockhash_is_older(desk: Desk) -> None:
    """By the blocks that may be taken back."""
    final, newest = (desk("getLatestBlockhash", {"commitment": name})["value"] for name in ("finalized", "confirmed"))
    assert final == desk("getLatestBlockhash")["value"]
    assert newest["lastValidBlockHeight"] - final["lastValidBlockHeight"] == FINAL_AFTER
    assert desk("isBlockhashValid", final["blockhash"])["value"] is True


def test_a_transaction_becomes_final_and_old(desk: Desk) -> None:
    """After a while its status is only found by a search."""
    signature = desk.send(desk.written(desk.draft()))
    desk.ledger.advance(FINAL_AFTER)
    status = desk.status(signature)
    assert (status["confirmationStatus"], status["confirmations"]) == ("finalized", None)
    desk.ledger.advance(300)
    assert desk.status(signature) is None
    (found,) = desk("getSignatureStatuses", [signature], {"searchTransactionHistory": True})["value"]
    assert found["err"] is None
    assert desk.status(str(Signature.default())) is None


def test_blocks_can_be_held_back(desk: Desk) -> None:
    """What was sent waits; what is dead by then is never executed."""
    desk("sandbox_hold")
    lives, dies = desk.written(desk.draft()), desk.written(desk.draft())
    signature = desk.send(lives)
    assert (desk.status(signature), desk.balance(desk.recipient)) == (None, 0)
    assert desk.simulate(lives)["err"] is None
    desk("sandbox_release")
    assert (desk.status(signature)["err"], desk.balance(desk.recipient)) == (None, 1_000)

    desk("sandbox_hold")
    desk.send(dies)
    desk("sandbox_advance", 151)
    desk("sandbox_release")
    assert desk.balance(desk.recipient) == 1_000


def test_transactions_can_be_lost(desk: Desk) -> None:
    """Without a word."""
    desk("sandbox_drop", 1)
    text = desk.written(desk.draft())
    assert desk.status(desk.send(text)) is None
    assert desk.status(desk.send(text))["err"] is None


def test_the_mint_is_usdc(desk: Desk) -> None:
    """As clients read it: program and decimals."""
    for config in ({"encoding": "base64"}, {"encoding": "base64", "commitment": "confirmed", "dataSlice": None}):
        account = desk("getAccountInfo", USDC.mint, config)["value"]
        assert account["owner"] == "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
        data = base64.b64decode(account["data"][0])
        assert (len(data), data[44], account["space"]) == (82, 6, 82)
    assert desk("getAccountInfo", str(Keypair().pubkey()))["value"] is None
    listed = desk("getTokenAccountsByOwner", str(desk.payer.pubkey()), {"mint": USDC.mint}, {"encoding": "base64"})
    assert [one["pubkey"] for one in listed["value"]] == [str(ata(desk.payer.pubkey(), MINT))]
    assert len(desk("getMultipleAccounts", [USDC.mint, str(Keypair().pubkey())])["value"]) == 2


def test_histories_have_pages(desk: Desk) -> None:
    """The newest first, by limit, before and until."""
    sent = [desk.send(desk.written(desk.draft())) for _ in range(5)]
    account = str(ata(desk.recipient, MINT))

    def page(**config: Any) -> list[str]:
        return [one["signature"] for one in desk("getSignaturesForAddress", account, config)]

    assert page() == sent[::-1]
    assert page(limit=2) == [sent[4], sent[3]]
    assert page(limit=2, before=sent[3]) == [sent[2], sent[1]]
    assert page(until=sent[2]) == [sent[4], sent[3]]
    assert desk("getSignaturesForAddress", str(Keypair().pubkey())) == []


def test_old_transactions_are_forgotten(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the ledger does not grow for ever."""
    monkeypatch.setattr("compose.sandbox.solana_ledger.MOST_REMEMBERED", 3)
    sent = [desk.send(desk.written(desk.draft())) for _ in range(5)]
    account = str(ata(desk.recipient, MINT))
    assert [one["signature"] for one in desk("getSignaturesForAddress", account)] == sent[:1:-1]
    assert desk.balance(desk.recipient) == 5_000


def test_the_rest_of_what_is_asked(desk: Desk) -> None:
    """Small answers."""
    message = base64.b64encode(bytes([0x80]) + bytes(desk.draft().message())).decode()
    assert desk("getGenesisHash") == GENESIS_HASH
    assert GENESIS_HASH.startswith(NETWORK.removeprefix("solana:"))
    assert desk("getHealth") == "ok"
    assert desk("getFeeForMessage", message)["value"] == 10_000
    assert desk("getMinimumBalanceForRentExemption", 165) == 2_039_280


BAD: list[tuple[str, list[Any], int]] = [
    ("getNothing", [], -32601),
    ("getBalance", [], -32602),
    ("getBalance", ["x"], -32602),
    ("getBalance", [1], -32602),
    ("getAccountInfo", [USDC.mint, {"minContextSlot": 2**60}], -32016),
    ("getMultipleAccounts", [[USDC.mint] * 101], -32602),
    ("getSignatureStatuses", [["x"]], -32602),
    ("getSignatureStatuses", [[str(Signature.default())] * 257], -32602),
    ("getSignaturesForAddress", [USDC.mint, {"limit": 1001}], -32602),
    ("getTokenAccountBalance", [USDC.mint], -32602),
    ("getTransaction", [str(Signature.default()), "jsonParsed"], -32602),
    ("sendTransaction", ["", {"encoding": "base64"}], -32602),
    ("sendTransaction", ["AAAA", {"encoding": "base64"}], -32602),
    ("sendTransaction", ["A" * 1_648, {"encoding": "base64"}], -32602),
    ("sendTransaction", ["AAAA"], -32602),
    ("simulateTransaction", [None, {"encoding": "base64"}], -32602),
]


@each(("method", "params", "code"), BAD)
def test_bad_parameters_have_their_code(desk: Desk, method: str, params: list[Any], code: int) -> None:
    """A clear error, and nothing else happens."""
    with pytest.raises(RpcError) as refused:
        desk(method, *params)
    assert refused.value.code == code


def test_a_version_0_transaction_is_shown_to_who_can_read_it(desk: Desk) -> None:
    """As on the network, one has to say so."""
    signature = desk.send(desk.written(desk.draft()))
    with pytest.raises(RpcError) as refused:
        desk("getTransaction", signature, {"encoding": "base64"})
    assert "version" in refused.value.message
    assert refused.value.code == -32015
    assert isinstance(desk.draft().message(), MessageV0)


# The process.


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("solana")


@pytest.fixture(scope="module")
def sandbox(var: Path) -> Iterator[LocalLedger]:
    started = start_solana(var)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def rpc(sandbox: LocalLedger) -> JsonRpc:
    return JsonRpc(sandbox.rpc_url)


def test_it_is_ready_at_once_and_keeps_its_keys(var: Path) -> None:
    """Funded as it says, small, and the same wallets the next time."""
    started = time.monotonic()
    first = start_solana(var)
    ready_s = time.monotonic() - started
    rpc = JsonRpc(first.rpc_url)
    status = Path(f"/proc/{first.child.process.pid}/status").read_text()
    resident_mb = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    usdc = [
        rpc("getTokenAccountBalance", str(ata(Pubkey.from_string(one), MINT)))["value"]["uiAmountString"]
        for one in (first.payer, first.pay_to)
    ]
    lamports = [rpc("getBalance", one)["value"] for one in (first.settler, first.payer)]
    first.stop()
    second = start_solana(var)
    second.stop()

    assert (usdc, lamports) == (["1000", "0"], [10 * 10**9, 0])
    assert (first.payer, first.settler, first.pay_to) == (second.payer, second.settler, second.pay_to)
    assert str(Keypair.from_base58_string(first.payer_secret).pubkey()) == first.payer
    assert str(Keypair.from_seed(bytes.fromhex(first.settler_key)).pubkey()) == first.settler
    assert first.payer_secret not in repr(first)
    assert first.settler_key not in repr(first)
    assert ready_s < 3
    assert resident_mb < 120


def test_a_port_that_is_taken_is_an_error(var: Path, rpc: JsonRpc) -> None:
    """Otherwise another server would answer in its place."""
    with pytest.raises(StartFailed, match="can not be used"):
        start_solana(var, port=int(urlsplit(rpc.place).port or 0))


@pytest.mark.anyio
async def test_the_networks_own_client_pays(sandbox: LocalLedger) -> None:
    """solana-py sends a payment, waits for its block, and reads what it moved."""
    payer, settler = (
        Keypair.from_base58_string(sandbox.payer_secret),
        Keypair.from_seed(bytes.fromhex(sandbox.settler_key)),
    )
    recipient = get_associated_token_address(Pubkey.from_string(sandbox.pay_to), MINT)
    (static,) = solana.offers(USDC, Price.of("0.001"), sandbox.pay_to)
    offer = solana.completed(static, {"feePayer": sandbox.settler})
    assert offer is not None
    client = AsyncClient(sandbox.rpc_url, Confirmed)
    try:
        held = (await client.get_token_account_balance(recipient)).value.amount
        draft = Draft(offer, payer, (await client.get_latest_blockhash()).value.blockhash)
        signature = (await client.send_raw_transaction(raw_of(draft.message(), [settler, payer]))).value
        (status,) = (await client.confirm_transaction(signature, sleep_seconds=0.05)).value
        holds = (await client.get_token_account_balance(recipient)).value.amount
        (entry,) = (await client.get_signatures_for_address(recipient)).value
    finally:
        await client.close()

    assert status is not None
    assert status.err is None
    assert (int(holds) - int(held), entry.signature) == (1_000, signature)


def slowly(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """So that a server which does not wait for the end answers before it."""
    for piece in pieces:
        yield piece
        time.sleep(0.1)


def test_it_speaks_json_rpc(rpc: JsonRpc) -> None:
    """Also when it is asked wrongly."""
    from http.client import HTTPConnection

    def post(*pieces: bytes) -> Any:
        import msgspec

        length = str(sum(map(len, pieces)))
        with closing(HTTPConnection("127.0.0.1", urlsplit(rpc.place).port, timeout=5)) as connection:
            connection.request(
                "POST", "/", slowly(pieces), {"Content-Type": "application/json", "Content-Length": length}
            )
            answered = connection.getresponse()
            content = answered.read()
        return msgspec.json.decode(content) if answered.status == 200 else answered.status

    assert rpc("getHealth") == "ok"
    assert post(b"{")["error"]["code"] == -32700
    assert post(b"7")["error"]["code"] == -32600
    assert post(b'{"method":7}')["error"]["code"] == -32600
    assert post(b'{"id":3,"method":"getHealth","params":{"x":1}}')["error"]["code"] == -32602
    assert [one["result"] for one in post(b'[{"id":1,"method":"getHealth"},{"id":2,"method":"getHealth"}]')] == [
        "ok"
    ] * 2
    assert post(b" " * 1_000_000, b" " * 1_000_001) == 413
