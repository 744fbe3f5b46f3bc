"""What web3.py says of the same question at the same block."""

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, NamedTuple

import requests
from hexbytes import HexBytes
from web3 import HTTPProvider, Web3
from web3.exceptions import BadFunctionCallOutput, ContractLogicError, Web3RPCError

from tests.workers.differential.bytecode import selector

METADATA_GAS = 1_000_000
"""What ours gives such questions (jobs/engines/evm/tokens.py)."""


class Undone(NamedTuple):
    """The call failed. `data`: what REVERT returned; None when the EVM stopped by itself."""

    data: bytes | None


class Web3Reader:
    """One node, at one block."""

    def __init__(self, url: str, block: int) -> None:
        session = requests.Session()
        session.trust_env = False  # it looks for proxies at each request
        self.web3 = Web3(HTTPProvider(url, session=session))
        self.web3.middleware_onion.remove("validation")  # it asks for the chain's id before each call
        self.block = block
        self._contracts: dict[tuple[str, tuple[str, ...], str], Any] = {}

    def call(self, transaction: Mapping[str, Any]) -> bytes | Undone:
        """eth_call."""
        try:
            return bytes(self.web3.eth.call(dict(transaction), self.block, ccip_read_enabled=False))  # type: ignore[arg-type]
        except ContractLogicError as error:
            return Undone(bytes(HexBytes(error.data)) if str(error.data).startswith("0x") else b"")
        except Web3RPCError:
            return Undone(None)

    def estimate(self, transaction: Mapping[str, Any]) -> int | Undone:
        """eth_estimateGas."""
        try:
            return int(self.web3.eth.estimate_gas(dict(transaction), self.block))  # type: ignore[arg-type]
        except ContractLogicError as error:
            return Undone(bytes(HexBytes(error.data)) if str(error.data).startswith("0x") else b"")
        except Web3RPCError:
            return Undone(None)

    def function(
        self, to: str, name: str, inputs: Sequence[tuple[str, Any]], output: str, *, gas: int | None = None
    ) -> Any:
        """The value that a contract's function returns; None when it returns none of this type.

        Raises ContractLogicError or Web3RPCError when the call fails.
        """
        contract = self._contract(name, tuple(kind for kind, _ in inputs), output)
        asked = contract(Web3.to_checksum_address(to)).functions[name](*(value for _, value in inputs))
        options: Any = {} if gas is None else {"gas": gas}
        try:
            return asked.call(options, block_identifier=self.block, ccip_read_enabled=False)
        except (BadFunctionCallOutput, OverflowError):  # the latter of lengths that no machine can count
            return None

    def _contract(self, name: str, inputs: tuple[str, ...], output: str) -> Any:
        """Contracts with this function alone. Made once: it takes web3 some milliseconds."""
        key = (name, inputs, output)
        if key not in self._contracts:
            abi = {
                "type": "function",
                "name": name,
                "stateMutability": "view",
                "inputs": [{"name": f"a{at}", "type": kind} for at, kind in enumerate(inputs)],
                "outputs": [{"name": "", "type": output}],
            }
            self._contracts[key] = self.web3.eth.contract(abi=[abi])
        return self._contracts[key]

    def detail(self, to: str, name: str, output: str, *inputs: tuple[str, Any]) -> Any:
        """As `function`, with the gas that such a question gets; None when it fails, too."""
        try:
            return self.function(to, name, inputs, output, gas=METADATA_GAS)
        except (ContractLogicError, Web3RPCError):
            return None

    def text(self, to: str, name: str) -> bytes | None:
        """A string, else the 32 bytes that are all of the answer."""
        found: bytes | None = self.detail(to, name, "bytes")
        if found is None:
            whole = self.call({"to": Web3.to_checksum_address(to), "data": selector(f"{name}()"), "gas": METADATA_GAS})
            if isinstance(whole, bytes) and len(whole) == 32:
                found = whole.rstrip(b"\0")
        return found


def with_decimals(amount: int, decimals: int) -> str:
    """Of 10^decimals: without zeros at the end, and without an exponent."""
    exact = Context(prec=400)
    scaled = exact.normalize(Decimal(amount).scaleb(-decimals, context=exact))
    return f"{scaled:f}"
