"""Decodes text in Base64, Base32, Ascii85, hexadecimal, binary or decimal codes, Morse and escapes. It decodes one level."""

import base64
import binascii
from collections.abc import Callable, Iterator

from jobs.engines.text.layer import Layer, joined
from jobs.engines.text.linear import Haystack, Pattern
from jobs.prompt_injection_scan.payloads import as_text

_MOST = 2_000
"""Limit for runs of one kind."""

_ESCAPE = Pattern(
    r"((?:%(?:25)*[0-9A-Fa-f]{2})+|(?:=[0-9A-F]{2}){2,}|=20(?:=\r?\n)?|(?:\\[0-3][0-7]{2}){3,}"
    r"|(?:\\x[0-9A-Fa-f]{2})+|\\u\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}"
    r"|&#(?:[xX][0-9A-Fa-f]{1,6}|[0-9]{1,7});|&nbsp;)"
)
_FEWEST_ESCAPES = 3
_SIGNS = """
a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t-
u..- v...- w.-- x-..- y-.-- z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----.
"""
_MORSE = {sign[1:]: sign[0] for sign in _SIGNS.split()}
_NO_MARKS = dict.fromkeys(map(ord, "%=\\x"))
_QUERY = Pattern(r"https?://[^\s?#<>\"']+\?([^\s<>\"']+)")


def _base64(run: str) -> bytes:
    packed = "".join(run.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    return base64.b64decode(packed + "=" * (-len(packed) % 4))


def _base32(run: str) -> bytes:
    packed = run.rstrip("=")
    return base64.b32decode(packed + "=" * (-len(packed) % 8))


def _hexadecimal(run: str) -> bytes:
    digits = run.lower().replace("0x", "").replace("\\x", "")
    return bytes.fromhex("".join(sign for sign in digits if sign.isalnum()))


def _binary(run: str) -> bytes:
    digits = "".join(sign for sign in run if sign in "01")
    return bytes(int(digits[at : at + 8], 2) for at in range(0, len(digits), 8))


def _decimal(run: str) -> bytes:
    return bytes(map(int, "".join(sign if sign.isdigit() else " " for sign in run).split()))


def _ascii85(run: str) -> bytes:
    return base64.a85decode(run, adobe=True)


def _morse(run: str) -> bytes:
    words = run.replace("|", "/").replace("\n", "/").split("/")
    return " ".join("".join(_MORSE.get(sign, "?") for sign in word.split()) for word in words).encode()


_Decoder = Callable[[str], bytes]
_KINDS: tuple[tuple[Pattern, _Decoder], ...] = (
    (Pattern(r"([A-Za-z0-9+/_-]{24,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2})"), _base64),
    (Pattern(r"(?:^|[^A-Za-z0-9])([A-Z2-7]{24,}={0,6})(?:$|[^A-Za-z0-9])"), _base32),
    (Pattern(r"(?:^|[^A-Za-z0-9])((?:0x)?(?:[0-9A-Fa-f]{2}){12,})(?:$|[^A-Za-z0-9])"), _hexadecimal),
    (Pattern(r"((?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s,:;-]{1,2}){7,}(?:0x|\\x)?[0-9A-Fa-f]{2})\b"), _hexadecimal),
    (Pattern(r"\b((?:[01]{8}[\s,]{0,2}){7,}[01]{8})\b"), _binary),
    (Pattern(r"\b((?:1?[0-9]{2}[\s,]{1,2}){11,}1?[0-9]{2})\b"), _decimal),
    (Pattern(r"(<~[!-uz\s]{20,}~>)"), _ascii85),
    (Pattern(r"(?:^|[^.\-])((?:[.\-]{1,5}[ \t]{0,2}[ /|\n][ \t]{0,2}){11,}[.\-]{1,5})(?:$|[^.\-])"), _morse),
)


def decoded(layer: Layer) -> Layer:
    """The text of every run that can be decoded. Each text is a paragraph with the place of its whole run."""
    haystack = Haystack(layer.text)
    parts: list[tuple[str, int, int]] = []
    for pattern, decode in _KINDS:
        for start, end in pattern.spans(haystack, _MOST):
            text = _text_of(layer.text[start:end], decode)
            if text is not None:
                parts.append((text, *layer.span(start, end)))
    return joined(parts, "once it is decoded")


def _text_of(run: str, decode: _Decoder) -> str | None:
    candidates = [run]
    if decode is _base64:  # a path or a name may be joined to it
        candidates += sorted(_split(run), key=len)[-1:]
    for candidate in candidates:
        try:
            text = as_text(decode(candidate))
        except (ValueError, binascii.Error):
            continue
        if text is not None:
            return text
    return None


def _split(run: str) -> list[str]:
    for sign in "/_-+\r\n\t":
        run = run.replace(sign, " ")
    return run.split()


def unescaped(layer: Layer) -> Layer:
    """Replace percent, quoted-printable, backslash and numeric HTML escapes with their characters."""
    if not any(sign in layer.text for sign in ("%", "=", "\\", "&", "?")):
        return layer
    haystack = Haystack(layer.text)
    spans = _ESCAPE.spans(haystack, len(layer.text))
    pieces = [(start, end, _character(layer.text[start:end])) for start, end in spans]
    if len(pieces) < _FEWEST_ESCAPES and sum(end - start for start, end, _ in pieces) < 3 * _FEWEST_ESCAPES:
        pieces = []
    for start, end in _QUERY.spans(haystack, len(layer.text)):
        pieces += ((at, at + 1, " ") for at in range(start, end) if layer.text[at] in "+&=")
    return layer.replaced(_in_order(pieces)).named("once its escapes are undone") if pieces else layer


def _character(escape: str) -> str:
    """The characters of one escape, or of several bytes of escapes."""
    if escape == "&nbsp;":
        return " "
    if escape[0] == "\\" and escape[1].isdigit():
        return bytes(int(code, 8) for code in escape[1:].split("\\")).decode("utf-8", "replace")
    if escape[0] == "%":  # `%2541` is an A that was encoded twice
        escape = escape.replace("%25", "%")
    if escape[0] in "%=" or escape[1] == "x":
        return bytes.fromhex(escape.translate(_NO_MARKS)).decode("utf-8", "replace")
    digits = escape.strip("\\u{}&#;")
    is_decimal = escape[0] == "&" and digits[0] not in "xX"
    code = int(digits) if is_decimal else int(digits.lstrip("xX"), 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


def _in_order(pieces: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    done = 0
    for start, end, new in sorted(pieces):
        if start >= done:
            yield start, end, new
            done = end
