"""Clients that others wrote, unchanged, buy one echo each from the whole service, on every rail.

The official Python client on EVM is in tests/e2e/test_official_client.py.
"""

import base64
import contextlib
import functools
import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from shared.x402.networks import EVM_USDC, SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC
from tests.clients import environments
from tests.clients.ledgers import LEDGERS
from tests.clients.programs import run
from tests.clients.secured import secured
from tests.clients.shop import Shop
from tests.contract.endpoints import ENDPOINTS

pytestmark = pytest.mark.timeout(300)  # the first run fetches the clients

HERE = Path(__file__).parent
ECHO = next(row for row in ENDPOINTS if row.name == "echo")


class Client(NamedTuple):
    """One client library on one rail.

    Attributes:
        script: what buys with it.
        rail: member of var/sandbox.json, which names the ledger too.
        network: CAIP-2.
        asset: what it pays with, as offers name it.
        decimals: of the unit of the offers.
        wants_tls: the library refuses a node without it on this network.
        phones: hosts that the library turns to uninvited.
    """

    script: str
    rail: str
    network: str
    asset: str
    decimals: int
    wants_tls: bool = False
    phones: tuple[str, ...] = ()


BASE, SOLANA, STELLAR, XRPL = "eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "stellar:pubnet", "xrpl:0"
CLIENTS = {
    "npm-evm": Client("pay_evm.mjs", "evm", BASE, EVM_USDC[BASE].address, 6),
    "npm-solana": Client("pay_svm.mjs", "solana", SOLANA, SOLANA_USDC[SOLANA].mint, 6),
    "pypi-solana": Client("pay_svm.py", "solana", SOLANA, SOLANA_USDC[SOLANA].mint, 6),
    "npm-stellar": Client(
        *("pay_stellar.mjs", "stellar", STELLAR, STELLAR_USDC[STELLAR].contract, 7),
        wants_tls=True,
        # It asks this fixed address how long ledgers take, and reckons with five seconds when nobody answers.
        phones=("horizon.stellar.org:443",),
    ),
    "pypi-xrpl-usdc": Client("pay_xrpl.py", "xrpl", XRPL, XRPL_USDC[XRPL].currency, 0),
    "pypi-xrpl-rlusd": Client("pay_xrpl.py", "xrpl", XRPL, XRPL_RLUSD[XRPL].currency, 0),
}

Paying = Callable[[str, dict[str, str]], dict[str, Any]]


@pytest.fixture
def pay(tmp_path: Path) -> Paying:
    """Runs a script that buys once, with an environment of exactly these variables; what it prints."""

    def pay(script: str, variables: dict[str, str]) -> dict[str, Any]:
        found = _runner("npm" if script.endswith(".mjs") else script.removeprefix("pay_").removesuffix(".py"))
        if isinstance(found, str):
            pytest.skip(found)
        command, folder = found
        done = run(command, folder, (HERE / script).read_text(), HOME=str(tmp_path), **variables)
        assert done.returncode == 0, done.stderr
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    return pay


@functools.cache  # without a network, npm takes ten seconds to say so
def _runner(library: str) -> tuple[list[str], Path] | str:
    """What runs a program from stdin with this library, and the folder to run it in; or the reason why nothing does."""
    try:
        if library != "npm":
            return [str(environments.python(library)), "-"], HERE
        packages = environments.node()  # which such a program has by the folder that it runs in
    except environments.Unavailable as error:
        return str(error)
    node = shutil.which("node") or ""
    return [node, "--import", (HERE / "loopback.mjs").as_uri(), "--input-type=module", "-"], packages


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_an_independent_client_pays_and_is_served(shop: Shop, pay: Paying, tmp_path: Path, client: Client) -> None:
    """200, the message, a receipt of this network for the exact price, final on the ledger, and nothing moved beside it."""
    assert client.rail in set(shop.sandbox)
    sandbox, ledger = shop.sandbox[client.rail], LEDGERS[client.rail]
    price = Decimal(ECHO.price).scaleb(client.decimals)
    variables = {
        "URL": shop.base_url + ECHO.path,
        "KEY": sandbox["payerKey" if client.rail == "evm" else "payerSecret"],
        "RPC_URL": sandbox["rpcUrl"],
        "NETWORK": client.network,
        "ASSET": client.asset,
        "MESSAGE": f"from {client.script}",
    }
    before = ledger.held(sandbox, client.asset)
    with contextlib.ExitStack() as stack:
        if client.wants_tls:
            variables |= stack.enter_context(secured(sandbox["rpcUrl"], tmp_path))
        printed = pay(client.script, variables)
    assert printed["status"] == 200, printed
    assert json.loads(printed["body"]) == {"ok": True, "service": "coinslot", "youSent": f"from {client.script}"}
    assert set(printed["elsewhere"]) <= set(client.phones)
    receipt = json.loads(base64.b64decode(printed["receipt"]))
    assert (receipt["success"], receipt["network"]) == (True, client.network)
    assert Decimal(receipt["amount"]) == price
    assert ledger.is_final(sandbox, receipt["transaction"])
    assert ledger.held(sandbox, client.asset) - before == price
