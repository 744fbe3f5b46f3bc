"""As registered.py, of more registries."""

from __future__ import annotations

from tests.jobs.whois.registered import Case

EURID = Case(
    "voorbeeld.eu",
    """% The WHOIS service offered by EURid and the access to the records
% in the EURid WHOIS database are provided for information purposes
% only. It allows persons to check whether a specific domain name
% is still available or not and to obtain information related to
% the registration records of existing domain names.
%
% WHOIS voorbeeld.eu
Domain: voorbeeld.eu
Script: LATIN

Registrant:
        NOT DISCLOSED!
        Visit www.eurid.eu for the web-based WHOIS.

Technical:
        Organisation: Techniek BV
        Language: en
        Email: tech@voorbeeld.eu

Registrar:
        Name: Registrar Nine GmbH
        Website: https://www.registrar-nine.net

Name servers:
        ns1.voorbeeld.eu (192.0.2.1)
        ns1.voorbeeld.eu (2001:db8::1)
        ns2.voorbeeld.eu

Keys:
        flags:KSK protocol:3 algorithm:RSA-SHA256 pubKey:AwEAAb

Please visit www.eurid.eu for more info.
""",
    {
        "registrar": "Registrar Nine GmbH",
        "registrar_url": "https://www.registrar-nine.net",
        "name_servers": ["ns1.voorbeeld.eu", "ns2.voorbeeld.eu"],
        "dnssec": True,
    },
)

DNS_BELGIUM = Case(
    "voorbeeld.be",
    """% .be Whois Server 6.1
%
% The WHOIS service offered by DNS Belgium and the access to the records in the DNS Belgium
% WHOIS database are provided for information purposes only. It allows
% persons to check whether a specific domain name is still available or not.
%

Domain:\tvoorbeeld.be
Status:\tNOT AVAILABLE
Registered:\tTue Dec 12 1995

Registrant:
\tNot shown, please visit www.dnsbelgium.be for webbased whois.

Registrar Technical Contacts:
\tOrganisation:\tTechniek NV
\tLanguage:\tnl

Registrar:
\tName:\t Registrar Tien NV
\tWebsite: https://www.registrar10.be

Nameservers:
\tns1.voorbeeld.be (192.0.2.1)
\tns2.voorbeeld.be

Keys:

Flags:
\tclientTransferProhibited

Please visit www.dnsbelgium.be for more info.
""",
    {
        "registrar": "Registrar Tien NV",
        "registrar_url": "https://www.registrar10.be",
        "created": "1995-12-12T00:00:00Z",
        "name_servers": ["ns1.voorbeeld.be", "ns2.voorbeeld.be"],
        "status": ["clientTransferProhibited"],
    },
)

SIDN = Case(
    "voorbeeld.nl",
    """Domain name: voorbeeld.nl
Status:      active

Reseller:
   Doorverkoper BV
   Straat 1

Registrar:
   Registrar Elf B.V.
   Straat 11
   1234AB AMSTERDAM
   Netherlands

Abuse Contact:
   +31.200000000
   abuse@registrar11.nl

Creation Date: 1999-05-27

Updated Date: 2026-05-28

DNSSEC:      yes

Domain nameservers:
   ns1.voorbeeld.nl        192.0.2.1
   ns1.voorbeeld.nl        2001:db8::1
   ns2.elders.net

Record maintained by: SIDN BV

Copyright notice
No part of this publication may be reproduced, published, stored in a
retrieval system, or transmitted, in any form or by any means,
electronic, mechanical, recording, or otherwise, without prior
permission of SIDN.
""",
    {
        "registrar": "Registrar Elf B.V.",
        "created": "1999-05-27T00:00:00Z",
        "updated": "2026-05-28T00:00:00Z",
        "name_servers": ["ns1.voorbeeld.nl", "ns2.elders.net"],
        "dnssec": True,
    },
)

IIS = Case(
    "exempel.se",
    """# Copyright (c) 1997- The Swedish Internet Foundation.
# All rights reserved.
# The information obtained through searches, or otherwise, is protected
# by the Swedish Copyright Act (1960:729) and international conventions.
# It is also subject to database protection according to the Swedish
# Copyright Act.
# Result of search for registered domain names under
# the .se top level domain.
# This whois printout is printed with UTF-8 encoding.
#
state:            active
domain:           exempel.se
holder:           (not shown)
created:          1997-02-18
modified:         2026-02-11
expires:          2027-02-18
transferred:      2012-09-28
nserver:          ns1.exempel.se 192.0.2.1
nserver:          ns2.annat.net
dnssec:           signed delegation
registry-lock:    unlocked
status:           ok
registrar:        Registrar Tolv AB
""",
    {
        "registrar": "Registrar Tolv AB",
        "created": "1997-02-18T00:00:00Z",
        "updated": "2026-02-11T00:00:00Z",
        "expires": "2027-02-18T00:00:00Z",
        "name_servers": ["ns1.exempel.se", "ns2.annat.net"],
        "status": ["ok"],
        "dnssec": True,
    },
)

