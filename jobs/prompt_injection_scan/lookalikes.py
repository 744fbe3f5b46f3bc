"""Replaces letters that look like others, digits that stand for letters, and braille."""

from jobs.engines.text.layer import Layer
from jobs.engines.text.linear import Haystack, Pattern

_SHAPES = {
    "a": "аαɑᴀάạ∂Ꭺ⍺ӓ4@",
    "b": "ЬьвβʙᏏƄɓ8",
    "c": "сϲᴄⅽҫᏟ¢ƈ",
    "d": "ԁᴅⅾɗᎠժ",
    "e": "еεєҽᴇɛҿ℮ƎәэᎬ3€",
    "f": "ſꜰϝғƒẝք",
    "g": "ɡցɢԍƍɠᏀ9",
    "h": "һհʜнᏂɦҺ",
    "i": "іιɪɩӏıїįίƚᎥ1",
    "j": "јϳᴊյʝᎫ",
    "k": "кκᴋƙқҝᏦ",
    "l": "ⅼӏʟɭƖ∣ᏞⅬ",
    "m": "мᴍⅿɱᎷ",
    "n": "пոɴηпռƞᴎɲ",
    "o": "оοσᴏօჿөøӧόഠ๐०໐᠐Ꭴ0",
    "p": "рρᴘῥþᏢ",
    "q": "ԛզգɋ",
    "r": "гᴦʀɾяᏒꭇ",
    "s": "ѕꜱʂƽᏚ5$",
    "t": "тτᴛƭтᎢ7",
    "u": "υսᴜμцʋսᏌ",
    "v": "νѵᴠⅴᏙ",
    "w": "ԝωшщᴡѡɯᏔ",
    "x": "хχⅹҳ×",
    "y": "уүγʏყўყ",
    "z": "ᴢʐȥᏃ2",
}
_ENCLOSED = ((0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
"""White letters in black circles and squares, and regional indicators: they have no compatibility form."""


def _table() -> dict[int, str]:
    table = {ord(sign): letter for letter, signs in _SHAPES.items() for sign in signs}
    table |= {
        ord(sign.upper()): letter
        for letter, signs in _SHAPES.items()
        for sign in signs
        if len(sign.upper()) == 1 and not sign.upper().isascii()
    }
    for first, count in _ENCLOSED:
        table |= {first + i: chr(ord("a") + i) for i in range(count)}
    return table


_BRAILLE = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵"
_TABLE = _table() | {ord(sign): chr(ord("a") + at) for at, sign in enumerate(_BRAILLE)}
_BARS = Pattern(r"[!|]([A-Za-z0-9@$])")


def undone(layer: Layer) -> Layer:
    """Replace each such sign by the letter that it stands for: `1` by i; `!` and `|` only before a letter."""
    signs = list(layer.text)
    if "!" in layer.text or "|" in layer.text:
        for start, _ in _BARS.spans(Haystack(layer.text), len(signs)):
            signs[start - 1] = "i"
    return layer.same_length("".join(signs).translate(_TABLE))


def other_reading(layer: Layer) -> Layer:
    """The same, with `1` and `|` as l. Apply it before `undone`."""
    return layer.same_length(layer.text.replace("1", "l").replace("|", "l"))
