"""A chain for the whole session, and the desk at which a test signs, sends and looks."""

import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode
from eth_account import Account
from eth_account.datastructures import SignedMessage

from compose.sandbox.child import ROOT
from compose.sandbox.evm import Chain, EvmSandbox, provision, start_chain
from shared.nodes.json_rpc import JsonRpc, RpcError
from shared.x402.evm import keccak256

NODE = ROOT / "var" / "node"

TRANSFER = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}
FIELDS = ("address", "address", "uint256", "uint256", "uint256", "bytes32")


@dataclass
class Desk:
    """One chain with its funded wallets, and the few things that tests do with them."""

    sandbox: EvmSandbox
    rpc: JsonRpc
    _numbering: threading.Lock = field(default_factory=threading.Lock)

    def authorization(self, **changed: Any) -> dict[str, Any]:
        """0.001 USDC from the payer to pay_to, valid now, with a fresh nonce."""
        now = int(time.time())
        usual = {
            "from": self.sandbox.payer,
            "to": self.sandbox.pay_to,
            "value": 1000,
            "validAfter": now - 600,
            "validBefore": now + 300,
            "nonce": secrets.token_bytes(32),
        }
        return usual | {name.rstrip("_"): value for name, value in changed.items()}

    def sign(self, message: dict[str, Any], *, key: str = "", types: dict[str, Any] = TRANSFER) -> SignedMessage:
        """An EIP-712 signature in USDC's domain, by the payer unless a key is given."""
        domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": self.sandbox.usdc}
        return Account.sign_typed_data(key or self.sandbox.payer_key, domain, types, message)

    def by_parts(self, authorization: dict[str, Any], v: int, r: int, s: int) -> str:
        """Calldata of transferWithAuthorization(..., v, r, s)."""
        parts = (v, r.to_bytes(32, "big"), s.to_bytes(32, "big"))
        return calldata("0xe3ee160e", (*FIELDS, "uint8", "bytes32", "bytes32"), (*authorization.values(), *parts))

    def by_bytes(self, authorization: dict[str, Any], signature: bytes) -> str:
        """Calldata of transferWithAuthorization(..., signature)."""
        return calldata("0xcf092995", (*FIELDS, "bytes"), (*authorization.values(), signature))

    def payment(self, form: str, authorization: dict[str, Any]) -> str:
        """Calldata of either form, rightly signed by the payer."""
        signed = self.sign(authorization)
        if form == "parts":
            return self.by_parts(authorization, signed.v, signed.r, signed.s)
        return self.by_bytes(authorization, signed.signature)

    def read(self, signature: str, *arguments: Any) -> bytes:
        """Call a view function of the token, such as ``balanceOf(address)``."""
        data = call(signature, *arguments)
        return bytes.fromhex(self.rpc("eth_call", {"to": self.sandbox.usdc, "data": data}, "latest")[2:])

    def balance(self, account: str) -> int:
        """USDC of an account, in atomic units."""
        return int.from_bytes(self.read("balanceOf(address)", account), "big")

    def next_nonce(self) -> int:
        """The settler's next account nonce."""
        return int(self.rpc("eth_getTransactionCount", self.sandbox.settler, "pending"), 16)

    def send(
        self, data: str, *, to: str | None = "", gas: int = 0, nonce: int | None = None, **more: Any
    ) -> dict[str, Any]:
        """Estimate, sign with the settler's key, send, and wait for the receipt."""
        target = self.sandbox.usdc if to == "" else to
        with self._numbering:
            raw = self.signed(data, to=target, gas=gas, nonce=self.next_nonce() if nonce is None else nonce, **more)
            transaction_hash = self.rpc("eth_sendRawTransaction", raw)
        return self.receipt(transaction_hash)

    def signed(self, data: str, *, to: str | None, gas: int = 0, nonce: int, key: str = "", **more: Any) -> str:
        """A raw transaction, by the settler unless a key is given."""
        sender = Account.from_key(key or self.sandbox.settler_key)
        call = {"from": sender.address, "data": data} | ({"to": to} if to else {})
        transaction = {
            "type": 2,
            "chainId": 8453,
            "nonce": nonce,
            "value": 0,
            "data": data,
            "gas": gas or int(self.rpc("eth_estimateGas", call), 16),
            "maxFeePerGas": int(self.rpc("eth_gasPrice"), 16) * 2,
            "maxPriorityFeePerGas": int(self.rpc("eth_maxPriorityFeePerGas"), 16),
        }
        transaction |= ({"to": to} if to else {}) | more
        return "0x" + sender.sign_transaction(transaction).raw_transaction.hex()

    def receipt(self, transaction_hash: str, within_s: float = 20) -> dict[str, Any]:
        """The receipt, as soon as there is one."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if receipt := self.rpc("eth_getTransactionReceipt", transaction_hash):
                return receipt
            time.sleep(0.005)
        raise TimeoutError(transaction_hash)

    def refusal(self, data: str, method: str = "eth_call", to: str = "") -> str:
        """The contract's reason for reverting a call. Fails when it does not revert, or hides the reason."""
        call = {"from": self.sandbox.settler, "to": to or self.sandbox.usdc, "data": data}
        with pytest.raises(RpcError) as caught:
            self.rpc(method, call, "latest")
        assert caught.value.code == 3
        reason = caught.value.message.removeprefix("execution reverted: ")
        assert caught.value.data == calldata("0x08c379a0", ("string",), (reason,))
        return reason


def calldata(selector: str, types: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """A selector and its arguments."""
    return selector + encode(types, values).hex()


def call(signature: str, *arguments: Any) -> str:
    """Calldata by a signature such as ``mint(address,uint256)``."""
    types = tuple(signature.partition("(")[2].rstrip(")").split(",")) if arguments else ()
    return calldata("0x" + keccak256(signature.encode())[:4].hex(), types, arguments)


def alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="session")
def make_var(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes fresh state folders that know where anvil is."""

    def make() -> Path:
        var = tmp_path_factory.mktemp("var")
        (var / "node").symlink_to(NODE)
        return var

    return make


@pytest.fixture(scope="session")
def running(make_var: Any) -> Iterator[tuple[Chain, Path]]:
    """A chain, with its state folder."""
    var = make_var()
    chain = start_chain(var)
    yield chain, var
    chain.stop()


@pytest.fixture(scope="session")
def desk(running: tuple[Chain, Path]) -> Desk:
    """The desk of that chain."""
    chain, var = running
    return Desk(provision(chain, var), JsonRpc(chain.rpc_url))
