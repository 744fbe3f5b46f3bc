"""The names that registries use for fields, in their languages. Keys are folded (lines.fold)."""

import enum
from collections.abc import Mapping


class Field(enum.Enum):
    """The fields that are read from a record."""

    DOMAIN = enum.auto()
    CREATED = enum.auto()
    UPDATED = enum.auto()
    EXPIRES = enum.auto()
    REGISTRAR = enum.auto()
    IANA_ID = enum.auto()
    URL = enum.auto()
    WHOIS = enum.auto()
    NAME_SERVER = enum.auto()
    STATUS = enum.auto()
    DNSSEC = enum.auto()
    DS = enum.auto()
    """If present, the delegation is signed."""
    REGISTRANT = enum.auto()
    """If present, there is a record."""


def _table(names: Mapping[Field, str]) -> dict[str, Field]:
    return {name.strip(): field for field, listed in names.items() for name in listed.split(",")}


PLAIN = _table(
    {
        Field.DOMAIN: "domain name,domain,domainname,nom de domaine,nome de domínio,nombre de dominio,domaine,dominio,"
        "domain name (utf8),domain idn,complete domain name,도메인이름,ドメイン名,域名,query domain",
        Field.CREATED: "creation date,created date,create date,created on,registered on,registered date,registration date,"
        "registration time,domain registration date,domain registered,domain created,domain create date,record created on,"
        "record created,domain record activated,domain name commencement date,entry created,first registration date,"
        "registered since,domain dateregistered,created at,creation date (dd/mm/yyyy),fecha de creación,fecha de creacion,"
        "fecha de registro,fecha de activación,fecha de activacion,data de criação,data de registo,date de création,"
        "date de creation,créé (jj/mm/aaaa),登録年月日,接続年月日,등록일,注册时间,activated on,activation date,"
        "registration date (gmt),created date (gmt),date registered,domain creation date,domain registration",
        Field.UPDATED: "updated date,last updated date,last updated on,last modified,last modified date,modified date,"
        "modification date,last update,last updated,domain record last updated,record last modified,record last updated on,"
        "entry updated,domain datelastmodified,last changed,last change,updated on,domain last updated date,"
        "fecha de modificación,fecha de modificacion,última atualização,ultima actualización,ultima actualizacion,"
        "dernière modification,derniere modification,最終更新,최근 정보 변경일,更新时间,modified on,last edited on,"
        "date modified,domain last updated,last modification",
        Field.EXPIRES: "registry expiry date,registrar registration expiration date,"
        "expiry date,expiration date,expiration time,expires on,expires at,expire date,"
        "renewal date,paid till,validity,valid until,valid till,exp date,domain expires,record expires on,record expired,"
        "record will expire on,record expires,domain expiration date,domain datebilleduntil,usable until,valid date,"
        "expire on,expiration date (dd/mm/yyyy),fecha de vencimiento,fecha de expiración,fecha de expiracion,"
        "fecha de corte,data de expiração,date d'expiration,date d’expiration,有効期限,사용 종료일,到期时间,"
        "date expires,domain expires on,expiration,expire le (jj/mm/aaaa),domain expiry date,expires date",
        Field.REGISTRAR: "registrar,registrar name,sponsoring registrar,sponsoring registrar name,registrar organization,"
        "registrar organisation,sponsoring registrar organization,authorized agency,registration service provider,"
        "current registar,current registrar,registered by,registered through,등록대행자,注册商,registrar company name,"
        "registrador,bureau d'enregistrement,registraire,domain registrar,レジストラ,指定事業者名,registrar company",
        Field.IANA_ID: "registrar iana id,sponsoring registrar iana id,iana id,registrar iana",
        Field.URL: "registrar url,registrar website,registrar web,registrar web site,registrar homepage,referral url,"
        "registration service url,registrar info,sponsoring registrar url,registrar www,registrar url (registration services)",
        Field.WHOIS: "registrar whois server,whois server,whois tcp uri,registrar whois,sponsoring registrar whois server,"
        "referralserver",
        Field.NAME_SERVER: "name server,name servers,nameserver,nameservers,nserver,nservers,dns,dns server,dns servers,"
        "domain servers,domain nameservers,domain name servers,domain servers in listed order,name servers information,"
        "name servers in the listed order,name servers in listed order,nameserver in listed order,"
        "name server information,primary server,secondary server,primary name server,secondary name server,"
        "primary nameserver,secondary nameserver,serveur de noms,serveurs de noms,servidor de nombres,servidores de nombres,"
        "servidor(es) de nombres de dominio,servidor de nomes,ネームサーバ,네임서버,ns name,servers,host,dns name servers,"
        "delegated nameservers,authoritative name servers",
        Field.STATUS: "domain status,domain state,eppstatus,epp status,registration status,query status,domaintype,"
        "status of domain,estatus del dominio,statut,estado,ロック状態,状態,域名状态,lock status,domain status code",
        Field.DNSSEC: "dnssec,dnssec signed,domain signed,signed,secure dns,dnssec status",
        Field.DS: "ds,ds rdata,key1 tag,key2 tag,"
        "dnskey,dnssec ds data,dsrecord,ds record,ds key tag,signing key,key tag,trust anchor,keyset,"
        "署名鍵,dns keys,ds data,dnssec ds records",
        Field.REGISTRANT: "registrant,registrant name,registrant organization,registrant organisation,registrant id,"
        "registrant contact id,owner,holder,holder c,org,organization using domain name,person,owner c,registrant type,"
        "domain holder,등록인,registry domain id,roid,domain id,domain holder organization,domain holder name",
    }
)
"""Names with the same meaning in every place."""

