"""Sections 3 and 4: paid calls with real EIP-3009 signatures, and unpaid calls that get the price."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.measure.load import COLUMNS, sample
from tests.bench.payments import offered, write_payments
from tests.bench.processes import Running, Servers, absent, servers
from tests.bench.results import Effort, Table
from tests.bench.systems import SHOPS
from tests.bench.wrk import PaymentsUsedUp

IN_FLIGHT = (1, 16, 64)
CHALLENGES_IN_FLIGHT = 64
_FIRST_GUESS_PER_S = 1_500


def measure(effort: Effort) -> tuple[Table, Table]:
    """Both shops ask the same facilitator, which says yes at once."""
    paid = Table("Paid POST of echo, settled at once by the same facilitator", ("in flight", "system"), COLUMNS)
    challenged = Table("402 answers to unpaid calls", ("in flight", "system"), COLUMNS)
    with _shops(paid) as (here, shops):
        challenged.absent = paid.absent
        payments = Payments(here)
        for running in shops:
            payments.sample(running, paid, in_flight=IN_FLIGHT[1], seconds=1)
        for _ in range(effort.rounds):
            for in_flight in IN_FLIGHT:
                for running in shops:
                    values = payments.sample(running, paid, in_flight=in_flight, seconds=effort.seconds)
                    paid.add(str(in_flight), running.system.label, **values)
            for running in shops:
                values = sample(
                    here,
                    running,
                    challenged,
                    in_flight=CHALLENGES_IN_FLIGHT,
                    seconds=effort.seconds,
                    unpaid=True,
                )
                challenged.add(str(CHALLENGES_IN_FLIGHT), running.system.label, **values)
    return paid, challenged


@contextmanager
def _shops(table: Table) -> Iterator[tuple[Servers, list[Running]]]:
    with servers() as here:
        here.start_facilitator()
        shops: list[Running] = []
        for system in SHOPS:
            if reason := absent(system):
                table.absent[system.label] = reason
                continue
            shops.append(here.start(system))
        for running in shops:
            running.wait_for(402)
        yield here, shops


class Payments:
    """Signs before each load what the load will need: a payment is good for a minute, and for one call."""

    def __init__(self, here: Servers) -> None:
        self._here = here
        self._file = here.folder / "payments"
        self._per_s: dict[str, float] = {}

    def sample(self, running: Running, table: Table, *, in_flight: int, seconds: int) -> dict[str, float]:
        """A load of paid calls, made again with more payments when it used them all."""
        offer = offered(running.echo_url)
        while True:
            expected = self._per_s.get(running.system.module, _FIRST_GUESS_PER_S)
            write_payments(self._file, offer, int(expected * (seconds + 1)))
            try:
                values = sample(self._here, running, table, in_flight=in_flight, seconds=seconds, payments=self._file)
            except PaymentsUsedUp:
                self._per_s[running.system.module] = 2 * expected
                continue
            return values
