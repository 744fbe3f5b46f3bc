"""The hash of a picture's pixels. Two files of the same picture may differ in what else they hold."""

import hashlib
import struct
import zlib

from jobs.ports.browser import Screenshot

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK = struct.Struct(">I4s")


def pixel_hash(screenshot: Screenshot) -> str:
    """The SHA-256 of a PNG's header and image data, decompressed (ISO/IEC 15948, 11.2), so that neither compression nor
    metadata count. Of another format, or a PNG that cannot be read, of the file."""
    most = 8 * screenshot.width * screenshot.height + screenshot.height
    pixels = _pixels(screenshot.data, most) if screenshot.format == "png" else None
    return hashlib.sha256(screenshot.data if pixels is None else pixels).hexdigest()


def _pixels(data: bytes, most: int) -> bytes | None:
    if not data.startswith(_SIGNATURE):
        return None
    header, packed, at = b"", [], len(_SIGNATURE)
    while at + _CHUNK.size <= len(data):
        size, kind = _CHUNK.unpack_from(data, at)
        content = data[at + _CHUNK.size : at + _CHUNK.size + size]
        if kind == b"IHDR":
            header = content
        elif kind == b"IDAT":
            packed.append(content)
        at += _CHUNK.size + size + 4
    try:
        pixels = zlib.decompressobj().decompress(b"".join(packed), most)
    except zlib.error:
        return None
    return header + pixels if header and pixels else None
