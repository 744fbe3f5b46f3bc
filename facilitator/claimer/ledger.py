"""The ledger as the claimer uses it: what is owed, what was asked for, what the chain shows. Methods raise RedisError."""

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from redis.exceptions import RedisError

from shared.ledger.channels import (
    AUTHORIZER,
    CHANNELS,
    CLAIMABLE,
    CLAIMED,
    LEASE,
    REFUND_END,
    REFUNDS,
    RUNNING,
    SHOW,
    SYNC,
    TAKE_LEASE,
    VOID,
    WATCH,
    Looked,
    ReadRequest,
    behind,
    channel_key,
    read_key,
)
from shared.ledger.keys import BUCKETS, JOURNAL, RECORDS, bucket_of_payer
from shared.lua_script import Command
from shared.servers.ledger_connections import LedgerConnections
from shared.x402.evm_channel_ids import ChannelConfig

log = logging.getLogger(__name__)

LEASE_MS = 15_000
LEARN_AGAIN_MS = 60_000
"""Channels that are so much older than the newest one are learned again: several have one time, and a replica that takes over
has a clock of its own."""
_VOIDED_AT_ONCE = 100
_FIELDS = (
    "config",
    "network",
    "payer",
    "charged",
    "claimed",
    "top",
    "sig",
    "leaving",
    "owed_since",
    "refund_nonce",
    "done_top",
)


