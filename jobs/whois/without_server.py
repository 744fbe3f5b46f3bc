"""Top-level domains of which it is known that their registries have no WHOIS server.

Debian's `whois` has listed these without a server for more than ten years; most registries have a web form instead. IANA's
server is asked about all other names. A registry that opens a server is removed here.
"""

from __future__ import annotations

from jobs.engines.text.names import names

WITHOUT_SERVER = names(
    """
    aq az bb bs bt bv cu cy eg er fk gb gr gt gu jm jo kh km lr mh mil mp ni np nr pa ph py sj sv sz tt vi vn zw
    """
)
