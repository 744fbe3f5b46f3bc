"""What endpoints that remember have observed: one baseline per payer and subject, in Redis.

An observation counts only when the answer that it came with is the one that the caller gets, and of two calls about one subject
the one that was settled later wins. So it moves in two steps, unless it lies beside the payments:

    on the Redis of the ledger   written by the script that stores the answer (workers/answers.py)
    on a Redis for them alone    kept as *pending*, under the payment and a tag, before the answer is stored. The script that
                                 stores the answer notes the tag in the payment's record. Whoever sees that the tag won
                                 promotes the observation: this worker at once, or the next call about the subject.

Redis knows no payer and no subject: keys are keyed digests after the payer's bucket, and an observation is sealed for its payer
and subject alone.
"""

import hashlib
import secrets
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from jobs.observation import Previous
from shared.layouts import OBSERVATIONS
from shared.ledger.keys import PREFIXES, bucket_of_payer, record_key
from shared.lua_script import NOW, LuaScript, Value, load, piece
from shared.sealing.sealing import Sealer, derive
from shared.servers.ledger_connections import LedgerPool
from shared.servers.redis_connection import connect
from shared.settled_payment import SettledPayment

MOST_BYTES = 256 * 1024
"""Of an observation, compressed. A longer one is cut off at its end, and says so."""
_PIECE_BYTES = 16 * 1024
_WHOLE, _TRUNCATED = (bytes([OBSERVATIONS.written - 1 << 1 | is_cut_off]) for is_cut_off in (False, True))
"""The first byte: above its lowest bit, the number of the layout, less one."""
_DAY_MS = 24 * 3600 * 1000

_LUA = Path(__file__).with_name("lua")
OBSERVE = piece(_LUA / "observe.lua")
"""Defines `observe`, for the scripts that make an observation the baseline."""
_LOOK = load(_LUA / "look.lua", NOW)
_PROMOTE = load(_LUA / "promote.lua", NOW, OBSERVE)


class Baseline(NamedTuple):
    """Where the observations of one payer about one subject are.

    Attributes:
        key: of the one that counts.
        payer_index: of the payer's baselines, by when they were used last.
        pending: of those whose answers are not known to have won. Only on a Redis for observations alone.
        bound_to: payer and subject, which an observation is sealed for.
        previous: the same by the previous key. Nothing new is kept there.
    """

    key: str
    payer_index: str
    pending: str
    bound_to: bytes
    previous: "Baseline | None" = None


class Observation(NamedTuple):
    """A new observation on its way.

    Attributes:
        sealed: compressed and sealed.
        tag: distinguishes this run of the job from others of the same payment.
    """

    baseline: Baseline
    sealed: bytes
    tag: str


