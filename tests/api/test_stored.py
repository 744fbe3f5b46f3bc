"""Documents and pages over HTTP: compressed for who takes it, and not sent again to who has them."""

import gzip

import httpx
import pytest

from api.pages.assets import STYLE_PATH
from api.stored import Stored

pytestmark = pytest.mark.anyio

PATHS = ("/openapi.json", "/bazaar.json", "/.well-known/x402", "/", "/bazaar", "/bazaar/echo", "/errors", STYLE_PATH)
LONG = {"/openapi.json", "/bazaar.json", "/.well-known/x402"}


async def raw(shop: httpx.AsyncClient, method: str, path: str, **headers: str) -> tuple[httpx.Response, bytes]:
    """A response, and its body as it was sent."""
    async with shop.stream(method, path, headers={"Accept-Encoding": "identity"} | headers) as response:
        return response, b"".join([chunk async for chunk in response.aiter_raw()])


@pytest.mark.parametrize("path", PATHS)
async def test_a_document_is_compressed_and_known_by_its_tag(shop: httpx.AsyncClient, path: str) -> None:
    """Both forms have a strong tag of their own, caches are told of both, HEAD says what GET does, and a tag that is still true
    gets a 304."""
    tags = {}
    for coding in ("identity", "gzip"):
        asked = {"Accept-Encoding": coding}
        response, sent = await raw(shop, "GET", path, **asked)
        tags[coding] = tag = response.headers["etag"]
        assert (response.status_code, response.headers.get("content-encoding", "identity")) == (200, coding)
        assert "Accept-Encoding" in response.headers["vary"].split(", ")
        assert response.headers["content-length"] == str(len(sent))
        head, nothing = await raw(shop, "HEAD", path, **asked)
        assert nothing == b""
        unlike = {"date", "x-request-id"}
        assert {name: value for name, value in head.headers.items() if name not in unlike} == {
            name: value for name, value in response.headers.items() if name not in unlike | {"content-type"}
        } | {name: value for name, value in head.headers.items() if name == "content-type"}
        for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
            for method in ("GET", "HEAD"):
                same, nothing = await raw(shop, method, path, **asked, **{"If-None-Match": known})
                assert (same.status_code, same.headers["etag"], nothing) == (304, tag, b"")
                assert same.headers["cache-control"] == response.headers["cache-control"]
                assert same.headers["vary"] == response.headers["vary"]
        assert (await raw(shop, "GET", path, **asked, **{"If-None-Match": '"other"'}))[0].status_code == 200
        if coding == "identity":
            plain = sent
    assert gzip.decompress(sent) == plain
    assert len(sent) < len(plain) / (4 if path in LONG else 1.5)
    assert tags["gzip"] != tags["identity"]
    crossed, _ = await raw(shop, "GET", path, **{"Accept-Encoding": "gzip", "If-None-Match": tags["identity"]})
    assert crossed.status_code == 200
    refused, _ = await raw(shop, "GET", path, **{"Accept-Encoding": "gzip;q=0, identity"})
    assert "content-encoding" not in refused.headers


async def test_a_search_is_sent_as_it_is(shop: httpx.AsyncClient) -> None:
    """It was made for one request, which is not worth compressing."""
    response, _ = await raw(shop, "GET", "/bazaar?q=dns", **{"Accept-Encoding": "gzip"})
    assert response.status_code == 200
    assert not {"content-encoding", "etag"} & set(response.headers)


async def test_a_document_is_compressed_once() -> None:
    """Not for each request; and the same text makes the same bytes in every process."""
    document, other = Stored(b"text" * 1000), Stored(b"text" * 1000)
    assert document.gzipped is document.gzipped
    assert (document.gzipped, document.digest) == (other.gzipped, other.digest)