TRAFICOM = Case(
    "esimerkki.fi",
    """
domain.............: esimerkki.fi
status.............: Registered
created............: 1.1.1999 00:00:00
expires............: 31.8.2027 09:30:00
available..........: 30.9.2027 09:30:00
modified...........: 27.8.2026 10:18:13
holder transfer....:
RegistryLock.......: no

Nameservers

nserver............: ns1.esimerkki.fi [192.0.2.1] [OK]
nserver............: ns2.muualla.net [Technical Error]

DNSSEC

dnssec.............: no

Holder

name...............: Esimerkki Oy
register number....: 0000000-0
country............: Finland

Registrar

registrar..........: Registrar Kolmetoista Oy
www................: www.registrar13.fi

Tech

name...............: Tekniikka
email..............: tech@registrar13.fi


>>> Last update of WHOIS database: 20.11.2026 10:00:25 (EET) <<<


Copyright (c) Finnish Transport and Communications Agency Traficom

""",
    {
        "registrar": "Registrar Kolmetoista Oy",
        "registrar_url": "www.registrar13.fi",
        "created": "1999-01-01T00:00:00Z",
        "updated": "2026-08-27T10:18:13Z",
        "expires": "2027-08-31T09:30:00Z",
        "name_servers": ["ns1.esimerkki.fi", "ns2.muualla.net"],
        "dnssec": False,
    },
)

NIC_AT = Case(
    "beispiel.at",
    """% Copyright (c)2026 by NIC.AT (1)
%
% Restricted rights.
%
% Except  for  agreed Internet  operational  purposes, no  part  of this
% information  may  be reproduced,  stored  in  a  retrieval  system, or
% transmitted, in  any  form  or by  any means.

domain:         beispiel.at
registrar:      Registrar Vierzehn GmbH ( https://nic.at/registrar/14 )
registrant:     <data not disclosed>
tech-c:         RV14-NICAT
nserver:        ns1.beispiel.at
remarks:        192.0.2.1
nserver:        ns2.anderswo.net
changed:        20260101 12:13:14
source:         AT-DOM

personname:     Vorname Nachname
organization:   Beispiel GmbH
changed:        20200202 10:11:12
nic-hdl:        RV14-NICAT
source:         AT-DOM
""",
    {
        "registrar": "Registrar Vierzehn GmbH",
        "registrar_url": "https://nic.at/registrar/14",
        "updated": "2026-01-01T12:13:14Z",
        "name_servers": ["ns1.beispiel.at", "ns2.anderswo.net"],
    },
)

SWITCH = Case(
    "beispiel.ch",
    """whois: This information is subject to an Acceptable Use Policy.
See https://www.nic.ch/terms/aup/


Domain name:
beispiel.ch

Holder of domain name:
Beispiel AG
Musterstrasse 1
CH-8000 Zürich
Switzerland

Technical contact:
Technik AG

Registrar:
Registrar Fünfzehn AG

First registration date:
1998-05-07

DNSSEC:N

Name servers:
ns1.beispiel.ch\t[192.0.2.1]
ns2.beispiel.ch
""",
    {
        "registrar": "Registrar Fünfzehn AG",
        "created": "1998-05-07T00:00:00Z",
        "name_servers": ["ns1.beispiel.ch", "ns2.beispiel.ch"],
        "dnssec": False,
    },
)

CZ_NIC = Case(
    "priklad.cz",
    """%  (c) 2006-2026 CZ.NIC, z.s.p.o.
%
% Intended use of supplied data and information
%
% Whoisd Server Version: 3.15.0
% Timestamp: Fri Nov 20 10:00:00 2026

domain:       priklad.cz
registrant:   SB:PRIKLAD
admin-c:      PRIKLAD-ADM
nsset:        NSS:PRIKLAD:1
keyset:       KEYSET-PRIKLAD
registrar:    REG-SESTNACT
status:       Sponsoring registrar change forbidden
status:       paid and in zone
registered:   30.12.1996 01:00:00
changed:      18.06.2024 12:05:44
expire:       29.10.2027

contact:      SB:PRIKLAD
org:          Příklad a.s.
name:         Jan Příklad
address:      Praha
registrar:    REG-JINY
created:      10.08.2001 22:13:00
changed:      15.05.2018 21:32:00

nsset:        NSS:PRIKLAD:1
nserver:      ns1.priklad.cz (192.0.2.1, 2001:db8::1)
nserver:      ns2.priklad.cz
tech-c:       PRIKLAD-ADM
registrar:    REG-SESTNACT
created:      04.10.2007 02:00:00
changed:      15.02.2013 21:03:00

keyset:       KEYSET-PRIKLAD
dnskey:       257 3 13 LM4zvjUgZi2XZKsYooDE0HFYGfWp
registrar:    REG-SESTNACT
created:      04.10.2016 02:00:00
""",
    {
        "registrar": "REG-SESTNACT",
        "created": "1996-12-30T01:00:00Z",
        "updated": "2024-06-18T12:05:44Z",
        "expires": "2027-10-29T00:00:00Z",
        "name_servers": ["ns1.priklad.cz", "ns2.priklad.cz"],
        "dnssec": True,
    },
)

