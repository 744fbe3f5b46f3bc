"""Records of registered domains in the formats of many registries, and what is to be read of them.

The formats are the registries'; the registrants, figures and dates are made up.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """A text and its fields; what is not named is None or empty."""

    domain: str
    text: str
    fields: dict[str, Any]


VERISIGN = Case(
    "sample-shop.com",
    """   Domain Name: SAMPLE-SHOP.COM
   Registry Domain ID: 1234567_DOMAIN_COM-VRSN
   Registrar WHOIS Server: whois.registrar.invalid.net
   Registrar URL: http://www.registrar-one.com
   Updated Date: 2025-08-14T07:01:34Z
   Creation Date: 1998-08-15T04:00:00Z
   Registry Expiry Date: 2027-08-14T04:00:00Z
   Registrar: Registrar One, LLC
   Registrar IANA ID: 1068
   Registrar Abuse Contact Email: abuse@registrar-one.com
   Registrar Abuse Contact Phone: +1.5555551234
   Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited
   Domain Status: serverHold https://icann.org/epp#serverHold
   Name Server: NS2.SAMPLE-SHOP.COM
   Name Server: NS1.SAMPLE-SHOP.COM
   DNSSEC: signedDelegation
   DNSSEC DS Data: 31589 8 2 CDE0D742D6998AA554A92D890F8184C698CFAC8A26FA59875A990C03E576343C
   URL of the ICANN Whois Inaccuracy Complaint Form: https://www.icann.org/wicf/
>>> Last update of whois database: 2026-11-20T10:00:00Z <<<

For more information on Whois status codes, please visit https://icann.org/epp

NOTICE: The expiration date displayed in this record is the date the
registrar's sponsorship of the domain name registration in the registry is
currently set to expire. This date does not necessarily reflect the expiration
date of the domain name registrant's agreement with the sponsoring
registrar.

TERMS OF USE: You are not authorized to access or query our Whois
database through the use of electronic processes that are high-volume and
automated. If there is no match for a
domain name: OTHER.COM
no match
Too many queries are blocked. The Registry database contains ONLY .COM, .NET, .EDU domains.
""",
    {
        "registrar": "Registrar One, LLC",
        "registrar_iana_id": "1068",
        "registrar_url": "http://www.registrar-one.com",
        "created": "1998-08-15T04:00:00Z",
        "updated": "2025-08-14T07:01:34Z",
        "expires": "2027-08-14T04:00:00Z",
        "name_servers": ["ns1.sample-shop.com", "ns2.sample-shop.com"],
        "status": ["clientTransferProhibited", "serverHold"],
        "dnssec": True,
        "refers_to": "whois.registrar.invalid.net",
    },
)

PIR = Case(
    "sample.org",
    """Domain Name: sample.org
Registry Domain ID: REDACTED
Registrar WHOIS Server: http://whois.registrar-two.com
Registrar URL: https://registrar-two.com/
Updated Date: 2026-05-01T10:11:12.345Z
Creation Date: 2001-02-03T04:05:06.0Z
Registry Expiry Date: 2027-02-03T04:05:06.0Z
Registrar: Registrar Two GmbH
Registrar IANA ID: 83
Registrar Abuse Contact Email: abuse@registrar-two.com
Registrar Abuse Contact Phone:
Reseller:
Domain Status: ok https://icann.org/epp#ok
Registry Registrant ID: REDACTED
Registrant Name: REDACTED
Registrant Organization: Sample Foundation
Registrant Country: DE
Name Server: ns1.sample.org
Name Server: ns2.sample.org
Name Server:
DNSSEC: unsigned
URL of the ICANN Whois Inaccuracy Complaint Form: https://icann.org/wicf/
>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<

