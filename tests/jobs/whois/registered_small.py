"""As registered.py, of smaller registries."""

from __future__ import annotations

from tests.jobs.whois.registered import Case

TH = Case(
    "a.co.th",
    """
Domain Name:               A.CO.TH
Registrar:                 T.H.NIC Co., Ltd.
Name Server:               NS1.A.CO.TH (192.0.2.1)
Name Server:               NS2.A.CO.TH
DNSSEC:                    unsigned
Status:                    ACTIVE
Updated date:              05 Jan 2024
Created date:              29 Jun 2004
Renew date:                29 Jun 2024
Exp date:                  28 Jun 2027
Domain Holder Organization: A
Tech Contact:  X
""",
    {
        "registrar": "T.H.NIC Co., Ltd.",
        "created": "2004-06-29T00:00:00Z",
        "updated": "2024-01-05T00:00:00Z",
        "expires": "2027-06-28T00:00:00Z",
        "name_servers": ["ns1.a.co.th", "ns2.a.co.th"],
        "dnssec": False,
    },
)

BG = Case(
    "a.bg",
    """DOMAIN NAME: a.bg (a.bg)
requested on: 11/03/1999 00:00:00 EET
processed from: 11/03/1999
activated on: 12/03/1999 00:00:00 EET
expires at: 12/03/2027 00:00:00 EET
registration status: Registered

REGISTRANT:
A Ltd
bul. X

ADMINISTRATIVE CONTACT:
Y

NAME SERVER INFORMATION:
ns1.a.bg (192.0.2.1)
ns2.a.bg

DNSSEC: Inactive
""",
    {
        "created": "1999-03-11T22:00:00Z",
        "expires": "2027-03-11T22:00:00Z",
        "name_servers": ["ns1.a.bg", "ns2.a.bg"],
        "dnssec": False,
    },
)

MD = Case(
    "a.md",
    """Domain  name    : a.md
Domain state    : OK, Delegated
Registered on   : 2000-05-06
Expires on      : 2027-05-06
Nameserver      : ns1.a.md
Nameserver      : ns2.a.md
""",
    {
        "created": "2000-05-06T00:00:00Z",
        "expires": "2027-05-06T00:00:00Z",
        "name_servers": ["ns1.a.md", "ns2.a.md"],
        "status": ["ok"],
    },
)

LU = Case(
    "a.lu",
    """% Access to RESTENA DNS-LU WHOIS information is provided
%
domainname:     a.lu
domaintype:     ACTIVE
nserver:        ns1.a.lu [192.0.2.1]
nserver:        ns2.a.lu
ownertype:      ORGANISATION
org-name:       A
adm-name:       B
registrar-name:        Registrar S.A.
registrar-email:       x@y.lu
registrar-url:         http://www.registrar.lu
registrar-country:     LU
%
""",
    {
        "registrar": "Registrar S.A.",
        "registrar_url": "http://www.registrar.lu",
        "name_servers": ["ns1.a.lu", "ns2.a.lu"],
    },
)

TN = Case(
    "a.tn",
    """
NIC Whois server for cTLDs : .tn, .تونس

Domain name.........: a.tn
Registrar...........: ATI
Creation date.......: 15-05-1996 00:00:00 GMT+1
Domain status.......: Active

Owner Contact
Name................: A
First name..........: B
Phone...............: +216

Administrativ contact
Name................: C

Technical contact
Name................: D

DNSSEC
unsigned

DNS servers
Name................: ns1.a.tn.
IPv4 address........: 192.0.2.1
Name................: ns2.a.tn.
""",
    {"registrar": "ATI", "created": "1996-05-14T23:00:00Z", "name_servers": ["ns1.a.tn", "ns2.a.tn"], "dnssec": False},
)

