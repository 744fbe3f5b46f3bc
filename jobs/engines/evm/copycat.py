"""Tokens that pass for others: the name or symbol of a token that is often imitated, at another address.

Honest tokens share symbols. So only the tokens that swindlers really imitate (KnownToken.imitated) have copies. Of any other
canonical token only a symbol in letters of another script is a copy.
"""

import unicodedata
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from jobs.engines.evm.known_tokens import KnownToken, known_tokens
from jobs.engines.evm.text import clean
from jobs.ports.chains import Chain

Likeness = Literal["disguised", "name_and_symbol", "foreign_letters", "symbol", "name"]
NATIVE = KnownToken("", 18, "ETH", "Ether", "symbol")
"""The chain's own coin is no contract, so whatever is called so is none."""
_SHORT = 3
"""Symbols with fewer letters are shared by honest tokens."""

_SHAPES = {
    "a": "аɑαᴀ4@ᎪꓮΑ",
    "b": "ЬьвʙβВΒᏴꓐ8ß",
    "c": "сϲᴄⅽСᏟꓚ¢",
    "d": "ԁᴅⅾᎠꓓ",
    "e": "еεᴇєЕΕᎬꓰ3€℮",
    "f": "ſƒꜰꓝϜ",
    "g": "ɡɢԍᏀꓖ",
    "h": "һнʜНΗᎻꓧ",
    "i": "іıιɪІΙᎥꓲӀǀ!¡",
    "j": "јϳᴊЈᎫꓙ",
    "k": "кκᴋКΚᏦꓗ",
    "l": "ⅼʟӏᏞꓡłŁ",
    "m": "мᴍⅿМΜᎷꓟ",
    "n": "пɴηոΝꓠ",
    "o": "оοσᴏօОΟଠꓳ0øØ",
    "p": "рρᴘРΡᏢꓑ",
    "q": "ԛգ",
    "r": "гʀᴦᎡꓣяЯ",
    "s": "ѕꜱЅᏚꓢ5$§",
    "t": "тτᴛТΤᎢꓔ₮7†",
    "u": "υսᴜՍꓴμ",
    "v": "νѵᴠⅴѴᏙꓦ",
    "w": "ԝѡᴡԜᎳꓪ",
    "x": "хχⅹХΧꓫ×",
    "y": "уүγʏУΥҮꓬ¥",
    "z": "ᴢᏃΖꓜ2",
}
_TABLE = {ord(sign): letter for letter, signs in _SHAPES.items() for sign in signs}
_SEEN = str.maketrans({"l": "I", "1": "I", "|": "I", "ⅼ": "I", "ӏ": "I", "0": "O"})


class Copycat(NamedTuple):
    """What a token passes for.

    Attributes:
        likeness: `disguised` when it is written differently and looks the same; `foreign_letters` when it is, with letters of
            another script, and the original is not one that is often imitated.
        original: the canonical token; its address is "" for ether.
    """

    likeness: Likeness
    original: KnownToken


def copycat(chain: Chain, address: str, symbol: str | None, name: str | None) -> Copycat | None:
    """What a token passes for; None when it is canonical itself, or is like none.

    Bridged forms that say so in their symbol (`USDC.e`, `USDbC`) are like none.
    """
    if address in known_tokens(chain):
        return None
    imitated = _imitated(chain)
    same_symbol = _original(symbol, imitated.by_symbol)
    same_name = _original(name, imitated.by_name)
    if same_symbol is not None and symbol is not None:
        if symbol.casefold() != same_symbol.symbol.casefold():
            return Copycat("disguised", same_symbol)
        if same_name is not None:
            return Copycat("name_and_symbol", same_symbol)
        if same_symbol.imitated == "symbol" and len(skeleton(symbol)) >= _SHORT:
            return Copycat("symbol", same_symbol)
        return None
    if same_name is not None and name is not None:
        return Copycat("disguised" if name.casefold() != same_name.name.casefold() else "name", same_name)
    if symbol is not None and not symbol.isascii():
        original = _original(symbol, _all(chain).by_symbol)
        if original is not None and original.symbol.isascii():
            return Copycat("foreign_letters", original)
    return None


def namesake(chain: Chain, address: str, symbol: str | None) -> KnownToken | None:
    """Another canonical token with the symbol of this one; None when this one is canonical itself."""
    if symbol is None or address in known_tokens(chain):
        return None
    return _all(chain).by_symbol.get(skeleton(symbol))


class _Originals(NamedTuple):
    """Tokens by what their symbols and names look like."""

    by_symbol: dict[str, KnownToken]
    by_name: dict[str, KnownToken]


def _original(text: str | None, originals: dict[str, KnownToken]) -> KnownToken | None:
    found = (originals[reading] for reading in sorted(readings(text or "")) if reading in originals)
    return next(found, None)


@cache
def _imitated(chain: Chain) -> _Originals:
    return _skeletons([NATIVE, *(token for token in known_tokens(chain).values() if token.imitated)])


@cache
def _all(chain: Chain) -> _Originals:
    return _skeletons(list(known_tokens(chain).values()))


def _skeletons(tokens: list[KnownToken]) -> _Originals:
    """The first of a list for what several share."""
    found = _Originals({}, {})
    for token in tokens:
        found.by_symbol.setdefault(skeleton(token.symbol), token)
        found.by_name.setdefault(skeleton(token.name), token)
    found.by_symbol.pop("", None)
    found.by_name.pop("", None)
    return found


@lru_cache(maxsize=4096)
def skeleton(text: str) -> str:
    """The plain reading: letters and digits alone."""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", clean(text, 64)))
    bare = "".join(sign for sign in folded if unicodedata.category(sign) not in ("Mn", "Me", "Mc")).removeprefix("$")
    # Before and after the case is folded: some letters look alike in one case only.
    letters = bare.translate(_TABLE).casefold().translate(_TABLE)
    return "".join(sign for sign in letters if sign.isalnum())


@lru_cache(maxsize=4096)
def readings(text: str) -> frozenset[str]:
    """All texts that a person may take it for."""
    seen = clean(text, 64).translate(_SEEN).replace("rn", "m").replace("vv", "w").replace("VV", "W")
    # `$` before a symbol is a habit, or an S: "$HIB".
    spelled = "S" + seen[1:] if seen.startswith("$") else seen
    return frozenset({skeleton(text), skeleton(seen), skeleton(spelled)} - {""})
