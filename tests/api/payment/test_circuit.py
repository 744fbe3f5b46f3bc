"""When a facilitator is left alone, for how long, and when it is trusted again."""

import pytest

from api.payment.circuit import Circuit


def fail(circuit: Circuit, times: int = 1) -> None:
    for _ in range(times):
        circuit.failed(circuit.openings)


@pytest.fixture
def circuit() -> Circuit:
    return Circuit(failures=3, pause_s=2.0, longest_pause_s=10.0)


def test_it_opens_after_failures_in_a_row(circuit: Circuit) -> None:
    """One answer between them, and they are not in a row."""
    fail(circuit, 2)
    circuit.worked()
    fail(circuit, 2)
    assert not circuit.is_open
    fail(circuit)
    assert (circuit.is_open, circuit.pause_s) == (True, 2.0)


def test_a_trial_that_passes_lets_payments_through_on_probation(circuit: Circuit) -> None:
    """The first failure opens it again, for longer; the first answer ends the probation."""
    fail(circuit, 3)
    circuit.tried(passed=True)
    assert not circuit.is_open
    fail(circuit)
    assert (circuit.is_open, circuit.has_reopened, circuit.pause_s) == (True, True, 4.0)
    circuit.tried(passed=True)
    circuit.worked()
    fail(circuit, 2)
    assert not circuit.is_open
    fail(circuit)
    assert (circuit.is_open, circuit.has_reopened, circuit.pause_s) == (True, False, 2.0)


def test_trials_that_fail_make_the_pause_longer_up_to_a_bound(circuit: Circuit) -> None:
    """And not one of them closes it."""
    fail(circuit, 3)
    pauses = []
    for _ in range(4):
        circuit.tried(passed=False)
        pauses.append(circuit.pause_s)
    assert (circuit.is_open, pauses) == (True, [4.0, 8.0, 10.0, 10.0])


def test_calls_that_began_before_it_opened_say_nothing_new(circuit: Circuit) -> None:
    """A hundred calls time out together: that is one opening, and none on the day after."""
    openings = circuit.openings
    for _ in range(100):
        circuit.failed(openings)
    assert (circuit.openings, circuit.pause_s) == (1, 2.0)
    circuit.tried(passed=True)
    for _ in range(100):
        circuit.failed(openings)
    assert not circuit.is_open


def test_a_settlement_that_is_answered_closes_it(circuit: Circuit) -> None:
    """Known payments are driven while it is open."""
    fail(circuit, 3)
    circuit.worked()
    assert not circuit.is_open


def test_every_change_is_told_once(circuit: Circuit) -> None:
    """Whoever builds challenges builds them then, and never for a call."""
    told: list[bool] = []
    circuit.on_change = lambda: told.append(circuit.is_open)
    circuit.worked()
    circuit.tried(passed=True)
    fail(circuit, 9)
    circuit.tried(passed=True)
    circuit.worked()
    assert told == [True, False]