CIRA_OLD = Case(
    "sample.ca",
    """Domain name:           sample.ca
Domain status:         registered
Creation date:         2000/10/04
Expiry date:           2027/04/28
Updated date:          2026/04/23
DNSSEC:                Unsigned

Registrar:
    Name:              Registrar Seventeen Inc.
    Number:            5000040

Registrant:
    Name:              Sample Ltd.

Administrative contact:
    Name:              A. Person
    Email:             a@sample.ca

Name servers:
    ns1.sample.ca          192.0.2.1
    ns2.sample.ca

% WHOIS look-up made at 2026-11-20 15:00:00 (GMT)
""",
    {
        "registrar": "Registrar Seventeen Inc.",
        "created": "2000-10-04T00:00:00Z",
        "updated": "2026-04-23T00:00:00Z",
        "expires": "2027-04-28T00:00:00Z",
        "name_servers": ["ns1.sample.ca", "ns2.sample.ca"],
        "dnssec": False,
    },
)

AUDA = Case(
    "sample.com.au",
    """Domain Name: SAMPLE.COM.AU
Registry Domain ID: 0123456789abcdef-AU
Registrar WHOIS Server: whois.auda.org.au
Registrar URL: https://www.registrar18.com.au
Last Modified: 2026-05-24T02:00:15Z
Registrar Name: Registrar Eighteen Pty Ltd
Registrar Abuse Contact Email: abuse@registrar18.com.au
Reseller Name:
Status: serverRenewProhibited https://identitydigital.au/get-au/whois-status-codes#serverRenewProhibited
Status Reason: Not Currently Eligible For Renewal
Registrant Contact ID: REG1-AU
Registrant Contact Name: A. Person
Tech Contact ID: TEC1-AU
Tech Contact Name: B. Person
Name Server: NS1.SAMPLE.COM.AU
Name Server IP: 192.0.2.1
Name Server: NS2.SAMPLE.COM.AU
DNSSEC: unsigned
Registrant: Sample Pty Ltd
Registrant ID: ABN 00000000000
Eligibility Type: Company

>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<
""",
    {
        "registrar": "Registrar Eighteen Pty Ltd",
        "registrar_url": "https://www.registrar18.com.au",
        "updated": "2026-05-24T02:00:15Z",
        "name_servers": ["ns1.sample.com.au", "ns2.sample.com.au"],
        "status": ["serverRenewProhibited"],
        "dnssec": False,
        "refers_to": "whois.auda.org.au",
    },
)

NZRS_OLD = Case(
    "sample.co.nz",
    """% New Zealand Domain Name Registry Limited
% Users confirm on submission their agreement to all published Terms
%
version: 8.6
query_datetime: 2026-11-20T23:00:00+13:00
domain_name: sample.co.nz
query_status: 200 Active
domain_dateregistered: 1999-02-17T00:00:00+13:00
domain_datebilleduntil: 2027-02-17T00:00:00+13:00
domain_datelastmodified: 2026-02-01T10:20:30+13:00
domain_delegaterequested: yes
domain_signed: no
%
registrar_name: Registrar Nineteen Limited
registrar_address1: 1 Street
registrar_country: NZ (NEW ZEALAND)
registrar_phone: +64 0 0000000
%
registrant_contact_name: A. Person
%
ns_name_01: ns1.sample.co.nz
ns_ip4_01: 192.0.2.1
ns_name_02: ns2.sample.co.nz
""",
    {
        "registrar": "Registrar Nineteen Limited",
        "created": "1999-02-16T11:00:00Z",
        "updated": "2026-01-31T21:20:30Z",
        "expires": "2027-02-16T11:00:00Z",
        "name_servers": ["ns1.sample.co.nz", "ns2.sample.co.nz"],
        "dnssec": False,
    },
)

TRABIS = Case(
    "ornek.com.tr",
    """** Domain Name: ornek.com.tr
Domain Status: Active
Frozen Status: -
Transfer Status: The domain is LOCKED to transfer.

** Registrant:
   Hidden upon user request
   Hidden upon user request

** Registrar:
NIC Handle\t\t: abc12
Organization Name\t: Registrar Yirmi A.S.
Address\t\t\t: Sokak 1
\t\t\t  Istanbul
Phone\t\t\t: + 90-000-0000000-
Fax\t\t\t: -

** Domain Servers:
ns1.ornek.com.tr
ns2.ornek.com.tr 192.0.2.2

** Additional Info:
Created on..............: 1998-Apr-08.
Expires on..............: 2027-Apr-07.

** Whois Server:
Last Update Time: 2026-11-20T13:00:00+03:00
""",
    {
        "registrar": "Registrar Yirmi A.S.",
        "created": "1998-04-08T00:00:00Z",
        "expires": "2027-04-07T00:00:00Z",
        "name_servers": ["ns1.ornek.com.tr", "ns2.ornek.com.tr"],
    },
)

