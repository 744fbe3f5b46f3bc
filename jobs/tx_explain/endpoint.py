"""tx-explain: what a transaction did, in a sentence and in data.

- `narrative` is what a person would say. It depends on the receipt's logs. Ether that contracts send leaves no log: what the
  sender got of it follows from its balances, where it sent nothing else in the block. Only canonical tokens are called by their
  symbols; what any other calls itself is in quotes, with its address.
- `status` is `not_found` for a hash that is none of this chain; the other chain is asked, too, and `foundOn` says if it has it.
- A reverted transaction is repeated on the state after and before its block, to learn the reason: `revert`. Nodes without an
  archive keep that state for some minutes. The warning `replay_unavailable` says that the reason cannot be known here.
- Fees: gas at the effective price, blobs, and on Base the fee for the data on L1. A deposit pays none.
- `status` before Byzantium (2017) follows from the gas used: the warning `status_inferred`.
"""

import re
from typing import Annotated

import msgspec

from jobs.chain.request import ChainName
from jobs.engines.evm.declaration import chain_safety
from jobs.engines.evm.reader import Reader
from jobs.ports import Context
from jobs.ports.chains import CHAIN_IDS, check_configured
from jobs.site import Site, SiteRequest
from jobs.tx_explain.response import Response
from shared.endpoint import Example, InvalidField
from shared.money import Price

_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}", re.ASCII)


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    tx_hash: Annotated[
        str,
        msgspec.Meta(
            description="The hash of the transaction: 0x and 64 hex digits.",
            # Shown, not checked: the message says more than a pattern.
            extra_json_schema={"pattern": "^0[xX][0-9a-fA-F]{64}$"},
        ),
    ]
    chain: ChainName = "base"

    def check(self, site: Site) -> None:
        check_configured(self.chain, site)
        if not _HASH.fullmatch(self.tx_hash):
            raise InvalidField("The hash of a transaction is 0x and 64 hex digits.", field="txHash")


def run(request: Request, context: Context) -> Response:
    """Find the transaction and explain it."""
    # Not in the API, which needs the declaration alone.
    from jobs.tx_explain import reading
    from jobs.tx_explain.answer import answer
    from jobs.tx_explain.narrative import not_found

    tx_hash = request.tx_hash.lower()
    reader = Reader(context, request.chain)
    found = reading.find(reader, tx_hash)
    if found is not None:
        return answer(reader, found)
    other = reading.found_on(reader, tx_hash)
    return Response(
        ok=True,
        chain=request.chain,
        chain_id=CHAIN_IDS[request.chain],
        tx_hash=tx_hash,
        status="not_found",
        narrative=not_found(request.chain, other),
        found_on=other,
        warnings=reader.warnings,
    )


EXAMPLE_HASH = "0x5f4a8b699ab0183d8b9b4a5a844bb32cbae1a09d2b94d538a7d9dc52c4b34841"

ENDPOINT = chain_safety(
    name="tx-explain",
    price=Price.of("0.005"),
    request=Request,
    response=Response,
    summary=(
        "Explains a transaction of Base or Ethereum: a narrative, the decoded method, ERC-20, ERC-721 and ERC-1155 transfers, "
        "approvals, fees with L1 and blobs, signals such as unlimited approvals, and the reason of a revert."
    ),
    example=Example(
        request={"txHash": EXAMPLE_HASH, "chain": "base"},
        response={
            "ok": True,
            "chain": "base",
            "chainId": 8453,
            "txHash": EXAMPLE_HASH,
            "status": "success",
            "narrative": "Sent 25 USDC to 0x7099…79C8 and paid 0.00005181 ETH for gas.",
            "foundOn": None,
            "type": "dynamic_fee",
            "from": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "toLabel": None,
            "contractCreated": None,
            "nonce": "0",
            "valueWei": "0",
            "valueFormatted": "0",
            "etherReceivedWei": None,
            "blockNumber": "38500000",
            "timestamp": "2026-11-20T15:04:05Z",
            "blockTimestamp": "2026-11-20T15:04:05Z",
            "confirmations": 12,
            "gasLimit": "150000",
            "gasUsed": "51758",
            "effectiveGasPriceWei": "199900000",
            "l1FeeWei": None,
            "blobFeeWei": None,
            "feeWei": "10000000000000",
            "feeFormatted": "0.00001",
            "method": {
                "selector": "0xa9059cbb",
                "name": "transfer",
                "signature": "transfer(address,uint256)",
                "args": [
                    {"name": "to", "type": "address", "value": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
                    {"name": "value", "type": "uint256", "value": "25000000"},
                ],
                "trailingBytes": 0,
            },
            "transfers": [
                {
                    "standard": "erc20",
                    "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                    "symbol": "USDC",
                    "decimals": 6,
                    "from": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
                    "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                    "amount": "25000000",
                    "amountFormatted": "25",
                    "tokenId": None,
                    "logIndex": 0,
                    "isCanonical": True,
                }
            ],
            "transferCount": 1,
            "approvals": [],
            "approvalCount": 0,
            "delegations": [],
            "signals": [{"code": "erc20_transfer", "severity": "info", "message": "ERC-20 tokens moved."}],
            "revertReason": None,
            "revert": None,
            "warnings": [],
        },
    ),
    run=run,
)
