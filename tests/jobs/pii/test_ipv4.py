"""IPv4 addresses: four bytes and nothing more, without their ports, and not versions."""

from __future__ import annotations

import pytest

from jobs.pii.redaction import redact
from tests.jobs.pii.marked import read

FOUND = [
    "«192.168.1.1»",
    "«10.0.0.1»",
    "«0.0.0.0»",
    "«255.255.255.255»",
    "«127.0.0.1»",
    "«8.8.8.8»",
    "«1.2.3.4»",
    "«203.0.113.255»",
    "«172.16.254.1»",
    "«169.254.169.254»",
    "«010.000.000.001»",
    "«192.168.001.001»",
    "«192.168.1.1»:8080",
    "«192.168.1.1»:80/path",
    "«10.0.0.0»/8",
    "«192.168.0.0»/24",
    "http://«192.168.1.1»/",
    "http://«192.168.1.1»:8080/x?y=1",
    "https://user:secret@«10.0.0.1»/",
    "ssh root@«10.0.0.1»",
    "ftp://«10.0.0.1»",
    "tcp/«10.0.0.1»",
    "localhost/«127.0.0.1»:9042",
    "::ffff:«192.168.1.1»",
    "[::ffff:«192.168.1.1»]:443",
    "«10.0.0.1»-«10.0.0.9»",
    "«10.0.0.1»-20",
    "«10.0.0.1»,«10.0.0.2»;«10.0.0.3»",
    "«10.0.0.1» «10.0.0.2»",
    "«10.0.0.1»|«10.0.0.2»",
    "from «10.0.0.1» to «10.0.0.2»",
    "«10.0.0.1»->«10.0.0.2»",
    "«10.0.0.1».",
    "«10.0.0.1»...",
    "...«10.0.0.1»",
    "«10.0.0.1»,",
    "«10.0.0.1»!",
    "(«10.0.0.1»)",
    "[«10.0.0.1»]",
    "<«10.0.0.1»>",
    "{«10.0.0.1»}",
    '"«10.0.0.1»"',
    "'«10.0.0.1»'",
    "`«10.0.0.1»`",
    "**«10.0.0.1»**",
    "ip=«10.0.0.1»",
    "ip: «10.0.0.1»",
    "ip.addr==«10.0.0.1»",
    "host_«10.0.0.1»_8080",
    "@«10.0.0.1»",
    "#«10.0.0.1»",
    "-«10.0.0.1»",
    "~«10.0.0.1»",
    "«10.0.0.1» - - [20/Nov/2026:15:04:05 +0000]",
    "2026-11-20T15:04:05Z «10.0.0.1» GET /",
    "Nov 20 15:04:05 host sshd[123]: Failed password for root from «203.0.113.7» port 22 ssh2",
    "the build server «10.0.0.1»",
    "server «10.0.0.1».example.com",
    "«10.0.0.1».in-addr.arpa",
    "服务器«10.0.0.1»已停止",
    "サーバー«10.0.0.1»です",
    "«１９２．１６８．１．１»",
    "«192.\u200b168.\u200b1.1»",
    "«192\u00ad.168.1.1»",
    "«١٩٢.١٦٨.١.١»",
    "\ufeff«10.0.0.1»",
    "0x0a000001 is «10.0.0.1»",
    "subnet «255.255.255.0»",
    "resolver «1.1.1.1»",
    "version 1.2.3.4, «10.0.0.1»",
    "version 1.2.3.4 - «10.0.0.1»",
    "version 1.2.3.4 on «10.0.0.1», «10.0.0.2»",
    "version 1.2.3.4\n«10.0.0.1»",
    r"peer\n«10.0.0.1»\t«10.0.0.2»",
]

NOT_FOUND = [
    "256.1.1.1",
    "1.256.1.1",
    "1.1.1.256",
    "999.999.999.999",
    "300.300.300.300",
    "1.2.3",
    "1.2.3.",
    "1.2.3.4.5",
    "1.2.3.4.5.6",
    "1.3.6.1.4.1.311",
    ".1.3.6.1",
    "192.168.1.1.1",
    "192.168.1.0001",
    "1921.68.1.1",
    "192.168.1.1000",
    "192.168.1",
    "192.168..1",
    "192.168.1.",
    "192,168,1,1",
    "192-168-1-1",
    "192 168 1 1",
    "192. 168. 1. 1",
    "192.168.1.x",
    "192.168.1.*",
    "v1.2.3.4",
    "V1.2.3.4",
    "1.2.3.4a",
    "1.2.3.4rc1",
    "a1.2.3.4",
    "1.2.3.4-beta",
    "1.2.3.4-rc.1",
    "1.2.3.4-SNAPSHOT",
    "1.2.3.4~ubuntu1",
    "1.2.3.4+build",
    "version 1.2.3.4",
    "Version: 1.2.3.4",
    "version=1.2.3.4",
    "Version=4.0.0.0, Culture=neutral",
    "ver. 1.2.3.4",
    "v. 1.2.3.4",
    "release 1.2.3.4",
    "Release 10.0.0.1",
    "firmware 1.2.3.4",
    "firmware version is 1.2.3.4",
    "build 1.2.3.4",
    "section 1.2.3.4",
    "Section 4.1.2.3",
    "§ 4.1.2.3",
    "clause 4.1.2.3",
    "chapter 1.2.3.4",
    "OID 1.3.6.1",
    "Chrome/120.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11) Chrome/120.0.0.0",
    "Edg/120.0.0.0",
    "Chrome 120.0.0.0",
    "app-1.2.3.4.tar.gz",
    "app-1.2.3.4.jar",
    "app_1.2.3.4.deb",
    "setup-1.2.3.4.exe",
    "lib-1.2.3.4.so",
    "2001:db8::1",
    "2026.11.20",
    "20.11.2026",
    "12.34.56.78.90",
    "06.12.34.56.78",
    "1.234.567.890",
    "3.14159",
    "$1.2.3",
    "00:1A:2B:3C:4D:5E",
    "[IPV4]",
    "[IPV4]:80",
    "from version 1.2.3.4 to 1.2.3.5",
    "versions 1.2.3.4 and 1.2.3.5",
    "version: 1.2.3.4 -> 1.2.3.5",
]


@pytest.mark.parametrize("marked", FOUND)
def test_an_address_is_found(marked: str) -> None:
    """What stands between the guillemets, and nothing around it, is an address."""
    text, redacted, spans = read(marked, "ipv4")
    assert redact(text, ["ipv4"]) == (redacted, spans)


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_is_no_address_stays(text: str) -> None:
    """Too large, too long, or a version."""
    assert redact(text, ["ipv4"]).text == text


@pytest.mark.parametrize("octet", range(256))
def test_every_octet_is_a_byte(octet: int) -> None:
    """0 to 255, in every place."""
    for place in range(4):
        octets = ["10", "20", "30", "40"]
        octets[place] = str(octet)
        assert redact(".".join(octets), ["ipv4"]).text == "[IPV4]"
        octets[place] = str(octet + 256)
        assert redact(".".join(octets), ["ipv4"]).text == ".".join(octets)
