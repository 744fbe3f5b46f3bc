"""A payer that is a contract which is deployed with its first payment (ERC-6492), by a factory that the operator has listed."""

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from eth_abi import encode

from compose.sandbox import artefact
from facilitator.rails.evm.calldata import MULTICALL3, Part, aggregate3, transfer_with_authorization
from facilitator.rails.evm.rail import EvmRail
from shared.money import Price
from shared.settings.service import Settings
from shared.x402 import evm
from shared.x402.erc6492 import SUFFIX, deployment_of
from shared.x402.evm import keccak256
from shared.x402.wire import FacilitatorCall
from tests.facilitator.bench import TOKEN, Bench, Payer, an_address, settle, with_evm

pytestmark = pytest.mark.anyio

# Deploys what it is called with, after a salt, by CREATE2 (github.com/Arachnid/deterministic-deployment-proxy).
FACTORY = bytes.fromhex(
    "604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035"
    "828234f58015156039578182fd5b8082525050506014600cf3"
)
FAILED = "smart_wallet_deployment_failed"


@pytest.fixture(scope="module")
def factory(bench: Bench) -> str:
    return bench.deploy(FACTORY).lower()


@pytest.fixture
def settings(settings: Settings, factory: str) -> Settings:
    """Multicall3 is listed, too, which no operator would do: it calls whatever it is asked to."""
    return with_evm(settings, wallet_factories=(factory, MULTICALL3))


@dataclasses.dataclass
class Wallet:
    """A wallet that is not there yet, and its owner."""

    owner: Payer
    factory: str
    data: bytes

    @classmethod
    def made(cls, bench: Bench, factory: str, code: bytes = b"") -> "Wallet":
        """One that holds 1 USDC.

        Args:
            code: what deploys it, in place of an honest wallet's code.
        """
        owner = Payer()
        code = code or artefact.load("Wallet1271").bytecode + encode(["address"], [owner.address])
        salt = bytes(32)
        own = keccak256(b"\xff" + bytes.fromhex(factory[2:]) + salt + keccak256(code))[12:]
        owner.address = "0x" + own.hex()
        bench.mint(owner.address, 1_000_000)
        return cls(owner, factory, salt + code)

    def wrap(self, signature: bytes, inner: bytes = b"") -> bytes:
        """As ERC-6492 has it."""
        inner = inner or encode(["uint256", "bytes"], [0, signature])
        return encode(["address", "bytes", "bytes"], [self.factory, self.data, inner]) + SUFFIX

    def call(self, pay_to: str, price: str = "0.001") -> Any:
        """The body of /verify and /settle."""
        return self.owner.call(pay_to, wrap=self.wrap, price=price)


def spent(bench: Bench) -> int:
    """Transactions that the settler has sent."""
    return int(bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "latest"), 16)


async def test_a_wallet_is_deployed_with_its_first_payment(
    facilitator: httpx.AsyncClient, bench: Bench, factory: str, pay_to: str
) -> None:
    """In one transaction, beside which another payer's is settled as always. Later payments may carry the wrapper as well. What
    costs as little as an echo is not worth a deployment."""
    wallet, other = Wallet.made(bench, factory), bench.payer()
    verified = (await facilitator.post("/verify", json=wallet.call(pay_to))).json()
    assert verified["invalidReason"] == "settlement_too_costly"
    call, before = wallet.call(pay_to, "0.1"), spent(bench)
    assert (await facilitator.post("/verify", json=call)).json() == {"isValid": True, "payer": wallet.owner.address}
    settlement, of_other = await asyncio.gather(
        settle(facilitator, call), settle(facilitator, other.call(an_address()))
    )
    assert (settlement["success"], settlement["payer"], of_other["success"]) == (True, wallet.owner.address, True)
    assert settlement["transaction"] != of_other["transaction"]
    assert bench.transfers(pay_to) == [settlement["transaction"]]
    assert spent(bench) - before == 2
    assert await settle(facilitator, call) == settlement
    assert (await settle(facilitator, wallet.call(pay_to, "0.1")))["success"] is True
    assert bench.balance(pay_to) == 200_000


