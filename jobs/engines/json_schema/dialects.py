"""Reads `$schema` in the spellings that are in use: http or https, with or without `#`, and without a draft."""

import re
from typing import Any

_DRAFTS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "": "https://json-schema.org/draft/2020-12/schema",
}
"""The URI of each draft. Without one, `http://json-schema.org/schema#` meant the latest."""

_SPELLING = re.compile(
    r"(?:(?:https?:)?//)?(?:www\.)?json-schema\.org(?:/draft)?(?:/(?P<draft>draft-0[467]|2019-09|2020-12))?(?:/(?:hyper-)?schema)?"
    r"(?:\.json)?/?\#?/?",
    re.IGNORECASE,
)


def dialect_of(schema: dict[str, Any] | bool) -> str:
    """The URI of a schema's draft: the one that `$schema` names, or else the latest.

    Raises:
        LookupError: `$schema` names no draft from 4 on.
    """
    spelling = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(spelling, str):
        return _DRAFTS[""]
    match = _SPELLING.fullmatch(spelling.strip())
    if match is None:
        raise LookupError("unknown dialect")
    return _DRAFTS[(match["draft"] or "").lower()]


def with_known_dialect(schema: dict[str, Any] | bool) -> dict[str, Any] | bool:
    """The schema, with `$schema` as its draft spells it. A `$schema` that is no text is left for the meta-schema to refuse.

    Raises:
        LookupError: `$schema` names no draft from 4 on.
    """
    uri = dialect_of(schema)
    spelling = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(schema, bool) or not isinstance(spelling, str) or spelling.rstrip("#") == uri.rstrip("#"):
        return schema
    return schema | {"$schema": uri}
