"""How much memory this process takes at the most, from /proc."""

import contextlib
from collections.abc import Iterator


def _peak_mb() -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


@contextlib.contextmanager
def growth_below(megabytes: float) -> Iterator[None]:
    """Fails when the resident set was, at any time within, that much larger than before."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # forget the peak
    before = _peak_mb()
    yield
    assert _peak_mb() - before < megabytes
