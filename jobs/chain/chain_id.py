"""chain/chain-id: the chain's id, as its node says it now, and how far the chain is."""

from typing import Annotated

from jobs.chain.request import ChainRequest
from jobs.engines.evm.declaration import EXAMPLE_HEAD, chain_data
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import ChainId
from shared.endpoint import Example
from shared.money import Price


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    pass


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    chain_id_hex: Annotated[str, doc("`chainId` in hex, as the node answered.")]
    caip2: Annotated[str, doc("The chain's name in x402 payments (CAIP-2): `eip155:8453`.")]


def run(request: Request, context: Context) -> Response:
    """Ask the node for its chain id."""
    reader = Reader(context, request.chain)
    (number,) = reader.read(ChainId())
    return Response(**reader.head() | {"chain_id": number}, chain_id_hex=hex(number), caip2=f"eip155:{number}")


ENDPOINT = chain_data(
    name="chain/chain-id",
    price=Price.of("0.001"),
    request=Request,
    response=Response,
    summary="The chain id of Ethereum or Base as a node says it (eth_chainId), with the newest block and its time.",
    example=Example(
        request={"chain": "base"},
        response={
            **EXAMPLE_HEAD,
            "chainIdHex": "0x2105",
            "caip2": "eip155:8453",
        },
    ),
    run=run,
)
