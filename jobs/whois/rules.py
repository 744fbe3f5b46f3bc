"""The peculiarities of single registries: the form of a query, the encoding of an answer, and the meaning of words.

Rules that hold for every registry are in keys.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jobs.whois.keys import Field
from jobs.whois.registries import private_suffix


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one top-level domain.

    Attributes:
        query: the query, with ``{}`` for the domain.
        encodings: tried in this order; the last one accepts every byte.
        month_first: dates are month/day/year.
        begins: the line after which the record appears again in English.
        keys: folded names that mean something else here; None: the name is ignored.
        free: statuses of a name that nobody has registered.
        parts: by key, the pattern of a field inside a value (group 1). The last match counts.
        is_generic: only the query or the encoding is peculiar.
    """

    query: str = "{}"
    encodings: tuple[str, ...] = ("utf-8", "latin-1")
    month_first: bool = False
    begins: str = ""
    keys: Mapping[str, Field | None] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    parts: Mapping[str, tuple[tuple[re.Pattern[str], Field], ...]] = field(default_factory=dict)

    @property
    def is_generic(self) -> bool:
        """Whether the generic reader is used."""
        return not (self.month_first or self.begins or self.keys or self.free or self.parts)


GENERIC = Rules()

_STATE_UNTIL = (re.compile(r"\((\d{4}/\d{2}/\d{2})\)"), Field.EXPIRES)
"""``Connected (2027/03/31)``: a status, and the date of its end."""

_VERISIGN = Rules(query="domain {}")
_AFNIC = Rules(keys={"status": Field.STATUS})
_TCI = Rules(encodings=("utf-8", "koi8-r"), keys={"state": Field.STATUS})
_FRED = Rules(keys={"registered": Field.CREATED, "expire": Field.EXPIRES})
_IIS = Rules(keys={"state": Field.STATUS, "modified": Field.UPDATED})
_SWITCH = Rules(keys={"holder of domain name": Field.REGISTRANT})
_KRNIC = Rules(encodings=("utf-8", "euc_kr", "latin-1"), begins="# ENGLISH")
_FREENOM = Rules(month_first=True, keys={"organisation": Field.REGISTRANT})
_TWNIC = Rules(encodings=("utf-8", "big5", "latin-1"), keys={"registration service url": Field.URL})
_CNNIC = Rules(encodings=("utf-8", "gb18030", "latin-1"), keys={"registration time": Field.CREATED})

RULES: Mapping[str, Rules] = {
    # Verisign's server also finds hosts and registrars whose names contain the query.
    **dict.fromkeys(("com", "net", "cc", "jobs"), _VERISIGN),
    "name": Rules(query="domain={}", keys={"domain name id": None}),
    "de": Rules(query="-T dn,ace {}", keys={"status": Field.STATUS, "domain ace": Field.DOMAIN}, free=("free",)),
    "jp": Rules(
        query="{}/e",
        encodings=("iso2022_jp", "utf-8", "euc_jp", "latin-1"),
        parts={"state": (_STATE_UNTIL,), "状態": (_STATE_UNTIL,)},
    ),
    "uk": Rules(keys={"registered for": Field.REGISTRANT}),
    **dict.fromkeys(("fr", "pm", "re", "tf", "wf", "yt"), _AFNIC),
    "it": Rules(free=("available",)),
    "pl": Rules(
        encodings=("utf-8", "iso8859-2"),
        keys={"option created": None, "option expiration date": None, "last modified": Field.UPDATED},
    ),
    **dict.fromkeys(("ru", "su", "xn--p1ai"), _TCI),
    "br": Rules(keys={"nslastaa": None, "nsstat": None, "dsrecord": Field.DS, "owner": Field.REGISTRANT}),
    **dict.fromkeys(("kr", "xn--3e0b707e"), _KRNIC),
    **dict.fromkeys(("tw", "xn--kpry57d", "xn--kprw13d"), _TWNIC),
    **dict.fromkeys(("cn", "xn--fiqs8s", "xn--fiqz9s"), _CNNIC),
    "eu": Rules(free=("available",)),
    "be": Rules(keys={"flags": Field.STATUS}, free=("available",)),
    "nl": Rules(keys={"record maintained by": None, "reseller": None}),
    **dict.fromkeys(("se", "nu"), _IIS),
    "fi": Rules(keys={"www": Field.URL}),
    "at": Rules(keys={"remarks": None}),
    **dict.fromkeys(("ch", "li"), _SWITCH),
    **dict.fromkeys(("cz", "ar", "cr", "mk", "tz", "fo", "mw"), _FRED),
    "ca": Rules(free=("available",)),
    "au": Rules(keys={"status reason": None, "last modified": Field.UPDATED, "eligibility id": None}),
    "nz": Rules(free=("220 available",)),
    "tr": Rules(encodings=("utf-8", "iso8859-9"), keys={"frozen status": None, "transfer status": None}),
    "ua": Rules(encodings=("utf-8", "koi8-u"), keys={"dom public": None, "mnt by": None}),
    "no": Rules(keys={"registrar handle": Field.REGISTRAR}),
    "dk": Rules(keys={"registered": Field.CREATED, "dns": None}),
    "il": Rules(
        keys={"changed": None},
        parts={
            "changed": (
                (re.compile(r"(\d{8}) \(Assigned\)"), Field.CREATED),
                (re.compile(r"(\d{8}) \(Changed\)"), Field.UPDATED),
            )
        },
    ),
    "hk": Rules(
        encodings=("utf-8", "big5", "latin-1"), keys={"contract version": None, "re registration status": None}
    ),
    "mo": Rules(encodings=("utf-8", "big5", "latin-1")),
    "pt": Rules(keys={"estado": Field.STATUS}),
    "lv": Rules(encodings=("utf-8", "iso8859-13"), free=("free",)),
    "lt": Rules(encodings=("utf-8", "iso8859-13"), free=("available",)),
    "ee": Rules(keys={"registered": Field.CREATED}),
    "sk": Rules(encodings=("utf-8", "iso8859-2"), keys={"valid until": Field.EXPIRES}),
    "hu": Rules(encodings=("utf-8", "iso8859-2")),
    "bg": Rules(encodings=("utf-8", "cp1251"), keys={"requested on": None}),
    "by": Rules(encodings=("utf-8", "cp1251")),
    "th": Rules(encodings=("utf-8", "cp874", "latin-1"), keys={"renew date": None}),
    "lu": Rules(keys={"domaintype": Field.STATUS}),
    "kz": Rules(keys={"registar created": None, "current registar": Field.REGISTRAR}),
    "pe": Rules(free=("no object found",)),
    **dict.fromkeys(("tk", "ml", "ga", "cf", "gq"), _FREENOM),
}


def rules_of(domain: str) -> Rules:
    """The rules for a domain, by its last label. A private registry follows none of its top-level domain's."""
    if private_suffix(domain):
        return GENERIC
    return RULES.get(domain.rpartition(".")[2], GENERIC)
