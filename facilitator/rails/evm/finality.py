"""When a receipt counts: at once, when its block is the chain's, or when more blocks are on top of that."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm.node import number_of, value_of
from shared.nodes.json_rpc import Call

PRECONFIRMED, INCLUDED = "preconfirmed", "included"
_FORM = re.compile(r"[1-9][0-9]?", re.ASCII)

K = TypeVar("K")
Receipt = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finality:
    """What is demanded of a receipt.

    Attributes:
        is_before_blocks: a receipt counts that the node shows before its block is sealed.
        blocks: how many blocks must be on top of the block that it names.
    """

    is_before_blocks: bool = False
    blocks: int = 0

    @classmethod
    def parse(cls, text: str) -> "Finality":
        """Read ``preconfirmed``, ``included`` or a number of blocks. Raises ValueError."""
        if text in (PRECONFIRMED, INCLUDED):
            return cls(is_before_blocks=text == PRECONFIRMED)
        if not _FORM.fullmatch(text):
            raise ValueError("preconfirmed, included, or a number of blocks from 1 to 99")
        return cls(blocks=int(text))

    async def final(self, node: JsonRpcNode, head: Receipt, found: Mapping[K, Receipt]) -> dict[K, Receipt]:
        """Those of the receipts that count. Raises what is in NODE_ERRORS.

        Nodes that know of preconfirmations show a receipt before its block is sealed. So the receipt alone says nothing: the
        chain must have a block of its number, with its hash.
        """
        if self.is_before_blocks:
            return dict(found)
        newest = number_of(head["number"])
        old = {key: one for key, one in found.items() if number_of(one["blockNumber"]) + self.blocks <= newest}
        hashes = {head["number"]: head["hash"]}
        unknown = list({one["blockNumber"] for one in old.values()} - hashes.keys())
        if unknown:
            blocks = await node.ask_all([Call("eth_getBlockByNumber", (number, False)) for number in unknown])
            hashes |= {number: value_of(block)["hash"] for number, block in zip(unknown, blocks, strict=True)}
        return {key: one for key, one in old.items() if hashes[one["blockNumber"]] == one["blockHash"]}
