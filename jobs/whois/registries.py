"""What is known of registries' WHOIS servers without a question to IANA's. Servers as in Debian's `whois` (tld_serv_list)."""

from __future__ import annotations

from jobs.engines.text.names import names

WITHOUT_SERVER = names(
    """
    aq az bb bs bt bv cu cy eg er fk gb gr gt gu jm jo kh km lr mh mil mp ni np nr pa ph py sj sv sz tt vi vn zw
    """
)
"""Top-level domains whose registries have had no WHOIS server for more than ten years; most have a web form instead. A
registry that opens a server is removed here."""

_CENTRALNIC = names(
    """
    ae.org africa.com br.com cn.com co.com co.nl co.no com.de com.se de.com eu.com gb.net gr.com hu.net in.net jp.net jpn.com
    mex.com radio.am radio.fm ru.com sa.com se.net uk.com uk.net us.com us.org za.bz za.com
    """
)
_RU_CENTER = names("com.ru exnet.su int.ru msk.ru msk.su net.ru nov.ru nov.su org.ru pp.ru spb.ru spb.su")
PRIVATE = {
    **dict.fromkeys(_CENTRALNIC, "whois.centralnic.com"),
    **dict.fromkeys(_RU_CENTER, "whois.nic.ru"),
    "co.ca": "whois.co.ca",
    "co.pl": "whois.co.pl",
    "eu.org": "whois.eu.org",
    "priv.at": "whois.nic.priv.at",
    "za.net": "whois.za.net",
    "za.org": "whois.za.net",
}
"""The server of each private registry, by its suffix in the public suffix list: `foo.uk.com` is registered with CentralNic,
not with .com."""


def private_suffix(host: str) -> str | None:
    """The suffix of the private registry that a host is below. None for any other host, and for the suffix itself."""
    suffix = ".".join(host.split(".")[-2:])
    return suffix if suffix != host and suffix in PRIVATE else None
