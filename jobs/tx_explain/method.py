"""Decodes calldata whose first four bytes are known and whose arguments fit.

Four bytes are shared by many functions, so a name counts only when the arguments are there in full and padded as they must be.
Bytes after the arguments have no meaning to the function (they may be a referral mark), and are counted.
"""

from dataclasses import dataclass, replace

from msgspec import structs

from jobs.engines.evm import abi, signatures
from jobs.engines.evm.signatures import Argument


@dataclass(frozen=True, slots=True)
class Method:
    """What is called.

    Attributes:
        selector: 0x and 8 digits.
        name, signature: None when nobody knows it, or the arguments are not its.
        values: decoded, as jobs/engines/evm/abi.py gives them.
        trailing: number of bytes after the arguments.
    """

    selector: str
    name: str | None = None
    signature: str | None = None
    args: tuple[Argument, ...] = ()
    values: tuple[abi.Value, ...] = ()
    trailing: int = 0

    def with_token_id(self) -> "Method":
        """The same, of an ERC-721: where ERC-20 has an amount as the last argument, it has an id."""
        if self.signature not in ("transferFrom(address,address,uint256)", "approve(address,uint256)"):
            return self
        return replace(self, args=(*self.args[:-1], structs.replace(self.args[-1], name="tokenId")))


def method_of(data: bytes) -> Method | None:
    """What calldata calls; None when it has no selector."""
    if len(data) < 4:
        return None
    unknown = Method("0x" + data[:4].hex())
    known = signatures.known(data[:4], "function")
    if known is None:
        return unknown
    try:
        values, used = abi.decode_prefix(known.arguments, data[4:])
    except abi.Undecodable:
        return unknown
    args = tuple(signatures.arguments(known, values))
    return Method(unknown.selector, known.name, known.text, args, values, len(data) - 4 - used)
