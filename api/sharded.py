"""Several primaries of the ledger as one: each command goes to the server that has its key's bucket (shared/ledger/keys.py)."""

import asyncio
from collections.abc import Sequence
from typing import Any

from api.redis_client import Commands, Redis, RedisLost
from shared.ledger.keys import BUCKETS, bucket_in, server_of

Command = tuple[str | bytes | int | float, ...]


def as_one(servers: Sequence[Redis]) -> Commands:
    """The server itself where there is one: then nothing is routed."""
    return servers[0] if len(servers) == 1 else ShardedRedis(servers)


class ShardedRedis:
    """Routes commands. The servers know nothing of each other: one that is down stops the payers of its buckets alone.

    Args:
        servers: in the order of COINSLOT_LEDGER_URL. Each has its own connection, and waits for its own replicas.
    """

    def __init__(self, servers: Sequence[Redis]) -> None:
        self._of = [servers[server_of(bucket, len(servers))] for bucket in range(BUCKETS)]

    async def call(self, *command: str | bytes | int | float) -> Any:
        """Send one command with a key of the ledger. Raises what Redis.call raises."""
        return await self._server(command).call(*command)

    async def batch(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands, in one write for each server. Returns their answers in the same order: RedisRefused or RedisLost in
        place of one that there is not."""
        of_server: dict[Redis, list[int]] = {}
        for number, command in enumerate(commands):
            of_server.setdefault(self._server(command), []).append(number)
        answers: list[Any] = [None] * len(commands)

        async def ask(server: Redis, numbers: list[int]) -> None:
            try:
                found = await server.batch([commands[number] for number in numbers])
            except RedisLost as lost:
                found = [lost] * len(numbers)
            for number, answer in zip(numbers, found, strict=True):
                answers[number] = answer

        await asyncio.gather(*(ask(*group) for group in of_server.items()))
        return answers

    def _server(self, command: Command) -> Redis:
        # The other commands that the ledger is sent (api/payment/ledger.py) have their key first.
        key = command[3] if command[0] in ("EVALSHA", "EVAL") else command[1]
        return self._of[bucket_in(str(key))]
