"""Registries below a domain of their own that serve WHOIS: `foo.uk.com` is registered with CentralNic, not with .com.

Names of the public suffix list's private part. Servers as in Debian's `whois` (tld_serv_list).
"""

from __future__ import annotations

_CENTRALNIC = (
    *("ae.org", "africa.com", "br.com", "cn.com", "co.com", "co.nl", "co.no", "com.de", "com.se", "de.com", "eu.com"),
    *("gb.net", "gr.com", "hu.net", "in.net", "jp.net", "jpn.com", "mex.com", "radio.am", "radio.fm", "ru.com"),
    *("sa.com", "se.net", "uk.com", "uk.net", "us.com", "us.org", "za.bz", "za.com"),
)
_RU_CENTER = (
    "com.ru",
    "exnet.su",
    "int.ru",
    "msk.ru",
    "msk.su",
    "net.ru",
    "nov.ru",
    "nov.su",
    "org.ru",
    "pp.ru",
    "spb.ru",
    "spb.su",
)

SERVERS = {
    **dict.fromkeys(_CENTRALNIC, "whois.centralnic.com"),
    **dict.fromkeys(_RU_CENTER, "whois.nic.ru"),
    "co.ca": "whois.co.ca",
    "co.pl": "whois.co.pl",
    "eu.org": "whois.eu.org",
    "priv.at": "whois.nic.priv.at",
    "za.net": "whois.za.net",
    "za.org": "whois.za.net",
}
"""The server of each suffix."""


def suffix_of(host: str) -> str | None:
    """The suffix of such a registry that a host is below; None for any other, and for the suffix itself."""
    labels = host.split(".")
    suffix = ".".join(labels[-2:])
    return suffix if len(labels) > 2 and suffix in SERVERS else None