@dataclass(frozen=True, slots=True)
class ChainState:
    """What the chain shows of a channel at a block, in atomic units.

    Attributes:
        leaving, withdraw_at: of an announced withdrawal: how much, and when it was announced in Unix seconds; 0 without one.
    """

    block: int
    balance: int
    claimed: int
    leaving: int
    withdraw_at: int
    refund_nonce: int


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel's row.

    Attributes:
        top, signature: the highest voucher that was taken.
        owed_since: when the oldest charge was made that is not claimed, in Unix milliseconds; 0: there is none.
    """

    id: str
    bucket: int
    config: ChannelConfig
    network: str
    payer: str
    charged: int
    claimed: int
    top: int
    signature: bytes
    leaving: int
    owed_since: int
    refund_nonce: int
    done_top: int


class ClaimerLedger:
    """The claimer's side of the ledger.

    Args:
        ledger: all servers.
        name: of this process, for the lease.
    """

    def __init__(self, ledger: LedgerConnections, name: str) -> None:
        self._ledger = ledger
        self.name = name
        self._seen_ms = dict.fromkeys(range(BUCKETS), 0)
        self.buckets: dict[str, int] = {}
        """The bucket of each channel that is known."""
        self.lost: set[int] = set()
        """The buckets that did not answer since `begin`. They are left out until the next one."""
        self._lost_before: set[int] = set()

    def begin(self) -> None:
        """Begin a look: ask all buckets again."""
        self._lost_before, self.lost = self.lost, set()

    def hold_lease(self) -> bool:
        """Take the lease, or keep it. False: another process has it."""
        return bool(self._ledger.call(*TAKE_LEASE.eval({"lease": LEASE, "name": self.name, "lease_ms": LEASE_MS})))

    def give_lease_back(self) -> None:
        """Let another process have it at once."""
        self._ledger.call(*TAKE_LEASE.eval({"lease": LEASE, "name": self.name, "lease_ms": 0}))

    def authorizer(self, address: str) -> str:
        """The address that signs for this ledger: the given one, unless there is another one."""
        self._ledger.call("SET", AUTHORIZER, address, "NX")
        return str(self._ledger.call("GET", AUTHORIZER).decode())

    def looked(self) -> list[Looked]:
        """By bucket: how far its channels were looked at; block 0 at the beginning."""
        block, at_ms, field = self._ledger.call("HMGET", WATCH, "handled_block", "watched_at", "behind")
        earlier, last = behind(field), Looked(int(block or 0), int(at_ms or 0))
        return [earlier.get(bucket, last) for bucket in range(BUCKETS)]

    def watched(self, fields: dict[str, Any]) -> None:
        """Write what the API reads of the claimer."""
        pairs = [part for name, value in fields.items() for part in (name, value)]
        self._ledger.call("HSET", WATCH, *pairs)

    def learn(self) -> None:
        """Learn of new channels."""
        asked = [
            ("ZRANGEBYSCORE", CHANNELS[bucket], self._seen_ms[bucket] - LEARN_AGAIN_MS, "+inf", "WITHSCORES")
            for bucket in range(BUCKETS)
        ]
        for bucket, found in self._of_each_bucket(asked):
            for name, score in zip(found[::2], found[1::2], strict=True):
                self.buckets[name.decode()] = bucket
                self._seen_ms[bucket] = max(self._seen_ms[bucket], int(float(score)))

    def claimable(self, *, is_all: bool, count: int) -> list[Channel]:
        """Channels with charges that are to be claimed now.

        Args:
            is_all: also those that are not due yet.
        """
        seconds, microseconds = self._ledger.call("TIME", bucket=0)
        until = "+inf" if is_all else str(int(seconds) * 1000 + int(microseconds) // 1000)
        asked = [("ZRANGEBYSCORE", CLAIMABLE[bucket], "-inf", until, "LIMIT", 0, count) for bucket in range(BUCKETS)]
        named = [(name.decode(), bucket) for bucket, found in self._of_each_bucket(asked) for name in found]
        return list(self.rows(named[:count]))

    def refunds(self) -> list[Channel]:
        """Channels whose payers want the rest back."""
        asked = [("ZRANGE", REFUNDS[bucket], 0, 9) for bucket in range(BUCKETS)]
        return list(
            self.rows((name.decode(), bucket) for bucket, found in self._of_each_bucket(asked) for name in found)
        )

    def rows(self, named: Iterable[tuple[str, int]]) -> Iterator[Channel]:
        """The rows of these channels and buckets, without those that do not exist and those of lost buckets."""
        found = [(name, bucket) for name, bucket in named if bucket not in self.lost]
        asked = [("HMGET", channel_key(bucket, name), *_FIELDS) for name, bucket in found]
        for (name, bucket), fields in zip(found, self._ledger.send(asked), strict=True):
            if isinstance(fields, RedisError):
                raise fields
            if fields[0] is None:
                continue
            config, network, payer, charged, claimed, top, signature, leaving, owed_since, nonce, done_top = fields
            yield Channel(
                id=name,
                bucket=bucket,
                config=msgspec.json.decode(config, type=ChannelConfig),
                network=network.decode(),
                payer=payer.decode(),
                charged=int(charged),
                claimed=int(claimed),
                top=int(top),
                signature=bytes.fromhex((signature or b"").decode()),
                leaving=int(leaving),
                owed_since=int(owed_since),
                refund_nonce=int(nonce),
                done_top=int(done_top),
            )

    def sync(self, name: str, network: str, payer: str, config: ChannelConfig, state: ChainState) -> bool:
        """Record what the chain shows. True: a withdrawal is new."""
        bucket = bucket_of_payer(network, payer)
        done = self._ledger.call(
            *SYNC.eval(
                {
                    "channel": channel_key(bucket, name),
                    "channels": CHANNELS[bucket],
                    "claimable": CLAIMABLE[bucket],
                    "journal": JOURNAL[bucket],
                    "id": name,
                    "block": state.block,
                    "balance": state.balance,
                    "claimed": state.claimed,
                    "leaving": state.leaving,
                    "withdraw_at": state.withdraw_at * 1000,
                    "refund_nonce": state.refund_nonce,
                    "config": msgspec.json.encode(config),
                    "network": network,
                    "payer": payer,
                }
            )
        )
        self.buckets[name] = bucket
        return bool(done == 2)

    def was_read(self, request: ReadRequest) -> None:
        """Tell the API process that asked."""
        bucket = bucket_of_payer(request.network, request.payer)
        self._ledger.call("SET", read_key(bucket, request.ticket), 1, "EX", 60)

    def show(self, channel: Channel) -> Channel:
        """Note that a claim is about to show the channel's voucher to everybody. The channel as it is now."""
        charged, top, signature = self._ledger.call(
            *SHOW.eval(
                {
                    "channel": channel_key(channel.bucket, channel.id),
                    "journal": JOURNAL[channel.bucket],
                    "id": channel.id,
                }
            )
        )
        return dataclasses.replace(
            channel, charged=int(charged), top=int(top), signature=bytes.fromhex(signature.decode())
        )

    def claimed(self, channel: Channel, final: int, *, pause_s: float, event: str = "") -> bool:
        """Look at a channel again later, or no more: True when a final block shows that nothing is owed.

        Args:
            final: what a final block shows as claimed.
            event: for the journal.
        """
        return bool(
            self._ledger.call(
                *CLAIMED.eval(
                    {
                        "channel": channel_key(channel.bucket, channel.id),
                        "claimable": CLAIMABLE[channel.bucket],
                        "journal": JOURNAL[channel.bucket],
                        "id": channel.id,
                        "final": final,
                        "pause_ms": int(pause_s * 1000),
                        "event": event,
                    }
                )
            )
        )

    def refunded(self, channel: Channel, result: bytes, *, is_done: bool) -> None:
        """Record how a refund ended."""
        self._ledger.call(
            *REFUND_END.eval(
                {
                    "channel": channel_key(channel.bucket, channel.id),
                    "refunds": REFUNDS[channel.bucket],
                    "journal": JOURNAL[channel.bucket],
                    "id": channel.id,
                    "result": result,
                    "is_done": int(is_done),
                }
            )
        )

    def void(self) -> int:
        """Give up the calls that nobody drives any more. Returns their number."""
        asked = [
            VOID.eval({"running": RUNNING[bucket], "count": _VOIDED_AT_ONCE, "records": RECORDS[bucket]})
            for bucket in range(BUCKETS)
        ]
        return sum(int(count) for _, count in self._of_each_bucket(asked))

    def _of_each_bucket(self, commands: Sequence[Command]) -> list[tuple[int, Any]]:
        """The answers to one command for each bucket, in one write for each server, without lost buckets. Lost is also what a
        server refuses: one that takes no writes.

        Raises RedisError when all are lost.
        """
        buckets = [bucket for bucket in range(BUCKETS) if bucket not in self.lost]
        answers = list(zip(buckets, self._ledger.send([commands[bucket] for bucket in buckets]), strict=True))
        failed = {bucket: answer for bucket, answer in answers if isinstance(answer, RedisError)}
        self.lost |= set(failed)
        if len(failed) == len(buckets):
            raise next(iter(failed.values()), RedisError("no bucket of the ledger answers"))
        if new := sorted(set(failed) - self._lost_before):
            log.warning("channels of %d buckets cannot be looked after: %s", len(new), failed[new[0]])
        return [(bucket, answer) for bucket, answer in answers if bucket not in failed]
