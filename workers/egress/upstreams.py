"""Courtesy to systems that may ban us: few calls at a time to each, and none for a while when it has had enough.

    upstreams = Upstreams(at_once=2)
    with upstreams.turn("whois.nic.example", deadline=deadline):
        ...  # one exchange; what it raises says how the upstream is

A turn that ends with UpstreamFailed `rate_limited` opens the upstream's circuit (at once, unless `throttles` says otherwise),
and so do three turns in a row that end with a reason of `failing`. While it is open, and until one probe has succeeded after
that, turns are refused with UpstreamFailed `rate_limited` before anything is sent. Each probe that fails doubles the pause. Any
other end of a turn says that the upstream works; an exception that is no UpstreamFailed says nothing of it.

All of this is per process: n processes are n times as many calls.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from shared.outcome import UpstreamFailed

FAILING = frozenset({"connection_refused", "dns_failure", "timeout", "tls_failure"})


@dataclass(slots=True)
class _Upstream:
    """Attributes:
    failures: in a row.
    resting_until: when the circuit is half open; None: it is closed.
    pause_s: how long it was open the last time.
    """

    busy: int = 0
    waiting: int = 0
    failures: int = 0
    resting_until: float | None = None
    pause_s: float = 0.0
    is_probed: bool = False


class Upstreams:
    """The upstreams of one kind. Thread-safe.

    Args:
        at_once: turns of one upstream that run together; others wait for theirs.
        failures: turns in a row that fail, until it is left alone.
        throttles: turns in a row that are throttled, until it is left alone.
        pause_s: how long it is left alone at first.
        longest_pause_s: and at most.
        failing: reasons of UpstreamFailed that count as failures of the upstream.
        fair_s: a `timeout` that comes sooner says more of the caller's deadline than of the upstream, and does not count.
        names: upstreams that are remembered; names may be strangers', so there is a limit.
        clock: monotonic seconds.
        on_open: told for how many seconds, whenever a circuit opens. Raises nothing.
    """

    def __init__(
        self,
        *,
        at_once: int = 2,
        failures: int = 3,
        throttles: int = 1,
        pause_s: float = 30.0,
        longest_pause_s: float = 600.0,
        failing: Collection[str] = FAILING,
        fair_s: float = 2.0,
        names: int = 1024,
        clock: Callable[[], float] = time.monotonic,
        on_open: Callable[[float], None] | None = None,
    ) -> None:
        self._at_once = at_once
        self._failures = failures
        self._throttles = throttles
        self._pause_s = pause_s
        self._longest_pause_s = longest_pause_s
        self._failing = failing
        self._fair_s = fair_s
        self._names = names
        self._clock = clock
        self._on_open = on_open
        self._upstreams: dict[str, _Upstream] = {}
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def turn(self, name: str, *, deadline: float) -> Iterator[None]:
        """One exchange with an upstream, after those that came before.

        Args:
            deadline: monotonic seconds until which a turn is waited for.

        Raises:
            UpstreamFailed: `rate_limited`: its circuit is open, or too many calls wait for it.
        """
        with self._changed:
            upstream, is_probe = self._take(name, deadline)
        began = self._clock()
        reason: str | None = "unknown"
        try:
            yield
            reason = None
        except UpstreamFailed as failure:
            is_early = failure.reason == "timeout" and self._clock() - began < self._fair_s
            reason = "unknown" if is_early else failure.reason
            raise
        finally:
            with self._changed:
                self._give_back(upstream, reason, is_probe=is_probe)

    def _take(self, name: str, deadline: float) -> tuple[_Upstream, bool]:
        upstream = self._upstreams.pop(name, None) or _Upstream()
        self._upstreams[name] = upstream  # the one that was asked last comes last
        while True:
            if upstream.resting_until is not None:
                left_s = upstream.resting_until - self._clock()
                if left_s > 0 or upstream.is_probed:
                    raise UpstreamFailed(
                        f"{name} has had too many calls or does not work, and is left alone"
                        f" for {max(1, math.ceil(left_s))} s.",
                        reason="rate_limited",
                    )
                upstream.is_probed = True
                upstream.busy += 1
                return upstream, True
            if upstream.busy < self._at_once:
                upstream.busy += 1
                self._forget()
                return upstream, False
            self._wait(name, upstream, deadline)

    def _wait(self, name: str, upstream: _Upstream, deadline: float) -> None:
        left_s = deadline - self._clock()
        if left_s <= 0:
            raise UpstreamFailed(f"Too many calls wait for {name}.", reason="rate_limited")
        upstream.waiting += 1
        try:
            self._changed.wait(left_s)
        finally:
            upstream.waiting -= 1

    def _give_back(self, upstream: _Upstream, reason: str | None, *, is_probe: bool) -> None:
        upstream.busy -= 1
        if is_probe:
            upstream.is_probed = False
        if reason == "unknown":
            pass
        elif reason == "rate_limited" or reason in self._failing:
            upstream.failures += 1
            limit = self._throttles if reason == "rate_limited" else self._failures
            is_enough = is_probe or upstream.failures >= limit
            # Of turns that end together only the first opens it: the others would only double the pause.
            if is_enough and (is_probe or upstream.resting_until is None):
                self._open(upstream)
        elif is_probe or upstream.resting_until is None:
            upstream.failures = 0
            upstream.pause_s = 0.0
            upstream.resting_until = None
        self._changed.notify_all()

    def _open(self, upstream: _Upstream) -> None:
        upstream.pause_s = min(max(self._pause_s, 2 * upstream.pause_s), self._longest_pause_s)
        upstream.resting_until = self._clock() + upstream.pause_s
        upstream.failures = 0
        if self._on_open is not None:
            self._on_open(upstream.pause_s)

    def _forget(self) -> None:
        """Of too many names: the one that was not asked for longest, and rather one that works."""
        if len(self._upstreams) <= self._names:
            return
        idle = [name for name, upstream in self._upstreams.items() if not upstream.busy and not upstream.waiting]
        well = (name for name in idle if self._upstreams[name].resting_until is None)
        name = next(well, idle[0] if idle else None)
        if name is not None:
            del self._upstreams[name]
