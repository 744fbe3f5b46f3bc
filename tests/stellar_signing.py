"""How tests sign a Stellar payment, with the network's own SDK: one place, for every folder of tests."""

import secrets
from collections.abc import Callable
from typing import Any

from stellar_sdk import Account, Address, Keypair, SorobanDataBuilder, TransactionBuilder, scval, xdr
from stellar_sdk.auth import authorize_entry

from shared.x402.networks import STELLAR_USDC
from shared.x402.wire import Offer

NOBODY = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
"""The all-zero key, which the official client names as the source of its transaction."""
LEGACY = xdr.SorobanCredentialsType.SOROBAN_CREDENTIALS_ADDRESS
V2 = xdr.SorobanCredentialsType.SOROBAN_CREDENTIALS_ADDRESS_V2
RESOURCE_FEE = 30_000


def transfer(contract: str, args: list[xdr.SCVal], function: str = "transfer") -> xdr.InvokeContractArgs:
    """A call."""
    return xdr.InvokeContractArgs(Address(contract).to_xdr_sc_address(), scval.to_symbol(function).sym, args)


def invocation(call: xdr.InvokeContractArgs, *beneath: xdr.SorobanAuthorizedInvocation) -> Any:
    """A call, as somebody allows it."""
    kind = xdr.SorobanAuthorizedFunctionType.SOROBAN_AUTHORIZED_FUNCTION_TYPE_CONTRACT_FN
    return xdr.SorobanAuthorizedInvocation(xdr.SorobanAuthorizedFunction(kind, call), list(beneath))


def unsigned(address: str, allowed: xdr.SorobanAuthorizedInvocation, nonce: int, credentials: Any = LEGACY) -> Any:
    """An authorization entry that nobody has signed."""
    inner = xdr.SorobanAddressCredentials(
        Address(address).to_xdr_sc_address(), xdr.Int64(nonce), xdr.Uint32(0), scval.to_void()
    )
    field = "address_v2" if credentials == V2 else "address"
    return xdr.SorobanAuthorizationEntry(xdr.SorobanCredentials(credentials, **{field: inner}), allowed)


def nonce_key(address: str, nonce: int) -> xdr.LedgerKey:
    """Where the network keeps that a nonce was used."""
    return xdr.LedgerKey(
        xdr.LedgerEntryType.CONTRACT_DATA,
        contract_data=xdr.LedgerKeyContractData(
            Address(address).to_xdr_sc_address(),
            xdr.SCVal(xdr.SCValType.SCV_LEDGER_KEY_NONCE, nonce_key=xdr.SCNonceKey(xdr.Int64(nonce))),
            xdr.ContractDataDurability.TEMPORARY,
        ),
    )


def envelope(
    key: Keypair,
    offer: Offer,
    *,
    expiration: int,
    nonce: int | None = None,
    credentials: Any = LEGACY,
    value: int | None = None,
    to: str = "",
    source: str = NOBODY,
    fee: int = 100 + RESOURCE_FEE,
    edit: Callable[[xdr.TransactionV1Envelope], None] | None = None,
) -> xdr.TransactionEnvelope:
    """What the scheme's `transaction` holds, well signed over exactly these values.

    Args:
        expiration: the last ledger in which it is valid.
        nonce: None takes a random one.
        edit: changes the envelope after it was signed.
    """
    number = secrets.randbits(62) if nonce is None else nonce
    args = [
        scval.to_address(key.public_key),
        scval.to_address(to or offer.pay_to),
        scval.to_int128(int(offer.amount) if value is None else value),
    ]
    call = transfer(offer.asset, args)
    entry = unsigned(key.public_key, invocation(call), number, credentials)
    signed = authorize_entry(entry, key, expiration, STELLAR_USDC[offer.network].passphrase)
    data = SorobanDataBuilder().set_resource_fee(RESOURCE_FEE).set_resources(400_000, 400, 400)
    data.set_read_write([nonce_key(key.public_key, number)])
    made = (
        TransactionBuilder(Account(source, 0), STELLAR_USDC[offer.network].passphrase, base_fee=fee)
        .append_invoke_contract_function_op(offer.asset, "transfer", args, [signed])
        .set_soroban_data(data.build())
        .add_time_bounds(0, 2_000_000_000)
        .build()
        .to_xdr_object()
    )
    assert made.v1 is not None
    made.v1.tx.fee = xdr.Uint32(fee)
    if edit:
        edit(made.v1)
    return made


def payload(key: Keypair, offer: Offer, **how: Any) -> dict[str, Any]:
    """The scheme's payload. Arguments are those of `envelope`."""
    return {"transaction": envelope(key, offer, **how).to_xdr()}
