"""Cleans texts that anybody may have written, such as names of tokens and reasons of reverts: nothing may be hidden in them."""

import re
import unicodedata

MAX_SYMBOL = 32
MAX_NAME = 64
MAX_REASON = 256
MAX_READ = 4096
"""How many characters of a text are read."""
_DROPPED_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control, format (bidirectional and zero-width ones, tags), surrogates, private use, unassigned, line and paragraph breaks."""
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5\u034f")
"""Letters and marks that have no ink."""
_SPACES = re.compile(r"\s+")


def clean(text: str, limit: int = MAX_SYMBOL) -> str:
    """What a reader may see of it, `limit` characters at most: no control, bidirectional, zero-width or blank characters,
    single spaces, and one combining mark to a letter."""
    # A text may be very long. But a name after hundreds of invisible characters is that name.
    spaced = _SPACES.sub(" ", text[:MAX_READ])
    kept: list[str] = []
    for sign in spaced:
        kind = unicodedata.category(sign)
        if kind in _DROPPED_KINDS or sign in _BLANK or _is_selector(sign):
            continue
        if kind in ("Mn", "Me") and (
            not kept or unicodedata.combining(kept[-1]) or unicodedata.category(kept[-1]) == "Me"
        ):
            continue
        kept.append(sign)
    return _SPACES.sub(" ", "".join(kept)).strip()[:limit].rstrip()


def quoted(text: str) -> str:
    """The text in double quotes. Those inside it become single quotes."""
    return '"' + text.replace('"', "'") + '"'


def _is_selector(sign: str) -> bool:
    return "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"
