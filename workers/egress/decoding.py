"""Decodes a response's body while it arrives, so that neither the sent nor the decoded body exceeds its limit."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from shared.outcome import UpstreamFailed

MAX_CHUNKS = 50_000
"""Parts in which a body arrives. Parts of one byte would cost half a minute of work for 2 MB."""
MAX_MEMBERS = 500
"""Members of a gzip body (RFC 1952)."""

_GZIP = b"\x1f\x8b\x08"


def decoded(chunks: Iterator[bytes], codings: str, limit_bytes: int, host: str) -> Iterator[bytes]:
    """The decoded parts of a body. Raises UpstreamFailed `too_large` when the sent or the decoded body exceeds the limit."""
    decoder: _Decoder | None = None
    sent = size = 0
    for number, chunk in enumerate(chunks):
        decoder = decoder or _Decoder(codings, host)  # a response without a body, as 204 and 304, has no coding
        sent += len(chunk)
        if number > MAX_CHUNKS:
            raise UpstreamFailed(f"{host} sent the body in too many parts.", reason="bad_content")
        # One byte above the limit shows that the body is too long.
        for part in decoder.parts(chunk, limit_bytes + 1 - size):
            size += len(part)
            if size > limit_bytes:
                break
            yield part
        if sent > limit_bytes or size > limit_bytes:
            detail = f"The body of {host} has more than {limit_bytes} bytes."
            raise UpstreamFailed(detail, reason="too_large", is_final=True)
    if decoder is not None:
        decoder.end()


class _Decoder:
    """One content coding: none, gzip or deflate. Raises UpstreamFailed `bad_content` for any other."""

    def __init__(self, codings: str, host: str) -> None:
        self._host = host
        self._new: Callable[[], Any] | None = None
        match codings.strip().lower():
            case "identity" | "":
                pass
            case "gzip" | "x-gzip":
                self._new = _gzip
            case "deflate":
                self._new = _Deflate
            case _:
                raise UpstreamFailed(f"{host} sent a content coding that was not asked for.", reason="bad_content")
        self._zlib = self._new() if self._new else None
        self._members = 1

    def parts(self, chunk: bytes, most: int) -> Iterator[bytes]:
        """The decoded chunk, at most `most` bytes of it."""
        if self._zlib is None:
            yield chunk
            return
        while chunk and most > 0:
            if self._zlib.eof:
                # A gzip body has one or more members. Other trailing bytes are ignored.
                if self._new is not _gzip or not chunk.startswith(_GZIP[: len(chunk)]):
                    return
                self._zlib = _gzip()
                self._members += 1
                if self._members > MAX_MEMBERS:
                    raise UpstreamFailed(f"{self._host} compressed the body in too many parts.", reason="bad_content")
            part = self._zlib.decompress(chunk, most)
            chunk = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
            most -= len(part)
            yield part

    def end(self) -> None:
        """Check that the stream is complete. Raises UpstreamFailed when it is cut off."""
        if self._zlib is not None and not self._zlib.eof:
            raise UpstreamFailed(f"The body of {self._host} is cut off.", reason="bad_content")


def _gzip() -> Any:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


class _Deflate:
    """`deflate` is zlib's format (RFC 9110, 8.4.1.2), and some servers send it without zlib's header."""

    def __init__(self) -> None:
        self._inner: Any = None

    @property
    def eof(self) -> bool:
        """See zlib.decompressobj."""
        return self._inner is not None and self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """See zlib.decompressobj."""
        rest: bytes = self._inner.unused_data
        return rest

    @property
    def unconsumed_tail(self) -> bytes:
        """See zlib.decompressobj."""
        tail: bytes = self._inner.unconsumed_tail
        return tail

    def decompress(self, chunk: bytes, most: int) -> bytes:
        """At most `most` bytes."""
        if self._inner is None:
            has_header = chunk[0] & 0x0F == 8 and (len(chunk) < 2 or int.from_bytes(chunk[:2]) % 31 == 0)
            self._inner = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        part: bytes = self._inner.decompress(chunk, most)
        return part
