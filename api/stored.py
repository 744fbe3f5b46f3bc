"""Documents that are the same for everybody: hashed and compressed once, and 304 for who has them already."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from litestar import Request, Response

from api.accept import prefers

_TAG = re.compile(r'"[^"]*"')


class Stored:
    """A document. What is made of it is made when it is first needed, and kept as long as it is."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    @cached_property
    def gzipped(self) -> bytes:
        """The body compressed: 250 KB of OpenAPI as 40 KB, in 5 ms."""
        return gzip.compress(self.body, 6, mtime=0)

    @cached_property
    def digest(self) -> str:
        """The same for the same body, in every process."""
        return hashlib.sha256(self.body).hexdigest()[:32]


def answer(
    request: Request[Any, Any, Any], document: Stored | bytes, media_type: str, headers: Mapping[str, str]
) -> Response[bytes]:
    """The response to a GET or HEAD. Bytes were made for this request: they are sent as they are, without an entity tag.

    Args:
        headers: other headers. A Vary among them is completed.
    """
    if isinstance(document, bytes):
        return Response(document, media_type=media_type, headers=headers)
    is_gzip = prefers(request.headers.get("accept-encoding", ""), "gzip")
    tag = f'"{document.digest}{"-gzip" if is_gzip else ""}"'
    vary = ", ".join((*filter(None, [headers.get("Vary")]), "Accept-Encoding"))
    headers = {**headers, "ETag": tag, "Vary": vary}
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or tag in _TAG.findall(known):
        return Response(b"", status_code=304, headers=headers)
    body = document.gzipped if is_gzip else document.body
    if is_gzip:
        headers["Content-Encoding"] = "gzip"
    if request.method == "HEAD":
        headers["Content-Length"] = str(len(body))
    return Response(body, media_type=media_type, headers=headers)
