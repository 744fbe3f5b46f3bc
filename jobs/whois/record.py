"""Reads one WHOIS answer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from jobs.whois import values
from jobs.whois.dates import read_date
from jobs.whois.entries import Entry, entries
from jobs.whois.keys import IN_NAME_SERVERS, IN_REGISTRAR, PLAIN, RELATIVE, Field, Place, unnumbered
from jobs.whois.lines import tokens
from jobs.whois.reason import Reason
from jobs.whois.rules import GENERIC, Rules
from jobs.whois.verdicts import Speech

MOST_NAME_SERVERS = 64

_FREE = frozenset(
    ("free", "available", "not registered", "unregistered", "no object found", "not found", "220 available")
)
_HELD = (
    *("reserved", "not allowed", "unassignable", "blocked", "invalid", "premium", "restricted", "prohibited"),
    "excluded",
)
_LATER = frozenset(("registrar registration expiration date", "registrar handle", "registrar id", "fecha de corte"))
"""Keys that count only when no other key gives the same field."""
_HOST = re.compile(r"(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?![\w-])")
_HEAD = 4096
"""Characters in which the name that was asked for is searched, where it is not known."""
_WEB = frozenset(("url", "website", "web", "www"))


@dataclass(frozen=True, slots=True)
class Record:
    """What is known about a domain. An unknown field is None or empty.

    Attributes:
        registered: None when the text does not say, or the name is reserved.
        reason: why `registered` is None.
        refers_to: another server that may know more.
    """

    registered: bool | None = None
    reason: Reason | None = None
    registrar: str | None = None
    registrar_iana_id: str | None = None
    registrar_url: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    expires: datetime | None = None
    name_servers: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    dnssec: bool | None = None
    refers_to: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether another server could add little or nothing."""
        return bool(self.registrar and self.created and self.expires)

    def completed(self, other: "Record") -> "Record":
        """Fill the gaps from another, thicker record. Where both have a field, this one's stays: the registry is right."""
        names = [name for name in self.__dataclass_fields__ if name not in ("registered", "reason", "refers_to")]
        missing = {name: getattr(other, name) for name in names if getattr(self, name) in (None, ())}
        return replace(self, **missing)


