"""Words around a number that say it is a phone, where no label is directly before it."""

from __future__ import annotations

from jobs.engines.text.linear import Compiled, compiled

_REACH_BEFORE = 80
"""Characters, as for _REACH_AFTER."""
_REACH_AFTER = 24

_CALLED = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:"
    r"(?:call|called|phone|phoned|ring|rang|dial|dialed|dialled|text|texted|reach|contact|fax|whatsapp|get hold of|leave|give) "
    r"(?:me|us|him|her|them|you|(?:the|my|our|your|his|their|a) [\pL' -]+|(?-i:[\p{Lu}\p{Lo}])[\pL\pM.' -]*)"
    r"(?:,? (?:[\pL' ]+ )?(?:at|on|under|via) |, | ?\()"
    r"|(?:call|phone|ring|dial|reach|contact|fax|whatsapp) (?:at|on|under|via) "
    r"|(?:rang|phoned|dialed|dialled) |(?:call|text|ring) back:? )"
)
"""A verb of calling, whom it is about, and the word before the number. `the call to f(1234567)` has none of them."""
_PLACE = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:office|work|home|direct|desk|reception|büro|privat|bureau|oficina|casa)"
    r"(?: (?:line|no\.?|number))? ?: ?\(?"
    r"|(?is)(?:.*[^\pL\pM\d_-])?(?:phone|tel|mobile|mob|cell|fax|handy|telefon|tél|teléfono|telefone)\.?"
    r"(?: (?-i:\p{Lu})[\pL'-]*){1,2} ?: ?\(?"
)
_REACHED = compiled(r"(?is)(?:.*[^\pL\pM\d_-])?(?:on|under|via|unter|op|på) \(?")
_MAY_BE_REACHED = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:at|auf|au|al|pod|na|по|(?:text|message|sms|write|fax)(?:s|ed)? (?:(?:it|me|us) )?to) \(?"
)
"""Prepositions before the place where somebody is reached. After these there may also be a large number."""
_GOES_ON = compiled(
    r"(?is)(?:[)\]]| )*(?:|[.,;:!?|/<\"'\n\r\t–-].*|(?:today|tomorrow|yesterday|now|to|for|if|and|or|after|before|when|asap"
    r"|please|twice|once|again|this|at|between|during|any|anytime|until|from|so|but|as|because|instead|directly|immediately"
    r"|most|und|oder|ou|et|of|og|och|eller|nebo|lub|или)\b.*)"
)
"""What may follow a number that somebody calls. A noun would say what is counted: `1234567 tickets`."""
_PLACES = "office|work|home|mobile|mob|cell|cellular|fax|tel|telephone|phone|landline|desk|reception|hotline|pager"
_FOREIGN = "büro|privat|handy|mobil|bureau|portable|móvil|casa|oficina|celular"
_DESCRIBED = compiled(
    rf"(?is)(?: ?[(\[] ?(?:{_PLACES}|direct|main|{_FOREIGN})\.? ?[)\]]"
    r"|(?: ?- ?| )(?:mobile|mob\.?|cell|cellular|fax|telephone|landline|handy|mobil|móvil|celular)"
    rf"| ?- ?(?:{_PLACES}|{_FOREIGN}))"
    r"(?: ?[,;.)\]|/\n\r\t<\"'].*| ?)"
)
_INITIAL = compiled(r"(?is) ?[(\[] ?[owhmcfd]\.? ?[)\]](?: ?[,;.)\]|/\n\r\t<\"'].*| ?)")


def says_call(text: str, start: int, end: int) -> bool:
    """Whether somebody calls the number at a place: "call Bob on", "rang", "Office:"."""
    before = text[max(0, start - _REACH_BEFORE) : start]
    is_called = _CALLED.fullmatch(before) is not None or _PLACE.fullmatch(before) is not None
    return is_called and _GOES_ON.fullmatch(text[end : end + _REACH_AFTER]) is not None


def says_reached(text: str, start: int, end: int) -> bool:
    """Whether a preposition says that somebody is reached at a place: "Robin is on"."""
    return _is_between(_REACHED, text, start, end)


def may_be_reached(text: str, start: int, end: int) -> bool:
    """As `says_reached`, with prepositions that are often before other numbers: "at", "na"."""
    return _is_between(_MAY_BE_REACHED, text, start, end)


def _is_between(before: Compiled, text: str, start: int, end: int) -> bool:
    return (
        before.fullmatch(text[max(0, start - _REACH_BEFORE) : start]) is not None
        and _GOES_ON.fullmatch(text[end : end + _REACH_AFTER]) is not None
    )


def describes(text: str, end: int, *, is_grouped: bool) -> bool:
    """Whether a word after the number says whose it is: "-Office", "fax", "(mobile)"; for grouped digits also "(w)".

    Nothing of the sentence may follow: `12345678 - home loan` is no phone.
    """
    after = text[end : end + _REACH_AFTER]
    return _DESCRIBED.fullmatch(after) is not None or (is_grouped and _INITIAL.fullmatch(after) is not None)