HOSTMASTER_UA = Case(
    "pryklad.com.ua",
    """% This is the Ukrainian Whois query server #F.
% The Whois is subject to Terms of use
% See https://hostmaster.ua/services/
%

domain:           pryklad.com.ua
dom-public:       NO
mnt-by:           ua.registrar
nserver:          ns1.pryklad.com.ua
nserver:          ns2.pryklad.com.ua
status:           clientTransferProhibited
status:           ok
created:          2002-12-04 01:02:03+02
modified:         2026-10-02 12:03:11+03
expires:          2027-12-04 01:02:03+02
source:           UAEPP

% Registrar:
% ==========
registrar:        ua.registrar
organization:     Registrar 21 Ltd
organization-loc: ТОВ Реєстратор
url:              http://www.registrar21.ua
city:             Kyiv
country:          UA
abuse-email:      abuse@registrar21.ua
source:           UAEPP

% Registrant:
% ===========
contact-id:       pr-1
organization:     Pryklad
country:          UA
created:          2019-01-01 00:00:00+02
modified:         2020-01-01 00:00:00+02
source:           UAEPP

% Query time:     6 msec
""",
    {
        "registrar": "ua.registrar",
        "registrar_url": "http://www.registrar21.ua",
        "created": "2002-12-03T23:02:03Z",
        "updated": "2026-10-02T09:03:11Z",
        "expires": "2027-12-03T23:02:03Z",
        "name_servers": ["ns1.pryklad.com.ua", "ns2.pryklad.com.ua"],
        "status": ["clientTransferProhibited", "ok"],
    },
)

NORID = Case(
    "eksempel.no",
    """% By looking up information in the domain registration directory
% service, you confirm that you accept the terms and conditions of the
% service.
%
% These registration directory data are copyright of Norid.

Domain Information

NORID Handle...............: EKS123D-NORID
Domain Name................: eksempel.no
Registrar Handle...........: REG22-NORID
Tech-c Handle..............: TC1R-NORID
Name Server Handle.........: NSEK1H-NORID
DNSSEC.....................: Signed
DS Key Tag     1...........: 12345
Key Algorithm  1...........: 8        (RSA/SHA-256)

Additional information:
Created:         1999-11-15
Last updated:    2026-11-15
""",
    {
        "registrar": "REG22-NORID",
        "created": "1999-11-15T00:00:00Z",
        "updated": "2026-11-15T00:00:00Z",
        "dnssec": True,
    },
)

PUNKTUM = Case(
    "eksempel.dk",
    """# Hello 192.0.2.1. Your session has been logged.
#
# Copyright (c) 2002 - 2026 by Punktum dk A/S
#
# Version: 5.3.0

Domain:               eksempel.dk
DNS:                  eksempel.dk
Registered:           1997-08-01
Expires:              2027-09-30
Registrar:            Registrar 23 A/S
Registration period:  1 year
VID:                  no
DNSSEC:               Unsigned delegation, no permanent dnskey
Status:               Active

Registrant
Handle:               ***N/A***
Name:                 Eksempel A/S
Country:              DK

Nameservers
Hostname:             ns1.eksempel.dk
Hostname:             ns2.eksempel.dk
""",
    {
        "registrar": "Registrar 23 A/S",
        "created": "1997-08-01T00:00:00Z",
        "expires": "2027-09-30T00:00:00Z",
        "name_servers": ["ns1.eksempel.dk", "ns2.eksempel.dk"],
        "dnssec": False,
    },
)

DNS_PT = Case(
    "exemplo.pt",
    """Domain: exemplo.pt
Domain Status: Registered
Creation Date: 19/04/1999 00:00:00
Expiration Date: 31/12/2027 23:59:00
Owner Name: Exemplo Lda
Owner Address: Rua 1
Owner Email: dono@exemplo.pt
Admin Name: Registrar 24
Name Server: ns1.exemplo.pt | IPv4: 192.0.2.1 and IPv6: 2001:db8::1
Name Server: ns2.alhures.net | IPv4: and IPv6:
""",
    {
        "created": "1999-04-19T00:00:00Z",
        "expires": "2027-12-31T23:59:00Z",
        "name_servers": ["ns1.exemplo.pt", "ns2.alhures.net"],
    },
)

ISOC_IL = Case(
    "dugma.co.il",
    """
% The data in the WHOIS database of the .il registry is provided
% by ISOC-IL for information purposes, and to assist persons in obtaining
% information about or related to a domain name registration record.

query:        dugma.co.il

reg-name:     dugma
domain:       dugma.co.il

descr:        Dugma Ltd
descr:        Tel Aviv
phone:        +972 0 0000000
e-mail:       a AT dugma.co.il
admin-c:      II-AD1-IL
nserver:      ns1.dugma.co.il
nserver:      ns2.dugma.co.il
validity:     19-10-2027
DNSSEC:       unsigned
status:       Transfer Locked
changed:      domain-registrar AT isoc.org.il 19991019 (Assigned)
changed:      domain-registrar AT isoc.org.il 20131212 (Changed)
changed:      domain-registrar AT isoc.org.il 20261019 (Changed)

person:       A Person
address:      Street
nic-hdl:      II-AD1-IL
changed:      domain-registrar AT isoc.org.il 20080101 (Changed)

registrar name: Registrar 25 Ltd
registrar info: https://www.registrar25.co.il

% Rights to the data above are restricted by copyright.
""",
    {
        "registrar": "Registrar 25 Ltd",
        "registrar_url": "https://www.registrar25.co.il",
        "created": "1999-10-19T00:00:00Z",
        "updated": "2026-10-19T00:00:00Z",
        "expires": "2027-10-19T00:00:00Z",
        "name_servers": ["ns1.dugma.co.il", "ns2.dugma.co.il"],
        "dnssec": False,
    },
)

