"""Words around a number that say it is a phone, where no label is directly before it."""

from jobs.engines.text.linear import compiled
from jobs.engines.text.names import names

_REACH_BEFORE = 80
"""Characters, as for _REACH_AFTER."""
_REACH_AFTER = 24

_CALLED = compiled(
    r"(?is)(?:.*[^\pL\pM\d_-])?(?:"
    # a verb of calling, whom it is about, and the word before the number
    r"(?:call|called|phone|phoned|ring|rang|dial|dialed|dialled|text|texted|reach|contact|fax|whatsapp|get hold of|leave|give) "
    r"(?:me|us|him|her|them|you|(?:the|my|our|your|his|their|a) [\pL' -]+|(?-i:[\p{Lu}\p{Lo}])[\pL\pM.' -]*)"
    r"(?:,? (?:[\pL' ]+ )?(?:at|on|under|via) |, | ?\()"
    r"|(?:call|phone|ring|dial|reach|contact|fax|whatsapp) (?:at|on|under|via) "
    r"|(?:rang|phoned|dialed|dialled) |(?:call|text|ring) back:? "
    # a place or a phone, whose it is, and a colon
    r"|(?:office|work|home|direct|desk|reception|büro|privat|bureau|oficina|casa)(?: (?:line|no\.?|number))? ?: ?\(?"
    r"|(?:phone|tel|mobile|mob|cell|fax|handy|telefon|tél|teléfono|telefone)\.?(?: (?-i:\p{Lu})[\pL'-]*){1,2} ?: ?\(?)"
)
"""`the call to f(1234567)` has none of them."""
_REACHED = names("on under via unter op på")
_MAY_BE_REACHED = names("at auf au al pod na по")
"""Prepositions before the place where somebody is reached. After the second ones there may also be a large number."""
_SENT = compiled(r"(?is)(?:.*[^\pL\pM\d_-])?(?:text|message|sms|write|fax)(?:s|ed)? (?:(?:it|me|us) )?to")
_LONGEST_WORD = 8
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
    return _CALLED.fullmatch(text[max(0, start - _REACH_BEFORE) : start]) is not None and _goes_on(text, end)


def says_reached(text: str, start: int, end: int) -> bool:
    """Whether a preposition says that somebody is reached at a place: "Robin is on"."""
    return _word_before(text, start) in _REACHED and _goes_on(text, end)


def may_be_reached(text: str, start: int, end: int) -> bool:
    """As `says_reached`, with words that are often before other numbers: "at", "na"."""
    word = _word_before(text, start)
    is_sent = word == "to" and _SENT.fullmatch(text[max(0, start - _REACH_BEFORE) : start].rstrip(" (")) is not None
    return (is_sent or word in _MAY_BE_REACHED) and _goes_on(text, end)


def _word_before(text: str, start: int) -> str:
    """The word before a place, if a space and perhaps a bracket are between, in lower case."""
    before = text[max(0, start - _LONGEST_WORD) : start].removesuffix("(")
    return before[:-1].replace("\n", " ").rpartition(" ")[2].lower() if before.endswith(" ") else ""


def _goes_on(text: str, end: int) -> bool:
    return _GOES_ON.fullmatch(text[end : end + _REACH_AFTER]) is not None


def describes(text: str, end: int, *, is_grouped: bool) -> bool:
    """Whether a word after the number says whose it is: "-Office", "fax", "(mobile)"; for grouped digits also "(w)".

    Nothing of the sentence may follow: `12345678 - home loan` is no phone.
    """
    after = text[end : end + _REACH_AFTER]
    return _DESCRIBED.fullmatch(after) is not None or (is_grouped and _INITIAL.fullmatch(after) is not None)
