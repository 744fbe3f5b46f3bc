"""The sandbox's Solana ledger is strict: what the network would refuse, it refuses, in the network's words."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from solana.rpc.async_api import AsyncClient
from solana.rpc.commitment import Confirmed
from solders.hash import Hash
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from spl.token.instructions import get_associated_token_address

from compose.sandbox.child import LocalLedger, StartFailed
from compose.sandbox.solana import USDC, start_solana
from compose.sandbox.solana_ledger import SLOT_S, Ledger
from compose.sandbox.solana_node import answer
from compose.sandbox.solana_wire import RpcError
from shared.money import Price
from shared.x402 import solana
from shared.x402.wire import Offer
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


@pytest.fixture
def desk() -> Desk:
    return Desk()


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


# The process.


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("solana")


@pytest.fixture(scope="module")
def sandbox(var: Path) -> Iterator[LocalLedger]:
    started = start_solana(var)
    yield started
    started.stop()


def test_a_port_that_is_taken_is_an_error(var: Path, sandbox: LocalLedger) -> None:
    """Otherwise another server would answer in its place."""
    with pytest.raises(StartFailed, match="can not be used"):
        start_solana(var, port=int(urlsplit(sandbox.rpc_url).port or 0))


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
