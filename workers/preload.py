"""Loads in a thread, as soon as a worker has started, what the first calls of its pools would wait for."""

import importlib
import threading
from collections.abc import Collection, Iterator

from shared.pools import Pool
from shared.settings.service import Settings


def preload(settings: Settings, pools: Collection[str]) -> threading.Thread:
    """Start to load, and wait for nothing. A call that comes earlier waits for the import that it needs."""
    thread = threading.Thread(target=_load, args=(tuple(_modules(settings, pools)),), name="preload", daemon=True)
    thread.start()
    return thread


def _modules(settings: Settings, pools: Collection[str]) -> Iterator[str]:
    if Pool.CHAIN not in pools:
        return
    if settings.readable & {"ethereum", "base"}:
        yield "workers.adapters.chains"
        yield from ("jobs.tx_explain.answer", "jobs.approval_safety.answer")
    if "xrpl" in settings.readable:
        yield "workers.adapters.xrpl"
        yield "xrpl.utils"  # it takes most of a second


def _load(modules: Collection[str]) -> None:
    for module in modules:
        importlib.import_module(module)
