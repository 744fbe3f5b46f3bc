"""Concurrency limits and circuit breakers for systems that may ban us, one per upstream.

    upstreams = Upstreams(at_once=2)
    with upstreams.slot("whois.nic.example", deadline=deadline):
        ...  # one exchange; its exception tells whether the upstream works

An exchange that ends with UpstreamFailed `rate_limited` opens the upstream's circuit (the first one, unless `throttles` is
higher), and so do three in a row that end with a reason of `failing`. While the circuit is open, and then until one probe has
succeeded, `slot` raises UpstreamFailed `rate_limited` before anything is sent. Each failed probe doubles the pause. Any other
result shows that the upstream works; an exception that is no UpstreamFailed shows nothing.

The limits are per process: n processes make n times as many calls.
"""

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
    """The state of one upstream.

    Attributes:
        failures: failed exchanges in a row.
        half_open_at: when the open circuit admits a probe, in monotonic seconds; None: the circuit is closed.
        pause_s: how long the circuit was open the last time.
    """

    busy: int = 0
    waiting: int = 0
    failures: int = 0
    half_open_at: float | None = None
    pause_s: float = 0.0
    is_probed: bool = False


class Upstreams:
    """The upstreams of one kind. Thread-safe.

    Args:
        at_once: exchanges with one upstream that run at the same time; others wait for a slot.
        failures: failed exchanges in a row that open the circuit.
        throttles: throttled exchanges in a row that open the circuit.
        pause_s: seconds that the circuit stays open the first time.
        longest_pause_s: seconds that it stays open at most.
        failing: reasons of UpstreamFailed that count as failures of the upstream.
        fair_s: an earlier `timeout` does not count: the caller's deadline was too close.
        names: upstreams that are remembered. Callers choose names, so there is a limit.
        clock: monotonic seconds.
        on_open: called with the seconds of the pause when a circuit opens. Raises nothing.
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
    def slot(self, name: str, *, deadline: float) -> Iterator[None]:
        """Hold one of the upstream's slots during one exchange.

        Args:
            deadline: monotonic seconds until which it waits for a slot.

        Raises:
            UpstreamFailed: `rate_limited`: the circuit is open, or too many calls wait for the upstream.
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
        self._upstreams[name] = upstream  # the most recently used one comes last
        while True:
            if upstream.half_open_at is not None:
                left_s = upstream.half_open_at - self._clock()
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
            # Of exchanges that fail together only the first opens the circuit: the others would double the pause.
            if is_enough and (is_probe or upstream.half_open_at is None):
                self._open(upstream)
        elif is_probe or upstream.half_open_at is None:
            upstream.failures = 0
            upstream.pause_s = 0.0
            upstream.half_open_at = None
        self._changed.notify_all()

    def _open(self, upstream: _Upstream) -> None:
        upstream.pause_s = min(max(self._pause_s, 2 * upstream.pause_s), self._longest_pause_s)
        upstream.half_open_at = self._clock() + upstream.pause_s
        upstream.failures = 0
        if self._on_open is not None:
            self._on_open(upstream.pause_s)

    def _forget(self) -> None:
        """Of too many upstreams, forget the least recently used one, preferably one whose circuit is closed."""
        if len(self._upstreams) <= self._names:
            return
        idle = [name for name, upstream in self._upstreams.items() if not upstream.busy and not upstream.waiting]
        closed = (name for name in idle if self._upstreams[name].half_open_at is None)
        name = next(closed, idle[0] if idle else None)
        if name is not None:
            del self._upstreams[name]
