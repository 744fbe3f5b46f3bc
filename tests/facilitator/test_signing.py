"""Our signatures of transactions are eth_account's, to the byte."""

from eth_account import Account
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid

KEYS = st.integers(1, 2**255).map(lambda number: number.to_bytes(32, "big"))
WEI = st.integers(0, 10**15)


@given(KEYS, st.integers(1, 2**40), st.integers(0, 2**40), st.binary(max_size=400), st.integers(0, 10**8), WEI, WEI)
def test_the_same_bytes(key: bytes, chain_id: int, number: int, data: bytes, gas: int, max_fee: int, tip: int) -> None:
    """Of any call, with all lengths of data and all sizes of numbers."""
    to = "0x" + key.hex()[:40]
    fields = {"type": 2, "chainId": chain_id, "nonce": number, "to": to_checksum_address(to), "value": 0, "data": data}
    limits = {"gas": gas, "maxFeePerGas": max_fee + tip, "maxPriorityFeePerGas": tip}
    expected = bytes(Account.from_key(key).sign_transaction(fields | limits).raw_transaction)
    signer = Signer(key, chain_id)

    assert signer.address == Account.from_key(key).address.lower()
    assert signer.sign(number=number, to=to, data=data, gas=gas, bid=Bid(max_fee + tip, tip)) == expected
