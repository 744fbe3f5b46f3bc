"""chain/erc1155-balance: how many of a contract's token with an id an address has. Callable, and in no discovery document."""

from typing import Annotated

from jobs.chain.answers import number_or_revert
from jobs.chain.request import ChainRequest, hex_address, uint256
from jobs.engines.evm import selectors
from jobs.engines.evm.abi import encode_words
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.declaration import EXAMPLE_HEAD, NOT_REVERTED, chain_data
from jobs.engines.evm.fields import HasReverted, RevertDetails, RevertReason, TokenAddress, revert_fields
from jobs.engines.evm.quantity import parse_uint256
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.tokens import METADATA_GAS, truth
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Call, Code
from shared.endpoint import Example
from shared.money import Price

NOT_ERC1155 = "not_erc1155"


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("token", "address")
    NUMBERS = ("token_id",)

    token: Annotated[str, hex_address("The ERC-1155 contract")]
    address: Annotated[str, hex_address("Whose balance to read")]
    token_id: Annotated[str, uint256("The id of the token")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    token: TokenAddress
    address: Annotated[str, doc("Whose balance it is, in checksum case.")]
    token_id: Annotated[str, doc("The id of the token, in decimal.")]
    balance: Annotated[str | None, doc("The balance, in decimal. Null when the call reverted.")]
    is_erc1155: Annotated[
        bool | None, doc("Whether the contract says that it is an ERC-1155 (ERC-165). Null when it does not say.")
    ]
    reverted: HasReverted
    revert_reason: RevertReason
    revert: RevertDetails


def run(request: Request, context: Context) -> Response:
    """The balance, and whether the contract is an ERC-1155, at one block."""
    token, owner = request.token.lower(), request.address.lower()
    token_id = parse_uint256(request.token_id, field="tokenId")
    reader = Reader(context, request.chain)
    code, answer, claims = reader.read(
        Code(token, is_constant=True),
        Call(to=token, data=selectors.BALANCE_OF_ID + encode_words(owner, token_id)),
        Call(to=token, data=selectors.IS_ERC1155, gas=METADATA_GAS),
    )
    balance, revert = number_or_revert(answer, code, question="balanceOf with an id")
    is_erc1155 = truth(claims)
    if not is_erc1155:
        reader.warn(NOT_ERC1155)
    return Response(
        **reader.head(),
        token=checksummed(token),
        address=checksummed(owner),
        token_id=str(token_id),
        balance=None if balance is None else str(balance),
        is_erc1155=is_erc1155,
        **revert_fields(revert),
    )


ENDPOINT = chain_data(
    name="chain/erc1155-balance",
    price=Price.of("0.003"),
    request=Request,
    response=Response,
    listed=False,
    summary="The ERC-1155 balance of an address for one token id on Ethereum or Base, with the block.",
    example=Example(
        request={
            "chain": "base",
            "token": "0x1155115511551155115511551155115511551155",
            "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "tokenId": "7",
        },
        response={
            **EXAMPLE_HEAD,
            "token": "0x1155115511551155115511551155115511551155",
            "address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "tokenId": "7",
            "balance": "3",
            "isErc1155": True,
            **NOT_REVERTED,
        },
    ),
    run=run,
)
