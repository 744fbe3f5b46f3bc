"""What is known of registries' WHOIS servers without a question to IANA's. Servers as in Debian's `whois` (tld_serv_list)."""

from jobs.engines.text.names import names

WITHOUT_SERVER = names(
    """
    al ao aq az ba bb bd bs bt bv cg ck cu cw cy dj eg er et fk gb gm gr gt gu gw jm jo kh km kp lr mc mh mil mt mv ne ni np nr
    pa ph py sj sv sz tj tt va vn zw
    xn--54b7fta0cc xn--mgbai9azgqp6j xn--mgbayh7gpa xn--mgbc0a9azcg xn--mgbcpq6gpa1a xn--mgbpl2fh xn--qxam
    """
)
"""Top-level domains for which IANA names neither a WHOIS nor an RDAP server; most have a web form instead. scripts/data prints
which of them has one now: it is removed here."""

SECOND_LEVEL = {
    "co.za": "whois.registry.net.za",
    "net.za": "net-whois.registry.net.za",
    "org.za": "org-whois.registry.net.za",
    "web.za": "web-whois.registry.net.za",
}
"""Servers of registries below a top-level domain for which IANA names none."""

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
