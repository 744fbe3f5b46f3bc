"""chain/nft-owner: who has an NFT.

ERC-721 says that `ownerOf` reverts for a token that does not exist, so a revert is an answer: `exists` is false. A contract
that is no ERC-721 reverts as well: it is asked whether it is one (ERC-165), and the warning `not_erc721` says that it did not
claim so.
"""

from typing import Annotated

from jobs.chain.answers import number_or_revert
from jobs.chain.request import ChainRequest, hex_address, uint256
from jobs.engines.evm import selectors
from jobs.engines.evm.abi import encode_words
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.declaration import EXAMPLE_HEAD, chain_data
from jobs.engines.evm.fields import RevertReason, TokenAddress
from jobs.engines.evm.quantity import parse_uint256
from jobs.engines.evm.reader import NotAContract, Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.tokens import METADATA_GAS, name_call, text_of, truth
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Call, Code
from shared.endpoint import Example
from shared.money import Price

NOT_ERC721 = "not_erc721"


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("token",)
    NUMBERS = ("token_id",)

    token: Annotated[str, hex_address("The ERC-721 contract")]
    token_id: Annotated[str, uint256("The id of the NFT")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    token: TokenAddress
    token_id: Annotated[str, doc("The id of the NFT, in decimal.")]
    owner: Annotated[str | None, doc("Who owns it, in checksum case. Null when nobody does.")]
    exists: Annotated[bool, doc("Whether somebody owns it.")]
    collection: Annotated[str | None, doc("The contract's own name for the collection. Null when it has none.")]
    is_erc721: Annotated[
        bool | None, doc("Whether the contract says that it is an ERC-721 (ERC-165). Null when it does not say.")
    ]
    revert_reason: RevertReason


def run(request: Request, context: Context) -> Response:
    """The owner, and whether the contract is one of NFTs, at one block."""
    token, token_id = request.token.lower(), parse_uint256(request.token_id, field="tokenId")
    reader = Reader(context, request.chain)
    code, answer, claims, name = reader.read(
        Code(token, is_constant=True),
        Call(to=token, data=selectors.OWNER_OF + encode_words(token_id)),
        Call(to=token, data=selectors.IS_ERC721, gas=METADATA_GAS),
        name_call(token),
    )
    number, revert = number_or_revert(answer, code, question="ownerOf")
    if number is not None and number >= 1 << 160:
        raise NotAContract("What is at the token's address answers ownerOf with no address: it is no ERC-721.")
    is_erc721 = truth(claims)
    if not is_erc721:
        reader.warn(NOT_ERC721)
    return Response(
        **reader.head(),
        token=checksummed(token),
        token_id=str(token_id),
        owner=checksummed(f"0x{number:040x}") if number else None,
        exists=bool(number),
        collection=text_of(name, 64),
        is_erc721=is_erc721,
        revert_reason=revert.reason if revert else None,
    )


ENDPOINT = chain_data(
    name="chain/nft-owner",
    price=Price.of("0.003"),
    request=Request,
    response=Response,
    summary="Who owns an ERC-721 token on Ethereum or Base, or that nobody does, with the collection's name and the block.",
    example=Example(
        request={"chain": "base", "token": "0x03c4738Ee98aE44591e1A4A4F3CaB6641d95DD9a", "tokenId": "1"},
        response={
            **EXAMPLE_HEAD,
            "token": "0x03c4738Ee98aE44591e1A4A4F3CaB6641d95DD9a",
            "tokenId": "1",
            "owner": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "exists": True,
            "collection": "Collectible",
            "isErc721": True,
            "revertReason": None,
        },
    ),
    run=run,
)
