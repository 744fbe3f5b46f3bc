"""Reads values: hosts beside addresses, EPP codes beside URLs, registrars beside tags."""

import re

from jobs.engines.text.names import names

LONGEST_NAME = 255

EPP_CODES = (
    *("addPeriod", "autoRenewPeriod", "clientDeleteProhibited", "clientHold", "clientRenewProhibited"),
    *("clientTransferProhibited", "clientUpdateProhibited", "inactive", "ok", "pendingCreate", "pendingDelete"),
    *("pendingRenew", "pendingRestore", "pendingTransfer", "pendingUpdate", "redemptionPeriod", "renewPeriod"),
    *("serverDeleteProhibited", "serverHold", "serverRenewProhibited", "serverTransferProhibited"),
    *("serverUpdateProhibited", "transferPeriod"),
)
"""RFC 5731 and 3915, in the spelling of https://icann.org/epp."""
_CODES = {code.lower(): code for code in EPP_CODES}

_URL = re.compile(r"https?://[^\s()<>\"']+", re.IGNORECASE)
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+")
_PARTED = re.compile(r"[,;|]| / ")
_SEPARATORS = re.compile(r"[\s,;|]+")
_TAG = re.compile(r"\s*\[tag = [^\]]{0,80}\]", re.IGNORECASE)
_PLACEHOLDERS = frozenset(
    (
        *("", "-", "--", "n/a", "na", "none", "null", "nil", "not available", "not disclosed", "not applicable"),
        *("unknown", "tbd"),
    )
)
_SIGNED = names("signed yes active y true 1 서명 ok enabled 署名")
_UNSIGNED = names("unsigned no not inactive n false 0 none 미서명 disabled unknown - 未署名")


def name_servers(value: str) -> list[str]:
    """The hosts of a line that begins with a host. Addresses and remarks are left out."""
    words = [word.strip("[]()<>").rstrip(".").lower() for word in _SEPARATORS.split(value.strip(" -*\t")) if word]
    hosts = [word for word in words if is_host(word)]
    return hosts if words and hosts and words[0] == hosts[0] else []


def is_host(text: str) -> bool:
    """Whether a text is a host name of at least two labels, and not an address."""
    if len(text) > 253 or text == "not.defined" or not _HOST.fullmatch(text) or text.rpartition(".")[2].isdigit():
        return False
    return text.rpartition(".")[2][0] != "_"


def statuses(value: str) -> list[str]:
    """The EPP codes in a value, whatever else is in it."""
    found: list[str] = []
    for part in _PARTED.split(_URL.sub(" ", value)):
        words = part.replace("(", " (").split()
        whole = _CODES.get(re.sub(r"[^a-z]", "", part.lower()))
        codes = [whole] if whole else [_CODES.get(re.sub(r"[^a-z]", "", word.lower())) for word in words[:24]]
        found += [code for code in codes if code and code not in found]
    return found


def registrar(value: str) -> tuple[str | None, str | None]:
    """A registrar's name, and its URL when it follows the name."""
    url = web_address(found.group()) if (found := _URL.search(value)) else None
    name = _TAG.sub("", _URL.sub("", value))
    name = re.sub(r"[(\[]\s*[)\]]", "", name).strip(" \t,;-")
    return text_or_none(name), url


def text_or_none(value: str) -> str | None:
    """A name, or None for a placeholder."""
    text = " ".join(value.split())[:LONGEST_NAME]
    folded = text.lower().strip(" .")
    return None if folded in _PLACEHOLDERS or folded.startswith(("no registrar", "not disclosed", "redacted")) else text


def web_address(value: str) -> str | None:
    """A URL or a bare host, unchanged."""
    if found := _URL.match(value):
        return found.group().rstrip(".,;")[:LONGEST_NAME]
    text = value.strip().rstrip(".,;/")
    return text if is_host(text.lower().partition("/")[0]) else None


def iana_id(value: str) -> str | None:
    """A registrar's IANA number, or None."""
    return value if re.fullmatch(r"[0-9]{1,7}", value) else None


def whois_server(value: str) -> str | None:
    """The host in a host, a host with a port, or a whois URL. None for anything else."""
    text = value.strip().lower()
    for scheme in ("whois://", "rwhois://", "http://", "https://"):
        text = text.removeprefix(scheme)
    text = text.partition("/")[0].rstrip(".")
    host, _, port = text.partition(":")
    return host if is_host(host) and port in ("", "43") else None


def dnssec(value: str) -> bool | None:
    """Whether the delegation is signed."""
    words = re.split(r"[\s,;(]+", value.lower().replace("-", "").replace("signeddelegation", "signed"), maxsplit=1)
    if words[0] in _UNSIGNED or words[0].startswith("unsigned"):
        return False
    return True if words[0] in _SIGNED else None