RELATIVE = _table(
    {
        Field.CREATED: "created,registered,registration,record created,opened,assigned",
        Field.UPDATED: "changed,updated,modified,update date",
        Field.EXPIRES: "expires,expire,expiry,renewal,expired",
        Field.STATUS: "status,state,flags,statuses",
    }
)
"""Names that belong to the domain, unless they are in a section or object of another owner."""

IN_REGISTRAR = _table(
    {
        Field.REGISTRAR: "name,organization,organisation,organization name,organisation name,registrar name,org name",
        Field.URL: "url,web,website,www,homepage,web site,web page,webpage,registrar url,registrar website",
        Field.IANA_ID: "iana id,registrar iana id",
    }
)
IN_NAME_SERVERS = _table(
    {Field.NAME_SERVER: "host name,hostname,name,ns,dns,host,nserver,name server,호스트이름,server"}
)

# Sections and objects, by the key or the line with which they begin.
_CONTACTS = _table(
    {
        Field.REGISTRANT: "registrant,registrant contact,registrants,holder,domain holder,holder of domain name,owner,"
        "domain owner,domain owners / registrant,domain owner contact,admin,admin contact,admin contacts,"
        "administrative contact,administrative contacts,administrative contact/agent,administrative contact(ac),"
        "administrative,billing contact,billing,tech,technical,tech contact,technical contact,technical contacts,"
        "registrar technical contacts,contact,contact information,contacts,person,personname,role,nic hdl,nic hdl br,"
        "contact id,mntner,reseller,abuse contact,zone contact,onsite,organization using domain name,organisation,"
        "registrar contact information,registrar abuse contact,registrant contact information,domain managers,"
        "domain holder contact,titular,contact organization,公開連絡窓口"
    }
)
_REGISTRARS = ("registrar", "registrars", "sponsoring registrar", "registrar information", "current registrar")
_OTHERS = ("nsset", "keyset", "nserver", "whois", "whois server", "nameserver", "nservers", "source", "ds", "key1 tag")
_KEYS = ("keys", "dnskeys", "dns keys", "dnssec keys", "dnssec ds records")


class Place(enum.Enum):
    """The owner of a section or an object."""

    DOMAIN = enum.auto()
    CONTACT = enum.auto()
    REGISTRAR = enum.auto()
    NAME_SERVERS = enum.auto()
    KEYS = enum.auto()
    OTHER = enum.auto()


def place_of(name: str) -> Place:
    """The owner that a first key names. The default is the domain."""
    if name in _CONTACTS:
        return Place.CONTACT
    if name in _REGISTRARS:
        return Place.REGISTRAR
    if name in _KEYS:
        return Place.KEYS
    if is_name_servers(name):
        return Place.NAME_SERVERS
    return Place.OTHER if name in _OTHERS else Place.DOMAIN


def is_name_servers(name: str) -> bool:
    """Whether a key or a heading introduces name servers, numbered or not."""
    return PLAIN.get(unnumbered(name)) is Field.NAME_SERVER


def is_heading(name: str) -> bool:
    """Whether a line without a colon begins a section even when the next line is not indented."""
    return name == "dnssec" or place_of(name) is not Place.DOMAIN


def unnumbered(name: str) -> str:
    """Remove the number from ``name server 2``, ``ns name 01``, ``domain server 1`` and ``2차 네임서버 정보``."""
    name = name.rstrip("0123456789").rstrip()
    if name.endswith("네임서버 정보"):
        return "네임서버"
    return "name server" if name == "domain server" else name
