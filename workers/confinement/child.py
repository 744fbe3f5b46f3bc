"""What each child gives up, right after it was forked."""

import os
import platform
import resource
import signal
from dataclasses import dataclass

from workers.child_usage import data_bytes
from workers.confinement import kernel, landlock, seccomp
from workers.confinement.layers import Layers
from workers.confinement.server import confine_server

MEMORY_BYTES = 1 << 30
"""Memory of a child's own, writable and not shared (RLIMIT_DATA). What the fork server has comes on top: V8 has taken 512 MB
there and used little of it. A limit of the address space would count memory that is only reserved, 1.4 TB in V8's case."""
OPEN_FILES = 8
NICENESS = 5
"""When a child and another process want the same core, the other process gets three quarters of it."""
ORPHAN_CPU_S = 30.0
"""CPU time after which the kernel ends a child, if nobody else has. The worker replaces it long before."""

_LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: OPEN_FILES,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the fork server prepares for its children."""

    layers: Layers
    _filter: seccomp.Filter | None
    _server: int
    _memory_bytes: int

    @classmethod
    def prepared(cls) -> "Confinement":
        """Confine this process, the fork server, and prepare the rest for its children."""
        memory_bytes = data_bytes(os.getpid()) + MEMORY_BYTES
        layers = confine_server()
        filtered = seccomp.assemble(platform.machine()) if layers.seccomp else None
        return cls(layers, filtered, os.getpid(), memory_bytes)

    def enter(self) -> None:
        """Confine this process. Raises OSError when a layer that the machine has fails: then it must not run anything."""
        for limit, value in _LIMITS.items():
            resource.setrlimit(limit, (value, value))
        resource.setrlimit(resource.RLIMIT_DATA, (self._memory_bytes, self._memory_bytes))
        os.nice(NICENESS)
        kernel.die_with_parent(signal.SIGKILL)
        if os.getppid() != self._server:
            raise ProcessLookupError("the fork server has ended")
        kernel.kill_after(ORPHAN_CPU_S)
        if self.layers.landlock:
            landlock.restrict(self.layers.landlock)
        if self._filter is not None:
            seccomp.install(self._filter)