HKIRC = Case(
    "sample.com.hk",
    """ -------------------------------------------------------------------------------
 Whois server by HKIRC
 -------------------------------------------------------------------------------

Domain Name:  SAMPLE.COM.HK

Domain Status: Active

DNSSEC:  unsigned

Contract Version:   HKDNR latest version

Active variants

Inactive variants

Registrar Name: Registrar 26 Limited

Registrar Contact Information: Email: info@registrar26.hk Hotline: +852 00000000

Reseller:

Registrant Contact Information:

Company English Name (It should be the same as the registered/corporation name on your Business Register Certificate): SAMPLE
Company Chinese name: 樣本
Address:  1 ROAD
Country: Hong Kong (HK)
Email: a@sample.com.hk
Domain Name Commencement Date: 27-05-1999
Expiry Date: 31-03-2027
Re-registration Status:  Complete

Administrative Contact Information:

Given name:  A
Family name:  PERSON

Name Servers Information:

NS1.SAMPLE.COM.HK
NS2.SAMPLE.COM.HK  192.0.2.2

Status Information:

Domain Prohibit Status:

 -------------------------------------------------------------------------------
 The Registry contains ONLY .com.hk, .net.hk, .edu.hk and .hk domains.
""",
    {
        "registrar": "Registrar 26 Limited",
        "created": "1999-05-27T00:00:00Z",
        "expires": "2027-03-31T00:00:00Z",
        "name_servers": ["ns1.sample.com.hk", "ns2.sample.com.hk"],
        "dnssec": False,
    },
)

MYNIC = Case(
    "contoh.com.my",
    """Welcome to .my DOMAIN REGISTRY Whois Server. For alternative search,

a [Domain Name]                        contoh.com.my
b [Registration No.]                   D1A000001
c [Record Created]                     28-MAY-1997
d [Record Expired]                     28-MAY-2027
e [Record Last Modified]               11-JUN-2026
f [Registrant Code]                    AAA
i [Primary Name Server]
   ns1.contoh.com.my  192.0.2.1
j [Secondary Name Server]
   ns2.contoh.com.my
""",
    {
        "created": "1997-05-28T00:00:00Z",
        "updated": "2026-06-11T00:00:00Z",
        "expires": "2027-05-28T00:00:00Z",
        "name_servers": ["ns1.contoh.com.my", "ns2.contoh.com.my"],
    },
)

NIC_MX = Case(
    "ejemplo.com.mx",
    """
Domain Name:       ejemplo.com.mx

Created On:        2009-05-13
Expiration Date:   2027-05-12
Last Updated On:   2026-05-13
Registrar:         Registrar 27
URL:               http://www.registrar27.mx/
Whois TCP URI:     whois.registrar27.mx
Whois Web URL:     http://www.registrar27.mx/whois

Registrant:
   Name:           Ejemplo SA
   City:           Monterrey
   Country:        Mexico

Name Servers:
   DNS:            ns1.ejemplo.com.mx       192.0.2.1
   DNS:            ns2.ejemplo.com.mx

DNSSEC DS Records:


% NOTICE: The expiration date displayed in this record is the date the
% registrar's sponsorship of the domain name registration in the registry is
% currently set to expire.
""",
    {
        "registrar": "Registrar 27",
        "registrar_url": "http://www.registrar27.mx/",
        "created": "2009-05-13T00:00:00Z",
        "updated": "2026-05-13T00:00:00Z",
        "expires": "2027-05-12T00:00:00Z",
        "name_servers": ["ns1.ejemplo.com.mx", "ns2.ejemplo.com.mx"],
        "refers_to": "whois.registrar27.mx",
    },
)

NIC_AR = Case(
    "ejemplo.com.ar",
    """% La información a la que estás accediendo se provee exclusivamente para
% fines relacionados con operaciones sobre nombres de dominios y DNS.

domain:\t\tejemplo.com.ar
registrant:\t00000000000
registrar:\tnicar
registered:\t1999-05-15 00:00:00
changed:\t2026-05-01 01:02:03.456789
expire:\t\t2027-05-15 00:00:00

contact:\t00000000000
name:\t\tEjemplo SA
registrar:\tnicar
created:\t2013-05-15 00:00:00
changed:\t2026-11-01 00:00:00

nserver:\tns1.ejemplo.com.ar (192.0.2.1/32)
nserver:\tns2.otro.net ()
registrar:\tnicar
created:\t2016-07-07 00:00:00
""",
    {
        "registrar": "nicar",
        "created": "1999-05-15T00:00:00Z",
        "updated": "2026-05-01T01:02:03Z",
        "expires": "2027-05-15T00:00:00Z",
        "name_servers": ["ns1.ejemplo.com.ar", "ns2.otro.net"],
    },
)