Terms of Use: Access to Public Interest Registry WHOIS information is provided to assist persons. All rights reserved.
""",
    {
        "registrar": "Registrar Two GmbH",
        "registrar_iana_id": "83",
        "registrar_url": "https://registrar-two.com/",
        "created": "2001-02-03T04:05:06Z",
        "updated": "2026-05-01T10:11:12Z",
        "expires": "2027-02-03T04:05:06Z",
        "name_servers": ["ns1.sample.org", "ns2.sample.org"],
        "status": ["ok"],
        "dnssec": False,
        "refers_to": "whois.registrar-two.com",
    },
)

DENIC = Case(
    "muster.de",
    """% Restricted rights.
%
% Terms and Conditions of Use
%
% The above data may only be used within the scope of technical or
% administrative necessities of Internet operation.

Domain: muster.de
Nserver: ns1.muster.de 192.0.2.53 2001:db8::53
Nserver: ns2.nameserver.example.com
Dnskey: 257 3 8 AwEAAb+AAAA=
Status: connect
Changed: 2024-03-12T21:44:25+01:00
""",
    {
        "updated": "2024-03-12T20:44:25Z",
        "name_servers": ["ns1.muster.de", "ns2.nameserver.example.com"],
        "dnssec": True,
    },
)

NOMINET = Case(
    "sample.co.uk",
    """
    Domain name:
        sample.co.uk

    Data validation:
        Nominet was able to match the registrant's name and address against a 3rd party data source on 10-Dec-2012

    Registrar:
        Sample Hosting Ltd t/a Sample [Tag = SAMPLE]
        URL: http://www.sample-hosting.co.uk

    Relevant dates:
        Registered on: 26-Jun-1998
        Expiry date:  26-Jun-2027
        Last updated:  28-May-2026

    Registration status:
        Registered until expiry date.

    Name servers:
        ns1.sample.co.uk          192.0.2.1  2001:db8::1
        ns0.elsewhere.net

    DNSSEC:
        Signed

    WHOIS lookup made at 10:11:12 20-Nov-2026

--
This WHOIS information is provided for free by Nominet UK the central registry
for .uk domain names. This information and the .uk WHOIS are:

    Copyright Nominet UK 1996 - 2026.

You may not access the .uk WHOIS or use any data from it except as permitted
by the terms of use available in full at https://www.nominet.uk/whoisterms,
which includes restrictions on: (A) use of the data for advertising, or its
repackaging, recompilation, redistribution or reuse (B) obscuring, removing
or hiding any or all of this notice and (C) exceeding query rate or volume
limits. The data is provided on an 'as-is' basis and may lag behind the
register. Access may be withdrawn or restricted at any time.
""",
    {
        "registrar": "Sample Hosting Ltd t/a Sample",
        "registrar_url": "http://www.sample-hosting.co.uk",
        "created": "1998-06-26T00:00:00Z",
        "updated": "2026-05-28T00:00:00Z",
        "expires": "2027-06-26T00:00:00Z",
        "name_servers": ["ns0.elsewhere.net", "ns1.sample.co.uk"],
        "dnssec": True,
    },
)

NOMINET_OLD = Case(
    "old.org.uk",
    """
    Domain name:
        old.org.uk

    Registrar:
        No registrar listed.  This domain is directly registered with Nominet.

    Relevant dates:
        Registered on: before Aug-1996
        Expiry date:  01-Dec-2026

    Registration status:
        Renewal required.
        *** This registration has been SUSPENDED. ***

    Name servers:
        No name servers listed.

    WHOIS lookup made at 10:11:12 20-Nov-2026
""",
    {
        "expires": "2026-12-01T00:00:00Z",
    },
)

JISC = Case(
    "sample.ac.uk",
    """
Domain:
\tsample.ac.uk

Registered For:
\tUniversity of Sample

Domain Owner:
\tUniversity of Sample

Registered By:
\tJisc Services Limited

Servers:
\tdns0.sample.ac.uk\t192.0.2.10
\tdns1.sample.ac.uk\t192.0.2.11

Registrant Contact:
\tA. Person

Renewal date:
\tTuesday 8th August 2028

Entry updated:
\tMonday 7th June 2021

