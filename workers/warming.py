"""Runs what children will run, once, in the process that forks them.

Two reasons. The first call of a library may take most of a second, and a child that pays for it again and again is late. And a
child cannot open a file: what a library loads when it is first needed must be there, or the answer is another one and no
exception is raised. Confined and cold, phonenumbers knows no numbers, and personal data stays in the text.
"""

import codecs
import contextlib
import encodings
import gc
import importlib
import pkgutil
from collections.abc import Collection, Iterator

import msgspec

from jobs.calculations import BY_POOL
from jobs.catalogue import installed
from jobs.ports import Context
from shared.endpoint import Endpoint
from shared.pools import POOLS, Pool
from workers.execute import calculate, execute

_LAZY = ("_strptime", "stringprep", "unicodedata", "zoneinfo")
"""Modules that the standard library imports inside functions."""


def warm(pools: Collection[str]) -> None:
    """Load and run what the children of these pools need; of all pools when none is named."""
    installed()  # a child can load no package
    served = tuple(pools) or tuple(POOLS)
    for name in _LAZY:
        importlib.import_module(name)
    for module in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(ImportError, LookupError):  # those of another operating system
            importlib.import_module(f"encodings.{module.name}")
            codecs.lookup(module.name)
    for endpoint in isolated(served):
        execute(endpoint, msgspec.json.encode(endpoint.example.request), Context(payer=""))
    for name, argument in examples(served):
        calculate(name, argument)
    if Pool.FAST in served:
        _warm_more()
    gc.collect()


def isolated(pools: Collection[str]) -> list[Endpoint]:
    """The endpoints of these pools that may run in a child."""
    return [item for item in installed() if item.pool in pools and item.calculates]


def examples(pools: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The calculations of these pools, with each of their examples."""
    for pool in pools:
        for module in BY_POOL.get(pool, ()):
            for argument in module.examples():
                yield module.NAME, argument


def _warm_more() -> None:
    """What the examples of the pool `fast` do not load."""
    from phonenumbers import PhoneMetadata

    from jobs.faker.allowlist import METHODS
    from jobs.faker.locales import LOCALES
    from jobs.faker.records import SEEDED_REFERENCE, records
    from jobs.regex_test.matching import isolate

    PhoneMetadata.load_all()
    for locale in LOCALES:
        records({name: name for name in METHODS}, 1, seed=1, now=SEEDED_REFERENCE, locale=locale)
    isolate().close()  # it has a thread, which a forked process would not have
