"""A rail that cannot settle does not start, or says why nothing can be paid on it; it comes back by itself."""

import asyncio
import logging

import pytest
from solders.keypair import Keypair

from compose.sandbox.solana import USDC
from facilitator.facilitator import Facilitator
from facilitator.rails.solana.node import NODE_ERRORS
from facilitator.rails.solana.rail import SolanaRail
from shared.settings.service import InvalidSetting
from shared.x402.networks import SOLANA_USDC
from tests.facilitator.bench import FaultyNode, until
from tests.facilitator.solana.bench import SolanaBench
from tests.facilitator.solana.conftest import Running

pytestmark = pytest.mark.anyio


async def test_a_node_of_another_network_is_refused(bench: SolanaBench) -> None:
    """Settling there would be settling nothing: known by the genesis hash."""
    devnet = SOLANA_USDC["solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"]
    rail = SolanaRail(devnet, bench.sandbox.rpc_url, bytes.fromhex(bench.sandbox.settler_key))
    with pytest.raises(
        InvalidSetting, match="the node serves solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp, not solana:EtWT"
    ):
        await rail.start()
    await rail.stop()


async def test_a_node_that_is_down_at_start(
    bench: SolanaBench, node: FaultyNode, pay_to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facilitator starts the rail again until the node answers. Nothing is offered before, and then it settles."""
    monkeypatch.setattr("facilitator.facilitator.START_AGAIN_S", 0.05)
    node.faults["getGenesisHash"] = "reset"
    rail = SolanaRail(USDC, node.url, bytes.fromhex(bench.sandbox.settler_key))
    facilitator = Facilitator([rail])
    await facilitator.start()
    assert "does not answer" in facilitator.unavailable_reasons[rail.network]
    assert facilitator.supported.kinds == ()

    node.faults.clear()
    await until(lambda: not facilitator.unavailable_reasons)

    assert len(facilitator.supported.kinds) == 1
    assert (await facilitator.settle(bench.call(bench.payer(), pay_to))).success
    await facilitator.stop()


@pytest.mark.parametrize("fault", ["error", "garbage", "http429", "reset", "null", "empty", "hang"])
async def test_a_node_that_fails_at_start_is_an_error(
    impatient: None, bench: SolanaBench, node: FaultyNode, fault: str
) -> None:
    """Of the node, never of the settings."""
    node.faults["getGenesisHash"] = fault
    rail = SolanaRail(USDC, node.url, bytes.fromhex(bench.sandbox.settler_key))
    with pytest.raises(NODE_ERRORS) as raised:
        await rail.start()
    assert not isinstance(raised.value, InvalidSetting)
    await rail.stop()


async def test_an_empty_fee_payer_offers_nothing(
    rail: SolanaRail, bench: SolanaBench, pay_to: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, once; a payment that comes all the same stays open; with money it continues by itself."""
    monkeypatch.setattr(rail._balance_monitor, "_read_every_s", 0.02)
    call = bench.call(bench.payer(), pay_to)
    settler = Keypair.from_seed(bytes.fromhex(bench.sandbox.settler_key)).pubkey()
    caplog.set_level(logging.WARNING)

    bench.fund(settler, lamports=5_000)
    settlement = await rail.settle(call)
    await until(lambda: rail.unavailable_reason)
    kinds, unavailable_reason, balance = rail.kinds, rail.unavailable_reason, rail.balance
    bench.fund(settler, lamports=10**9)
    await until(lambda: not rail.unavailable_reason)

    assert (settlement.success, settlement.error_reason) == (False, "unexpected_settle_error")
    assert (kinds, balance) == ((), "0.000005000 SOL")
    assert unavailable_reason == f"the fee payer {settler} has 0.000005000 SOL: not enough for the fee of a settlement"
    assert (len(rail.kinds), rail.balance) == (1, "1.000000000 SOL")
    assert [record.levelname for record in caplog.records if "fee payer" in record.message] == ["ERROR", "WARNING"]
    assert (await rail.settle(call)).success


async def test_a_low_fee_payer_is_a_warning(
    rail: SolanaRail, bench: SolanaBench, caplog: pytest.LogCaptureFixture
) -> None:
    """It settles, and the log says that it will not for ever."""
    bench.rpc("sandbox_fund", bench.sandbox.settler, {"lamports": 9_999_999})
    await rail._balance_monitor.read()
    assert (rail.unavailable_reason, len(rail.kinds)) == ("", 1)
    assert "is down to 0.009999999 SOL" in caplog.text


async def test_a_silent_node_offers_nothing(
    running: Running, node: FaultyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while, and until it answers again."""
    monkeypatch.setattr("facilitator.rails.solana.rail.SILENT_AFTER_S", 0.1)
    monkeypatch.setattr("facilitator.rails.solana.rail.READ_EVERY_S", 0.02)
    async with running(node.url) as rail:
        assert len(rail.kinds) == 1
        node.faults["getBalance"] = "http429"
        await until(lambda: rail.unavailable_reason)
        assert rail.unavailable_reason.startswith("its node has not answered")
        assert rail.kinds == ()
        node.faults.clear()
        await until(lambda: not rail.unavailable_reason)
        assert len(rail.kinds) == 1


async def test_stopping_waits_for_what_is_being_settled(bench: SolanaBench, running: Running, pay_to: str) -> None:
    """The payment is not left half-way."""
    async with running() as rail:
        settling = asyncio.create_task(rail.settle(bench.call(bench.payer(), pay_to)))
        await asyncio.sleep(0)
    assert (await settling).success


async def test_stopping_what_never_started_is_harmless(bench: SolanaBench) -> None:
    """A start that failed, or none."""
    await SolanaRail(USDC, "http://127.0.0.1:1", bytes.fromhex(bench.sandbox.settler_key)).stop()


async def test_the_key_is_shown_nowhere(bench: SolanaBench, rail: SolanaRail, caplog: pytest.LogCaptureFixture) -> None:
    """Not in repr() of the sandbox or of the rail."""
    for secret in (bench.sandbox.settler_key, bench.sandbox.payer_secret):
        assert secret not in repr(bench.sandbox) + repr(rail) + repr(vars(rail)) + caplog.text
