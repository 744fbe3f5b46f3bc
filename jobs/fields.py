"""How the fields of requests and responses are described, and the fields that many responses have."""

from typing import Annotated

import msgspec


def doc(text: str) -> msgspec.Meta:
    """What a field means, for those who call: `name: Annotated[str, doc("The registrar's name.")]`."""
    return msgspec.Meta(description=text)


Time = Annotated[str, msgspec.Meta(description="ISO 8601, UTC.", extra_json_schema={"format": "date-time"})]
Ok = Annotated[bool, doc("Always true. A failed call has an error body instead.")]
