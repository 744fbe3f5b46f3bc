"""chain/erc20-balance: how many of a token an address has.

- Balance, decimals and symbol are what the contract says. Decimals and symbol are null when it has none. Invisible
  characters are removed from the symbol, because anybody may have written it.
- A contract that reverts is an answer: `balance` is null, and `revert` says why. Where there is no contract it is a 400.
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
from jobs.engines.evm.known_tokens import known_tokens
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.tokens import metadata_calls, token_of
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Call, Code
from shared.endpoint import Example
from shared.money import Price


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("token", "address")

    token: Annotated[str, hex_address("The ERC-20 contract")]
    address: Annotated[str, hex_address("Whose balance to read")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    token: TokenAddress
    address: Annotated[str, doc("Whose balance it is, in checksum case.")]
    balance: Annotated[str | None, doc("The balance, in the token's smallest unit. Null when the call reverted.")]
    decimals: Decimals
    balance_formatted: Annotated[
        str | None, doc("The balance in whole tokens. Null without `decimals`, or when the call reverted.")
    ]
    symbol: Symbol
    symbol_cleaned: Annotated[
        bool, doc("Whether characters of the token's symbol were removed. Honest tokens have nothing to hide there.")
    ]
    is_canonical: Annotated[
        bool, doc("Whether this is the well-known token of its symbol. False for most tokens: few are in the list.")
    ]
    reverted: HasReverted
    revert_reason: RevertReason
    revert: RevertDetails


def run(request: Request, context: Context) -> Response:
    """The balance, and what makes it readable, at one block."""
    token, owner = request.token.lower(), request.address.lower()
    reader = Reader(context, request.chain)
    code, answer, decimals, symbol = reader.read(
        Code(token, is_constant=True),
        Call(to=token, data=selectors.BALANCE_OF + encode_words(owner)),
        *metadata_calls(token),
    )
    balance, revert = number_or_revert(answer, code, question="balanceOf")
    words = token_of(token, decimals, symbol)
    return Response(
        **reader.head(),
        token=checksummed(token),
        address=checksummed(owner),
        balance=None if balance is None else str(balance),
        decimals=words.decimals,
        balance_formatted=words.formatted(balance),
        symbol=words.symbol,
        symbol_cleaned=words.symbol_cleaned,
        is_canonical=token in known_tokens(request.chain),
        **revert_fields(revert),
    )


ENDPOINT = chain_data(
    name="chain/erc20-balance",
    price=Price.of("0.003"),
    request=Request,
    response=Response,
    summary=(
        "The ERC-20 balance of an address on Ethereum or Base, raw and with the token's decimals, its symbol, and the block. "
        "Copes with tokens that have no decimals, a bytes32 symbol or a balanceOf that reverts."
    ),
    example=Example(
        request={
            "chain": "base",
            "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        },
        response={
            **EXAMPLE_HEAD,
            "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "balance": "1234567890",
            "decimals": 6,
            "balanceFormatted": "1234.56789",
            "symbol": "USDC",
            "symbolCleaned": False,
            "isCanonical": True,
            **NOT_REVERTED,
        },
    ),
    run=run,
)