Entry created:
\tWednesday 17th September 2003
""",
    {
        "registrar": "Jisc Services Limited",
        "created": "2003-09-17T00:00:00Z",
        "updated": "2021-06-07T00:00:00Z",
        "expires": "2028-08-08T00:00:00Z",
        "name_servers": ["dns0.sample.ac.uk", "dns1.sample.ac.uk"],
    },
)

JPRS = Case(
    "mihon.jp",
    """[ JPRS database provides information on network administration. Its use is    ]
[ restricted to network administration purposes. For further information,     ]
[ use 'whois -h whois.jprs.jp help'. To suppress Japanese output, add'/e'     ]
[ at the end of command, e.g. 'whois -h whois.jprs.jp xxx/e'.                 ]
Domain Information:
[Domain Name]                   MIHON.JP

[Registrant]                    Mihon K.K.

[Name Server]                   ns1.mihon.jp
[Name Server]                   ns2.mihon.jp
[Signing Key]                   49384 8 2 (
                                9BE5D9ED3A9C1D3B0B1BDB5A8C1B2A0F
                                7F8E0F3A2B1C0D9E8F7A6B5C4D3E2F1A )

[Created on]                    2001/08/09
[Expires on]                    2027/08/31
[Status]                        Active
[Lock Status]                   DomainTransferLocked
[Last Updated]                  2026/09/01 01:05:11 (JST)

Contact Information:
[Name]                          Mihon K.K.
[Email]                         nic@mihon.jp
[Web Page]
[Postal code]                   100-0001
[Phone]                         03-0000-0000
""",
    {
        "created": "2001-08-09T00:00:00Z",
        "updated": "2026-08-31T16:05:11Z",
        "expires": "2027-08-31T00:00:00Z",
        "name_servers": ["ns1.mihon.jp", "ns2.mihon.jp"],
        "dnssec": True,
    },
)

JPRS_ORGANIZATION = Case(
    "mihon.co.jp",
    """Domain Information:
a. [Domain Name]                MIHON.CO.JP
g. [Organization]               Mihon Corporation
l. [Organization Type]          Corporation
m. [Administrative Contact]     AB123JP
n. [Technical Contact]          CD456JP
p. [Name Server]                ns1.mihon.co.jp
p. [Name Server]                ns2.mihon.co.jp
s. [Signing Key]
[State]                         Connected (2027/03/31)
[Lock Status]                   AgentChangeLocked
[Registered Date]               1996/10/02
[Connected Date]                1996/10/15
[Last Update]                   2026/04/01 01:03:44 (JST)
""",
    {
        "created": "1996-10-02T00:00:00Z",
        "updated": "2026-03-31T16:03:44Z",
        "expires": "2027-03-31T00:00:00Z",
        "name_servers": ["ns1.mihon.co.jp", "ns2.mihon.co.jp"],
    },
)

JPRS_JAPANESE = Case(
    "mihon.jp",
    """[ドメイン名]                    MIHON.JP
[登録者名]                      見本株式会社
[ネームサーバ]                  ns1.mihon.jp
[署名鍵]

[登録年月日]                    2001年08月09日
[有効期限]                      2027年08月31日
[状態]                          Active
[最終更新]                      2026/09/01 01:05:11 (JST)
""",
    {
        "created": "2001-08-09T00:00:00Z",
        "updated": "2026-08-31T16:05:11Z",
        "expires": "2027-08-31T00:00:00Z",
        "name_servers": ["ns1.mihon.jp"],
    },
)

AFNIC = Case(
    "exemple.fr",
    """%%
%% This is the AFNIC Whois server.
%%
%% complete date format : YYYY-MM-DDThh:mm:ssZ
%%
%% Rights restricted by copyright.
%% See https://www.afnic.fr/en/domain-names-and-support/everything-there-is-to-know-about-domain-names/
%%

domain:                        exemple.fr
status:                        ACTIVE
eppstatus:                     serverTransferProhibited
hold:                          NO
holder-c:                      ANO00-FRNIC
admin-c:                       ANO00-FRNIC
tech-c:                        RB1-FRNIC
registrar:                     Bureau Un
Expiry Date:                   2027-04-14T22:00:00Z
created:                       1995-01-01T00:00:00Z
last-update:                   2026-03-04T05:06:07Z
source:                        FRNIC

