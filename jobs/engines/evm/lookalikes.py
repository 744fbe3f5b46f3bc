"""Makes texts equal that look alike: letters of other scripts, digits for letters, invisible characters.

Two readings are compared. The plain one ignores case; the seen one also takes `l`, `1` and `|` for `I`, `0` for `O`, `rn` for
`m` and `vv` for `w`, as a person does who reads fast. Source of the letters: confusables of Unicode Technical
Standard 39, from the scripts that tokens are disguised with.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from jobs.engines.evm.text import clean

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