class ObservationStore:
    """The baselines of all payers. Thread-safe. Every method but `baseline` and `observation` raises redis.RedisError.

    Args:
        ledger: it answers when enough replicas have what was read. Without them, a server that does not know yet that another
            one has become the primary would say that nothing was observed.
        own_url: a Redis for the observations alone, which needs no fsync. Empty: they are kept beside the payer's payments.
        master: the 32 bytes of the key file.
        days: how long an observation is kept after it was used last.
        most: baselines of one payer. Beyond that, the one that was not used for the longest time goes.
        previous: the 32 bytes of the key file before it.
    """

    def __init__(
        self,
        ledger: LedgerPool,
        own_url: str,
        master: bytes,
        *,
        days: float,
        most: int,
        previous: bytes | None = None,
    ) -> None:
        self._ledger = ledger
        self._own = connect(own_url) if own_url else None
        self.is_separate = bool(own_url)
        self._sealer = Sealer(master, "observations", previous)
        self._key = derive(master, "observation-keys")
        self._previous_key = None if previous is None else derive(previous, "observation-keys")
        self.ttl_ms = int(days * _DAY_MS)
        self.most = most

    def baseline(self, payment: SettledPayment, subject: str) -> Baseline:
        """The place for what this payer's calls about a subject observe."""
        owner = f"{payment.signer}@{payment.payer}" if payment.signer else payment.payer
        payer = f"{payment.network}\0{owner}"
        bound_to = f"{payer}\0{subject}".encode("utf-8", "surrogatepass")
        prefix = PREFIXES[bucket_of_payer(payment.network, payment.payer)]
        earlier = None if self._previous_key is None else _place(self._previous_key, prefix, payer, bound_to)
        return _place(self._key, prefix, payer, bound_to)._replace(previous=earlier)

    def observation(self, baseline: Baseline, content: bytes) -> Observation:
        """Compress and seal what a handler observed."""
        return Observation(baseline, self._sealer.seal(_packed(content), baseline.bound_to), secrets.token_hex(8))

    def previous(self, baseline: Baseline) -> Previous | None:
        """The observation that counts now. Raises Unsealable when it was sealed with another key, or is damaged, and
        UnknownLayout."""
        found = self._latest(baseline)
        if baseline.previous is not None:
            # A worker that knows the previous key alone may have kept one there after ours.
            found = max(found, self._latest(baseline.previous), key=lambda one: -1 if one is None else one[1])
        if found is None:
            return None
        content = self._sealer.open(found[0], baseline.bound_to)
        OBSERVATIONS.refuse((content[0] >> 1) + 1)
        at = datetime.fromtimestamp(found[1] / 1000, UTC)
        return Previous(_unpacked(content), at, is_truncated=bool(content[0] & 1))

    def _latest(self, baseline: Baseline) -> tuple[bytes, int] | None:
        """The sealed observation of one place, and when its call was settled."""
        sealed, settled, pending = self._look(baseline)
        if pending:
            # Their workers stopped between the answer and the promotion, or are still at work.
            self._settle(baseline, (field.decode() for field in pending))
            sealed, settled, _ = self._look(baseline)
        return None if sealed is None else (sealed, int(settled))

    def _look(self, baseline: Baseline) -> Any:
        return self._run(_LOOK, baseline, ttl_ms=self.ttl_ms)

    def _run(self, script: LuaScript, baseline: Baseline, **arguments: Value) -> Any:
        values: dict[str, Value] = {
            "baseline": baseline.key,
            "payer_index": baseline.payer_index,
            "pending": baseline.pending,
            **arguments,
        }
        return self._send(*script.eval(values))

    def _send(self, *command: Value) -> Any:
        """To where observations are kept."""
        return self._ledger.call(*command) if self._own is None else self._own.execute_command(*command)  # type: ignore[no-untyped-call]

    def keep_pending(self, payment_id: str, observation: Observation) -> None:
        """Keep an observation until its answer is stored. Only on a Redis for observations alone."""
        pending = observation.baseline.pending
        assert self._own is not None
        with self._own.pipeline() as batch:
            batch.hset(pending, _field(payment_id, observation.tag), observation.sealed)
            batch.pexpire(pending, self.ttl_ms)
            batch.execute()

    def settle_pending(self, payment_id: str, observation: Observation) -> None:
        """Promote the observation if its answer was stored, else drop it. Only on a Redis for observations alone."""
        self._settle(observation.baseline, [_field(payment_id, observation.tag)])

    def close(self) -> None:
        """Close the connections."""
        self._ledger.close()
        if self._own is not None:
            self._own.close()

    def _settle(self, baseline: Baseline, fields: Iterable[str]) -> None:
        """Promote each pending observation whose answer won, and drop those whose answer did not."""
        for field in fields:
            payment_id, _, tag = field.rpartition("|")
            state, observed, settled = self._ledger.call(
                "HMGET", record_key(payment_id), "state", "observed", "settled"
            )
            if observed is not None and observed.decode() == tag:
                self._run(_PROMOTE, baseline, ttl_ms=self.ttl_ms, most=self.most, field=field, settled=settled or b"0")
            elif state is None or state in (b"DONE", b"FAILED"):
                self._send("HDEL", baseline.pending, field)


def _place(key: bytes, prefix: str, payer: str, bound_to: bytes) -> Baseline:
    def digest(text: bytes) -> str:
        return hashlib.blake2b(text, key=key, digest_size=16).hexdigest()

    name = digest(bound_to)
    return Baseline(
        key=f"{prefix}observation:{name}",
        payer_index=f"{prefix}observations:{digest(payer.encode())}",
        pending=f"{prefix}observation-pending:{name}",
        bound_to=bound_to,
    )


def _field(payment_id: str, tag: str) -> str:
    return f"{payment_id}|{tag}"


def _packed(content: bytes) -> bytes:
    """A byte that says whether it is whole, then as much of it as fits, deflated (RFC 1950)."""
    whole = zlib.compress(content)
    if len(whole) <= MOST_BYTES:
        return _WHOLE + whole
    compressor, packed = zlib.compressobj(), b""
    for at in range(0, len(content), _PIECE_BYTES):
        before = compressor.copy()
        packed_more = packed + compressor.compress(content[at : at + _PIECE_BYTES])
        if len(packed_more) + len(compressor.copy().flush()) > MOST_BYTES:
            packed += before.flush()
            break
        packed = packed_more
    return _TRUNCATED + packed


def _unpacked(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:])
