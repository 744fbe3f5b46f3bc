"""What the doctor says of a cluster's hosts. tests/api/test_ledger_cluster.py has it on real nodes."""

import re

import pytest

from ops.ledger_checks import cluster_findings
from ops.ledger_spread import moves
from shared.ledger.keys import BUCKETS
from shared.ledger.servers import Servers
from shared.settings.service import Settings

NODES = {name: f"redis://{name[0]}.test:{name[1]}" for name in ("a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3")}


def servers(*shards: str) -> Servers:
    """Each shard as ``b1 a1 c1``, its primary first."""
    named = tuple(tuple(NODES[name] for name in shard.split()) for shard in shards)
    return Servers(tuple(named[bucket % len(named)][0] for bucket in range(BUCKETS)), named)


@pytest.mark.parametrize(
    ("shards", "level", "said"),
    [
        (("a1 b1 c1", "b2 a2 c2", "c3 a3 b3"), "ok", "3 primaries on 3 hosts, none of which decides alone"),
        # Host a was away. Of its two primaries host b gives back one.
        (
            ("b1 a1 c1", "b2 a2 c2", "c3 a3 b3"),
            "warn",
            "2 of 3 primaries are on b.test: .* send CLUSTER FAILOVER to a.test:1",
        ),
        # Host a is away still.
        (("b1 c1", "b2 c2", "c3 b3"), "warn", "2 of 3 primaries are on b.test: .* send CLUSTER FAILOVER to c.test:1"),
        (("a1 b1 c1", "b2 a2 c2"), "warn", "2 of its servers vote: when one is gone, no replica takes its place"),
    ],
)
def test_no_host_may_decide_alone(shards: tuple[str, ...], level: str, said: str) -> None:
    *_, found = cluster_findings(Settings(ledger_replicas=1), servers(*shards))
    assert found.level == level
    assert re.search(said, found.detail)


def test_a_cluster_without_the_fence_loses_payments() -> None:
    levels = {each.detail: each.level for each in cluster_findings(Settings(), servers("a1 b1", "b2 c2", "c3 a3"))}
    assert levels["COINSLOT_LEDGER_REPLICAS is 0: a failover loses payments that were acknowledged"] == "warn"


def test_buckets_are_spread_with_few_moves() -> None:
    """From one primary to three, and bucket 0 stays."""
    one, primaries = servers("a1"), [NODES["a1"], NODES["b1"], NODES["c1"]]
    made = list(moves(one, primaries))
    assert len(made) == len({bucket for bucket, *_ in made}) == BUCKETS - 22
    assert {source for _, source, _ in made} == {NODES["a1"]}
    assert 0 not in {bucket for bucket, *_ in made}
    assert list(moves(servers("a1", "b1", "c1"), primaries)) == []
