"""Signs transactions of type 2 (EIP-1559). It takes 0.05 ms; eth_account takes 0.6 ms for the same bytes."""

from coincurve import PrivateKey

from facilitator.rails.evm.transaction import Bid, Form, Sent
from shared.x402.evm import RlpItem, address_of, keccak256, rlp

_TYPE = b"\x02"


class Signer:
    """One account on one chain.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes, chain_id: int) -> None:
        self._key = PrivateKey(key)
        self._chain_id = chain_id
        self.address = address_of(self._key.public_key)

    def sign(self, *, number: int, to: str, data: bytes, gas: int, bid: Bid, value: int = 0) -> bytes:
        """The transaction as it is sent. The same arguments always give the same bytes (RFC 6979)."""
        fields: list[RlpItem] = [
            self._chain_id,
            number,
            bid.tip,
            bid.max_fee,
            gas,
            bytes.fromhex(to[2:]),
            value,
            data,
            [],
        ]
        signature = self._key.sign_recoverable(keccak256(_TYPE + rlp(fields)), hasher=None)
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
        return _TYPE + rlp([*fields, signature[64], r, s])

    def form(self, sent: Sent, bid: Bid) -> Form:
        """A form of a transaction, which offers that much."""
        return Form.of(bid, self.sign(number=sent.number, to=sent.to, data=sent.data, gas=sent.gas, bid=bid))
