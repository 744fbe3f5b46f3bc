"""The ledger's servers as one, for one caller at a time: each command goes to the server that has its key's bucket, over one
connection to each server."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import redis
from redis.exceptions import RedisError, ResponseError

from shared.ledger.fence import fence, missing
from shared.ledger.keys import bucket_of_command
from shared.ledger.layout import Check, checked
from shared.ledger.servers import NO_CLUSTER, NO_SERVER, NOT_RUN, RETRY_PAUSES_S, Servers, asked, kind_of, named_in
from shared.lua_script import Command
from shared.servers.redis_connection import RedisConnection

_ASK_TIMEOUT_S = 0.5
"""Of a question for the map. Other servers can answer it as well."""


class NotReplicated(RedisError):
    """Too few replicas have what was written, and what the answers depend on."""


class LedgerConnections:
    """Routes commands. Nothing is sent again after a lost connection; what a server did not run is.

    Args:
        urls: one plain server, or some nodes of a cluster, which name the others.
        known: the buckets that were used before (shared/ledger/layout.py).
        replicas: how many have to have everything behind an answer.
        longest_block_s: as of RedisConnection.
    """

    def __init__(
        self, urls: Sequence[str], *, known: set[int] | None = None, replicas: int = 0, longest_block_s: float = 0.0
    ) -> None:
        self._urls = tuple(urls)
        self._known = set() if known is None else known
        self._replicas = replicas
        self._longest_block_s = longest_block_s
        self._servers: Servers | None = None
        self._of: list[str] = []
        self._connections: dict[str, RedisConnection] = {}

    def call(self, *command: Any, bucket: int | None = None) -> Any:
        """Send one command. Raises RedisError; ResponseError when it did not run.

        Args:
            bucket: of a command without a key: it goes to the server that has the bucket.
        """
        (answer,) = self.send((command,), bucket=bucket)
        if isinstance(answer, RedisError):
            raise answer
        return answer

    def send(self, commands: Sequence[Command], *, bucket: int | None = None) -> list[Any]:
        """Send commands, in one write for each server. Returns their answers in the same order. In place of one that there is
        not: ResponseError where the command did not run, another RedisError where it may have run."""
        answers: list[Any] = [None] * len(commands)
        buckets = [bucket_of_command(command) if bucket is None else bucket for command in commands]
        waiting, asking = list(range(len(commands))), dict[int, str]()
        for pause_s in RETRY_PAUSES_S:
            time.sleep(pause_s)
            try:
                self._learn_once()
            except RedisError as error:
                return [error if number in waiting else answer for number, answer in enumerate(answers)]
            groups: dict[tuple[str, bool], list[int]] = {}
            for number in waiting:
                is_asked = number in asking
                groups.setdefault((asking.get(number) or self._of[buckets[number]], is_asked), []).append(number)
            for (url, is_asked), numbers in groups.items():
                sent = [commands[number] for number in numbers]
                found = self._send(url, sent, buckets[numbers[0]], is_asked=is_asked)
                for number, answer in zip(numbers, found, strict=True):
                    answers[number] = answer
            told = {number: (asking.get(number) or self._of[buckets[number]]) for number in waiting}
            asking = {}
            waiting = [number for number in waiting if self._is_moved(answers[number])]
            for number in waiting:
                refused, url = answers[number], told[number]
                match kind_of(refused):
                    case "MOVED":
                        self._of[buckets[number]] = named_in(refused, url)
                    case "ASK":
                        asking[number] = named_in(refused, url)
                    case "CLUSTERDOWN":
                        self._servers = None
            if not waiting:
                return answers
        for number in waiting:
            answers[number] = redis.ConnectionError(str(answers[number]))
        return answers

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    @staticmethod
    def _is_moved(answer: Any) -> bool:
        return isinstance(answer, ResponseError) and kind_of(answer) in NOT_RUN

    def _send(self, url: str, commands: Sequence[Command], bucket: int, *, is_asked: bool) -> list[Any]:
        """The answers of one server."""
        if not url:
            self._servers = None
            return [redis.ConnectionError(NO_SERVER)] * len(commands)
        asking: tuple[Command, ...] = (("ASKING",),) if is_asked else ()
        written = [part for command in commands for part in (*asking, command)]
        # The mark is of a bucket that is asked for here, too.
        mark, wait = fence(self._replicas, bucket) or ((), ())
        after = [*asking, mark, wait] if mark else []
        connection = self._connection(url)
        try:
            read = connection.begin([*written, *after])
            answers = read(len(written))[len(asking) :: 1 + len(asking)]
            if mark:
                self._await_replicas(connection, read, answers, len(asking))
            return answers
        except RedisError as error:
            connection.close()
            self._servers = None
            return [error] * len(commands)

    def _await_replicas(
        self, connection: RedisConnection, read: Callable[[int], list[Any]], answers: list[Any], asking: int
    ) -> None:
        (marked,) = read(1 + asking)[asking:]
        # WAIT would take its whole time.
        found = [marked] if isinstance(marked, Exception) else [marked, *read(1)]
        if not (lack := missing(found, self._replicas)):
            return
        connection.close()
        is_moved = self._is_moved(marked)
        if is_moved:
            self._servers = None
        # As if the connection had been lost where the server has changed: another one may have the replicas.
        error = redis.ConnectionError(lack) if is_moved else NotReplicated(lack)
        answers[:] = [answer if isinstance(answer, ResponseError) else error for answer in answers]

    def _connection(self, url: str) -> RedisConnection:
        if url not in self._connections:
            self._connections[url] = RedisConnection(
                url, longest_block_s=self._longest_block_s, check=lambda: self._check(url)
            )
        return self._connections[url]

    def _check(self, url: str) -> Check:
        return checked([bucket for bucket, of in enumerate(self._of) if of == url], self._known)

    def _learn_once(self) -> None:
        """Ask for the map unless it is known. Raises RedisError when no server answers."""
        if self._servers is not None:
            return
        best, failed = None, redis.ConnectionError(NO_SERVER)
        for url in dict.fromkeys((*self._urls, *self._of, *self._connections)):
            if not url:
                continue
            try:
                found = ask_server(url)
            except RedisError as error:
                failed = error if isinstance(error, redis.ConnectionError) else redis.ConnectionError(str(error))
                continue
            if not found.is_cluster and len(self._urls) > 1:
                failed = redis.ConnectionError(NO_CLUSTER)
                continue
            if best is None or found.rank > best.rank:
                best = found
            if found.rank[0]:
                break
        if best is None:
            raise failed
        self._servers, self._of = best, list(best.of)


def ask_server(url: str) -> Servers:
    """What the server at a URL says of all. Raises RedisError."""
    with contextlib.closing(RedisConnection(url, timeout_s=_ASK_TIMEOUT_S)) as connection:
        ask = asked(url)
        try:
            commands = next(ask)
            while True:
                commands = ask.send(connection.send(commands))
        except StopIteration as ended:
            found: Servers = ended.value
            return found
