"""The statements by which registries say that nobody has registered a name.

Each is a whole line, folded as verdicts.py does it: lower case, without punctuation, with § for the domain. A text that is not
here proves nothing, however much it sounds like it: "available" stands in terms of use, and "not found" in errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

ASKED = "§"


class Family(NamedTuple):
    """The statements of one registry, or of all that run one back end.

    Attributes:
        tops: the top-level domains.
        statements: patterns of whole lines.
        source: the server that says so.
    """

    tops: tuple[str, ...]
    statements: tuple[str, ...]
    source: str


_FAMILIES = (
    Family(
        ("com", "net", "edu", "cc", "tv", "name", "jobs"),
        ("no match(?: for(?: domain)? §)?", "no match §"),
        "whois.verisign-grs.com",
    ),
    Family(("de",), ("status free",), "whois.denic.de"),
    Family(("uk",), ("(?:this|the) domain name has not been registered", "no match for §"), "whois.nic.uk"),
    Family(("jp",), ("no match", "該当するデータがありません"), "whois.jprs.jp"),
    Family(
        ("pl",), ("no information available about domain name §(?: in the registry nask database)?",), "whois.dns.pl"
    ),
    Family(
        ("ru", "su", "xn--p1ai", "dk", "si"), ("no entries found for the selected source(?: ?s)?",), "whois.tcinet.ru"
    ),
    Family(("br",), ("no match for(?: domain)? §",), "whois.registro.br"),
    Family(
        ("kr", "xn--3e0b707e"),
        (
            "above domain name is not registered to krnic",
            "the requested domain was not found in the registry or registrar.s whois server",
            "(?:상기|위의) 도메인이름은 등록되어 있지 않습니다",
        ),
        "whois.kr",
    ),
    Family(("tw", "xn--kpry57d", "xn--kprw13d"), ("no found",), "whois.twnic.net.tw"),
    Family(
        ("cn", "xn--fiqs8s", "xn--fiqz9s"),
        ("no matching record", "not find matchingrecord", "未找到匹配的记录"),
        "whois.cnnic.cn",
    ),
    Family(("eu", "be", "it", "lt"), ("status available",), "whois.eu"),
    Family(("nl",), ("§ is free",), "whois.domain-registry.nl"),
    Family(("se", "nu"), ("domain § not found", "§ not found"), "whois.iis.se"),
    Family(("ch", "li"), ("we do not have an entry in our database matching your query",), "whois.nic.ch"),
    Family(("at",), ("nothing found",), "whois.nic.at"),
    Family(("nz",), ("query status 220 available",), "whois.irs.net.nz"),
    Family(("ua",), ("no entries found for(?: domain)? §",), "whois.ua"),
    Family(("pt",), ("§ no match",), "whois.dns.pt"),
    Family(("il",), ("no data was found to match the request criteria",), "whois.isoc.org.il"),
    Family(("hk", "xn--j6w193g"), ("the domain has not been registered",), "whois.hkirc.hk"),
    Family(("hu",), ("nincs tal[aá]lat(?: no match)?", "no match"), "whois.nic.hu"),
    Family(("my", "bg"), ("domain name § does not exist in database",), "whois.mynic.my"),
    Family(("mx",), ("no se encontro el objeto object not found",), "whois.mx"),
    Family(("ar",), ("el dominio no se encuentra registrado en nic argentina",), "whois.nic.ar"),
    Family(("cl",), ("§ no existe",), "whois.nic.cl"),
    Family(("lv",), ("status free",), "whois.nic.lv"),
    Family(("rs", "cz"), ("error domain is not registered", "error no entries found"), "whois.rnids.rs"),
    Family(("uz",), ("sorry but domain § not found in database",), "whois.cctld.uz"),
    Family(("kz",), ("nothing found for this query",), "whois.nic.kz"),
    Family(("is",), ("no entries found for query §",), "whois.isnic.is"),
    Family(("im",), ("the domain § was not found",), "whois.nic.im"),
    Family(
        ("kg",),
        ("this domain is available for registration", "data not found this domain is available for registration"),
        "whois.kg",
    ),
    Family(("ca",), ("domain status available", "not found §"), "whois.cira.ca"),
    Family(("pe",), ("domain status no object found", "status no object found"), "kero.yachay.pe"),
    Family(
        ("tk", "ml", "ga", "cf", "gq"),
        ("(?:invalid query or )?domain name not known in(?: dot)? \\w{2}(?: domain registry| database)",),
        "whois.dot.tk",
    ),
    Family(
        ("cat", "museum", "aero", "swiss", "barcelona", "eus", "gal", "madrid", "quebec", "scot"),
        ("no matching objects found", "no matching record"),
        "whois.corenic.net",
    ),
    Family(
        ("africa", "capetown", "durban", "joburg", "za"),
        ("no information was found matching that query", "available", "domain not found"),
        "whois.registry.africa",
    ),
)

_GENERIC = (
    *(
        "no match(?:es)?(?: found)?",
        "no data found",
        "no (?:entries|records?|object|domain) found",
        "no whois information found",
    ),
    *("(?:domain(?: name)?|object|record) not found", "not found", "nothing found", "no such (?:domain|object|record)"),
    *(
        "no matching (?:record|records|object|objects)(?: found)?",
        "(?:object|domain) does not exist",
        "error no entries found",
    ),
    *("(?:this |the )?domain(?: name)?(?: is| has)? not (?:been )?registered", "not registered", "domain unknown"),
    "the queried object does not exist(?: (?:domain not found|no matching objects found|§))?",
    *("object not found no such domain", "no existe", "no se encontro", "domaine non trouv[eé]", "domaine inconnu"),
    *("dominio no encontrado", "域名未注册", "no data was found to match the request criteria", "no whois data found"),
    # These name the domain.
    "(?:no match|no matches|no match found|no entries found|no data found|no record found|not found|no such domain)(?: for)?"
    "(?: domain| domain name| query| object)* §(?: in (?:the|our|this) (?:\\w+ )?(?:database|registry))?",
    "(?:sorry |error |the |this |requested |queried )*(?:domain |domain name |object |name )*§ (?:is |was |has |does |could )?"
    "(?:not (?:been |be |yet )*(?:found|registered|exist|exists)|does not exist)"
    "(?: in (?:the |our |this )?(?:\\w+ )?(?:whois )?(?:database|registry|server))?",
    "(?:the |this )?(?:domain |domain name )?§ is (?:free|available(?: for registration)?|unregistered)",
    "available §",
    "(?:§ )?(?:no match|not found|no data found|no entries found)(?: §)?",
)
"""Statements with a single meaning, which the back ends of many registries share (Identity Digital, CentralNic, GoDaddy,
Google, Nominet, ZDNS, AFNIC, Tucows, FRED, CoCCA and others)."""

_ANY = re.compile("|".join(f"(?:{statement})" for statement in _GENERIC))
_OWN: Mapping[str, re.Pattern[str]] = {
    top: re.compile("|".join(f"(?:{one})" for family in _FAMILIES if top in family.tops for one in family.statements))
    for family in _FAMILIES
    for top in family.tops
}


def is_no_match(sentence: str, top: str) -> bool:
    """Whether a folded line says that nobody has registered the name.

    Args:
        top: the top-level domain; empty for what every registry may say.
    """
    own = _OWN.get(top)
    return _ANY.fullmatch(sentence) is not None or (own is not None and own.fullmatch(sentence) is not None)