NC = Case(
    "a.nc",
    """
Domain                   : a.nc
Created on               : 2006-06-05
Expires on               : 2027-06-05
Last updated on          : 2026-05-31

Domain server 1          : ns1.a.nc
Domain server 2          : ns2.a.nc

Registrant name          : A
""",
    {
        "created": "2006-06-05T00:00:00Z",
        "updated": "2026-05-31T00:00:00Z",
        "expires": "2027-06-05T00:00:00Z",
        "name_servers": ["ns1.a.nc", "ns2.a.nc"],
    },
)

IM = Case(
    "a.im",
    """

Domain Name: a.im
Domain Managers
Name: Registrar Ltd
Address
1 street

Domain Owners / Registrant
Name: Redacted
Address
Redacted

Administrative Contact
Name: Redacted

Domain Details
Expiry Date: 30/06/2027 00:59:39
Name Server:ns1.a.im.
Name Server:ns2.a.im.
""",
    {"expires": "2027-06-30T00:59:39Z", "name_servers": ["ns1.a.im", "ns2.a.im"]},
)

MO = Case(
    "a.mo",
    """
----------------------------------------------------------
This server is maintained by MONIC, authorized Registry
of .mo.
----------------------------------------------------------

Domain Name: A.MO
Record created on 2009-05-06
Record expires on 2027-05-06

Registrant:
 A Ltd

Domain name servers:
-----------------------------------------------------
 ns1.a.mo
 ns2.a.mo
""",
    {"created": "2009-05-06T00:00:00Z", "expires": "2027-05-06T00:00:00Z", "name_servers": ["ns1.a.mo", "ns2.a.mo"]},
)

SA = Case(
    "a.sa",
    """% SaudiNIC Whois server.
% Rights restricted by copyright.

Domain Name: a.sa

 Registrant:
 A Company
 Address: X
 Riyadh

 Administrative Contact:
 B

 Name Servers:
 ns1.a.sa (192.0.2.1)
 ns2.a.sa

 DNSSEC: unsigned

Created on: 2004-04-06
Last Updated on: 2026-04-06
""",
    {
        "created": "2004-04-06T00:00:00Z",
        "updated": "2026-04-06T00:00:00Z",
        "name_servers": ["ns1.a.sa", "ns2.a.sa"],
        "dnssec": False,
    },
)

KG = Case(
    "a.kg",
    """% This is the .kg ccTLD Whois server

Domain A.KG (ACTIVE)

Administrative Contact:
   PID: 1-KG
   Name: X

Record created: Wed Jul 10 07:27:23 2002
Record last updated on: Fri Jul 10 07:27:23 2026
Record expires on: Sat Jul 10 07:27:23 2027

Name servers in the listed order:

NS1.A.KG
NS2.A.KG 192.0.2.1
""",
    {
        "created": "2002-07-10T07:27:23Z",
        "updated": "2026-07-10T07:27:23Z",
        "expires": "2027-07-10T07:27:23Z",
        "name_servers": ["ns1.a.kg", "ns2.a.kg"],
    },
)

HU = Case(
    "a.hu",
    """% Whois server 4.0 serving the hu ccTLD

domain:         a.hu
record created: 1999-01-02
Tovabbi adatokert ld.:
https://www.domain.hu/domain-kereses/
For further data see:
https://www.domain.hu/domain-search/
""",
    {"created": "1999-01-02T00:00:00Z"},
)

IR = Case(
    "a.ir",
    """% This is the IRNIC Whois server v1.6.2.

domain:		a.ir
ascii:		a.ir
remarks:	(Domain Holder) A
holder-c:	aa11-irnic
admin-c:	aa11-irnic
nserver:	ns1.a.ir
nserver:	ns2.a.ir
last-updated:	2026-01-02
expire-date:	2027-03-21
source:		IRNIC # Filtered

nic-hdl:	aa11-irnic
person:	B
e-mail:	b@a.ir
source:		IRNIC # Filtered
""",
    {"updated": "2026-01-02T00:00:00Z", "expires": "2027-03-21T00:00:00Z", "name_servers": ["ns1.a.ir", "ns2.a.ir"]},
)

