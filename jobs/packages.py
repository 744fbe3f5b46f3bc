"""Endpoints of other pip packages: an entry point of the group `coinslot.endpoints` adds them to what is sold.

    [project.entry-points."coinslot.endpoints"]
    acme = "coinslot_acme:ENDPOINTS"

Its name is the prefix of their names: `acme/slug` is sold at /v1/acme/slug. Its value is a tuple or list of Endpoints, or a
function that returns one.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from jobs.package_contract import breaches
from jobs.package_imports import forbidden_imports
from shared.call_path import FOLDERS, OWN
from shared.endpoint import ENTRY_POINTS, Endpoint

_PREFIX = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


class RefusedPackage(Exception):
    """An installed package cannot be sold. The text is a sentence for the operator."""


class Package(NamedTuple):
    """What one entry point adds.

    Attributes:
        origin: the distribution and its version.
    """

    prefix: str
    origin: str
    endpoints: tuple[Endpoint, ...]
    installed_at: datetime


@functools.cache
def installed_packages() -> tuple[Package, ...]:
    """The packages of this Python environment, by their prefixes. They are imported.

    Raises:
        RefusedPackage: one of them cannot be loaded, breaks the contract, or opens connections.
    """
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    for prefix, count in Counter(point.name for point in found).items():
        if count > 1:
            origins = " and ".join(_origin(point) for point in found if point.name == prefix)
            raise RefusedPackage(f"{origins}: only one of them can have the prefix {prefix!r}. Uninstall the other")
    return tuple(_loaded(point) for point in found)


def refuse_collisions(own: Sequence[Endpoint], packages: Iterable[Package]) -> None:
    """Raises RefusedPackage when two endpoints have one operation id, as those with one name have."""
    taken = {endpoint.operation_id: endpoint.name for endpoint in own}
    for package in packages:
        for endpoint in package.endpoints:
            if endpoint.operation_id in taken:
                other, operation_id = taken[endpoint.operation_id], endpoint.operation_id
                raise RefusedPackage(
                    f"{package.origin}: {endpoint.name} has the operation id {operation_id!r}, as {other}"
                )
            taken[endpoint.operation_id] = endpoint.name


def _loaded(point: EntryPoint) -> Package:
    origin = _origin(point)
    if not _PREFIX.fullmatch(point.name):
        raise RefusedPackage(f"{origin}: the prefix {point.name!r} is not lower-case words joined by '-'")
    if point.name in (OWN, *FOLDERS):
        raise RefusedPackage(f"{origin}: the prefix {point.name!r} is Coinslot's own. Choose another")
    for sentence in forbidden_imports(point.module):
        raise RefusedPackage(f"{origin}: {sentence}")
    try:
        value = point.load()
        declared = tuple(value() if callable(value) else value)
    except (Exception, SystemExit) as error:  # whatever the package's code raises
        raise RefusedPackage(
            f"{origin}: {point.value} cannot be loaded: {type(error).__name__}: {_line(error)}"
        ) from error
    for sentence in breaches(point.name, declared):
        raise RefusedPackage(f"{origin}: {sentence}")
    return Package(point.name, origin, declared, _installed_at(point))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.module


def _installed_at(point: EntryPoint) -> datetime:
    files = (point.dist and point.dist.files) or ()
    written = [os.stat(file.locate()).st_mtime for file in files if file.name == "METADATA"]
    return datetime.fromtimestamp(int(max(written, default=0)), UTC)
