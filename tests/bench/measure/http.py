"""Section 2: HTTP POST of echo without a payment."""

from tests.bench.measure.load import COLUMNS, sample
from tests.bench.processes import Running, absent, servers
from tests.bench.results import QUICK, Effort, Table
from tests.bench.systems import HTTP

IN_FLIGHT = (1, 16, 64, 256)
QUICK_IN_FLIGHT = (64,) * 5
"""A quick run measures only what a bar judges, but five times: single seconds differ by a quarter on a quiet machine."""


def measure(effort: Effort) -> Table:
    """All systems are up at once; one is loaded at a time."""
    widths = QUICK_IN_FLIGHT if effort is QUICK else IN_FLIGHT
    table = Table("HTTP POST of echo, no payment", ("in flight", "system"), COLUMNS)
    with servers() as here:
        systems: list[Running] = []
        for system in HTTP:
            if reason := absent(system):
                table.absent[system.label] = reason
                continue
            systems.append(here.start(system))
        for running in systems:
            running.wait_for(200)
            sample(here, running, table, in_flight=16, seconds=1)
        for _ in range(effort.rounds):
            for in_flight in widths:
                for running in systems:
                    running.wait_for(200)  # what the last load left in its queue is done
                    values = sample(here, running, table, in_flight=in_flight, seconds=effort.seconds)
                    table.add(str(in_flight), running.system.label, **values)
    return table
