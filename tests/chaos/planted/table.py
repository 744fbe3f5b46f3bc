"""Bugs, one guard removed at a time, with a case that must find each. Whoever changes a guarded line adapts its anchor here.

Anchors in api/payment/lua: another body, a refusal counts, a duplicate drives, no lease, settled again.
In api/payment/settle.py: 402 for unknown, forgotten, other payee, too early.
In api/payment/facilitator.py: timeout, never sent.
In api/payment/answers.py: no transaction, other network, other payer, pending.
In workers: not stored, last wins, lost and remembered.
"""

from dataclasses import dataclass

from tests.chaos.forking_parent import Patch
from tests.chaos.slots import OUTCOMES, Case, Outcome

LOOK_UP = "api/payment/lua/look_up.lua"
REJECTED = "api/payment/lua/rejected.lua"
DONE = "workers/lua/done.lua"
SETTLE = "api/payment/settle.py"
FACILITATOR = "api/payment/facilitator.py"
ANSWERS = "api/payment/answers.py"


@dataclass(frozen=True)
class Bug:
    """One.

    Attributes:
        path, old, new: the guard, and what is left of it.
        invariants: any of these must be found violated.
        case: in which.
    """

    path: str
    old: str
    new: str
    invariants: tuple[int, ...]
    case: Case

    @property
    def patch(self) -> Patch:
        """For the forking parent."""
        return Patch(self.path, self.old, self.new)


def _case(outcome: str, failpoint: str = "") -> Case:
    return Case(OUTCOMES[outcome], failpoint)


SLOW_COPIES = Case(Outcome(("slow",)), copies=3)

BUGS: dict[str, Bug] = {
    "another body is taken for the one that paid": Bug(
        LOOK_UP,
        "if claimed_by ~= fingerprint and claimed_by ~= previous_fingerprint then\n"
        "  return {(state == 'SETTLING' or state == 'UNKNOWN') and 'claimed' or 'conflict'}\n"
        "end\n",
        "",
        (4, 5),
        _case("paid"),
    ),
    "a refusal counts although an earlier attempt is open": Bug(
        REJECTED,
        "if weight ~= 'evidence' and latest ~= '1' then return 0 end\n",
        "",
        (6,),
        _case("cut off and paid, then refused"),
    ),
    "a duplicate drives too": Bug(
        LOOK_UP, "  if current_driver ~= driver then return {'wait', receipt or ''} end\n", "", (1,), SLOW_COPIES
    ),
    "a claim has no lease": Bug(
        LOOK_UP, "'lease', now + settle_lease_ms, 'valid_before'", "'lease', 0, 'valid_before'", (1,), SLOW_COPIES
    ),
    "what is settled is settled again": Bug(
        LOOK_UP,
        "if state == 'SETTLED' then\n  redis.call('HSET', record, 'lease', now + run_lease_ms",
        "if state == 'NEVER' then\n  redis.call('HSET', record, 'lease', now + run_lease_ms",
        (1,),
        _case("paid", "settled"),
    ),
    "a timeout is a refusal": Bug(
        FACILITATOR,
        "except (OSError, aiohttp.ClientError) as error:  # TimeoutError is an OSError\n"
        "            raise Failing(type(error).__name__) from None\n",
        "except (OSError, aiohttp.ClientError) as error:\n"
        "            settlement = Settlement(success=False, transaction='', network='')\n"
        "            raise answers.Declined('settlement_failed', settlement) from None\n",
        (6,),
        _case("silent but paid"),
    ),
    "a lost answer is a call that was never sent": Bug(
        FACILITATOR,
        "except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:",
        "except aiohttp.ClientError as error:",
        (6, 11),
        _case("cut off and paid, then refused"),
    ),
    "a success without a transaction is taken": Bug(
        ANSWERS,
        '_TRANSACTION.fullmatch(answer.transaction or "") is not None',
        "True",
        (2, 3),
        _case("success without a transaction"),
    ),
    "a success on another network is taken": Bug(
        ANSWERS,
        "and V1_NAMES.get(network, network) == offer.network",
        "",
        (2, 3),
        _case("success elsewhere"),
    ),
    "a success of another payer is taken": Bug(
        ANSWERS, "and _is_payer(answer.payer or payer, offer, payer)", "", (2, 3), _case("success of another payer")
    ),
    "what is pending has failed": Bug(
        ANSWERS,
        "    if answer.transaction:\n        raise Undecided(shown(reason))\n",
        "    raise Declined(reason, Settlement(success=False, transaction='', network=offer.network))\n",
        (6,),
        _case("pending and paid"),
    ),
    "402 for an unknown settlement": Bug(
        SETTLE,
        'raise problem_of(Cause.SETTLEMENT_UNKNOWN, charged="unknown", failure=unknown)',
        'return gate.refuse("settlement_failed")',
        (6,),
        _case("failed but paid"),
    ),
    "an undecided payment is forgotten": Bug(
        SETTLE,
        "    await ledger.unknown(payment_id, attempts)\n",
        "    await ledger.abandon(payment_id, attempts)\n",
        (6,),
        _case("cut off and paid, then refused"),
    ),
    "the chain's no counts before the authorization has lapsed": Bug(
        SETTLE,
        'evidence.status == "unused" and is_over',
        'evidence.status == "unused"',
        (6,),
        _case("silent and paid late"),
    ),
    "a transfer to somebody else is taken for ours": Bug(
        SETTLE,
        "if not evidence.transaction or not is_ours or ",
        "if not evidence.transaction or ",
        (2, 3),
        _case("somebody else was paid"),
    ),
    "the answer is not stored before the reply": Bug(
        "workers/queue/outbox.py",
        "answers = iter(self._answers.done(known) if known else ())",
        "answers = iter([self._answers.sealed(result) for result in known])",
        (4,),
        _case("paid"),
    ),
    "the last result wins": Bug(
        DONE,
        "if stored then return stored end\n",
        "",
        (4,),
        Case(is_redelivered=True),
    ),
    "what a run saw is remembered although its answer lost": Bug(
        DONE,
        "if stored then return stored end\n",
        "if stored then\n"
        "  if observation ~= '' then\n"
        "    observe(baseline, payer_index, observation, now, observation_ttl_ms, tonumber(most))\n"
        "  end\n"
        "  return stored\n"
        "end\n",
        (12,),
        Case(is_redelivered=True, endpoint="watch"),
    ),
}
