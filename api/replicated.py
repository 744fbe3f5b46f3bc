"""A Redis client whose answers survive a failover: it gives an answer when enough replicas have all data behind it."""

import asyncio
from collections.abc import Callable
from typing import Any

from api.redis_client import Redis, RedisBroken, RedisLost, RedisRefused
from shared.ledger.fence import fence, missing
from shared.ledger.keys import bucket_of_command
from shared.ledger.layout import Check
from shared.ledger.servers import NOT_RUN, kind_of
from shared.lua_script import Command

_ASKING: Command = ("ASKING",)


class ReplicatedRedis(Redis):
    """One connection with one batch of commands at a time. What is asked meanwhile goes into the next batch, so all calls of
    a batch wait for the replicas once (group commit). WAIT holds up its connection: other commands take another one.

    Args:
        replicas: how many have to have it, from 1 on.
    """

    def __init__(self, url: str, replicas: int, *, check: Callable[[], Check] | None = None) -> None:
        super().__init__(url, check=check)
        self._replicas = replicas
        self._gathered: list[tuple[Command, bool, asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def call(self, *command: str | bytes | int | float, is_asked: bool = False) -> Any:
        """Send one command with a key of the ledger.

        Args:
            is_asked: another node of the cluster has said ASK.

        Raises:
            RedisLost: the command may have run, and too few replicas may have what it wrote.
            RedisRefused: the command did not run.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._gathered.append((command, is_asked, answer))
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

    async def _send_batch(self, gathered: list[tuple[Command, bool, asyncio.Future[Any]]]) -> None:
        answers: list[Any] = []
        lack, kind = "", RedisLost
        try:
            commands, places = _with_asking(gathered)
            # The mark is of a bucket that is written to here anyway. The last: those before it may be moving away.
            last, is_asked, _ = gathered[-1]
            mark, wait = fence(self._replicas, bucket_of_command(last))
            *sent, marked, waited = await self._sent([*commands, *([_ASKING] if is_asked else ()), mark, wait])
            found = await asyncio.gather(*sent, marked, return_exceptions=True)
            answers = [found[place] for place in places]
            # WAIT after a refused mark would take its whole time.
            is_refused = isinstance(found[-1], Exception)
            after = found[-1:] if is_refused else [found[-1], *await asyncio.gather(waited, return_exceptions=True)]
            if lack := missing(after, self._replicas):
                is_moved = isinstance(after[-1], RedisRefused) and kind_of(after[-1]) in NOT_RUN
                kind = RedisBroken if is_moved or isinstance(after[-1], RedisBroken) else RedisLost
                waited.cancel()
        except Exception as error:  # nobody may be left waiting
            answers, lack = [], str(error)
        if lack and self._connection is not None:
            self._connection.fail(lack)  # the next one may lead to the server that has the replicas
        for number, (_, _, caller) in enumerate(gathered):
            if caller.done():
                continue
            answer = answers[number] if answers else None
            if isinstance(answer, RedisRefused):
                caller.set_exception(answer)
            elif lack:
                caller.set_exception(kind(lack))
            else:
                caller.set_result(answer)


def _with_asking(gathered: list[tuple[Command, bool, asyncio.Future[Any]]]) -> tuple[list[Command], list[int]]:
    """The commands, each behind the ASKING that it needs, and the place of each one's answer."""
    commands: list[Command] = []
    places = []
    for command, is_asked, _ in gathered:
        if is_asked:
            commands.append(_ASKING)
        places.append(len(commands))
        commands.append(command)
    return commands, places