nserver:                       ns1.exemple.fr [192.0.2.1 2001:db8::1]
nserver:                       ns2.exemple.fr
source:                        FRNIC

key1-tag:                      12345
key1-algo:                     13 [ECDSAP256SHA256]
source:                        FRNIC

registrar:                     Bureau Un
address:                       2 Rue du Modèle
country:                       FR
phone:                         +33.100000000
e-mail:                        support@bureau-un.example
website:                       https://www.bureau-un.fr
anonymous:                     No
registered:                    1999-10-18T00:00:00Z
source:                        FRNIC

nic-hdl:                       ANO00-FRNIC
type:                          PERSON
contact:                       Ano Nymous
registrar:                     Bureau Deux
changed:                       2026-10-10T00:00:00Z
anonymous:                     YES
eppstatus:                     associated
source:                        FRNIC

>>> Last update of WHOIS database: 2026-11-20T10:00:00.000Z <<<
""",
    {
        "registrar": "Bureau Un",
        "registrar_url": "https://www.bureau-un.fr",
        "created": "1995-01-01T00:00:00Z",
        "updated": "2026-03-04T05:06:07Z",
        "expires": "2027-04-14T22:00:00Z",
        "name_servers": ["ns1.exemple.fr", "ns2.exemple.fr"],
        "status": ["serverTransferProhibited"],
        "dnssec": True,
    },
)

NIC_IT = Case(
    "esempio.it",
    """
*********************************************************************
* Please note that the following result could be a subgroup of      *
* the data contained in the database.                               *
*                                                                   *
* Additional information can be visualized at:                      *
* http://web-whois.nic.it                                           *
*********************************************************************

Domain:             esempio.it
Status:             clientTransferProhibited
                    clientUpdateProhibited
Signed:             no
Created:            1996-01-29 00:00:00
Last Update:        2026-02-14 00:52:02
Expire Date:        2027-01-29

Registrant
  Organization:     Esempio S.p.A.
  Address:          Via Modello 1
                    Roma
  Created:          2007-03-01 10:28:08
  Last Update:      2011-03-01 10:28:08

Admin Contact
  Name:             Mario Esempio
  Created:          2001-03-01 10:28:08
  Last Update:      2002-03-01 10:28:08

Technical Contacts
  Name:             Tecnico
  Organization:     Tecnica Srl

Registrar
  Organization:     Registrar Tre S.r.l.
  Name:             TRE-REG
  Web:              https://www.registrar-tre.it
  DNSSEC:           yes


Nameservers
  dns1.esempio.it
  dns2.esempio.it

""",
    {
        "registrar": "Registrar Tre S.r.l.",
        "registrar_url": "https://www.registrar-tre.it",
        "created": "1996-01-29T00:00:00Z",
        "updated": "2026-02-14T00:52:02Z",
        "expires": "2027-01-29T00:00:00Z",
        "name_servers": ["dns1.esempio.it", "dns2.esempio.it"],
        "status": ["clientTransferProhibited", "clientUpdateProhibited"],
        "dnssec": False,
    },
)

NASK = Case(
    "przyklad.pl",
    """
DOMAIN NAME:           przyklad.pl
registrant type:       organization
nameservers:           ns1.przyklad.pl. [192.0.2.1]
                       ns2.przyklad.pl. [2001:db8::2]
                       dns.inny.net.
created:               1999.01.02 13:00:00
last modified:         2026.01.02 09:12:13
renewal date:          2027.01.02 13:00:00

option created:        2026.05.05 11:11:11
option expiration date:       2029.05.05 11:11:11

dnssec:                Unsigned


REGISTRAR:
Rejestrator Cztery Sp. z o.o.
ul. Przykładowa 12
01-045 Warszawa
Polska/Poland
+48.223808300
https://www.rejestrator4.pl/

WHOIS database responses: https://dns.pl/en/whois

