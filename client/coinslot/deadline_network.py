"""httpcore's sockets with one deadline for a whole request. httpcore's own time limits start again with every read."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore

# The socket takes one such part at once when it takes anything, so each gets what is left of the time.
_PART_BYTES = 16 * 1024


class DeadlineNetwork(httpcore.NetworkBackend):
    """Sockets that block, for one thread.

    Attributes:
        deadline: of the present request, in monotonic seconds. Connecting has a limit of httpcore.
    """

    def __init__(self) -> None:
        self.deadline = 0.0
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self, self._sockets.connect_tcp(host, port, timeout, local_address, socket_options))

    def left_s(self) -> float:
        """Seconds to the deadline. Raises httpcore.ReadTimeout when it is over."""
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise httpcore.ReadTimeout
        return left_s


class _Stream(httpcore.NetworkStream):
    """A connection on which no operation outlives the deadline."""

    def __init__(self, network: DeadlineNetwork, stream: httpcore.NetworkStream) -> None:
        self._network = network
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left_s())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PART_BYTES):
            self._stream.write(buffer[start : start + _PART_BYTES], self._network.left_s())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._network, self._stream.start_tls(ssl_context, server_hostname, timeout))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
