"""Landlock: a process refuses itself files, TCP, and signals to others (Linux 5.13 on; landlock(7)).

The rules are none: what a kernel's version can refuse is refused altogether. `stat` is not among it.
"""

import ctypes
import os
import struct

from workers.confinement import kernel

SINCE_TCP, SINCE_SCOPES = 4, 6
"""Versions of the interface: Linux 6.7 and 6.12."""

_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the same on every architecture
_ASK_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights by the first version that has them. They are the lowest bits."""
_TCP_RIGHTS = _SCOPES = 0b11
"""Bind and connect; abstract Unix sockets and signals."""


def version() -> int:
    """The version of the interface; 0 where there is none."""
    try:
        return kernel.system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))
    except OSError:  # ENOSYS; EOPNOTSUPP when it is switched off; EPERM under a container's filter
        return 0


def restrict(offered: int) -> None:
    """Put this process into its own domain: it may not trace, nor signal, any process outside.

    It needs `kernel.forbid_new_privileges`.

    Args:
        offered: what `version` said.
    """
    rights = max(count for since, count in _FILE_RIGHTS.items() if since <= offered)
    attributes = struct.pack("=Q", (1 << rights) - 1)
    if offered >= SINCE_TCP:
        attributes += struct.pack("=Q", _TCP_RIGHTS)
    if offered >= SINCE_SCOPES:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = kernel.system_call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    try:
        kernel.system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    finally:
        os.close(ruleset)
