"""A name server that says what a test tells it to, and remembers what it was asked.

    with NameServer() as server:
        server.addresses("a.example.com", "93.184.215.14")
        server.script("b.example.com", "A", records("b.example.com. 0 IN A 93.184.215.14"), silence)
        ...
        assert server.asked("a.example.com") == ["A", "AAAA"]

Names of which nothing was said do not exist. A name of which something was said has no records of other types.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from compose.sandbox.upstreams.dns_server import Transport, serve_dns

SOA = "example.com. 3600 IN SOA ns1.example.com. hostmaster.example.com. 1 7200 3600 1209600 60"

Step = Callable[[dns.message.Message, Transport], Sequence[bytes]]
"""The wires that a question is answered with."""


class Question(NamedTuple):
    """What was asked. `name` in lower case, without a trailing dot."""

    name: str
    record_type: str
    transport: Transport


class NameServer:
    """Serves UDP and TCP on one port while it is entered.

    Attributes:
        questions: in their order.
        default: answers names without a script.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.address = address
        self.port = 0
        self.questions: list[Question] = []
        self.default: Step = records(rcode="NXDOMAIN", authority=[SOA])
        self._steps: dict[tuple[str, str], list[Step]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._started = threading.Event()

    @property
    def server(self) -> tuple[str, int]:
        """As Resolver takes it."""
        return self.address, self.port

    def script(self, name: str, record_type: str, *steps: Step) -> None:
        """Answer questions one after the other; the last step is for all that follow."""
        self._steps[name, record_type] = list(steps)

    def addresses(self, name: str, *addresses: str, ttl: int = 60) -> None:
        """These addresses, IPv4 and IPv6."""
        for record_type, is_six in (("A", False), ("AAAA", True)):
            found = [address for address in addresses if (":" in address) is is_six]
            lines = [f"{name}. {ttl} IN {record_type} {address}" for address in found]
            self.script(name, record_type, records(*lines, authority=[] if lines else [SOA]))

    def asked(self, name: str) -> list[str]:
        """The record types that were asked for, in order."""
        return [question.record_type for question in self.questions if question.name == name]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(serve_dns(self.address, 0, self._reply))
        self.port = listening.port
        self._started.set()
        self._loop.run_forever()
        listening.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _reply(self, wire: bytes, transport: Transport) -> Sequence[bytes]:
        query = dns.message.from_wire(wire)
        name = query.question[0].name.to_text(omit_final_dot=True).lower()
        record_type = dns.rdatatype.to_text(query.question[0].rdtype)
        self.questions.append(Question(name, record_type, transport))
        return self._step(name, record_type)(query, transport)

    def _step(self, name: str, record_type: str) -> Step:
        steps = self._steps.get((name, record_type))
        if steps:
            return steps.pop(0) if len(steps) > 1 else steps[0]
        known = any(of == name for of, _ in self._steps)
        return records(authority=[SOA]) if known else self.default


def response(
    query: dns.message.Message,
    *lines: str,
    rcode: str = "NOERROR",
    authority: Sequence[str] = (),
    authenticated: bool = False,
) -> dns.message.Message:
    """A response with records as a zone file writes them, with absolute names: ``a.example.com. 60 IN A 192.0.2.1``."""
    answer = dns.message.make_response(query, recursion_available=True)
    answer.set_rcode(dns.rcode.from_text(rcode))
    if authenticated:
        answer.flags |= dns.flags.AD
    for section, texts in ((answer.answer, lines), (answer.authority, authority)):
        for text in texts:
            name, ttl, rdclass, rdtype, rdata = text.split(" ", 4)
            kind = dns.rdatatype.from_text(rdtype)
            in_class = dns.rdataclass.from_text(rdclass)
            record = dns.rdata.from_text(in_class, kind, rdata, relativize=False)
            answer.find_rrset(section, dns.name.from_text(name), in_class, kind, create=True).add(record, int(ttl))
    return answer


def records(*lines: str, rcode: str = "NOERROR", authority: Sequence[str] = (), authenticated: bool = False) -> Step:
    """Answer with these records, over UDP only as far as the asker has room."""

    def step(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
        answer = response(query, *lines, rcode=rcode, authority=authority, authenticated=authenticated)
        wire = answer.to_wire(max_size=65535, want_shuffle=False)
        if transport == "udp" and len(wire) > max(512, query.payload):
            return truncated(query, transport)
        return [wire]

    return step


def failing(rcode: str) -> Step:
    """``SERVFAIL``, ``REFUSED``, ..."""
    return records(rcode=rcode)


def silence(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
    """No answer at all."""
    return []


def truncated(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
    """Nothing but the flag that says there is more."""
    answer = response(query)
    answer.flags |= dns.flags.TC
    return [answer.to_wire()]


def garbage(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
    """Bytes that begin like an answer to the question and go on like none."""
    return [b"", b"\xff" * 40, query.id.to_bytes(2) + b"\x81\x80" + b"\xff" * 40]


def of_another(step: Step) -> Step:
    """An answer to a question with another id: of a server that is confused, or of somebody who guesses."""

    def changed(query: dns.message.Message, transport: Transport) -> Sequence[bytes]:
        return [bytes([wire[0] ^ 0x55]) + wire[1:] for wire in step(query, transport)]

    return changed
