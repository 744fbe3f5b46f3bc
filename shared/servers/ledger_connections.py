"""The ledger's servers as one, for one caller at a time: each command goes to the server that has its key's bucket, over one
connection to each server."""

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar
from urllib.parse import urlsplit

import redis
from redis.exceptions import RedisError, ResponseError

from shared.ledger.fence import fence, missing
from shared.ledger.keys import bucket_of_command
from shared.ledger.layout import Check, checked
from shared.ledger.servers import NO_CLUSTER, NO_SERVER, NOT_RUN, RETRY_PAUSES_S, Servers, asked, kind_of, named_in
from shared.lua_script import Command
from shared.servers.redis_connection import COMMAND_TIMEOUT_S, RedisConnection

log = logging.getLogger(__name__)

_Told = TypeVar("_Told")
_ASKING: Command = ("ASKING",)
_ASK_WITHIN_S = (0.5, COMMAND_TIMEOUT_S)
"""So long a server may take to say what it knows of the others: longer where none has said it, as on a busy machine."""


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
        self._lost = ""
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
        try:
            self._learn_once()
        except RedisError as error:
            return [error] * len(commands)
        if self._servers is not None and not self._servers.is_cluster:
            return self._exchange(self._of[0], commands, 0)
        buckets = [bucket_of_command(command) if bucket is None else bucket for command in commands]
        answers: list[Any] = [None] * len(commands)
        waiting = list(range(len(commands)))
        asked: dict[int, str] = {}
        for pause_s in RETRY_PAUSES_S:
            time.sleep(pause_s)
            try:
                self._learn_once()
            except RedisError as error:
                for number in waiting:
                    answers[number] = error
                return answers
            places = {number: (asked.get(number) or self._of[buckets[number]], number in asked) for number in waiting}
            for place in dict.fromkeys(places.values()):
                numbers = [number for number in waiting if places[number] == place]
                sent = [commands[number] for number in numbers]
                found = self._exchange(place[0], sent, buckets[numbers[0]], is_asked=place[1])
                for number, answer in zip(numbers, found, strict=True):
                    answers[number] = answer
            asked = {}
            for number in filter(lambda number: _is_elsewhere(answers[number]), waiting):
                refused, url = answers[number], places[number][0]
                match kind_of(refused):
                    case "MOVED":
                        if why := self._place(named_in(refused, url), [buckets[number]]):
                            answers[number] = redis.ConnectionError(why)
                    case "ASK":
                        asked[number] = named_in(refused, url)
                    case "CLUSTERDOWN":
                        self._servers = None
            waiting = [number for number in waiting if _is_elsewhere(answers[number])]
            if not waiting:
                return answers
        for number in waiting:
            answers[number] = redis.ConnectionError(str(answers[number]))
        return answers

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    def _exchange(self, url: str, commands: Sequence[Command], bucket: int, *, is_asked: bool = False) -> list[Any]:
        """The answers of one server, once its replicas have them.

        Args:
            bucket: one that it is asked for here.
            is_asked: another node has said ASK.
        """
        if not url:
            self._servers = None
            return [redis.ConnectionError(NO_SERVER)] * len(commands)
        connection, count = self._connection(url), len(commands)
        after = fence(self._replicas, bucket)
        try:
            if is_asked:
                answers = [connection.send((_ASKING, command))[1] for command in commands]
                connection.send((_ASKING,) if after else ())  # for the mark
                commands = ()
            else:
                answers = []
            read = connection.begin([*commands, *after])
            answers += read(len(commands))
            if after:
                self._await_replicas(connection, read, answers)
            return answers
        except RedisError as error:
            connection.close()
            self._servers, self._lost = None, urlsplit(url).netloc
            return [error] * count

    def _await_replicas(
        self, connection: RedisConnection, read: Callable[[int], list[Any]], answers: list[Any]
    ) -> None:
        found = read(1)
        if not isinstance(found[0], Exception):  # else WAIT would take its whole time
            found += read(1)
        if not (lack := missing(found, self._replicas)):
            return
        connection.close()
        error: RedisError = NotReplicated(lack)
        if _is_elsewhere(found[-1]):
            # As if the connection had been lost: another server has the bucket, and what was written to it.
            self._servers, error = None, redis.ConnectionError(lack)
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
        named = filter(None, dict.fromkeys((*self._urls, *self._of, *self._connections)))
        # The one that was lost comes last: it may not know yet that it is cut off.
        urls = sorted(named, key=lambda url: urlsplit(url).netloc == self._lost)
        best, failed = None, redis.ConnectionError(NO_SERVER)
        for within_s, url in product(_ASK_WITHIN_S, urls):
            if best is not None and (best.rank[0] or within_s == _ASK_WITHIN_S[1]):
                break
            try:
                found = ask_server(url, within_s)
            except RedisError as error:
                failed = error if isinstance(error, redis.ConnectionError) else redis.ConnectionError(str(error))
                continue
            if not found.is_cluster and len(self._urls) > 1:
                failed = redis.ConnectionError(NO_CLUSTER)
            elif best is None or found.rank > best.rank:
                best = found
        if best is None:
            raise failed
        self._servers, before = best, self._of or list(best.of)
        self._of = [url if url == best.of[bucket] else "" for bucket, url in enumerate(before)]
        moved: dict[str, list[int]] = {}
        for bucket, url in enumerate(best.of):
            if url != self._of[bucket]:
                moved.setdefault(url, []).append(bucket)
        for url, buckets in moved.items():
            self._place(url, buckets)

    def _place(self, url: str, buckets: list[int]) -> str:
        """Note that a server has these buckets, unless what was in them is not there: returns why, or "". Those that come to a
        server with an open connection were not checked when it was opened."""
        why = ""
        if url in self._connections:
            try:
                why = _answered(self._connections[url], checked(buckets, self._known))
            except RedisError as error:
                why = str(error)
        if why:
            log.error("the ledger's %s is not used for buckets that have come to it: %s", urlsplit(url).netloc, why)
        for bucket in buckets:
            self._of[bucket] = "" if why else url
        return why


