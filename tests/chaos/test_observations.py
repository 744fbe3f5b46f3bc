"""What a call is compared with when its worker dies, at each place, with observations beside the payments and apart."""

import asyncio

import pytest

from shared import failpoints
from tests.chaos.servers import running_service
from tests.chaos.slots import WORKERS, Case, run_cases


@pytest.mark.timeout(300)  # it takes a tenth of that on two cores that are free
@pytest.mark.parametrize("is_apart", [False, True], ids=["beside the payments", "apart"])
def test_no_call_is_compared_with_itself(is_apart: bool) -> None:
    """Given a first call that ends in spite of a death, a copy or a second delivery, then its payer's next call is compared
    with what the caller of the first was told."""
    places = WORKERS if is_apart else failpoints.WORKER
    cases = [
        *(Case(failpoint=place, endpoint="watch") for place in ("", *places)),
        Case(copies=3, endpoint="watch"),
        Case(is_redelivered=True, endpoint="watch"),
    ]
    with running_service(names=("ledger", "queue", "facilitator"), is_observing_apart=is_apart) as made:
        results = asyncio.run(run_cases(cases, made))

    assert [text for result in results for text in result.violations] == []
    assert [result.was_reached for result in results] == [bool(case.failpoint) for case in cases]
    for result in results:
        first, second = dict.fromkeys(answer.seen for answer in result.history.answers if answer.seen)
        assert first is not None
        assert second is not None
        assert (first[1], second[1]) == ("-", first[0])
