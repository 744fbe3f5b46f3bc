"""What each child gives up, right after it was forked."""

from __future__ import annotations

import os
import platform
import resource
import signal
from dataclasses import dataclass

from workers.confinement import kernel, landlock, seccomp
from workers.confinement.layers import Layers

MEMORY_BYTES = 1 << 30
"""Limit of RLIMIT_DATA: memory that is writable and not shared. V8 takes 512 MB of it before it does anything. A limit of the
address space would count memory that is only reserved, 1.4 TB in V8's case."""
OPEN_FILES = 8
NICENESS = 5
"""When a child and another process want the same core, the other process gets three quarters of it."""
ORPHAN_CPU_S = 30.0
"""CPU time after which the kernel ends a child, if nobody else has. The worker replaces it long before."""

_LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: OPEN_FILES,
    resource.RLIMIT_DATA: MEMORY_BYTES,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the fork server prepares for its children."""

    layers: Layers
    system_calls: seccomp.Filter | None
    server: int

    @classmethod
    def prepared(cls, layers: Layers) -> Confinement:
        """For the children of this process."""
        filtered = seccomp.assemble(platform.machine()) if layers.seccomp else None
        return cls(layers, filtered, os.getpid())

    def enter(self) -> None:
        """Confine this process. Raises OSError when a layer that the machine has fails: then it must not run anything."""
        for limit, value in _LIMITS.items():
            resource.setrlimit(limit, (value, value))
        os.nice(NICENESS)
        kernel.die_with_parent(signal.SIGKILL)
        if os.getppid() != self.server:
            raise ProcessLookupError("the fork server has ended")
        kernel.kill_after(ORPHAN_CPU_S)
        if self.layers.landlock:
            landlock.restrict(self.layers.landlock)
        if self.system_calls is not None:
            seccomp.install(self.system_calls)
