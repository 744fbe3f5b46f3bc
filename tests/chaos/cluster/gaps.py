"""For how long callers got no answer while something was wrong with the ledger."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shared.ledger.keys import bucket_of
from tests.chaos.cluster.server import bucket_slots
from tests.chaos.history import Answer

AFTER_S = 3.0
"""A gap that began in a fault may end so long after it."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One fault of the ledger.

    Attributes:
        began, ended: Unix seconds; it ended when the cluster was whole.
        hit: the slots that were on the servers which it was done to.
    """

    kind: str
    began: float
    ended: float
    hit: frozenset[int]


def longest_gaps(disturbances: Sequence[Disturbance], answers: Sequence[Answer]) -> Iterator[str]:
    """A line for each kind: the longest time between two answers of 200 for payers of the slots that were hit, and for all
    others."""
    slots = bucket_slots()
    served = sorted((answer.at, slots[bucket_of(answer.payment)]) for answer in answers if answer.status == 200)
    for kind in sorted({each.kind for each in disturbances}):
        those = [each for each in disturbances if each.kind == kind]
        longest = (
            max(
                (
                    _gap(each, [at for at, slot in served if (slot in each.hit) is is_hit])
                    for each in those
                    if some(each)
                ),
                default=None,
            )
            for is_hit, some in ((True, _hits_some), (False, _spares_some))
        )
        said = "; ".join("nobody" if gap is None else f"{gap:.1f}" for gap in longest)
        yield f"  {kind} ({len(those)} times): {said}"


def _hits_some(disturbance: Disturbance) -> bool:
    return not disturbance.hit.isdisjoint(bucket_slots())


def _spares_some(disturbance: Disturbance) -> bool:
    return not disturbance.hit.issuperset(bucket_slots())


def _gap(disturbance: Disturbance, moments: Sequence[float]) -> float:
    end = disturbance.ended + AFTER_S
    within = [moment for moment in moments if disturbance.began <= moment <= end]
    return max(later - earlier for earlier, later in pairwise([disturbance.began, *within, end]))
