"""The statements by which registries say that nobody has registered a name.

Each is a whole line, folded as verdicts.py does it: lower case, without punctuation, with § for the domain. A text that is not
here proves nothing, however much it sounds like it: "available" stands in terms of use, and "not found" in errors.
"""

import re
from collections.abc import Mapping

ASKED = "§"


_OF_TOPS: Mapping[str, tuple[str, ...]] = {
    "de lv": ("status free",),
    "jp": ("該当するデータがありません",),
    "pl": ("no information available about domain name §(?: in the registry nask database)?",),
    "ru su xn--p1ai dk si": ("no entries found for the selected source(?: ?s)?",),
    "kr xn--3e0b707e": (
        "above domain name is not registered to krnic",
        "(?:상기|위의) 도메인이름은 등록되어 있지 않습니다",
    ),
    "tw xn--kpry57d xn--kprw13d": ("no found",),
    "cn xn--fiqs8s xn--fiqz9s": ("not find matchingrecord", "未找到匹配的记录"),
    "eu be it lt": ("status available",),
    "ch li": ("we do not have an entry in our database matching your query",),
    "nz": ("query status 220 available",),
    "hu": ("nincs tal[aá]lat(?: no match)?",),
    "mx": ("no se encontro el objeto object not found",),
    "ar": ("el dominio no se encuentra registrado en nic argentina",),
    "cl": ("§ no existe",),
    "rs cz": ("error domain is not registered",),
    "uz": ("sorry but domain § not found in database",),
    "kz": ("nothing found for this query",),
    "kg": ("(?:data not found )?this domain is available for registration",),
    "ca": ("domain status available",),
    "pe": ("(?:domain )?status no object found",),
    # Freenom
    "tk ml ga cf gq": ("(?:invalid query or )?domain name not known in(?: dot)? \\w{2}(?: domain registry| database)",),
    "africa capetown durban joburg za": ("no information was found matching that query", "available"),
}
"""The statements that only some registries make, as patterns of whole lines, by the top-level domains that they serve."""

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
    "the requested domain was not found in the registry or registrar.s whois server",
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
_OWN = {
    top: re.compile("|".join(f"(?:{statement})" for statement in statements))
    for tops, statements in _OF_TOPS.items()
    for top in tops.split()
}


def is_no_match(sentence: str, top: str) -> bool:
    """Whether a folded line says that nobody has registered the name.

    Args:
        top: the top-level domain; empty for what every registry may say.
    """
    own = _OWN.get(top)
    return _ANY.fullmatch(sentence) is not None or (own is not None and own.fullmatch(sentence) is not None)
