"""Every side of the project has every network, and a new one is a row, a field and its modules, as docs/rails.md says."""

import dataclasses
import enum
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

from api.payment.rails import configured_rails
from coinslot import wallet_source
from coinslot.options import Options
from coinslot.sandbox_file import Sandbox
from compose.sandbox.ledgers import OTHERS
from facilitator import app
from ops import chains
from ops.chains import asset_of
from shared import networks
from shared.networks import NETWORKS, Network
from shared.settings.rails import RailSettings
from shared.settings.rules import anything, setting
from shared.settings.service import PREFIX, Settings
from shared.x402 import evm
from shared.x402.exact import SCHEME
from shared.x402.networks import EVM_USDC, Rail
from shared.x402.verifiers import VERIFIERS
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]


def test_every_rail_is_in_one_row() -> None:
    """And the order of the rows is that of the challenges."""
    assert [rail for network in NETWORKS.values() for rail in network.tokens] == list(Rail)


@each("network", NETWORKS.values())
def test_every_side_has_the_network(network: Network) -> None:
    """Settings, verifier, facilitator, buyer, doctor, sandbox and documentation."""
    assert type(Settings().rails[network.name]) is network.settings
    assert (SCHEME, network.namespace) in VERIFIERS
    for tokens in network.tokens.values():
        assert network.names.keys() <= tokens.keys()
    sides = ("facilitator.rails.{}.rail", "ops.chains.{}", "ops.chains.{}", "ops.refunds.{}")
    for module in (side.format(network.package) for side in sides):
        assert find_spec(module), module
    assert chains.coin(network.name)[1] > 0
    assert (ROOT / f"client/coinslot/{network.package}_signer.py").exists()
    assert network.name in {field.name for field in msgspec.structs.fields(Sandbox)} | {"ethereum"}
    written = (ROOT / "docs/rails.md").read_text()
    assert [rail for rail in network.tokens if f"| `{rail}` |" not in written] == []


def test_the_guide_to_test_networks_has_the_identifiers_of_the_tables() -> None:
    """Of each network beside the main ones, and of its tokens."""
    guide = (ROOT / "docs/install.md").read_text()
    for row in NETWORKS.values():
        for network in row.names.keys() - {row.default}:
            assert f"COINSLOT_{row.name.upper()}_NETWORK={network}\n" in guide
            for token in (tokens[network] for tokens in row.tokens.values()):
                named = {asset_of(token), getattr(token, "issuer", asset_of(token))}
                assert [identifier for identifier in named if f"`{identifier}`" not in guide] == []


def test_the_tables_have_no_other_networks() -> None:
    """What was removed is removed everywhere."""
    assert Settings().rails.keys() == NETWORKS.keys()
    assert {namespace for _, namespace in VERIFIERS} == {network.namespace for network in NETWORKS.values()}
    assert Counter(OTHERS) == Counter(NETWORKS.keys() - {"evm", "ethereum"})


@pytest.fixture
def dummy(monkeypatch: pytest.MonkeyPatch) -> type[Settings]:
    """A sixth network, added as docs/rails.md says. Its payments have the form of Base's. Returns the settings with it."""
    rail: Any = enum.StrEnum("DummyRail", {"DUMMY": "dummy"}).DUMMY

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class DummySettings(RailSettings):
        network: str = setting("dummy:777", anything)

    token = dataclasses.replace(EVM_USDC["eip155:8453"], network="dummy:777")
    row = dataclasses.replace(
        NETWORKS["evm"],
        name="dummy",
        title="Dummy",
        namespace="dummy",
        names={"dummy:777": "Dummy"},
        settings=DummySettings,
        tokens={rail: {"dummy:777": token}},
        package="dummy",
        signs_offline=False,
    )
    monkeypatch.setitem(NETWORKS, "dummy", row)
    monkeypatch.setitem(VERIFIERS, (SCHEME, "dummy"), evm)
    modules = {
        "facilitator.rails.dummy": {},
        "facilitator.rails.dummy.rail": {
            "rail": lambda settings, name: SimpleNamespace(network=settings.rails[name].network)
        },
        "coinslot.dummy_signer": {"signer": lambda secret, **of: SimpleNamespace(secret=secret, **of)},
        "ops.chains.dummy": {"lacks": lambda own, timeout_s: [f"{own.pay_to} is not known"]},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return dataclasses.make_dataclass(
        "DummyNetworkSettings",
        [("dummy", DummySettings, dataclasses.field(default_factory=DummySettings))],
        bases=(Settings,),
        frozen=True,
        kw_only=True,
    )


def test_a_sixth_network_is_sold_settled_and_paid_on(dummy: type[Settings], tmp_path: Path) -> None:
    """Its settings are read, the API offers it, our facilitator settles on it, doctor checks its recipient, a buyer pays."""
    pay_to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    settings = dummy.from_env({f"{PREFIX}DUMMY_PAY_TO": pay_to, f"{PREFIX}DUMMY_RPC_URL": "http://node.test"})
    own: RailSettings = settings.rails["dummy"]

    (offered,) = configured_rails(settings)
    assert (offered.asset[0], offered.pay_to, networks.name_of("dummy:777")) == ("dummy:777", pay_to, "Dummy")
    assert [rail.network for rail in app.configured_rails(settings)] == ["dummy:777"]
    assert chains.missing("dummy", own) == [f"{pay_to} is not known"]
    key_file = tmp_path / "key"
    key_file.write_text("secret\n")
    key_file.chmod(0o600)
    wallet = wallet_source.find(
        Options(key_file=str(key_file), rail=offered.rail, rpc_url="http://node.test", env={}, folder=tmp_path)
    )
    signer: Any = wallet.signer
    assert (signer.secret, signer.network, signer.rail) == ("secret", "dummy:777", offered.rail)
