"""What requests about a chain share. Their fields are checked before the payment, and `run` reads them again."""

from typing import Annotated, ClassVar

import msgspec

from jobs.engines.evm import address, quantity
from jobs.ports.chains import Chain, check_configured
from jobs.site import Site, SiteRequest
from shared.endpoint import MOST_BYTES

MAX_DATA_CHARS = 2 + 2 * quantity.MAX_DATA_BYTES
MAX_BODY_BYTES = MAX_DATA_CHARS + 4096

CallData = Annotated[
    str,
    msgspec.Meta(
        description="The calldata: 0x and an even number of hex digits, 128 KB at most.",
        extra_json_schema={"pattern": "^0[xX]([0-9a-fA-F]{2})*$", "maxLength": MAX_DATA_CHARS},
        extra={MOST_BYTES: MAX_BODY_BYTES},
    ),
]
ChainName = Annotated[Chain, msgspec.Meta(description="The chain: `ethereum` (1) or `base` (8453).")]


# The patterns of schemas are shown, not checked: what reads the fields says more than a pattern.
def hex_address(what: str) -> msgspec.Meta:
    """The meaning of a field with an address."""
    return msgspec.Meta(
        description=f"{what}: 0x and 40 hex digits, in lower, upper or checksum case (EIP-55).",
        extra_json_schema={"pattern": "^0[xX][0-9a-fA-F]{40}$"},
    )


def uint256(what: str) -> msgspec.Meta:
    """The meaning of a field with a number."""
    return msgspec.Meta(
        description=f"{what}: from 0 to 2^256-1, in decimal or 0x hex digits.",
        extra_json_schema={"pattern": "^([0-9]{1,80}|0[xX][0-9a-fA-F]{1,64})$"},
    )


class ChainRequest(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    """A request about one chain. Refused are a chain without a node here, a field of ADDRESSES with no address, and one of
    NUMBERS with no number."""

    ADDRESSES: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    chain: ChainName

    def check(self, site: Site) -> None:
        check_configured(self.chain, site)
        names = dict(zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True))
        for fields, parse in ((self.ADDRESSES, address.parse), (self.NUMBERS, quantity.parse_uint256)):
            for field in fields:
                text: str | None = getattr(self, field)
                if text is not None:
                    parse(text, field=names[field])