@dataclass(slots=True)
class _Findings:
    """The fields that the entries of one record give, in their order."""

    texts: dict[Field, list[tuple[bool, str]]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    codes: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    has_keys: bool = False

    def add(self, what: Field, value: str, *, is_late: bool) -> None:
        self.texts.setdefault(what, []).append((is_late, value))

    def first(self, what: Field) -> Iterable[str]:
        """The values of a field, those of preferred keys first."""
        return (value for _, value in sorted(self.texts.get(what, ()), key=lambda one: one[0]))

    @property
    def evidence(self) -> int:
        """How many kinds of data there are that only a registered name has."""
        kinds = (Field.CREATED, Field.UPDATED, Field.EXPIRES, Field.REGISTRAR, Field.REGISTRANT, Field.IANA_ID)
        return sum(any(self.first(what)) for what in kinds) + bool(self.names) + bool(self.codes)


def read(text: str, names: Sequence[str], rules: Rules = GENERIC) -> Record:
    """Read what a text says about a domain.

    Args:
        names: the domain in A-labels, and in Unicode when that differs; lower case.
    """
    if rules.begins:
        before, found, after = text.partition(rules.begins)
        text = after if found else before
    lines = list(tokens(text))
    found_entries, is_named = _own(entries(lines), names)
    findings = _findings(found_entries, rules)
    record = _record(findings, rules)
    speech = Speech(lines, names)
    verdict = _verdict(findings, speech, rules, is_named=is_named)
    if isinstance(verdict, bool):
        return replace(record, registered=verdict)
    return replace(record, reason=verdict)


def is_refusal(text: str) -> bool:
    """Whether a text is a refusal: we ask too often, or may not ask at all."""
    lines = list(tokens(text))
    findings = _findings(entries(lines), GENERIC)
    speech = Speech(lines, tuple(dict.fromkeys(_HOST.findall(text[:_HEAD].lower())))[:8])
    return findings.evidence < 2 and speech.is_refusal


def _own(found: list[Entry], names: Sequence[str]) -> tuple[list[Entry], bool]:
    """The domain's own record among several, and whether any record names the domain."""
    marks = [(index, _is_about(entry, names)) for index, entry in enumerate(found) if _names_domain(entry, names)]
    if not any(own for _, own in marks):
        return ([] if marks else found), False
    if all(own for _, own in marks):
        return found, True
    begin = next(index for index, own in marks if own)
    end = next((index for index, own in marks if index > begin and not own), len(found))
    return found[begin:end], True


def _names_domain(entry: Entry, names: Sequence[str]) -> bool:
    if entry.place is Place.CONTACT or not entry.value:
        return False
    if entry.key == "name":
        return entry.place is Place.DOMAIN and _is_about(entry, names)
    is_host = any(values.is_host(word) for word in _words(entry.value)[:1])
    return PLAIN.get(entry.key) is Field.DOMAIN and (is_host or _is_about(entry, names))


def _is_about(entry: Entry, names: Sequence[str]) -> bool:
    return any(word in names for word in _words(entry.value)[:4])


def _words(value: str) -> list[str]:
    return [word.strip("()[]<>\"',;").rstrip(".").lower() for word in value.split()[:4]]


def _findings(found: Sequence[Entry], rules: Rules) -> _Findings:
    findings = _Findings()
    registrar_paragraph = -1
    for entry in found:
        if entry.place is Place.KEYS:
            findings.has_keys = True
            continue
        what, is_late = _field(entry, rules)
        for pattern, part in rules.parts.get(entry.key, ()) if entry.object is not Place.CONTACT else ():
            if match := pattern.search(entry.value):
                findings.texts[part] = [(False, match[1])]
        if entry.key in _WEB and entry.paragraph == registrar_paragraph and entry.place is Place.DOMAIN:
            what = Field.URL
        if what is None or not entry.value:
            continue
        if what is Field.REGISTRAR:
            registrar_paragraph = entry.paragraph
        if what is Field.NAME_SERVER:
            if len(findings.names) < MOST_NAME_SERVERS:
                findings.names.update(values.name_servers(entry.value))
        elif what is Field.STATUS:
            findings.statuses.append(" ".join(entry.value.lower().split()).strip(" ."))
            findings.codes += [code for code in values.statuses(entry.value) if code not in findings.codes]
        else:
            findings.add(what, entry.value, is_late=is_late)
    return findings


def _field(entry: Entry, rules: Rules) -> tuple[Field | None, bool]:
    """The field that an entry gives, and whether another entry with the same field is preferred."""
    key = entry.key
    is_others = Place.CONTACT in (entry.place, entry.object)
    if key in rules.keys and entry.place is Place.DOMAIN and not is_others:
        return rules.keys[key], key in _LATER
    if entry.place is Place.NAME_SERVERS and (key in IN_NAME_SERVERS or unnumbered(key) in IN_NAME_SERVERS):
        return Field.NAME_SERVER, False
    is_in_registrar = entry.place is Place.REGISTRAR or (entry.object is Place.REGISTRAR and not is_others)
    if is_in_registrar and key in IN_REGISTRAR and not entry.is_bare:
        return IN_REGISTRAR[key], entry.place is not Place.REGISTRAR
    if key in RELATIVE:
        if is_others or entry.place not in (Place.DOMAIN, Place.NAME_SERVERS):
            return None, False
        return RELATIVE[key], entry.place is not Place.DOMAIN or entry.object is not Place.DOMAIN
    what = PLAIN.get(key) or PLAIN.get(unnumbered(key))
    if what is Field.DNSSEC and entry.place is Place.REGISTRAR:  # a service that it offers to everybody
        return None, False
    if is_others and what is not Field.REGISTRANT and (entry.key in _AMBIGUOUS or entry.place is Place.CONTACT):
        return (None if what in _NOT_EXPLICIT else what), True
    return what, key in _LATER


_AMBIGUOUS = frozenset(
    ("last update", "last updated", "last modified", "registrar", "created on", "updated on", "domain")
)
_NOT_EXPLICIT = frozenset((Field.DOMAIN, Field.REGISTRAR, Field.URL, Field.DS))


def _record(findings: _Findings, rules: Rules) -> Record:
    def dates(what: Field) -> Iterable[datetime]:
        read_dates = (read_date(value, month_first=rules.month_first) for value in findings.first(what))
        return (moment for moment in read_dates if moment is not None)

    registrar, beside = None, None
    for value in findings.first(Field.REGISTRAR):
        name, url = values.registrar(value)
        registrar, beside = registrar or name, beside or url
    urls = (values.web_address(value) for value in findings.first(Field.URL))
    ids = (values.iana_id(value) for value in findings.first(Field.IANA_ID))
    servers = (values.whois_server(value) for value in findings.first(Field.WHOIS))
    return Record(
        registrar=registrar,
        registrar_iana_id=next(filter(None, ids), None),
        registrar_url=next(filter(None, urls), None) or beside,
        created=next(iter(dates(Field.CREATED)), None),
        updated=next(iter(dates(Field.UPDATED)), None),
        expires=next(iter(dates(Field.EXPIRES)), None),
        name_servers=tuple(sorted(findings.names)),
        status=tuple(findings.codes),
        dnssec=_dnssec(findings),
        refers_to=next(filter(None, servers), None),
    )


def _dnssec(findings: _Findings) -> bool | None:
    said = [signed for value in findings.first(Field.DNSSEC) if (signed := values.dnssec(value)) is not None]
    if said:
        return said[0]
    return True if findings.has_keys or any(_is_key(value) for value in findings.first(Field.DS)) else None


def _is_key(value: str) -> bool:
    return values.text_or_none(value) is not None and values.dnssec(value) is not False


def _verdict(findings: _Findings, speech: Speech, rules: Rules, *, is_named: bool) -> bool | Reason:
    """A refusal comes first, then a record, then the registry's own statement that there is none. Else nothing is known."""
    if findings.evidence < 2 and speech.is_refusal:
        return "refused"
    free = any(status in _FREE or status in rules.free for status in findings.statuses)
    held = any(status.startswith(_HELD) for status in findings.statuses)
    if (
        findings.evidence >= (1 if is_named else 2)
        and not (free or held)
        and not (findings.evidence < 2 and speech.is_free)
    ):
        return True
    if findings.evidence >= 2 and (findings.names or any(findings.first(Field.CREATED))):
        return True
    if held or speech.is_held:
        return "reserved"
    if speech.is_ending:
        return "ending"
    if free or speech.is_free:
        return "unclear" if speech.is_unclear else False
    return True if is_named and findings.statuses else "unclear"
