"""Whether a process that starts can work with those that run: the messages of the API are in a layout that the workers read.

The queue has the layout of the API that started last. The names of consumers have the layouts that their workers read. The
checks have the form of those of shared/ledger/layout.py, for the same reason.
"""

from __future__ import annotations

import re

from shared.layouts import MESSAGES
from shared.ledger.layout import Check
from shared.pools import Pool
from shared.queue.streams import GROUP, SILENT_MS, stream_key
from shared.servers.ledger_start import RunCheck, address_of
from shared.settings.service import InvalidSetting, Settings

KEY = "coinslot:queue-layout"
_READ = re.compile(r":([0-9]+)-([0-9]+)$", re.ASCII)


def checked_by_worker() -> Check:
    """The messages that the API sends can be read."""
    (found,) = yield (("GET", KEY),)
    return "" if found is None else MESSAGES.wrong(int(found))


def checked_by_api() -> Check:
    """Every worker that lives can read the messages. Then the queue gets their number."""
    streams = [stream_key(pool) for pool in Pool]
    found = yield [("EXISTS", stream) for stream in streams]
    streams = [stream for stream, exists in zip(streams, found, strict=True) if exists]
    found = yield [("XINFO", "GROUPS", stream) for stream in streams]
    # A stream to which an API wrote before any worker was there has no group.
    streams = [stream for stream, groups in zip(streams, found, strict=True) if groups]
    for consumers in (yield [("XINFO", "CONSUMERS", stream, GROUP) for stream in streams]):
        for flat in consumers:
            consumer = dict(zip(flat[::2], flat[1::2], strict=True))
            oldest, newest = _read_by(consumer[b"name"].decode())
            if consumer[b"idle"] < SILENT_MS and not oldest <= MESSAGES.written <= newest:
                host = consumer[b"name"].decode().partition(":")[0]
                return (
                    f"a worker of {host} reads messages of layout {oldest} to {newest}, and this version writes layout "
                    f"{MESSAGES.written}: restart the workers first, and see docs/operations.md, Updating"
                )
    yield (("SET", KEY, str(MESSAGES.written)),)
    return ""


def refuse_wrong_queue(settings: Settings, check: Check, run: RunCheck) -> None:
    """Raises InvalidSetting, with a sentence that says what to do. A queue that does not answer is no reason."""
    url = settings.redis_url(settings.queue_url)
    if why := run(url, _answered(check)):
        raise InvalidSetting(f"the queue at {address_of(url)}: {why}")


def _answered(check: Check) -> Check:
    """As the check, and it ends with what the server refused."""
    try:
        commands = next(check)
        while True:
            answers = yield commands
            for refused in answers:
                if isinstance(refused, Exception):
                    raise refused
            commands = check.send(answers)
    except StopIteration as ended:
        return str(ended.value)


def _read_by(name: str) -> tuple[int, int]:
    """The layouts that a consumer reads. Those of 0.1.0 have none in their names."""
    found = _READ.search(name)
    return (int(found[1]), int(found[2])) if found else (MESSAGES.unnumbered, MESSAGES.unnumbered)
