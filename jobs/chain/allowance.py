"""chain/allowance: how much of an owner's tokens a spender may take.

`isUnlimited`: the allowance is one of the numbers that stand for no limit (jobs/engines/evm/unlimited.py), or more than
there is of the token. A contract that reverts is an answer: `allowance` is null, and `revert` says why.
"""

from typing import Annotated

from jobs.chain.answers import number_or_revert
from jobs.chain.request import ChainRequest, hex_address
from jobs.engines.evm import selectors
from jobs.engines.evm.abi import encode_words
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.declaration import EXAMPLE_HEAD, NOT_REVERTED, chain_data
from jobs.engines.evm.fields import (
    Decimals,
    HasReverted,
    RevertDetails,
    RevertReason,
    Symbol,
    TokenAddress,
    revert_fields,
)
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.tokens import METADATA_GAS, metadata_calls, token_of, word
from jobs.engines.evm.unlimited import unlimited_form
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Call, Code
from shared.endpoint import Example
from shared.money import Price


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("token", "owner", "spender")

    token: Annotated[str, hex_address("The ERC-20 contract")]
    owner: Annotated[str, hex_address("Whose tokens they are")]
    spender: Annotated[str, hex_address("Who may take the tokens")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    token: TokenAddress
    owner: Annotated[str, doc("Whose tokens they are, in checksum case.")]
    spender: Annotated[str, doc("Who may take the tokens, in checksum case.")]
    allowance: Annotated[
        str | None, doc("How much the spender may take, in the token's smallest unit. Null when the call reverted.")
    ]
    decimals: Decimals
    allowance_formatted: Annotated[
        str | None, doc("The allowance in whole tokens. Null without `decimals`, or when the call reverted.")
    ]
    symbol: Symbol
    is_unlimited: Annotated[
        bool | None,
        doc(
            "Whether the allowance has no limit: a number that stands for none, or more than the token's supply. Null "
            "when the call reverted."
        ),
    ]
    reverted: HasReverted
    revert_reason: RevertReason
    revert: RevertDetails


def run(request: Request, context: Context) -> Response:
    """The allowance, and what makes it readable, at one block."""
    token, owner, spender = request.token.lower(), request.owner.lower(), request.spender.lower()
    reader = Reader(context, request.chain)
    code, answer, supply, decimals, symbol = reader.read(
        Code(token, is_constant=True),
        Call(to=token, data=selectors.ALLOWANCE + encode_words(owner, spender)),
        Call(to=token, data=selectors.TOTAL_SUPPLY, gas=METADATA_GAS),
        *metadata_calls(token),
    )
    allowed, revert = number_or_revert(answer, code, question="allowance")
    words = token_of(token, decimals, symbol)
    return Response(
        **reader.head(),
        token=checksummed(token),
        owner=checksummed(owner),
        spender=checksummed(spender),
        allowance=None if allowed is None else str(allowed),
        decimals=words.decimals,
        allowance_formatted=words.formatted(allowed),
        symbol=words.symbol,
        is_unlimited=None if allowed is None else unlimited_form(allowed, word(supply)) is not None,
        **revert_fields(revert),
    )


ENDPOINT = chain_data(
    name="chain/allowance",
    price=Price.of("0.003"),
    request=Request,
    response=Response,
    summary=(
        "How much of an owner's ERC-20 tokens a spender may take on Ethereum or Base, raw and with decimals, and whether that "
        "is without limit in any of its usual forms."
    ),
    example=Example(
        request={
            "chain": "base",
            "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "owner": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "spender": "0x000000000022D473030F116dDEE9F6B43aC78BA3",
        },
        response={
            **EXAMPLE_HEAD,
            "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "owner": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "spender": "0x000000000022D473030F116dDEE9F6B43aC78BA3",
            "allowance": "5000000",
            "decimals": 6,
            "allowanceFormatted": "5",
            "symbol": "USDC",
            "isUnlimited": False,
            **NOT_REVERTED,
        },
    ),
    run=run,
)