async def test_payments_of_a_wallet_that_is_there_by_now_are_forgotten_when_they_have_ended(
    bench: Bench, factory: str, pay_to: str
) -> None:
    """They are settled without the wrapper, and known by what came."""
    key = bytes.fromhex(bench.sandbox.settler_key[2:])
    rail = EvmRail(
        TOKEN,
        bench.sandbox.rpc_url,
        key,
        most_for_gas=10**11,
        low_balance=0,
        spacing_s=0,
        factories=frozenset({factory}),
    )
    await rail.start()
    wallet = Wallet.made(bench, factory)
    calls = [msgspec.convert(wallet.call(pay_to), FacilitatorCall) for _ in range(2)]
    settlements = [await rail.settle(call) for call in calls]
    await rail.stop()
    assert [one.success for one in settlements] == [True, True]
    assert rail._settlements._payments == {}


def paid_within(wallet: Wallet, call: Any, pay_to: str) -> bytes:
    """Multicall3's call that deploys the wallet and makes its payment, so that nothing is left to settle."""
    payload = call["paymentPayload"]["payload"]
    offer = evm.offers(TOKEN, Price.of("0.001"), pay_to)[0]
    made = transfer_with_authorization(evm.check(offer, payload, {wallet.factory}))
    return aggregate3([Part(wallet.factory, wallet.data), Part(TOKEN.address, made)])


async def test_a_factory_that_pays_by_itself_costs_no_transaction(
    facilitator: httpx.AsyncClient, bench: Bench, factory: str, pay_to: str
) -> None:
    """It would re-enter the token before its payment is settled."""
    wallet = Wallet.made(bench, factory)
    call, before = wallet.call(pay_to), spent(bench)
    payload = call["paymentPayload"]["payload"]
    inner = deployment_of(bytes.fromhex(payload["signature"][2:]))
    assert inner is not None
    data = paid_within(wallet, call, pay_to)
    payload["signature"] = (
        "0x" + (encode(["address", "bytes", "bytes"], [MULTICALL3, data, inner.signature]) + SUFFIX).hex()
    )
    settlement = await settle(facilitator, call)
    assert (settlement["success"], settlement["errorReason"]) == (
        False,
        "invalid_exact_evm_transaction_simulation_failed",
    )
    assert (spent(bench), bench.balance(pay_to)) == (before, 0)


def unlisted(wallet: Wallet) -> None:
    wallet.factory = an_address()


def another_owner(wallet: Wallet) -> None:
    wallet.owner.key = Payer().key


def wrapped_twice(wallet: Wallet) -> None:
    within = dataclasses.replace(wallet, factory=an_address())
    wallet.wrap = lambda signature: Wallet.wrap(  # type: ignore[method-assign]
        wallet, signature, within.wrap(signature)
    )


def cut_off(wallet: Wallet) -> None:
    wallet.wrap = lambda signature: Wallet.wrap(wallet, signature)[64:]  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("code", "change", "reason"),
    [
        (b"", unlisted, "eip6492_factory_not_allowed"),
        (b"", another_owner, "invalid_exact_evm_payload_signature"),
        (b"", cut_off, "invalid_payload"),
        (b"", wrapped_twice, "invalid_payload"),  # the factory within could be called when the wallet's code has gone
        (bytes.fromhex("5b600056"), lambda _: None, FAILED),  # a loop without end
        (bytes.fromhex("fe"), lambda _: None, FAILED),
        (bytes.fromhex("00"), lambda _: None, FAILED),  # deploys nothing
        (bytes.fromhex("60016000f3"), lambda _: None, FAILED),  # deploys code that says nothing
    ],
)
async def test_what_would_not_pay_costs_no_transaction(
    facilitator: httpx.AsyncClient,
    bench: Bench,
    factory: str,
    pay_to: str,
    code: bytes,
    change: Callable[[Wallet], None],
    reason: str,
) -> None:
    """Whatever the factory does with its gas."""
    wallet = Wallet.made(bench, factory, code)
    change(wallet)
    before, call = spent(bench), wallet.call(pay_to)
    verified = (await facilitator.post("/verify", json=call)).json()
    settlement = await settle(facilitator, call)
    assert (verified["invalidReason"], settlement["errorReason"]) == (reason, reason)
    assert (spent(bench), bench.balance(pay_to)) == (before, 0)
