"""Generated clients parse a real answer of each call, and a real error of each status that the document declares.

Each status comes from the service, by a cause that is brought about: 400, 402 and 415 of each call; 404, 409, 413, 429, 500,
502, 503 and 504 of one. As every call has models of its own, each is also sent one of every status that the API's own writer
writes. The only status beside these is 405, for methods that the document does not have.
"""

import dataclasses
import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.discovery import openapi, problem
from api.discovery.listing import Listing
from api.errors import ERROR_KINDS, Problem
from api.http import problem_answer
from coinslot import sandbox_file
from coinslot.buyer import Buyer
from coinslot.payment import SignedPayment
from coinslot.wallet import Wallet
from coinslot.wallet_source import sandbox_signer
from jobs.catalogue import BY_NAME, CATALOGUE
from shared.endpoint import Endpoint
from shared.x402.networks import Rail
from tests.clients import generators, provoked
from tests.clients.generators import Tools, furnished, payment_of, payments_of
from tests.clients.programs import environment
from tests.clients.shop import Shop

pytestmark = pytest.mark.timeout(300)  # the first run fetches the programs

SOLD = sorted((one for one in CATALOGUE if one.listed), key=lambda one: Rail.BASE in one.rails)
"""First what is paid on the XRP Ledger: such a payment is valid for a minute at most."""
ECHO, YOUTUBE = BY_NAME["echo"].path, BY_NAME["youtube"].path
LONG = {"message": "x" * 2_000_000}
Answer = dict[str, Any]
Row = dict[str, Any]
"""A call that the client makes (parsed_calls.py)."""


def _written(endpoint: Endpoint, codes: dict[int, Iterator[str]], charged: Iterator[bool | str]) -> Iterator[bytes]:
    """A problem of each status that a call can have, as the API writes it."""
    for status in codes:
        code = next(codes[status])
        if code == "upstream_failed" and not endpoint.failures:
            continue
        found = Problem(
            code=code,
            detail="A sentence.",
            charged=next(charged),
            retry_after_s=3 if ERROR_KINDS[code].retryable else None,
            reason=endpoint.failures[-1] if code == "upstream_failed" else None,
            field="a.b" if status == 400 else None,
            details=({"field": "a.b", "message": "No.", "suggestions": ["b"]},),
        )
        yield problem_answer(found, instance=endpoint.path, request_id="r", base_url="https://shop.example").body


@pytest.fixture(scope="session")
def problems() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """The address of a server that answers with problems that the API writes; and these by path."""
    charged = itertools.cycle((False, True, "unknown"))
    by_status = {
        status: itertools.cycle([code for code, kind in ERROR_KINDS.items() if kind.status == status])
        for status in problem.COMPONENTS
    }
    written = {endpoint.path: list(_written(endpoint, by_status, charged)) for endpoint in SOLD}

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = written[self.path][int(self.headers["x-number"])]
            self.send_response(json.loads(body)["status"])
            self.send_header("content-type", "application/problem+json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", written
        server.shutdown()


class Signed(Exception):
    """A payment that is not sent."""


def _on_xrpl(service: Any, endpoint: Endpoint) -> str:
    """A signed payment of a call that is not sold on Base."""

    def stop(payment: SignedPayment) -> None:
        raise Signed(payment.header)

    signer = sandbox_signer(sandbox_file.read(service.var / "sandbox.json"), Rail.XRPL_RLUSD)
    with (
        Buyer(service.base_url, Wallet((signer,)), max_price=None, on_signed=stop) as buyer,
        pytest.raises(Signed) as signed,
    ):
        buyer.call(endpoint.name, endpoint.example.request)
    return str(signed.value)


def _row(path: str, body: Any, payment: str = "", *, url: str, **headers: str) -> Row:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "path": path,
        "url": url,
        "body": body,
        "headers": headers | ({"PAYMENT-SIGNATURE": payment} if payment else {}),
    }


def _called(tools: Tools, folder: Path, calls: Callable[[], list[Row]]) -> tuple[list[Row], list[Answer]]:
    """What the Python client in the folder called, and what it was sent and parsed.

    Args:
        calls: makes them when the client is ready.
    """
    command = [tools.python, "parsed_calls.py"]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=folder, env=environment(folder), text=True, **pipes) as client:
        try:
            assert client.stdout is not None
            is_ready = client.stdout.readline() == "ready\n"
            rows = calls() if is_ready else []
            printed, said = client.communicate(json.dumps(rows), timeout=200)
        finally:
            client.kill()
    assert client.returncode == 0, said
    told = json.loads(printed)
    assert told["elsewhere"] == []
    return rows, told["answers"]


