"""What a spender is: followed through its proxies to the code that runs."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jobs.engines.evm.address import of_word
from jobs.engines.evm.code import PROXY_SLOTS, delegate_of, minimal_target, proxy_reads, slot_address
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.selectors import BEACON_SLOT, IMPLEMENTATION
from jobs.engines.evm.tokens import METADATA_GAS
from jobs.ports.chains import Call, Code, Storage

MAX_HOPS = 3
Kind = Literal["account", "delegated_account", "contract"]
Way = Literal["delegation", "minimal", "slot", "beacon"]


class Hop(NamedTuple):
    """A step from a proxy to the code that it runs.

    Attributes:
        target: whose code.
        code: of the target.
        again: the read that found the target, to repeat it at an older block. None where the target cannot change.
    """

    way: Way
    target: str
    code: bytes
    again: Storage | Call | None


@dataclass(frozen=True, slots=True)
class Spender:
    """A spender.

    Attributes:
        hops: through its proxies, in order.
    """

    address: str
    code: bytes
    hops: tuple[Hop, ...]

    @property
    def kind(self) -> Kind:
        """An account has a key, also when it has delegated to a contract (EIP-7702)."""
        if not self.code:
            return "account"
        return "delegated_account" if delegate_of(self.code) else "contract"

    @property
    def is_upgradeable(self) -> bool:
        """Whether somebody may put other code behind it."""
        return any(hop.way in ("slot", "beacon") for hop in self.hops)

    @property
    def is_hollow(self) -> bool:
        """Whether it is a proxy of nothing."""
        return bool(self.hops) and not self.hops[-1].code


def follow(reader: Reader, address: str, code: bytes, slots: tuple[Any, ...]) -> Spender:
    """The spender. `slots`: results of proxy_reads. Raises UpstreamFailed."""
    hops: list[Hop] = []
    seen = {address}
    at, here, values = address, code, slots
    while here and len(hops) < MAX_HOPS:
        found = _target(reader, at, here, values)
        if found is None or found[1] in seen:
            break
        way, at, again = found
        seen.add(at)
        here, *rest = reader.read(Code(at), *proxy_reads(at))
        values = tuple(rest)
        hops.append(Hop(way, at, here, again))
    return Spender(address, code, tuple(hops))


def _target(
    reader: Reader, at: str, code: bytes, values: tuple[Any, ...]
) -> tuple[Way, str, Storage | Call | None] | None:
    if delegate := delegate_of(code):
        return "delegation", delegate, None
    if target := minimal_target(code):
        return "minimal", target, None
    for slot, value in zip(PROXY_SLOTS, values, strict=True):
        held = slot_address(value)
        if held is None:
            continue
        if slot != BEACON_SLOT:
            return "slot", held, Storage(at, slot)
        ask = Call(to=held, data=IMPLEMENTATION, gas=METADATA_GAS)
        (answer,) = reader.read(ask)
        implementation = of_word(answer[:32]) if isinstance(answer, bytes) and len(answer) >= 32 else None
        if implementation:
            return "beacon", implementation, ask
    return None
