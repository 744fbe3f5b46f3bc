"""A Redis client whose answers survive a failover: it gives an answer when enough replicas have all data behind it."""

import asyncio
from typing import Any

from api.redis_client import Redis, RedisBroken, RedisLost, RedisRefused
from shared.ledger.fence import fence, missing

Command = tuple[str | bytes | int | float, ...]


class ReplicatedRedis(Redis):
    """One connection with one batch of commands at a time. What is asked meanwhile goes into the next batch, so all calls of
    a batch wait for the replicas once (group commit). WAIT holds up its connection: other commands take another one.

    Args:
        replicas: how many have to have it, from 1 on.
    """

    def __init__(self, url: str, replicas: int, *, place: str = "", is_known: bool = False) -> None:
        super().__init__(url, place=place, is_known=is_known)
        self._replicas = replicas
        self._gathered: list[tuple[Command, asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def call(self, *command: str | bytes | int | float) -> Any:
        """Send one command.

        Raises:
            RedisLost: the command may have run, and too few replicas may have what it wrote.
            RedisRefused: the command did not run.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._gathered.append((command, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    async def _send(self) -> None:
        try:
            while self._gathered:
                gathered, self._gathered = self._gathered, []
                await self._send_batch(gathered)
        finally:
            self._sending = None

    async def _send_batch(self, gathered: list[tuple[Command, asyncio.Future[Any]]]) -> None:
        commands = [command for command, _ in gathered]
        try:
            answers = await self.batch([*commands, *fence(self._replicas)])
            lack = missing(answers[len(commands) :], self._replicas)
            kind = RedisBroken if isinstance(answers[-1], RedisBroken) else RedisLost
        except Exception as error:  # nobody may be left waiting
            answers, lack, kind = [], str(error), RedisLost
        if lack and self._connection is not None:
            self._connection.fail(lack)  # the next one may lead to the server that has the replicas
        for number, (_, caller) in enumerate(gathered):
            if caller.done():
                continue
            answer = answers[number] if answers else None
            if isinstance(answer, RedisRefused):
                caller.set_exception(answer)
            elif lack:
                caller.set_exception(kind(lack))
            else:
                caller.set_result(answer)
