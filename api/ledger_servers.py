"""All servers of the ledger as one: a command goes to the server that has its key's bucket, over one connection to each server,
and over a second one where its caller waits for replicas.

What a server did not run, because the bucket is elsewhere, is sent again, a few times. Nothing is after a lost connection.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from api.redis_client import COMMAND_TIMEOUT_S, Redis, RedisBroken, RedisLost, RedisRefused
from api.replicated import ReplicatedRedis
from shared.ledger.fence import FENCES
from shared.ledger.keys import BUCKETS, bucket_of_command
from shared.ledger.layout import Check, checked
from shared.ledger.servers import NO_CLUSTER, NO_SERVER, NOT_RUN, RETRY_PAUSES_S, Servers, asked, kind_of, named_in
from shared.lua_script import Command

log = logging.getLogger(__name__)

_Told = TypeVar("_Told")

ASK_WITHIN_S = (0.5, COMMAND_TIMEOUT_S)
"""So long servers may take to say what they know of each other: longer where none has said it, as on a busy machine."""
ASK_AGAIN_S = 0.2
"""The map is not asked for more often."""


class LedgerServers:
    """The servers that the settings name, and those that they name.

    Args:
        urls: one plain server, or some nodes of a cluster.
        replicas: how many have to have what `replicated` answers.
        known: the buckets that were used before (shared/ledger/layout.py).

    Attributes:
        commands: answers as soon as the server does.
        replicated: answers when so many replicas have all that is behind the answer.
    """

    def __init__(self, urls: Sequence[str], replicas: int = 0, known: set[int] | None = None) -> None:
        self._urls = tuple(urls)
        self._replicas = replicas
        self._known = set() if known is None else known
        self._clients: dict[str, Redis] = {}
        self._replicated: dict[str, Redis] = {}
        self._learning: asyncio.Task[None] | None = None
        self._learned_at = 0.0
        self._nodes: tuple[str, ...] = ()
        self.of = [""] * BUCKETS
        """By bucket, the URL of its server."""
        self.commands = LedgerCommands(self, self._client)
        self.replicated = LedgerCommands(self, self._replicated_client) if replicas else self.commands

    async def learn(self) -> None:
        """Ask for the map, once for all who wait for it. Raises RedisLost when no server answers."""
        await asyncio.shield(self.learn_soon())

    async def move(self, bucket: int, url: str) -> None:
        """Note that a bucket has moved to this server. Raises RedisLost when what was in it is not there."""
        if self._is_connected(url) and (why := await self._refusal(url, [bucket])):
            raise RedisLost(why)
        self.of[bucket] = url

    def learn_soon(self) -> "asyncio.Task[None]":
        """Ask for the map meanwhile. Returns what ends when it is known, or raises as `learn` does."""
        if self._learning is None or self._learning.done():
            self._learning = asyncio.create_task(self._learn())
            self._learning.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody need wait
        return self._learning

    async def answering(self) -> dict[str, tuple[bool, int]]:
        """By the URL of each server that has buckets: whether payments can be taken with it, and how many buckets it has. "":
        buckets without a server."""
        try:
            if "" in self.of:
                await self.learn()
        except RedisLost:
            return {"": (False, BUCKETS)}
        first = {url: bucket for bucket, url in reversed([*enumerate(self.of)])}
        answers = await asyncio.gather(*map(self._answers, first.values()))
        return {url: (has, self.of.count(url)) for url, has in zip(first, answers, strict=True)}

    async def clocks(self) -> dict[str, float]:
        """By the URL of each server that has buckets: by how many seconds its clock is certainly ahead of this machine's, or
        behind where that is negative. 0 where it does not answer."""
        urls = [url for url in dict.fromkeys(self.of) if url]
        return dict(zip(urls, await asyncio.gather(*map(self._ahead_s, urls)), strict=True))

    def close(self) -> None:
        """Close all connections."""
        if self._learning is not None:
            self._learning.cancel()
        for client in (*self._clients.values(), *self._replicated.values()):
            client.close()

    async def _answers(self, bucket: int) -> bool:
        try:
            await self.replicated.call("GET", FENCES[bucket])
        except (RedisLost, RedisRefused):
            return False
        return True

    async def _ahead_s(self, url: str) -> float:
        asked_at = time.time()
        try:
            async with asyncio.timeout(ASK_WITHIN_S[0]):
                seconds, micros = await self._client(url).call("TIME")
        except (RedisLost, RedisRefused, TimeoutError):
            return 0.0
        server_s = int(seconds) + int(micros) / 1e6
        return max(server_s - time.time(), 0.0) + min(server_s - asked_at, 0.0)

    async def _learn(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._learned_at + ASK_AGAIN_S - loop.time()))
        self._learned_at = loop.time()
        for within_s in ASK_WITHIN_S:
            asks = (self._ask(url, within_s) for url in dict.fromkeys((*self._urls, *self._nodes)))
            found = await asyncio.gather(*asks)
            if told := [each for each in found if isinstance(each, Servers)]:
                break
        else:
            raise RedisLost(next(filter(None, map(str, found)), NO_SERVER))
        newest = max(told, key=lambda each: each.rank)
        gained: dict[str, list[int]] = {}
        for bucket, url in enumerate(newest.of):
            if url != self.of[bucket] and self._is_connected(url):
                gained.setdefault(url, []).append(bucket)
        of = list(newest.of)
        refusals = await asyncio.gather(*(self._refusal(url, buckets) for url, buckets in gained.items()))
        for (url, buckets), why in zip(gained.items(), refusals, strict=True):
            if why:
                log.error("the ledger's %s is not used for buckets that have come to it: %s", urlsplit(url).netloc, why)
                for bucket in buckets:
                    of[bucket] = ""
        self._nodes, self.of[:] = newest.nodes, of
        for commands in (self.commands, self.replicated):
            commands.only = None if newest.is_cluster else commands.client(newest.of[0])

    async def _ask(self, url: str, within_s: float) -> Servers | RedisLost:
        """Over a connection of its own: others are checked by the buckets that the map has there, and may be held up."""
        client = Redis(url)
        try:
            async with asyncio.timeout(within_s):
                try:
                    told = await _answered(client, asked(url))
                except RedisBroken:  # as any script that is asked twice
                    told = await _answered(client, asked(url))
        except RedisLost as lost:
            return lost
        except TimeoutError:
            return RedisLost("no answer in time")
        finally:
            client.close()
        return RedisLost(NO_CLUSTER) if len(self._urls) > 1 and not told.is_cluster else told

    def _is_connected(self, url: str) -> bool:
        return url in self._clients or url in self._replicated

    async def _refusal(self, url: str, buckets: list[int]) -> str:
        """Why a server may not be used for buckets that were not checked when the connections there were opened; or ""."""
        try:
            async with asyncio.timeout(ASK_WITHIN_S[0]):
                return await _answered(self._client(url), checked(buckets, self._known))
        except (RedisLost, TimeoutError) as error:
            return str(error) or "no answer in time"

    def _client(self, url: str) -> Redis:
        if url not in self._clients:
            self._clients[url] = Redis(url, check=partial(self._check, url))
        return self._clients[url]

    def _replicated_client(self, url: str) -> Redis:
        if url not in self._replicated:
            self._replicated[url] = ReplicatedRedis(url, self._replicas, check=partial(self._check, url))
        return self._replicated[url]

    def _check(self, url: str) -> Check:
        return checked([bucket for bucket, of in enumerate(self.of) if of == url], self._known)


class LedgerCommands:
    """Routes commands over one kind of clients.

    Args:
        client: gives the one of a URL.

    Attributes:
        only: the client of a plain server, which has all buckets. Nothing is routed then.
    """

    def __init__(self, servers: LedgerServers, client: Callable[[str], Redis]) -> None:
        self._servers = servers
        self.client = client
        self.only: Redis | None = None

    async def call(self, *command: str | bytes | int | float) -> Any:
        """Send one command with a key of the ledger. Raises what Redis.call raises."""
        if (only := self.only) is not None:
            try:
                return await only.call(*command)
            except RedisLost:
                self._servers.learn_soon()
                raise
            except RedisRefused as refused:
                if kind_of(refused) not in NOT_RUN:
                    raise
        return await self._call(command)

    async def _call(self, command: Command) -> Any:
        servers, bucket = self._servers, bucket_of_command(command)
        refused: RedisRefused | None = None
        asking = ""
        for pause_s in RETRY_PAUSES_S:
            if refused is not None:
                await asyncio.sleep(pause_s)
            url = asking or servers.of[bucket]
            if not url:
                await servers.learn()
                url = servers.of[bucket]
                if not url:
                    raise RedisLost(NO_SERVER)
            try:
                if asking:
                    return await self._call_asking(url, command)
                return await self.client(url).call(*command)
            except RedisRefused as error:
                refused, asking = error, ""
                match kind_of(error):
                    case "MOVED":
                        await servers.move(bucket, named_in(error, url))
                        servers.learn_soon()
                    case "ASK":
                        asking = named_in(error, url)
                    case "CLUSTERDOWN":
                        await servers.learn()
                    case "TRYAGAIN":
                        pass
                    case _:
                        raise
            except RedisLost:
                servers.learn_soon()
                raise
        raise RedisLost(str(refused))

    async def _call_asking(self, url: str, command: Command) -> Any:
        client = self.client(url)
        if isinstance(client, ReplicatedRedis):
            return await client.call(*command, is_asked=True)
        _, answer = await client.batch([("ASKING",), command])
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def batch(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands, in one write for each server. Returns their answers in the same order: RedisRefused or RedisLost in
        place of one that there is not."""
        if "" in self._servers.of:
            try:
                await self._servers.learn()
            except RedisLost as lost:
                return [lost] * len(commands)
        of_server: dict[str, list[int]] = {}
        for number, command in enumerate(commands):
            of_server.setdefault(self._servers.of[bucket_of_command(command)], []).append(number)
        answers: list[Any] = [None] * len(commands)

        async def ask_server(url: str, numbers: list[int]) -> None:
            try:
                if not url:
                    raise RedisLost(NO_SERVER)
                found = await self.client(url).batch([commands[number] for number in numbers])
            except RedisLost as lost:
                self._servers.learn_soon()
                found = [lost] * len(numbers)
            for number, answer in zip(numbers, found, strict=True):
                if isinstance(answer, RedisRefused) and kind_of(answer) in NOT_RUN:
                    answer = await self._again(commands[number])
                answers[number] = answer

        await asyncio.gather(*(ask_server(*group) for group in of_server.items()))
        return answers

    async def _again(self, command: Command) -> Any:
        try:
            return await self.call(*command)
        except (RedisLost, RedisRefused) as error:
            return error


async def _answered(client: Redis, question: Generator[Sequence[Command], Sequence[Any], _Told]) -> _Told:
    try:
        commands = next(question)
        while True:
            answers = await client.batch(commands)
            for answer in answers:
                if isinstance(answer, RedisLost):
                    raise answer
            commands = question.send(answers)
    except StopIteration as ended:
        told: _Told = ended.value
        return told