WHOIS displays data with a delay not exceeding 15 minutes in relation to the .pl Registry system
""",
    {
        "registrar": "Rejestrator Cztery Sp. z o.o.",
        "registrar_url": "https://www.rejestrator4.pl/",
        "created": "1999-01-02T13:00:00Z",
        "updated": "2026-01-02T09:12:13Z",
        "expires": "2027-01-02T13:00:00Z",
        "name_servers": ["dns.inny.net", "ns1.przyklad.pl", "ns2.przyklad.pl"],
        "dnssec": False,
    },
)

TCI = Case(
    "obrazec.ru",
    """% TCI Whois Service. Terms of use:
% https://tcinet.ru/documents/whois_ru_rf.pdf (in Russian)

domain:        OBRAZEC.RU
nserver:       ns1.obrazec.ru. 192.0.2.1, 2001:db8:0:0::1
nserver:       ns2.obrazec.ru. 192.0.2.2
state:         REGISTERED, DELEGATED, VERIFIED
org:           Obrazec LLC
taxpayer-id:   7700000000
registrar:     RU-FIVE-RU
admin-contact: https://www.nic.ru/whois
created:       1997-09-23T09:45:07Z
paid-till:     2027-09-30T21:00:00Z
free-date:     2027-11-01
source:        TCI

Last updated on 2026-11-20T10:01:30Z

""",
    {
        "registrar": "RU-FIVE-RU",
        "created": "1997-09-23T09:45:07Z",
        "expires": "2027-09-30T21:00:00Z",
        "name_servers": ["ns1.obrazec.ru", "ns2.obrazec.ru"],
    },
)

NIC_BR = Case(
    "exemplo.com.br",
    """% Copyright (c) Nic.br
%  The use of the data below is only permitted as described in
%  full by the Use and Privacy Policy at https://registro.br/upp ,
%  being prohibited its distribution, commercialization or
%  reproduction, in particular, to use it for advertising or
%  any similar purpose.
%  2026-11-20T12:00:00-03:00 - IP: 192.0.2.1

domain:      exemplo.com.br
owner:       Exemplo Comércio Ltda
ownerid:     00.000.000/0001-00
responsible: Fulano de Tal
country:     BR
owner-c:     ABC12
tech-c:      ABC12
nserver:     ns1.exemplo.com.br 192.0.2.1
nsstat:      20261119 AA
nslastaa:    20261119
nserver:     ns2.exemplo.com.br
nsstat:      20261119 AA
nslastaa:    20261119
dsrecord:    12345 ECDSA-SHA-256 ABCDEF0123456789
dsstatus:    20261119 DSOK
dslastok:    20261119
saci:        yes
created:     19990518 #162310
changed:     20260410
expires:     20270518
status:      published

nic-hdl-br:  ABC12
person:      Fulano de Tal
e-mail:      fulano@exemplo.com.br
country:     BR
created:     19971217
changed:     20200807

% Security and mail abuse issues should also be addressed to
% cert.br, http://www.cert.br/ , respectivelly to cert@cert.br
% and mail-abuse@cert.br
""",
    {
        "created": "1999-05-18T00:00:00Z",
        "updated": "2026-04-10T00:00:00Z",
        "expires": "2027-05-18T00:00:00Z",
        "name_servers": ["ns1.exemplo.com.br", "ns2.exemplo.com.br"],
        "dnssec": True,
    },
)

KISA = Case(
    "gyeonbon.kr",
    """query : gyeonbon.kr


# KOREAN(UTF8)

