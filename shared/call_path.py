"""The paths that calls are sold at: our own calls below /v1/cdp/, those of other packages below /v1/ and their prefix.

echo               /v1/cdp/echo
chain/chain-id     /v1/cdp/chain/chain-id
acme/slug          /v1/acme/slug
"""

import re

OWN = "cdp"
"""The prefix of our own calls. It is no part of their names."""
FOLDERS = ("chain",)
"""What stands before the `/` in names of our own calls. Any other word there is the prefix of a package."""

_WORD = r"[a-z0-9-]{1,64}"
_NAME = re.compile(rf"(?:{_WORD}/)?{_WORD}", re.ASCII)
_PATH = re.compile(rf"(.*)/v1/({_WORD})/({_NAME.pattern})", re.ASCII | re.DOTALL)


def is_name(text: str) -> bool:
    """Whether a call can have this name."""
    return _NAME.fullmatch(text) is not None and not text.startswith(f"{OWN}/")


def path_of(name: str) -> str:
    """The path of a call: ``/v1/cdp/echo``."""
    folder, slash, _ = name.partition("/")
    return f"/v1/{name}" if slash and folder not in FOLDERS else f"/v1/{OWN}/{name}"


def tool_name(name: str) -> str:
    """The name of a call as a tool: with ``_`` for ``/``, which hosts refuse. No name of a call has a ``_``."""
    return name.replace("/", "_")


def split(url: str) -> tuple[str, str]:
    """What stands before the path of a call in a path or URL, and the call's name. Both are empty when it is no call's."""
    found = _PATH.fullmatch(url)
    if found is None:
        return "", ""
    base, prefix, rest = found.groups()
    name = rest if prefix == OWN else f"{prefix}/{rest}"
    return (base, name) if is_name(name) and path_of(name) == url[len(base) :] else ("", "")
