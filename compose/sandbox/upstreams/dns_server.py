"""A server for DNS messages over UDP and TCP. A function from message to messages gives the answers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

Transport = Literal["udp", "tcp"]
Reply = Callable[[bytes, Transport], Awaitable[Sequence[bytes]]]
"""The answers to a message: usually one; an empty sequence sends nothing."""

IDLE_S = 10.0
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class DnsServer:
    """Two listening sockets on one port."""

    port: int
    datagrams: asyncio.DatagramTransport
    streams: asyncio.Server

    def close(self) -> None:
        """Close both sockets."""
        self.datagrams.close()
        self.streams.close()


async def serve_dns(address: str, port: int, reply: Reply) -> DnsServer:
    """Start a server, which runs until it is closed or the event loop ends.

    Args:
        port: 0 picks one that is free for UDP and TCP.

    Raises:
        OSError: the port is not free.
    """
    loop = asyncio.get_running_loop()
    for attempt in range(_ATTEMPTS):
        transport, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(reply), (address, port))
        bound: int = transport.get_extra_info("sockname")[1]
        try:
            server = await asyncio.start_server(lambda reader, writer: _stream(reader, writer, reply), address, bound)
        except OSError:
            transport.close()
            if port or attempt == _ATTEMPTS - 1:
                raise
        else:
            return DnsServer(bound, transport, server)
    raise AssertionError


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._tasks: set[asyncio.Task[None]] = set()
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Of asyncio."""
        self._transport = cast("asyncio.DatagramTransport", transport)  # it is one in all but name

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Of asyncio. One question does not wait for another."""
        task = asyncio.get_running_loop().create_task(self._answer(data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        for message in await self._reply(data, "udp"):
            self._transport.sendto(message, addr)


async def _stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
    try:
        async with asyncio.timeout(IDLE_S):
            while True:
                size = int.from_bytes(await reader.readexactly(2))
                for message in await reply(await reader.readexactly(size), "tcp"):
                    writer.write(len(message).to_bytes(2) + message)
                await writer.drain()
    except (TimeoutError, OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
