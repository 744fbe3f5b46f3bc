"""chain/call: a read-only call of a contract, and what it returned.

- A call that reverts is an answer: `reverted`, with the reason decoded.
- Calldata for an address without code is a 400 `not_a_contract`: the chain would execute nothing and return nothing.
- `from` pays no gas, but it must have `value`: `sender` says what it has.
"""

from __future__ import annotations

import msgspec

from jobs.chain.estimate_gas import CallData
from jobs.chain.request import MAX_BODY_BYTES, Address, ChainName, Uint256, check_addresses, parsed
from jobs.chain.sender import Sender, by_the_rule, sender_of
from jobs.evm import address
from jobs.evm.address import ZERO, checksummed
from jobs.evm.code import PRECOMPILES
from jobs.evm.declaration import chain_data
from jobs.evm.quantity import parse_data, parse_uint256
from jobs.evm.reader import NotAContract, Reader
from jobs.evm.reader import Response as ChainResponse
from jobs.evm.reverts import Revert, explain
from jobs.ports import Context
from jobs.ports.chains import Balance, Call, Code, Reverted, check_configured
from shared.endpoint import Example
from shared.money import Price

MAX_RETURNED_BYTES = 128 * 1024


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`to`: the contract. `data`: calldata. `from`: the sender; the zero address when null. `value`: wei."""

    chain: ChainName
    to: Address
    data: CallData = "0x"
    from_: Address | None = msgspec.field(default=None, name="from")
    value: Uint256 = "0"

    def __post_init__(self) -> None:
        check_configured(self.chain)
        check_addresses(self, "to")
        if self.from_ is not None:
            address.parse(self.from_, field="from")
        parse_data(self.data, field="data")
        parse_uint256(self.value, field="value")


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    """`data`: what was returned, also by a revert; its first 128 KB. `dataBytes`: how much it was. `revertReason`: in words."""

    to: str
    data: str
    data_bytes: int
    data_truncated: bool
    reverted: bool
    revert_reason: str | None
    revert: Revert | None
    sender: Sender


def run(request: Request, context: Context) -> Response:
    """Call, at one block."""
    to = parsed(request.to)
    given = parsed(request.from_) if request.from_ else None
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
        reverted=revert is not None,
        revert_reason=revert.reason if revert else None,
        revert=revert,
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
            "ok": True,
            "chain": "base",
            "chainId": 8453,
            "blockNumber": "38500000",
            "blockTimestamp": "2026-11-20T15:04:05Z",
            "warnings": [],
            "to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "data": "0x0000000000000000000000000000000000000000000000000000000000000006",
            "dataBytes": 32,
            "dataTruncated": False,
            "reverted": False,
            "revertReason": None,
            "revert": None,
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
