"""The workers of packages: a line beside the Procfile's for each pool that a package brings and that no line serves."""

from pathlib import Path

from compose.procfile import Line, read_procfile
from compose.readiness import queues
from jobs.packages import installed_packages
from shared.pools import POOLS, Pool


def all_lines(procfile: Path) -> list[Line]:
    """The lines of a Procfile, and after them the workers of packages.

    Raises:
        InvalidProcfile: see `read_procfile`.
        RefusedPackage: an installed package cannot be sold.
    """
    lines = read_procfile(procfile)
    served = {*Pool, *(pool for line in lines for pool in queues(line.command))}
    pools = {endpoint.pool for package in installed_packages() for endpoint in package.endpoints}
    return [*lines, *(worker_line(pool) for pool in sorted(pools - served))]


def worker_line(pool: str) -> Line:
    """The worker of one pool, as the Procfile has one for each of ours."""
    command = (
        *("dramatiq", "--skip-logging", "workers.main:create_broker", "--queues", pool, "--processes", "1"),
        *("--threads", str(POOLS[pool].threads), "--worker-shutdown-timeout", "30000"),
    )
    return Line(f"worker-{pool}", command, {})