class LedgerPool:
    """The same for several threads whose commands may run twice. Each call has connections that no other one is using.

    Args: as of LedgerConnections.
    """

    def __init__(self, urls: Sequence[str], *, known: set[int] | None = None, replicas: int = 0) -> None:
        self._make = partial(LedgerConnections, urls, known=known, replicas=replicas)
        self._free: list[LedgerConnections] = []

    def call(self, *command: Any) -> Any:
        """Send one command, and once more when a connection is lost: it may have been closed while it was idle. Raises
        RedisError."""
        try:
            connections = self._free.pop()
        except IndexError:
            connections = self._make()
        try:
            try:
                answer = connections.call(*command)
            except (redis.ConnectionError, redis.TimeoutError):
                self.close()  # those that are idle are as old
                answer = connections.call(*command)
        except BaseException:
            connections.close()  # an answer may be left in it
            raise
        self._free.append(connections)
        return answer

    def close(self) -> None:
        """Close the connections that are not in use."""
        with contextlib.suppress(IndexError):
            while True:
                self._free.pop().close()


def _is_elsewhere(answer: Any) -> bool:
    return isinstance(answer, ResponseError) and kind_of(answer) in NOT_RUN


def ask_server(url: str, within_s: float = COMMAND_TIMEOUT_S) -> Servers:
    """What the server at a URL says of all. Raises RedisError."""
    with contextlib.closing(RedisConnection(url, timeout_s=within_s)) as connection:
        return _answered(connection, asked(url))


def _answered(connection: RedisConnection, question: Generator[Sequence[Command], Sequence[Any], _Told]) -> _Told:
    try:
        commands = next(question)
        while True:
            commands = question.send(connection.send(commands))
    except StopIteration as ended:
        told: _Told = ended.value
        return told
