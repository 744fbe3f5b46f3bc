"""What one installation serves, and its exceptions to the rules for hosts and ports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from shared.settings.egress import Egress


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the operator's settings say to jobs. A process makes it once.

    Without a value, nothing is added. `own` has no default, because it takes away.

    Attributes:
        own: hosts of this service, which are never called.
        ports: additional ports that may be called.
        names: hosts whose address the operator chose. Such a name may have any ending.
        chains: EVM chains that requests may name.
    """

    own: Collection[str]
    ports: Collection[int] = ()
    names: Collection[str] = ()
    chains: Collection[str] = ()


class SiteRequest(msgspec.Struct, frozen=True):
    """A request whose rules depend on the Site. Other requests check themselves in ``__post_init__``.

    Warning:
        Its endpoint cannot run in a child process, which has no Site: every call would fail.
    """

    def check(self, site: Site) -> None:
        """Check the decoded request. The API does it before the payment, and a worker before it runs the handler.

        Raises:
            InvalidField: a value is refused.
        """
        raise NotImplementedError


def site_of(outgoing: Egress, chains: Collection[str]) -> Site:
    """The Site of these settings. API and workers read the same ones: no worker refuses a host that the API accepted."""
    return Site(own={outgoing.own_host}, ports=outgoing.ports, names=outgoing.hosts, chains=chains)