NIC_CL = Case(
    "ejemplo.cl",
    """%%
%% This is the NIC Chile Whois server (whois.nic.cl).
%%
%% Rights restricted by copyright.
%%

Domain name: ejemplo.cl
Registrant name: Ejemplo SpA
Registrant organisation:
Registrar name: NIC Chile
Registrar URL: https://www.nic.cl
Creation date: 1998-04-05 00:00:00 CLST
Expiration date: 2027-05-06 23:59:59 CLST
Name server: ns1.ejemplo.cl (192.0.2.1)
Name server: ns2.ejemplo.cl
""",
    {
        "registrar": "NIC Chile",
        "registrar_url": "https://www.nic.cl",
        "created": "1998-04-05T03:00:00Z",
        "expires": "2027-05-07T02:59:59Z",
        "name_servers": ["ns1.ejemplo.cl", "ns2.ejemplo.cl"],
    },
)

INTERNET_EE = Case(
    "naide.ee",
    """Estonia .ee Top Level Domain WHOIS server

Domain:
name:       naide.ee
status:     ok (paid and in zone)
registered: 2010-07-04 04:12:00 +03:00
changed:    2026-01-02 03:04:05 +02:00
expire:     2027-07-05
outzone:
delete:

Registrant:
name:       Private Person
email:      Not Disclosed
changed:    2011-01-02 03:04:05 +02:00

Administrative contact:
name:       Not Disclosed
changed:    Not Disclosed

Registrar:
name:       Registrar 28 OÜ
url:        https://www.registrar28.ee
phone:      +372 0000000
changed:    2020-02-03 04:05:06 +02:00

Name servers:
nserver:   ns1.naide.ee
nserver:   ns2.naide.ee
changed:   2019-02-03 04:05:06 +02:00

Estonia .ee Top Level Domain WHOIS server
More information at http://internet.ee
""",
    {
        "registrar": "Registrar 28 OÜ",
        "registrar_url": "https://www.registrar28.ee",
        "created": "2010-07-04T01:12:00Z",
        "updated": "2026-01-02T01:04:05Z",
        "expires": "2027-07-05T00:00:00Z",
        "name_servers": ["ns1.naide.ee", "ns2.naide.ee"],
        "status": ["ok"],
    },
)

NIC_LV = Case(
    "paraugs.lv",
    """[Domain]
Domain: paraugs.lv
Status: active
Changed: 2026-04-05T06:07:08.123456+03:00

[Holder]
Type: Legal person
Name: Paraugs SIA
Country: LV

[Tech]
Type: Natural person
Visit: https://www.nic.lv/whois/contact/paraugs.lv

[Registrar]
Type: Legal person
Name: Registrar 29 SIA

[Nservers]
Nserver: ns1.paraugs.lv 192.0.2.1
Nserver: ns2.paraugs.lv

[Whois]
Updated: 2026-11-20T10:00:00.123456+00:00

[Disclaimer]
% The WHOIS service is provided solely for informational purposes.
""",
    {
        "registrar": "Registrar 29 SIA",
        "updated": "2026-04-05T03:07:08Z",
        "name_servers": ["ns1.paraugs.lv", "ns2.paraugs.lv"],
    },
)

DOMREG_LT = Case(
    "pavyzdys.lt",
    """% Hello, this is the DOMREG whois service.
%
% By submitting a query you agree not to use the information made
% available to:
%
Domain:\t\t\tpavyzdys.lt
Status:\t\t\tregistered
Registered:\t\t1999-11-17
Expires:\t\t2027-11-18
%
Registrar:\t\tUAB "Registrar 30"
Registrar website:\thttps://www.registrar30.lt/
Registrar email:\tinfo@registrar30.lt
%
Contact organization:\tUAB "Registrar 30"
%
Nameserver:\t\tns1.pavyzdys.lt\t[192.0.2.1]
Nameserver:\t\tns2.pavyzdys.lt
""",
    {
        "registrar": 'UAB "Registrar 30"',
        "registrar_url": "https://www.registrar30.lt/",
        "created": "1999-11-17T00:00:00Z",
        "expires": "2027-11-18T00:00:00Z",
        "name_servers": ["ns1.pavyzdys.lt", "ns2.pavyzdys.lt"],
    },
)

SK_NIC = Case(
    "priklad.sk",
    """Domain:                       priklad.sk
Registrant:                   PRIK-0001
Admin Contact:                PRIK-0001
Tech Contact:                 TECH-0001
Registrar:                    REGI-0031
Created:                      2003-04-24
Updated:                      2026-05-08
Valid Until:                  2027-04-24
Nameserver:                   ns1.priklad.sk
Nameserver:                   ns2.priklad.sk
EPP Status:                   clientTransferProhibited

Registrar:                    REGI-0031
Name:                         Registrar 31 s.r.o.
Organization:                 Registrar 31 s.r.o.
Phone:                        +421.000000000
Created:                      2017-09-01
Updated:                      2026-11-12

Contact:                      PRIK-0001
Name:                         Príklad
Created:                      2017-09-01
Updated:                      2019-11-12
""",
    {
        "registrar": "REGI-0031",
        "created": "2003-04-24T00:00:00Z",
        "updated": "2026-05-08T00:00:00Z",
        "expires": "2027-04-24T00:00:00Z",
        "name_servers": ["ns1.priklad.sk", "ns2.priklad.sk"],
        "status": ["clientTransferProhibited"],
    },
)