@pytest.fixture(scope="session")
def answers(
    tools: Tools,
    python_client: Path,
    shop: Shop,
    service: Any,
    problems: tuple[str, dict[str, list[bytes]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Answer]:
    """What the Python client was sent by the service and by `problems`, and what it parsed."""

    def failed() -> list[Answer]:
        calls = provoked.calls(shop)
        with provoked.failing(service, tmp_path_factory.mktemp("failing")) as url:
            rows = [_row(call.path, call.body, call.payment, url=url) for call in calls]
            _, found = _called(tools, python_client, lambda: rows)
        assert [answer["status"] for answer in found] == [call.status for call in calls]
        return found

    with ThreadPoolExecutor() as beside:  # a deadline takes seconds to pass
        failures = beside.submit(failed)
        calls, found = _called(tools, python_client, lambda: _calls(shop, service, problems))
        live = [answer for call, answer in zip(calls, found, strict=True) if call["url"] == shop.base_url]
        expected = [402, 400, 415, 200] * len(SOLD) + [200, 409, 413, 502]
        assert [answer for answer, status in zip(live, expected, strict=True) if answer["status"] != status] == []
        return found + failures.result()


def _calls(shop: Shop, service: Any, problems: tuple[str, dict[str, list[bytes]]]) -> list[Row]:
    """Of each path: unpaid, wrongly paid, compressed and bought, and each problem of `problems`. Then what needs a body of its
    own."""
    named = {"payment-identifier": {"info": {"required": False, "id": "generated-clients-parse"}}}
    named_twice = [payments_of(shop, extensions=named)[ECHO] for _ in range(2)]
    payments, more = payments_of(shop), payments_of(shop)
    for endpoint in SOLD:
        if endpoint.path not in payments:
            payments[endpoint.path] = _on_xrpl(service, endpoint)
    calls = []
    for endpoint in SOLD:
        path, body, payment = endpoint.path, endpoint.example.request, payments[endpoint.path]
        calls += [_row(path, body, presented, url=shop.base_url) for presented in ("", "no payment")]
        calls.append(_row(path, body, payment, url=shop.base_url, content_encoding="gzip"))
        calls.append(_row(path, body, payment, url=shop.base_url))
        calls += [_row(path, body, url=problems[0], x_number=str(n)) for n in range(len(problems[1][path]))]
    calls += [_row(ECHO, {"message": str(n)}, payment, url=shop.base_url) for n, payment in enumerate(named_twice)]
    calls.append(_row(ECHO, LONG, more[ECHO], url=shop.base_url))
    calls.append(_row(YOUTUBE, {"url": "https://youtu.be/coinslot-05"}, more[YOUTUBE], url=shop.base_url))
    return calls


def _moments(value: Any) -> Any:
    """A document with its moments as such: a client may write the offset of UTC in another way."""
    if isinstance(value, dict):
        return {name: _moments(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_moments(one) for one in value]
    if isinstance(value, str) and value[:2] == "20" and "T" in value:
        return datetime.fromisoformat(value)
    return value


def test_a_python_client_parses_every_answer(answers: list[Answer]) -> None:
    """Every member of it, in a class of its status."""
    for answer in answers:
        assert _moments(answer["parsed"]) == _moments(answer["sent"]), answer["path"]
        assert ("Problem" in answer["type"]) == (answer["status"] not in (200, 402))
    for endpoint in SOLD:
        statuses = {answer["status"] for answer in answers if answer["path"] == endpoint.path}
        documented = {200, 400, 402, 404, 409, 413, 415, 429, 500, 503, 504}
        assert statuses == (documented | {502} if endpoint.failures else documented)


def test_typescript_types_take_every_answer(tools: Tools, typescript_client: Path, answers: list[Answer]) -> None:
    """Written as a literal, which may have no member that the types do not have."""
    _check_types(tools, typescript_client, answers)


def _check_types(tools: Tools, folder: Path, answers: list[Answer]) -> None:
    lines = [
        'import type { paths } from "./generated.js";',
        "type Sent<P extends keyof paths, S> = paths[P] extends { post: { responses: infer R } } ? S extends keyof R ?",
        "  R[S] extends { content: infer C } ? C[keyof C] : never : never : never;",
    ]
    for number, answer in enumerate(answers):
        kind = f"Sent<{json.dumps(answer['path'])}, {answer['status']}>"
        lines.append(f"export const answer{number}: {kind} = {json.dumps(answer['sent'])};")
    (folder / "answers.mts").write_text("\n".join(lines))
    tools.check_types(folder, "answers.mts")


def test_the_call_that_no_document_has_answers_as_it_is_declared(
    tools: Tools, tmp_path: Path, shop: Shop, python_client: Path
) -> None:
    """The specification keeps it out of /openapi.json, so no client that is made of that has it. Of the document that would
    have it, a client parses a challenge, a problem and an answer of the service."""
    [endpoint] = (one for one in CATALOGUE if not one.listed)
    path, body, url = endpoint.path, endpoint.example.request, shop.base_url
    assert path not in (python_client / "openapi.json").read_text()
    payment, offers = payment_of(shop, path)
    listing = Listing(dataclasses.replace(endpoint, listed=True), url + path, offers)
    folder = furnished(tmp_path, tools, msgspec.json.encode(openapi.document([listing], url)))
    generators.python_client(folder, tools)
    rows = [_row(path, body, header, url=url) for header in ("", "no payment", payment)]
    _, found = _called(tools, folder, lambda: rows)
    assert [answer["status"] for answer in found] == [402, 400, 200]
    assert [_moments(answer["parsed"]) for answer in found] == [_moments(answer["sent"]) for answer in found]
    _check_types(tools, generators.typescript_client(folder, tools), found)
