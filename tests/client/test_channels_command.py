"""`coinslot channels`, `coinslot call --scheme channel`, and an agent whose key only signs vouchers."""

from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from coinslot import configuration, mcp_command
from coinslot.capped_buyer import CappedBuyer
from coinslot.errors import CapReached
from coinslot.options import Options
from coinslot.payment_folder import PaymentFolder
from coinslot.spending_caps import Caps
from compose.sandbox.child import ROOT
from compose.sandbox.evm import provision, start_chain
from facilitator.rails.evm import calldata
from shared.nodes.json_rpc import JsonRpc
from shared.x402.evm_channel_ids import CONTRACT
from tests.client.channel_shop import PRICE, ChannelShop
from tests.client.conftest import Canned, Command, Shop
from tests.facilitator.bench import Bench

CENT = Decimal("0.01")


@pytest.fixture
def channel_shop(shop: Shop, sandbox: Path) -> ChannelShop:
    """The sandbox's shop, paid out of channels."""
    return ChannelShop(shop, shop.challenge()["accepts"][0]["payTo"])


def test_a_call_is_paid_by_the_scheme_that_is_asked_for(
    command: Command, channel_shop: ChannelShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--scheme goes before the environment, and `exact` is the default."""
    channel_shop.shop.paid = [channel_shop.shop.sell, channel_shop.sell]
    assert command("call", "echo").code == 0
    monkeypatch.setenv("COINSLOT_SCHEME", "channel")
    run = command("call", "echo", "--json", "--deposit", "0.5")
    assert run.json["receipt"]["extra"]["chargedAmount"] == str(PRICE)
    assert list(channel_shop.deposits.values()) == [500_000]
    channel_shop.shop.paid = [channel_shop.shop.sell]
    assert command("call", "echo", "--scheme", "exact").code == 0
    monkeypatch.setenv("COINSLOT_CAP_DEPOSIT", "0.4")
    channel_shop.pay_to = "0x" + 40 * "b"
    run = command("call", "echo", "--json")
    assert (run.code, run.json["error"], "above the cap of 0.4" in run.json["detail"]) == (3, "cap_reached", True)
    monkeypatch.setenv("COINSLOT_SCHEME", "credit")
    assert command("call", "echo").code == 2


def test_channels_are_listed_and_paid_back(command: Command, channel_shop: ChannelShop, tmp_path: Path) -> None:
    """The refund's voucher says what is charged, however often the store was restored, and the list shows what is left. It does
    not matter that the call is not sold any more."""
    for n in range(3):
        command("call", "echo", f'{{"n": {n}}}', "--scheme", "channel")
    (listed,) = command("channels", "list", "--json").json["channels"]
    assert [listed[name] for name in ("deposited", "spent", "left", "sandbox")] == ["0.01", "0.003", "0.007", True]
    store = PaymentFolder(tmp_path / "var").channels
    with store.changing() as channels:
        channels[listed["channel"]].base = 0
    selling, channel_shop.shop.unpaid = channel_shop.shop.unpaid, [Canned(404)]
    run = command("channels", "refund", listed["channel"][:10], "--json")
    channel_shop.shop.unpaid = selling
    assert (run.json["amount"], run.json["transaction"]) == ("0.007", "0x" + 64 * "e")
    assert channel_shop.refunds == [7_000]
    assert command("channels", "list", "--json").json["channels"][0]["left"] == "0"
    assert listed["channel"] in command("channels", "list").out
    assert command("channels", "refund", "0x12").code == 2
    command("call", "echo", "--scheme", "channel")
    assert list(channel_shop.deposits.values()) == [10_000, 10_000]


def test_an_agent_spends_what_was_opened_for_its_key_and_nothing_else(
    command: Command, channel_shop: ChannelShop, tmp_path: Path
) -> None:
    """It has no wallet: when the deposit is spent, its owner adds to it."""
    key_file = tmp_path / "agent.key"
    opened = command("channels", "open", "echo", "--channel-key-file", str(key_file), "--json")
    assert opened.code == 0
    assert key_file.stat().st_mode & 0o777 == 0o600
    (channel,) = command("channels", "list", "--json").json["channels"]
    assert channel["payerAuthorizer"] != channel["payer"]
    env = {"COINSLOT_CHANNEL_KEY_FILE": str(key_file), "COINSLOT_STATE_DIR": str(tmp_path / "state")}
    caps = Caps(per_call=CENT, per_day=Decimal("0.009"), total=Decimal(1), per_endpoint={})

    options = Options(max_price=CENT, env=env, folder=tmp_path)

    async def spend(calls: int) -> list[int]:
        buyer = CappedBuyer(configuration.find(options), caps, timeout_s=3)
        found = []
        try:
            for n in range(calls):
                answer = await buyer.call("echo", {"n": n})
                found.append(answer.body["max"])
                assert answer.saved is not None
                answer.saved.remove()
        finally:
            await buyer.aclose()
        return found

    assert configuration.find(options).is_sandbox
    assert anyio.run(spend, 9) == [PRICE * n for n in range(2, 11)]
    with pytest.raises(CapReached, match=r"0 is left of today's cap"):
        anyio.run(spend, 1)
    caps = Caps(per_call=CENT, per_day=CENT, total=Decimal(1), per_endpoint={})
    with pytest.raises(CapReached, match=r"0 dollars are left in the channel"):
        anyio.run(spend, 1)
    owner = mcp_command.configured(options)
    assert owner.wallet is not None
    assert owner.wallet.signer.address == channel["payerAuthorizer"]
    assert command("channels", "open", "echo", "--channel-key-file", str(key_file), "--deposit", "0.05").code == 0
    assert anyio.run(spend, 1) == [12 * PRICE]
    assert list(channel_shop.deposits.values()) == [10_000, 50_000]


def test_a_withdrawal_needs_no_server(
    command: Command, channel_shop: ChannelShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a real chain: announced, and taken out when the delay is over. Nothing is signed for the channel in between."""
    chain = start_chain(tmp_path, node_folders=[ROOT / "var" / "node"])
    try:
        funded = provision(chain, tmp_path / "var")
        rpc = JsonRpc(chain.rpc_url)
        key_file = tmp_path / "payer.key"
        key_file.write_text(funded.payer_key)
        key_file.chmod(0o600)
        rpc("anvil_setBalance", funded.payer, hex(10**18))
        arguments = ("--key-file", str(key_file), "--rpc-url", chain.rpc_url, "--json")
        call = ("call", "echo", "--scheme", "channel", "--url", channel_shop.shop.base_url, "--max-price", "0.01")
        assert command(*call, "--key-file", str(key_file)).code == 0
        (deposit,) = channel_shop.made
        Bench(funded, rpc).send(calldata.deposit(deposit), to=CONTRACT, key=funded.settler_key)
        (channel,) = command("channels", "list", "--json").json["channels"]
        for expected in ("announced", "announced", "paid"):
            run = command("channels", "withdraw", channel["channel"], *arguments)
            assert (run.code, run.json["withdrawal"], run.json["amount"]) == (0, expected, "0.01"), run
            if expected == "announced":
                assert command(*call, "--key-file", str(key_file), "--json").code == 0
                rpc("evm_increaseTime", 500)
                rpc("evm_mine")
        assert command("channels", "withdraw", channel["channel"], *arguments).json["error"] == "invalid_call"
        assert len(command("channels", "list", "--json").json["channels"]) == 2
    finally:
        chain.stop()
