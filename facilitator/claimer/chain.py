"""What the claimer reads from the chain. Every method raises what is in NODE_ERRORS."""

from collections.abc import Collection, Sequence

from facilitator.claimer.ledger import ChainState
from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm import calldata as calls
from facilitator.rails.evm.channels import owed_to
from facilitator.rails.evm.node import bytes_of, number_of, value_of
from shared.nodes.json_rpc import Call, RpcError
from shared.x402.evm_channel_ids import CONTRACT, FINAL_BLOCKS, MOST_BLOCKS, MOST_TOPICS


class Chain:
    """The channels' contract on one network."""

    def __init__(self, node: JsonRpcNode) -> None:
        self._node = node

    async def head(self) -> int:
        """The number of the newest block."""
        return number_of(await self._node.ask("eth_blockNumber"))

    async def gas_price(self) -> int:
        """Wei for a unit of gas."""
        return number_of(await self._node.ask("eth_gasPrice"))

    async def states(self, channel_ids: Sequence[str], block: int) -> dict[str, ChainState]:
        """What the contract shows of channels at a block."""
        asked = [
            Call("eth_call", ({"to": CONTRACT, "data": "0x" + data.hex()}, hex(block)))
            for name in channel_ids
            for data in calls.channel_views(bytes.fromhex(name[2:]))
        ]
        answers = iter(await self._node.ask_all(asked))
        found = {}
        for name in channel_ids:
            (balance, claimed), (leaving, since), (nonce,) = (
                calls.numbers(bytes_of(value_of(next(answers))), count) for count in (2, 2, 1)
            )
            found[name] = ChainState(block, balance, claimed, leaving, since, nonce)
        return found

    async def final_block(self, head: int) -> int:
        """The newest block that no reorganisation takes back."""
        try:
            return number_of((await self._node.ask("eth_getBlockByNumber", "finalized", False))["number"])
        except (RpcError, TypeError):
            return max(0, head - FINAL_BLOCKS)

    async def touched(self, channel_ids: Collection[str], first: int, last: int) -> set[str]:
        """Those of the channels of which the contract has events in these blocks."""
        names = sorted(channel_ids)
        searches = [
            {
                "address": CONTRACT,
                "fromBlock": hex(start),
                "toBlock": hex(min(last, start + MOST_BLOCKS - 1)),
                "topics": [None, names[row : row + MOST_TOPICS]],
            }
            for start in range(first, last + 1, MOST_BLOCKS)
            for row in range(0, len(names), MOST_TOPICS)
        ]
        answers = await self._node.ask_all([Call("eth_getLogs", (search,)) for search in searches])
        return {event["topics"][1] for answer in answers for event in value_of(answer)}

    async def owed(self, receiver: str, token: str) -> int:
        """What was claimed for a receiver and not paid out, in atomic units."""
        return await owed_to(self._node, receiver, token)

    async def close(self) -> None:
        """Close the connections."""
        await self._node.close()
