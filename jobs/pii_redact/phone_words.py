"""Words around a number that say it is a phone, where no label stands directly before it."""

from __future__ import annotations

from jobs.pii_redact.linear import compiled

_REACH_BEFORE = 80
"""Characters, as for _REACH_AFTER."""
_REACH_AFTER = 24

_CALLED = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:(?:call|calls|called|calling|phone|phoned|phoning|ring|rang|ringing|dial|dialed|dialled|dialling"
    r"|text|texted|texting|reach|contact|fax|whatsapp|get hold of|leave (?:a )?(?:message|voicemail))\b[^.!?\n\d:;=]{0,48}"
    r"(?:\b(?:at|on|under|via) |[,(] ?|\bnumber |\bnumber is )|(?:rang|phoned|dialed|dialled) )"
)
_PLACE = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:office|work|home|direct|desk|reception|büro|privat|bureau|oficina|casa)"
    r"(?: (?:line|no\.?|number))? ?: ?\(?"
)
_PLACES = "office|work|home|mobile|mob|cell|cellular|fax|tel|telephone|phone|landline|direct|main|desk|reception|hotline|pager"
_FOREIGN = "büro|privat|handy|mobil|bureau|portable|móvil|casa|oficina|celular"
_DESCRIBED = compiled(
    rf"(?is)(?: ?[(\[] ?(?:{_PLACES}|{_FOREIGN}|[owhmcfd])\.? ?[)\]]"
    r"|(?: ?- ?| )(?:mobile|mob|cell|cellular|fax|telephone|landline|handy|mobil|móvil|celular)"
    rf"| ?- ?(?:{_PLACES}|{_FOREIGN}))"
    r"(?: ?[,;.)\]|/\n\r\t<\"'].*| ?)"
)


def says_call(text: str, start: int) -> bool:
    """Whether somebody calls the number at a place: "call Bob on", "rang", "leave a message on"."""
    return _CALLED.fullmatch(text[max(0, start - _REACH_BEFORE) : start]) is not None


def names_a_place(text: str, start: int) -> bool:
    """Whether the place of a phone and a colon stand before the number: "Office:", "direct line:"."""
    return _PLACE.fullmatch(text[max(0, start - _REACH_BEFORE) : start]) is not None


def describes(text: str, end: int) -> bool:
    """Whether a word after the number says whose it is: "-Office", "fax", "(mobile)".

    Nothing of the sentence may follow: `12345678 - home loan` is no phone.
    """
    return _DESCRIBED.fullmatch(text[end : end + _REACH_AFTER]) is not None
