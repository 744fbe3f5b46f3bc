"""faker.hacker: what people in films say about computers."""

from __future__ import annotations

from jobs.faker.source import Source, one_of

abbreviation = one_of("""
    AI, API, ASCII, CPU, CSS, DNS, DRAM, EXE, FTP, GPU, HDD, HEX, HTTP, IP, JSON, PCI, PNG, RAM, RSS, SAS, SDD, SMS, SMTP, SQL
    SSD, SSL, TCP, TLS, USB, UTF8, VGA, XML, XSS
""")
adjective = one_of("""
    1080p, auxiliary, back-end, bluetooth, cross-platform, digital, haptic, mobile, multi-byte, neural, online, open-source
    optical, primary, redundant, solid state, virtual, wireless
""")
noun = one_of("""
    alarm, application, array, bandwidth, bus, capacitor, card, circuit, driver, feed, firewall, hard drive, interface, matrix
    microchip, monitor, panel, pixel, port, program, protocol, sensor, system, transmitter
""")
verb = one_of("""
    back up, bypass, calculate, compress, connect, copy, generate, hack, index, input, navigate, override, parse, program
    quantify, reboot, synthesize, transmit
""")
ingverb = one_of("""
    backing up, bypassing, calculating, compressing, connecting, copying, generating, hacking, indexing, navigating, overriding
    parsing, programming, quantifying, synthesizing, transmitting
""")


def phrase(source: Source) -> str:
    """One sentence."""
    act, then = verb(source), verb(source)
    first, second = abbreviation(source), abbreviation(source)
    how, what, where = adjective(source), noun(source), noun(source)
    return source.pick((
        f"If we {act} the {what}, we can get to the {first} {where} through the {how} {second} {noun(source)}!",
        f"Try to {act} the {first} {what}, maybe it will {then} the {how} {where}!",
        f"We need to {act} the {how} {first} {what}!",
        f"You can't {act} the {what} without {ingverb(source)} the {how} {first} {where}!",
        f"The {first} {what} is down, {act} the {how} {where} so we can {then} the {second} {noun(source)}!",
    ))  # fmt: skip