ARNES = Case(
    "primer.si",
    """% This is ARNES whois database
%
% Rights restricted by copyright

domain:          primer.si
registrar:       Registrar 32
registrar-url:   http://www.registrar32.si
nameserver:      ns1.primer.si (192.0.2.1)
nameserver:      ns2.primer.si
registrant:      G000001
status:          client_delete_prohibited,client_transfer_prohibited
created:         1999-04-05
expire:          2027-04-06
source:          ARNES
""",
    {
        "registrar": "Registrar 32",
        "registrar_url": "http://www.registrar32.si",
        "created": "1999-04-05T00:00:00Z",
        "expires": "2027-04-06T00:00:00Z",
        "name_servers": ["ns1.primer.si", "ns2.primer.si"],
        "status": ["clientDeleteProhibited", "clientTransferProhibited"],
    },
)

RNIDS = Case(
    "primer.rs",
    """% The data in the Whois database are provided by RNIDS
% for information purposes only.
Domain name: primer.rs
Domain status: Active https://www.rnids.rs/en/domain-name-status-codes#Active
Registration date: 10.03.2008 12:31:19
Modification date: 06.03.2026 08:54:11
Expiration date: 10.03.2027 12:31:19
Confirmed: 10.03.2008 12:31:19
Registrar: Registrar 33 d.o.o.


Registrant: Primer d.o.o.
Address: Beograd
ID Number: 00000000

Administrative contact: Osoba
Address: -

DNS: ns1.primer.rs - 192.0.2.1
DNS: ns2.primer.rs -


DNSSEC signed: no

Whois Timestamp: 20.11.2026 11:00:00
""",
    {
        "registrar": "Registrar 33 d.o.o.",
        "created": "2008-03-10T12:31:19Z",
        "updated": "2026-03-06T08:54:11Z",
        "expires": "2027-03-10T12:31:19Z",
        "name_servers": ["ns1.primer.rs", "ns2.primer.rs"],
        "dnssec": False,
    },
)

KAZNIC = Case(
    "ulgi.kz",
    """Whois Server for the KZ top level domain name.
This server is maintained by KazNIC Organization, a ccTLD manager for Kazakhstan Republic.

Domain Name............: ulgi.kz

Organization Using Domain Name
Name...................: Ulgi
Organization Name......: Ulgi LLP
Street Address.........: Almaty
Country................: KZ

Administrative Contact/Agent
NIC Handle.............: CA000001
Name...................: A Person
Phone Number...........: +7.0000000000

Nameserver in listed order

Primary server.........: ns1.ulgi.kz
Primary ip address.....: 192.0.2.1

Secondary server.......: ns2.ulgi.kz
Secondary ip address...: 192.0.2.2


Domain created: 1999-03-14 01:02:03 (GMT+0:00)
Last modified : 2026-06-28 09:08:07 (GMT+0:00)
Domain status : clientTransferProhibited - prohibits transfer (запрет на передачу домена)
                clientRenewProhibited - prohibits renewal

Registar created: KAZNIC
Current Registar: REGISTRAR34
""",
    {
        "registrar": "REGISTRAR34",
        "created": "1999-03-14T01:02:03Z",
        "updated": "2026-06-28T09:08:07Z",
        "name_servers": ["ns1.ulgi.kz", "ns2.ulgi.kz"],
        "status": ["clientTransferProhibited", "clientRenewProhibited"],
    },
)

EDUCAUSE = Case(
    "sample.edu",
    """This Registry database contains ONLY .EDU domains.
The data in the EDUCAUSE Whois database is provided
by EDUCAUSE for information purposes in order to
assist in the process of obtaining information about
or related to .edu domain registration records.

The EDUCAUSE Whois database is authoritative for the
.EDU domain.

-------------------------------------------------------------

Domain Name: SAMPLE.EDU

Registrant:
\tSample University
\tSample Hall
\tCambridge, MA 02139
\tUS

Administrative Contact:
\tA Person
\t+1.6170000000
\tdns@sample.edu

Technical Contact:
\tB Person

Name Servers:
\tNS1.SAMPLE.EDU      192.0.2.1
\tNS2.SAMPLE.EDU

Domain record activated:    24-Apr-1985
Domain record last updated: 15-Jan-2026
Domain expires:             31-Jul-2027

""",
    {
        "created": "1985-04-24T00:00:00Z",
        "updated": "2026-01-15T00:00:00Z",
        "expires": "2027-07-31T00:00:00Z",
        "name_servers": ["ns1.sample.edu", "ns2.sample.edu"],
    },
)

ISNIC = Case(
    "daemi.is",
    """% This is the ISNIC Whois server.
%
% Rights restricted by copyright.

domain:       daemi.is
descr:        Dæmi ehf
registrant:   DE1-IS
admin-c:      DE1-IS
nserver:      ns1.daemi.is
nserver:      ns2.daemi.is
dnssec:       unsigned delegation
created:      June  4 1997
expires:      June 27 2027
source:       ISNIC

role:         Dæmi ehf
nic-hdl:      DE1-IS
created:      January 16 2007
source:       ISNIC
""",
    {
        "created": "1997-06-04T00:00:00Z",
        "expires": "2027-06-27T00:00:00Z",
        "name_servers": ["ns1.daemi.is", "ns2.daemi.is"],
        "dnssec": False,
    },
)