UZ = Case(
    "a.uz",
    """% Uzbekistan Whois Server Version 1.0

Domain Name: A.UZ
Registrar: TOMAS
Whois Server: www.whois.uz
Referral URL: http://www.cctld.uz/
Name Server: ns1.a.uz. <no value>
Name Server: not.defined. not.defined.
Status: ACTIVE
Updated Date: 2026-01-02
Creation Date: 02-Jan-2006
Expiration Date: 03-Jan-2027
% >>> Last update of whois database: Fri, 20 Nov 2026 10:00:00 +0500 <<<
""",
    {
        "registrar": "TOMAS",
        "registrar_url": "http://www.cctld.uz/",
        "created": "2006-01-02T00:00:00Z",
        "updated": "2026-01-02T00:00:00Z",
        "expires": "2027-01-03T00:00:00Z",
        "name_servers": ["ns1.a.uz"],
        "refers_to": "www.whois.uz",
    },
)

NAME = Case(
    "a.name",
    """Domain Name ID: 123DOMAIN-NAME
Domain Name: A.NAME
Registrar: R
Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited
Registrant ID: 1
Name Server: NS1.A.NAME
Created On: 2002-03-15T20:15:48Z
Expires On: 2027-03-15T20:15:48Z
Updated On: 2026-03-15T20:15:48Z
""",
    {
        "registrar": "R",
        "created": "2002-03-15T20:15:48Z",
        "updated": "2026-03-15T20:15:48Z",
        "expires": "2027-03-15T20:15:48Z",
        "name_servers": ["ns1.a.name"],
        "status": ["clientTransferProhibited"],
    },
)

PK = Case(
    "a.pk",
    """
# Domain: a.pk
Status: Domain is Registered
Creation Date: 2001-01-02
Expiry Date: 2027-01-02
Name Server: ns1.a.pk
""",
    {"created": "2001-01-02T00:00:00Z", "expires": "2027-01-02T00:00:00Z", "name_servers": ["ns1.a.pk"]},
)

SN = Case(
    "a.sn",
    """
Domain: a.sn
Status: registered

Nom de domaine: a.sn
Date de création: 2008-05-08T17:59:38.43Z
Dernière modification: 2026-05-08T17:59:38.43Z
Date d'expiration: 2027-05-08T17:59:38.43Z
Registrar: NIC Senegal
Statut: ok
Serveur de noms: ns1.a.sn
Serveur de noms: ns2.a.sn
""",
    {
        "registrar": "NIC Senegal",
        "created": "2008-05-08T17:59:38Z",
        "updated": "2026-05-08T17:59:38Z",
        "expires": "2027-05-08T17:59:38Z",
        "name_servers": ["ns1.a.sn", "ns2.a.sn"],
        "status": ["ok"],
    },
)

WS = Case(
    "a.ws",
    """Domain Name: A.WS
Registry Domain ID: D1
Registrar WHOIS Server: whois.x.com
Updated Date: 2026-01-02T03:04:05+0000
Creation Date: 2000-01-02T03:04:05+0000
Registrar Registration Expiration Date: 2027-01-02T03:04:05+0000
Registrar: X
Domain Status: ok
Name Server: ns1.a.ws
DNSSEC: unsigned
""",
    {
        "registrar": "X",
        "created": "2000-01-02T03:04:05Z",
        "updated": "2026-01-02T03:04:05Z",
        "expires": "2027-01-02T03:04:05Z",
        "name_servers": ["ns1.a.ws"],
        "status": ["ok"],
        "dnssec": False,
        "refers_to": "whois.x.com",
    },
)

LI = Case(
    "a.li",
    """Domain name
a.li

Domain holder:
A

Registrar
Reg AG
Street

First registration date
before 01 January 1996

DNSSEC
N

Name servers
ns1.a.li
ns2.a.li
""",
    {"registrar": "Reg AG", "name_servers": ["ns1.a.li", "ns2.a.li"], "dnssec": False},
)
