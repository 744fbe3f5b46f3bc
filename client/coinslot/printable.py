"""How texts are shown: a terminal shows those of others and does not obey them."""

import re

_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")
_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}", re.ASCII)


def printable(text: str, *, ascii_only: bool) -> str:
    """Escape control characters, and what the terminal cannot show, as JSON does it in strings."""

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if character.isprintable() and not ascii_only:
            return character
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))

    return _UNUSUAL.sub(escape, text)


def without_keys(text: str) -> str:
    """The text without what looks like a private key."""
    return _KEY.sub("(64 hex digits)", text)


def is_number(column: str) -> bool:
    """Whether a column of this name is aligned to the right."""
    return column in ("USDC", "RLUSD", "PRICE", "AMOUNT")