CHANNEL_ISLES = Case(
    "sample.gg",
    """Domain:
     sample.gg

Domain Status:
     Active
     Transfer Prohibited by Registrar

Registrant:
     Sample Ltd

Registrar:
     Registrar 35 (http://www.registrar35.com)

Relevant dates:
     Registered on 30th April 2003 at 00:00:00.000
     Registry fee due on 30th April each year

Registration status:
     Registered until cancelled

Name servers:
     ns1.sample.gg
     ns2.sample.gg

WHOIS lookup made on Fri, 20 Nov 2026 at 10:00:00 GMT
""",
    {
        "registrar": "Registrar 35",
        "registrar_url": "http://www.registrar35.com",
        "created": "2003-04-30T00:00:00Z",
        "name_servers": ["ns1.sample.gg", "ns2.sample.gg"],
    },
)

DOT_TK = Case(
    "sample.tk",
    """
   Domain name:
      SAMPLE.TK

   Organisation:
      Dot TK administrator
      P.O. Box 1
      Phone: +31 20 0000000

   Domain Nameservers:
      NS1.SAMPLE.TK
      NS2.SAMPLE.TK


   Domain registered: 03/04/2012
   Record will expire on: 03/05/2027
""",
    {
        "created": "2012-03-04T00:00:00Z",
        "expires": "2027-03-05T00:00:00Z",
        "name_servers": ["ns1.sample.tk", "ns2.sample.tk"],
    },
)

IANA_INT = Case(
    "sample.int",
    """% IANA WHOIS server
% for more information on IANA, visit http://www.iana.org
% This query returned 1 object

domain:       SAMPLE.INT

organisation: Sample Organization
address:      Geneva

contact:      administrative
name:         A Person
phone:        +41 00 000 00 00

nserver:      NS1.SAMPLE.INT 192.0.2.1
nserver:      NS2.SAMPLE.INT 2001:db8::2

created:      1998-06-05
changed:      2026-10-02
source:       IANA
""",
    {
        "created": "1998-06-05T00:00:00Z",
        "updated": "2026-10-02T00:00:00Z",
        "name_servers": ["ns1.sample.int", "ns2.sample.int"],
    },
)

ROTLD = Case(
    "exemplu.ro",
    """% The WHOIS service offered by ROTLD and the access to the records in the ROTLD WHOIS database
% are provided for information purposes and to be used within the scope of technical or administrative
% necessities of Internet operation or to remedy legal problems.

  Domain Name: exemplu.ro
  Registered On: Before 2001
  Expires On: 2027-09-30
  Registrar: Registrar 36
  Referral URL: http://www.registrar36.ro

  DNSSEC: Inactive

  Nameserver: ns1.exemplu.ro
  Nameserver: ns2.exemplu.ro

  Domain Status: UpdateProhibited
""",
    {
        "registrar": "Registrar 36",
        "registrar_url": "http://www.registrar36.ro",
        "expires": "2027-09-30T00:00:00Z",
        "name_servers": ["ns1.exemplu.ro", "ns2.exemplu.ro"],
        "dnssec": False,
    },
)

NIC_VE = Case(
    "ejemplo.com.ve",
    """Servidor Whois del Centro de Información de Red de Venezuela (NIC.VE)

Este servidor contiene información autoritativa exclusivamente de dominios .VE

Nombre de Dominio: ejemplo.com.ve

   Fecha de Vencimiento: 2027-11-20 11:11:11
   Ultima Actualización: 2026-11-10 10:10:10
   Fecha de Creación: 2005-11-20 11:11:11

   Estatus del dominio: ACTIVO

   Servidor(es) de Nombres de Dominio:

   - ns1.ejemplo.com.ve
   - ns2.ejemplo.com.ve
""",
    {
        "created": "2005-11-20T11:11:11Z",
        "updated": "2026-11-10T10:10:10Z",
        "expires": "2027-11-20T11:11:11Z",
        "name_servers": ["ns1.ejemplo.com.ve", "ns2.ejemplo.com.ve"],
    },
)

SGNIC = Case(
    "sample.com.sg",
    """----------------------------------------------------------------------
SGNIC WHOIS Server
----------------------------------------------------------------------

The following data is provided for information purposes only.

    Registrar:\t\tREGISTRAR 37 PTE LTD

    Domain Name:\tSAMPLE.COM.SG
    Creation Date:\t05-Jan-2005 18:18:18
    Modified Date:\t06-Jan-2026 14:15:16
    Expiration Date:\t05-Jan-2027 18:18:18
    Domain Status:\tOK
    Domain Status:\tVerifiedID@SG-Mandatory
    Registrant:

        Name:\t\tSAMPLE PTE LTD

    Name Servers:

        NS1.SAMPLE.COM.SG
        NS2.SAMPLE.COM.SG

    DNSSEC:\tunsigned
""",
    {
        "registrar": "REGISTRAR 37 PTE LTD",
        "created": "2005-01-05T18:18:18Z",
        "updated": "2026-01-06T14:15:16Z",
        "expires": "2027-01-05T18:18:18Z",
        "name_servers": ["ns1.sample.com.sg", "ns2.sample.com.sg"],
        "status": ["ok"],
        "dnssec": False,
    },
)
