"""faker.internet. Nothing it gives can reach anyone: names are at example domains (RFC 2606), addresses are those set
aside for documentation and benchmarks (RFC 5737, 2544, 3849), which no network routes.
"""

import base64
import string
from http import HTTPStatus
from ipaddress import IPv4Network

from jobs.faker import company, word
from jobs.faker import string as fake_string
from jobs.faker.source import Source, drawn, fakes, gives, integers, one_of, signs
from jobs.faker.text import as_json

EXAMPLE_DOMAINS = ("example.com", "example.net", "example.org")
_NETWORKS = tuple(IPv4Network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15"))
_BASE64URL = string.ascii_letters + string.digits + "-_"

http_status_code = drawn(tuple(str(status.value) for status in HTTPStatus))
jwt_algorithm = one_of("internet.jwtAlgorithm")
password = signs(string.ascii_letters + string.digits + "_", 15, "Fifteen letters, digits and underscores.")
port = integers(0, 65535, "0 to 65535.")
username = gives(
    "ASCII in lower case, from the name of the record's person: ``kmorgan``, ``kyle.morgan``, ``kyle42``.",
    lambda source: source.person.username,
)
emoji = fakes("emoji", "One emoji, of up to ten code points.")
mac = fakes("mac_address", "``7a:63:9e:e5:83:ff``.")


def display_name(source: Source) -> str:
    """``Kyle.Morgan``, ``Kyle_Morgan``, ``Kyle42`` or ``Kyle.Morgan42``, of the record's person, in the locale's letters."""
    first, last = source.person.first, source.person.last
    joined = f"{first}{source.pick('._')}{last}".replace(" ", "")
    return source.pick((joined, f"{first}{source.integer(0, 99)}", f"{joined}{source.integer(0, 99)}"))


email = gives(
    "Of the record's person, at an example domain, unlike faker-js, whose free-mail addresses may belong to someone.",
    lambda source: f"{username(source)}@{source.pick(EXAMPLE_DOMAINS)}",
)

example_email = email
domain_word = gives(
    "``popular-history``: a DNS label.", lambda source: f"{word.adjective(source)}-{word.noun(source)}".lower()
)
domain_name = gives(
    "``popular-history.example.com``.", lambda source: f"{domain_word(source)}.{source.pick(EXAMPLE_DOMAINS)}"
)


def url(source: Source) -> str:
    """The root of a site, https twice as often as http; half of them end with a slash."""
    scheme = source.pick(("https", "https", "http"))
    return f"{scheme}://{domain_name(source)}{source.pick(('', '/'))}"


def ipv4(source: Source) -> str:
    """Of the three documentation networks or, half of the time, of 198.18.0.0/15, which is for benchmarks."""
    network = _NETWORKS[3] if source.chance(0.5) else source.pick(_NETWORKS[:3])
    return str(network[source.integer(1, network.num_addresses - 2)])


def ipv6(source: Source) -> str:
    """Eight groups of four hex digits in 2001:db8::/32."""
    return "2001:0db8:" + ":".join(source.chars("0123456789abcdef", 4) for _ in range(6))


ip = gives("Either version.", lambda source: source.pick((ipv4, ipv6))(source))


def jwt(source: Source) -> str:
    """Three base64url parts. The claims' times surround the reference date; the signature verifies nowhere."""
    issued = int(source.now.timestamp()) - source.integer(0, 86_400)
    claims = {
        "iat": issued,
        "exp": issued + source.integer(86_400, 172_800),
        "nbf": issued - source.integer(0, 31_536_000),
        "iss": company.name(source),
        "sub": fake_string.uuid(source),
        "aud": fake_string.uuid(source),
        "jti": fake_string.uuid(source),
    }
    header = {"alg": jwt_algorithm(source), "typ": "JWT"}
    parts = (base64.urlsafe_b64encode(as_json(part).encode()).decode().rstrip("=") for part in (header, claims))
    return ".".join((*parts, source.chars(_BASE64URL, 64)))


def user_agent(source: Source) -> str:
    """A browser of a desktop or a phone."""
    windows = "Windows NT 10.0; Win64; x64"
    mac_os = "Macintosh; Intel Mac OS X 10_15_7"
    system = source.pick((windows, mac_os, "X11; Linux x86_64"))
    major = source.integer(100, 140)
    build = f"{major}.0.{source.integer(0, 7500)}.{source.integer(0, 250)}"
    chrome = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{build}"
    safari = f"Version/{source.integer(14, 18)}.{source.integer(0, 6)}"
    ios = f"{source.integer(14, 18)}_{source.integer(0, 6)}"
    android = f"Linux; Android {source.integer(10, 16)}; {source.pick(('Pixel 7', 'Pixel 9', 'SM-G998B', 'SM-S921U'))}"
    firefox = system.replace("10_15_7", "10.15")
    agent = source.pick((
        f"({system}) {chrome} Safari/537.36",
        f"({windows}) {chrome} Safari/537.36 Edg/{major}.0.{source.integer(0, 3500)}.{source.integer(0, 99)}",
        f"({firefox}; rv:{major}.0) Gecko/20100101 Firefox/{major}.0",
        f"({mac_os}) AppleWebKit/605.1.15 (KHTML, like Gecko) {safari} Safari/605.1.15",
        f"(iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        f"Version/{ios.replace('_', '.')} Mobile/15E148 Safari/604.1",
        f"({android}) {chrome} Mobile Safari/537.36",
    ))  # fmt: skip
    return f"Mozilla/5.0 {agent}"
