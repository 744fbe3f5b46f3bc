"""Which layers hold on this machine."""

import msgspec

from workers.confinement.landlock import SINCE_SCOPES, SINCE_TCP


class Layers(msgspec.Struct, frozen=True):
    """What the kernel gave.

    Attributes:
        network: a network namespace without a network.
        landlock: version of the interface, 0 for none.
        seccomp: the filter of system calls.
        user: the children are not root.
    """

    network: bool
    landlock: int
    seccomp: bool
    user: bool

    def missing(self) -> list[str]:
        """What children could do without, in words for the operator."""
        lacks = []
        if not self.seccomp:
            lacks.append("no filter of system calls (seccomp)")
        if not self.landlock:
            lacks.append("no Landlock (Linux 5.13)")
        elif self.landlock < SINCE_TCP:
            lacks.append("Landlock without TCP (Linux 6.7)")
        elif self.landlock < SINCE_SCOPES:
            lacks.append("Landlock without signals (Linux 6.12)")
        if not self.network:
            lacks.append("no network namespace")
        if not self.user:
            lacks.append("children run as root")
        return lacks