도메인이름                  : gyeonbon.kr
등록인                      : 견본 주식회사
책임자                      : 도메인담당
등록일                      : 2006. 09. 21.
최근 정보 변경일            : 2025. 09. 04.
사용 종료일                 : 2027. 09. 21.
정보공개여부                : Y
등록대행자                  : (주)등록여섯(http://www.registrar6.co.kr)
DNSSEC                      : 미서명

1차 네임서버 정보
   호스트이름               : ns.gyeonbon.kr
   IP 주소                  : 192.0.2.1

네임서버 이름이 .kr이 아닌 경우는 IP주소가 보이지 않습니다.


# ENGLISH

Domain Name                 : gyeonbon.kr
Registrant                  : Gyeonbon Co., Ltd.
Registrant Address          : Seoul
Registrant Zip Code         : 00000
Administrative Contact(AC)  : domain manager
AC E-Mail                   : dm@gyeonbon.kr
AC Phone Number             : 02-0000-0000
Registered Date             : 2006. 09. 21.
Last Updated Date           : 2025. 09. 04.
Expiration Date             : 2027. 09. 21.
Publishes                   : Y
Authorized Agency           : Registrar Six, Inc.(http://www.registrar6.co.kr)
DNSSEC                      : unsigned
Domain Status               : clientTransferProhibited

Primary Name Server
   Host Name                : ns.gyeonbon.kr
   IP Address               : 192.0.2.1

Secondary Name Server
   Host Name                : ns2.elsewhere.net


- KISA/KRNIC WHOIS Service -

""",
    {
        "registrar": "Registrar Six, Inc.",
        "registrar_url": "http://www.registrar6.co.kr",
        "created": "2006-09-21T00:00:00Z",
        "updated": "2025-09-04T00:00:00Z",
        "expires": "2027-09-21T00:00:00Z",
        "name_servers": ["ns.gyeonbon.kr", "ns2.elsewhere.net"],
        "status": ["clientTransferProhibited"],
        "dnssec": False,
    },
)

KISA_KOREAN = Case(
    "gyeonbon.kr",
    KISA.text.partition("# ENGLISH")[0],
    {
        "registrar": "(주)등록여섯",
        "registrar_url": "http://www.registrar6.co.kr",
        "created": "2006-09-21T00:00:00Z",
        "updated": "2025-09-04T00:00:00Z",
        "expires": "2027-09-21T00:00:00Z",
        "name_servers": ["ns.gyeonbon.kr"],
        "dnssec": False,
    },
)

TWNIC = Case(
    "fanli.com.tw",
    """Domain Name: fanli.com.tw
   Domain Status: clientTransferProhibited
   Registrant:
      範例公司
      Fanli Co., Ltd.
      +886.200000000
      Taipei
      TW

   Administrative Contact:
      (Redacted for privacy)

   Technical Contact:
      (Redacted for privacy)

   Record expires on 2027-05-31 08:00:00 (UTC+8)
   Record created on 1998-05-31 00:00:00 (UTC+8)

   Domain servers in listed order:
      ns1.fanli.com.tw       192.0.2.1
      ns2.fanli.com.tw

Registration Service Provider: SEVEN-NET
Registration Service URL: https://www.seven-net.com.tw

Provided by SEVEN-NET Information Co., Ltd. All Rights Reserved.
""",
    {
        "registrar": "SEVEN-NET",
        "registrar_url": "https://www.seven-net.com.tw",
        "created": "1998-05-30T16:00:00Z",
        "expires": "2027-05-31T00:00:00Z",
        "name_servers": ["ns1.fanli.com.tw", "ns2.fanli.com.tw"],
        "status": ["clientTransferProhibited"],
    },
)

CNNIC = Case(
    "yangben.cn",
    """Domain Name: yangben.cn
ROID: 20030312s10001s00012345-cn
Domain Status: clientDeleteProhibited
Domain Status: clientTransferProhibited
Registrant: 样本有限公司
Registrant Contact Email: dns@yangben.cn
Sponsoring Registrar: 第八注册服务有限公司
Name Server: ns1.yangben.cn
Name Server: ns2.yangben.cn
Registration Time: 2003-03-17 12:20:05
Expiration Time: 2027-03-17 12:48:36
DNSSEC: unsigned
""",
    {
        "registrar": "第八注册服务有限公司",
        "created": "2003-03-17T12:20:05Z",
        "expires": "2027-03-17T12:48:36Z",
        "name_servers": ["ns1.yangben.cn", "ns2.yangben.cn"],
        "status": ["clientDeleteProhibited", "clientTransferProhibited"],
        "dnssec": False,
    },
)
