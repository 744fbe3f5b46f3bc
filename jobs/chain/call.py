"""chain/call: a read-only call of a contract, and what it returned.

- A call that reverts is an answer: `reverted`, with the reason decoded.
- Calldata for an address without code is a 400 `not_a_contract`: the chain would execute nothing and return nothing.
- `from` pays no gas, but it must have `value`: `sender` says what it has.
"""

from typing import Annotated

import msgspec

from jobs.chain.caller import Sender, by_the_rule, sender_of
from jobs.chain.request import MAX_BODY_BYTES, CallData, ChainRequest, hex_address, uint256
from jobs.engines.evm.address import ZERO, checksummed
from jobs.engines.evm.code import PRECOMPILES
from jobs.engines.evm.declaration import EXAMPLE_HEAD, NOT_REVERTED, chain_data
from jobs.engines.evm.fields import HasReverted, RevertDetails, RevertReason, revert_fields
from jobs.engines.evm.quantity import parse_data, parse_uint256
from jobs.engines.evm.reader import NotAContract, Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.reverts import explain
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Balance, Call, Code, Reverted
from jobs.site import Site
from shared.endpoint import Example
from shared.money import Price

MAX_RETURNED_BYTES = 128 * 1024


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("to", "from_")

    to: Annotated[str, hex_address("The contract to call")]
    data: CallData = "0x"
    from_: Annotated[str, hex_address("The sender; the zero address when null")] | None = msgspec.field(
        default=None, name="from"
    )
    value: Annotated[str, uint256("The ether to send, in wei")] = "0"

    def check(self, site: Site) -> None:
        super().check(site)
        parse_data(self.data, field="data")
        parse_uint256(self.value, field="value")


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    to: Annotated[str, doc("The contract that was called, in checksum case.")]
    data: Annotated[str, doc("What it returned, also when it reverted: hex, at most 128 KB.")]
    data_bytes: Annotated[int, doc("How many bytes it returned.")]
    data_truncated: Annotated[bool, doc("Whether it returned more than `data` has.")]
    reverted: HasReverted
    revert_reason: RevertReason
    revert: RevertDetails
    sender: Sender


def run(request: Request, context: Context) -> Response:
    """Call the contract, at one block."""
    to = request.to.lower()
    given = request.from_.lower() if request.from_ else None
    data = parse_data(request.data, field="data")
    value = parse_uint256(request.value, field="value")
    reader = Reader(context, request.chain)
    outcome, balance, code = reader.read(
        Call(to=to, data=data, sender=given, value=value),
        Balance(given or ZERO),
        Code(to),
    )
    outcome = by_the_rule(outcome, value, balance)
    if data and not code and to not in PRECOMPILES:
        raise NotAContract("There is no contract at this address on this chain: nothing would be executed.")
    revert = explain(outcome) if isinstance(outcome, Reverted) else None
    returned: bytes = outcome.data if isinstance(outcome, Reverted) else outcome
    return Response(
        **reader.head(),
        to=checksummed(to),
        data="0x" + returned[:MAX_RETURNED_BYTES].hex(),
        data_bytes=len(returned),
        data_truncated=len(returned) > MAX_RETURNED_BYTES,
        **revert_fields(revert),
        sender=sender_of(given, balance),
    )


ENDPOINT = chain_data(
    name="chain/call",
    price=Price.of("0.005"),
    request=Request,
    response=Response,
    max_body_bytes=MAX_BODY_BYTES,
    summary=(
        "A read-only call of a contract on Ethereum or Base (eth_call): its raw return data, or a revert's decoded reason. "
        "Sends no transaction."
    ),
    example=Example(
        request={
            "chain": "base",
            "to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "data": "0x313ce567",
            "from": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        },
        response={
            **EXAMPLE_HEAD,
            "to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "data": "0x0000000000000000000000000000000000000000000000000000000000000006",
            "dataBytes": 32,
            "dataTruncated": False,
            **NOT_REVERTED,
            "sender": {
                "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
                "isDefault": False,
                "balanceWei": "0",
                "rule": "gas_free_value_from_balance",
            },
        },
    ),
    run=run,
)
