"""What the fork server gives up for all its children, after it has loaded everything: files cannot be opened afterwards."""

import contextlib
import os

from workers.confinement import kernel, landlock, seccomp
from workers.confinement.layers import Layers

CHILD_ID = 61_119
"""User and group of children that root's fork server forks. They need no entry in /etc/passwd, and own no file."""


def confine_server() -> Layers:
    """Leave networks and System V objects, become a user without rights, and refuse oneself all files.

    The order matters: the bounding set can be dropped with capabilities only, a change of the user makes a process traceable
    for its next state, and a new user namespace gives all capabilities inside.
    """
    has_network_namespace = _unshared(kernel.NEWNET | kernel.NEWIPC)
    kernel.drop_bounding_set()
    _become_unprivileged()
    if not has_network_namespace:
        has_network_namespace = _unshared(kernel.NEWUSER | kernel.NEWNET | kernel.NEWIPC)
        kernel.drop_bounding_set()
    kernel.drop_capabilities()
    kernel.forbid_tracing()
    kernel.forbid_new_privileges()
    layers = Layers(has_network_namespace, landlock.version(), seccomp.is_available(), os.geteuid() != 0)
    if layers.landlock:
        landlock.restrict(layers.landlock)
    return layers


def _become_unprivileged() -> None:
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):  # a user namespace may not have this user: `Layers` says so
        os.setgroups([])
        os.setresgid(CHILD_ID, CHILD_ID, CHILD_ID)
        os.setresuid(CHILD_ID, CHILD_ID, CHILD_ID)


def _unshared(flags: int) -> bool:
    try:
        kernel.unshare(flags)
    except OSError:
        return False
    return True
