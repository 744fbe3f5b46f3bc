"""The pieces of the chaos with the ledger on a cluster, on ports of this machine: without root, in seconds."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from compose.sandbox.child import Child, spawn
from shared.ledger.keys import bucket_of, record_key
from tests.chaos.cluster.gaps import Disturbance, longest_gaps
from tests.chaos.cluster.invariants import lost
from tests.chaos.cluster.ledger import COPIES, Ledger
from tests.chaos.cluster.server import Server, bucket_slots
from tests.chaos.history import Answer, read_history
from tests.chaos.servers import own_port

pytestmark = pytest.mark.enable_socket

NODE_TIMEOUT_MS = 1_000
SHARDS = 3


class Processes:
    """Of the servers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[Server, Child] = {}

    def start(self, server: Server) -> None:
        """With what it has on its disk."""
        command = server.command(self._folder / server.name, NODE_TIMEOUT_MS)
        self._running[server] = spawn(server.name, command, self._folder)

    def kill(self, server: Server) -> None:
        """SIGKILL."""
        self._running[server].process.kill()
        self._running[server].process.wait()


@contextmanager
def running(folder: Path) -> Iterator[tuple[Ledger, Processes]]:
    """A whole cluster."""
    servers = [
        Server(shard, copy, "127.0.0.1", own_port(), own_port()) for shard in range(SHARDS) for copy in range(COPIES)
    ]
    processes = Processes(folder)
    with ExitStack() as stack:
        for server in servers:
            processes.start(server)
            stack.callback(processes.kill, server)
        ledger = Ledger(servers)
        ledger.form()
        yield ledger, processes


def write(server: Server, payment: str) -> int:
    """Record a payment as answered. Returns how many replicas say that they have it."""
    with server.asked() as client:
        client.hset(record_key(payment), "state", "DONE")
        return int(client.wait(1, 300))


def payments_in(ledger: Ledger, server: Server, count: int) -> list[str]:
    """Payments that this server has the buckets of."""
    slots, owned = bucket_slots(), set(ledger.buckets_of(server))
    names = (f"payment {number}" for number in itertools.count())
    return list(itertools.islice((name for name in names if slots[bucket_of(name)] in owned), count))


@pytest.mark.timeout(120)
def test_what_no_replica_had_is_missed_after_a_failover(tmp_path: Path) -> None:
    """Given a cluster of three shards, when a primary is killed while its replicas are away, then the record that
    came before is there, the one that came after is missing and is said to be, and the history has what there is."""
    with running(tmp_path) as (ledger, processes):
        assert [len(ledger.buckets_of(server)) for server in ledger.primaries()] == [23, 21, 20]
        primary = ledger.primaries()[1]
        kept, gone = payments_in(ledger, primary, 2)
        assert write(primary, kept) >= 1
        replicas = [server for server in ledger.of(primary.shard) if server != primary]
        for server in replicas:
            processes.kill(server)
        primary.says("CONFIG", "SET", "min-replicas-to-write", 0)  # else it would refuse
        assert write(primary, gone) == 0, "the fence would have let it pass"
        processes.kill(primary)
        for server in replicas:
            processes.start(server)
            ledger.wait_answering(server)
            # Else a replica that has not seen its primary since it was started waits for it for ever.
            server.says("CONFIG", "SET", "cluster-replica-validity-factor", 0)
        ledger.wait_another(primary)
        assert ledger.lack().endswith("does not answer")
        texts = lost(ledger.states([kept, gone]), "kill")
        assert [text.partition(" was answered")[0] for text in texts] == [f"(16) {gone}"]
        processes.start(primary)
        ledger.wait_whole()
        assert len({digest for _, digest in ledger.digests(primary.shard).values()}) == 1
        assert set(read_history(tmp_path, ledger.any_url).records) == {kept}


def test_the_longest_gap_is_that_of_the_payers_who_were_hit() -> None:
    """And that of all others beside it. What lies outside of the fault is none."""
    payers = [f"payment {number}" for number in range(40)]
    slots = bucket_slots()
    hit, *others = payers
    hit_slot = slots[bucket_of(hit)]
    other = next(payer for payer in others if slots[bucket_of(payer)] != hit_slot)
    moments = [(hit, 9.0), (hit, 10.5), (hit, 14.0), *((other, 10 + tenth / 2) for tenth in range(18))]
    answers = [
        Answer(payment=payment, call="", fingerprint="", valid_before=0, sent=at - 0.1, at=at, status=200)
        for payment, at in moments
    ]
    answers.append(Answer(payment=hit, call="", fingerprint="", valid_before=0, sent=12, at=12, status=503))
    disturbance = Disturbance("kill", 10.0, 15.0, frozenset({hit_slot}))
    assert list(longest_gaps([disturbance], answers)) == ["  kill (1 times): 4.0; 0.5"]
    everybody, nobody = (Disturbance(kind, 10.0, 15.0, frozenset(hit)) for kind, hit in (("a", slots), ("b", ())))
    assert list(longest_gaps([everybody, nobody], answers)) == [
        "  a (1 times): 0.5; nobody",
        "  b (1 times): nobody; 0.5",
    ]
