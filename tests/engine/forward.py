"""Passes connections on from an address to the same ports of 127.0.0.1: `python -m tests.engine.forward 11.0.0.1 8545 8546`.

The sandbox's ledgers listen on 127.0.0.1, which in a container is the container itself.
"""

import asyncio
import contextlib
import sys
from functools import partial


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()


async def _pass_on(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, their_writer), _copy(their_reader, writer))


async def _serve(address: str, ports: list[int]) -> None:
    servers = [await asyncio.start_server(partial(_pass_on, port), address, port) for port in ports]
    print("ready", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], [int(port) for port in sys.argv[2:]]))
