"""chain/estimate-gas: the gas that a transaction would need, and what it would cost now.

- A transaction that would revert is an answer: `reverted`, with the reason decoded.
- Without `to` it creates a contract.
- `feeWei` is gas times the gas price of now, and on Base the fee for the data on L1, at most (GasPriceOracle, Fjord).
- `from` pays no gas here, but it must have `value`: `sender` says what it has.
"""

from typing import Annotated, ClassVar

import msgspec

from jobs.chain.caller import Sender, by_the_rule, sender_of
from jobs.chain.request import MAX_BODY_BYTES, CallData, ChainRequest, hex_address, uint256
from jobs.engines.evm.address import ZERO, checksummed
from jobs.engines.evm.code import PRECOMPILES
from jobs.engines.evm.declaration import EXAMPLE_HEAD, NOT_REVERTED, chain_data
from jobs.engines.evm.fields import revert_fields
from jobs.engines.evm.quantity import ether, parse_data, parse_uint256
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.reverts import Revert, explain
from jobs.engines.evm.tokens import l1_fee_call, word
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Balance, Code, EstimateGas, GasPrice, Reverted
from jobs.site import Site
from shared.endpoint import Example, InvalidField
from shared.money import Price

ENVELOPE_BYTES = 120
"""The longest unsigned transaction without its data: chain, nonce, fees, gas, address and value."""
NO_CODE = "no_code_at_to"


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("to", "from_")
    EXTRA_JSON_SCHEMA: ClassVar = {
        "if": {"required": ["to"], "properties": {"to": {"type": "string"}}},
        "else": {"required": ["data"], "properties": {"data": {"minLength": len("0x00")}}},
    }

    to: Annotated[str, hex_address("The recipient; null to create a contract")] | None = None
    data: Annotated[
        CallData,
        doc("The calldata, or the code of a new contract: 0x and an even number of hex digits, 128 KB at most."),
    ] = "0x"
    value: Annotated[str, uint256("The ether to send, in wei")] = "0"
    from_: Annotated[str, hex_address("The sender; the zero address when null")] | None = msgspec.field(
        default=None, name="from"
    )

    def check(self, site: Site) -> None:
        super().check(site)
        if not parse_data(self.data, field="data") and self.to is None:
            raise InvalidField("Without `to` a contract is created, and `data` has to be its code.", field="to")
        parse_uint256(self.value, field="value")


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    to: Annotated[str | None, doc("The recipient, in checksum case. Null when a contract would be created.")]
    gas: Annotated[str | None, doc("The gas that the transaction needs, in decimal. Null when it would revert.")]
    gas_hex: Annotated[str | None, doc("The same in hex.")]
    reverted: Annotated[bool, doc("Whether the transaction would revert.")]
    revert_reason: Annotated[
        str | None, doc("Why it would revert, in words. Null when it would not, or gives no reason.")
    ]
    revert: Annotated[Revert | None, doc("The revert in detail. Null when it would not revert.")]
    gas_price_wei: Annotated[str, doc("The price of gas now, in wei.")]
    l1_fee_wei: Annotated[
        str | None, doc("On Base the highest fee for the data on Ethereum, in wei. Null on Ethereum.")
    ]
    fee_wei: Annotated[
        str | None, doc("The fee: `gas` at `gasPriceWei`, and `l1FeeWei`, in wei. Null when it would revert.")
    ]
    fee_formatted: Annotated[str | None, doc("The fee in ether. Null when it would revert.")]
    sender: Sender


def run(request: Request, context: Context) -> Response:
    """Estimate the gas and its fee, at one block."""
    to = request.to.lower() if request.to else None
    given = request.from_.lower() if request.from_ else None
    data = parse_data(request.data, field="data")
    value = parse_uint256(request.value, field="value")
    reader = Reader(context, request.chain)
    outcome, balance, price, code, *l1_answer = reader.read(
        EstimateGas(to=to, data=data, sender=given, value=value),
        Balance(given or ZERO),
        GasPrice(),
        Code(to or ZERO),
        *([l1_fee_call(ENVELOPE_BYTES + len(data))] if request.chain == "base" else []),
    )
    outcome = by_the_rule(outcome, value, balance)
    revert = explain(outcome) if isinstance(outcome, Reverted) else None
    gas: int | None = None if revert else outcome
    if to and data and not code and to not in PRECOMPILES:
        reader.warn(NO_CODE)
    l1_fee = word(l1_answer[0]) if l1_answer else None
    fee = None if gas is None else gas * price + (l1_fee or 0)
    return Response(
        **reader.head(),
        to=checksummed(to) if to else None,
        gas=None if gas is None else str(gas),
        gas_hex=None if gas is None else hex(gas),
        **revert_fields(revert),
        gas_price_wei=str(price),
        l1_fee_wei=None if l1_fee is None else str(l1_fee),
        fee_wei=None if fee is None else str(fee),
        fee_formatted=None if fee is None else ether(fee),
        sender=sender_of(given, balance),
    )


ENDPOINT = chain_data(
    name="chain/estimate-gas",
    price=Price.of("0.004"),
    request=Request,
    response=Response,
    max_body_bytes=MAX_BODY_BYTES,
    summary=(
        "Estimates the gas of a transaction on Ethereum or Base (eth_estimateGas) and its fee, L1 data fee included; for one "
        "that would revert, the decoded reason."
    ),
    example=Example(
        request={
            "chain": "base",
            "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "data": "0x",
            "value": "0",
            "from": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        },
        response={
            **EXAMPLE_HEAD,
            "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "gas": "21000",
            "gasHex": "0x5208",
            **NOT_REVERTED,
            "gasPriceWei": "6000000",
            "l1FeeWei": None,
            "feeWei": "127200000000",
            "feeFormatted": "0.0000001272",
            "sender": {
                "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
                "isDefault": False,
                "balanceWei": "1000000000000000000",
                "rule": "gas_free_value_from_balance",
            },
        },
    ),
    run=run,
)
