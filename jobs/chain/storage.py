"""chain/storage: one slot of a contract's storage, raw, and what it might be.

`knownSlot` names the slots in which proxies keep their implementation, beacon and admin (ERC-1967, ERC-1822 and older).
`asAddress` is the value as an address, where it can be one. The warning `no_code` says that there is no contract, so every slot
is empty.
"""

from typing import Annotated

from jobs.chain.request import ChainRequest, hex_address, uint256
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.code import slot_address
from jobs.engines.evm.declaration import EXAMPLE_HEAD, chain_data
from jobs.engines.evm.quantity import parse_uint256
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.selectors import KNOWN_SLOTS
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Code, Storage
from shared.endpoint import Example
from shared.money import Price

NO_CODE = "no_code"


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("address",)
    NUMBERS = ("slot",)

    address: Annotated[str, hex_address("The contract")]
    slot: Annotated[str, uint256("The number of the storage slot")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    address: Annotated[str, doc("The contract, in checksum case.")]
    slot: Annotated[str, doc("The slot's number: 0x and 64 hex digits.")]
    value: Annotated[str, doc("What the slot has: 0x and 64 hex digits.")]
    as_number: Annotated[str, doc("The value as a number, in decimal.")]
    as_address: Annotated[str | None, doc("The value as an address, in checksum case. Null when it cannot be one.")]
    known_slot: Annotated[
        str | None,
        doc("The name of a slot that proxies use, such as `eip1967.proxy.implementation`. Null for any other."),
    ]


def run(request: Request, context: Context) -> Response:
    """The slot, at one block."""
    account, slot = request.address.lower(), parse_uint256(request.slot, field="slot")
    reader = Reader(context, request.chain)
    value, code = reader.read(Storage(account, slot), Code(account, is_constant=True))
    if not code:
        reader.warn(NO_CODE)
    found = slot_address(value)
    return Response(
        **reader.head(),
        address=checksummed(account),
        slot=f"0x{slot:064x}",
        value="0x" + value.hex(),
        as_number=str(int.from_bytes(value, "big")),
        as_address=checksummed(found) if found and _may_be_address(value) else None,
        known_slot=KNOWN_SLOTS.get(slot),
    )


def _may_be_address(value: bytes) -> bool:
    """Small numbers are no addresses: an address that starts with four zero bytes costs work to find."""
    return any(value[12:16])


ENDPOINT = chain_data(
    name="chain/storage",
    price=Price.of("0.005"),
    request=Request,
    response=Response,
    summary=(
        "A raw storage slot of a contract on Ethereum or Base (eth_getStorageAt), also as number and address; the slots of "
        "proxies are named."
    ),
    example=Example(
        request={
            "chain": "base",
            "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "slot": "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
        },
        response={
            **EXAMPLE_HEAD,
            "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "slot": "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
            "value": "0x0000000000000000000000002ce6311ddae708829bc0784c967b7d77d19fd779",
            "asNumber": "256329043973081575610686690754155656197982639993",
            "asAddress": "0x2Ce6311ddAE708829bc0784C967b7d77D19FD779",
            "knownSlot": "org.zeppelinos.proxy.implementation",
        },
    ),
    run=run,
)
