"""Requests that no client library sends, over a plain socket."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest


def exchange(service: Any, *parts: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; (status, everything that came back)."""
    address = urlsplit(service.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=15) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return int(answer.split(b" ", 2)[1]), answer


HEAD = b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n"


def test_the_same_payment_header_twice_is_ambiguous(service: Any) -> None:
    """A proxy and we might each read another one."""
    status, answer = exchange(
        service, HEAD + b"PAYMENT-SIGNATURE: e30=\r\nPAYMENT-SIGNATURE: e30=\r\nContent-Length: 0\r\n\r\n"
    )
    assert (status, b'"ambiguous_payment"' in answer) == (402, True)


def test_a_chunked_unpaid_body_is_read_and_answered(service: Any) -> None:
    """No length is declared; the 402 comes after the last chunk."""
    chunks = b"".join(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n"
    status, _ = exchange(service, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunks)
    assert status == 402


def test_an_upload_that_expects_to_be_asked_is_answered(service: Any) -> None:
    """Expect: 100-continue, as curl sends it for larger bodies."""
    status, answer = exchange(service, HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", b"{}")
    assert status in (100, 402)
    assert b"402 Payment Required" in answer


@pytest.mark.parametrize("size", [100_000, 500_000])
def test_a_huge_request_head_is_431(service: Any, size: int) -> None:
    """Refused by the server before anything of ours sees it."""
    try:
        status, _ = exchange(service, HEAD + b"X-Padding: " + b"a" * size + b"\r\n\r\n")
    except ConnectionError:
        return  # cut off while still sending
    assert status == 431


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: 5\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello",
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nBad Header: x\r\nConnection: close\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
    ids=["two lengths", "negative length", "space in a name", "nonsense"],
)
def test_broken_http_is_400(service: Any, head: bytes) -> None:
    """And the next request is answered."""
    assert exchange(service, head)[0] == 400
    assert exchange(service, HEAD + b"Content-Length: 0\r\n\r\n")[0] == 402


def test_http_1_0_is_answered(service: Any) -> None:
    """Old probes get the price too."""
    assert exchange(service, b"POST /v1/cdp/echo HTTP/1.0\r\n\r\n")[0] == 402
