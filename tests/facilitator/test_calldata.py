"""Our encoding of the calls is the ABI's, as web3 has it."""

from typing import Any

from eth_abi import encode
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st
from web3 import Web3

from compose.sandbox import artefact
from facilitator.rails.evm import calldata
from shared.x402.evm import EvmAuthorization, keccak256

# Built once: a contract object of web3 takes a while.
USDC = Web3().eth.contract(abi=artefact.load("UsdcSandbox").abi)
WALLET = Web3().eth.contract(abi=artefact.load("Wallet1271").abi)

TOKEN_ADDRESS = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
UINT256 = st.integers(0, 2**256 - 1)
BYTES32 = st.binary(min_size=32, max_size=32)
HEAD = "address,address,uint256,uint256,uint256,bytes32"


@st.composite
def authorizations(draw: st.DrawFn, *, checked: bool) -> EvmAuthorization:
    """Any authorization, with an account's signature or a contract wallet's."""
    if checked:
        signature = draw(st.binary(min_size=64, max_size=64)) + bytes([draw(st.sampled_from([0, 1, 27, 28]))])
    else:
        signature = draw(st.binary(min_size=1, max_size=300))
    return EvmAuthorization(
        payment_id="",
        network="eip155:8453",
        asset="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        payer=draw(ADDRESSES),
        pay_to=draw(ADDRESSES),
        amount="",
        value=draw(UINT256),
        valid_after=draw(UINT256),
        valid_before=draw(UINT256),
        nonce=draw(BYTES32),
        signature=signature,
        signature_checked=checked,
    )


def encoded(contract: Any, signature: str, *arguments: Any) -> bytes:
    """web3's encoding."""
    return bytes.fromhex(contract.encode_abi(signature, args=arguments)[2:])


def head(authorization: EvmAuthorization) -> tuple[Any, ...]:
    """The arguments that both forms begin with."""
    return (
        to_checksum_address(authorization.payer),
        to_checksum_address(authorization.pay_to),
        authorization.value,
        authorization.valid_after,
        authorization.valid_before,
        authorization.nonce,
    )


@given(authorizations(checked=True))
def test_an_accounts_signature_goes_as_v_r_s(authorization: EvmAuthorization) -> None:
    """A recovery id of 0 or 1 becomes 27 or 28, which is all that the token knows."""
    raw = authorization.signature
    v = raw[64] if raw[64] >= 27 else raw[64] + 27
    expected = encoded(
        USDC, f"transferWithAuthorization({HEAD},uint8,bytes32,bytes32)", *head(authorization), v, raw[:32], raw[32:64]
    )

    assert calldata.transfer_with_authorization(authorization) == expected


@given(authorizations(checked=False))
def test_a_wallets_signature_goes_as_bytes(authorization: EvmAuthorization) -> None:
    """Of any length, padded to whole words."""
    expected = encoded(USDC, f"transferWithAuthorization({HEAD},bytes)", *head(authorization), authorization.signature)

    assert calldata.transfer_with_authorization(authorization) == expected


@given(ADDRESSES, BYTES32, st.binary(max_size=300))
def test_the_questions(account: str, word: bytes, signature: bytes) -> None:
    """Balance, nonce and ERC-1271."""
    checksummed = to_checksum_address(account)

    assert calldata.balance_of(account) == encoded(USDC, "balanceOf(address)", checksummed)
    assert calldata.authorization_state(account, word) == encoded(
        USDC, "authorizationState(address,bytes32)", checksummed, word
    )
    assert calldata.is_valid_signature(word, signature) == encoded(
        WALLET, "isValidSignature(bytes32,bytes)", word, signature
    )


def test_the_events() -> None:
    """The topics are those of the token's events."""
    assert bytes.fromhex(USDC.events.AuthorizationUsed().topic[2:]) == calldata.AUTHORIZATION_USED
    assert bytes.fromhex(USDC.events.Transfer().topic[2:]) == calldata.TRANSFER


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4))
def test_several_calls_as_one(calls: list[bytes]) -> None:
    """Multicall3's aggregate3, in which each call may fail without the others."""
    tuples = [(TOKEN_ADDRESS, True, call) for call in calls]
    expected = keccak256(b"aggregate3((address,bool,bytes)[])")[:4] + encode(["(address,bool,bytes)[]"], [tuples])

    assert calldata.aggregate3([calldata.Part(TOKEN_ADDRESS, call) for call in calls]) == expected


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=70)), max_size=4))
def test_what_several_calls_return(results: list[tuple[bool, bytes]]) -> None:
    """As Multicall3 encodes it."""
    assert calldata.aggregated_results(encode(["(bool,bytes)[]"], [results])) == results
