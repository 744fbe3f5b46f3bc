"""What counts as an answer to a JSON-RPC call, and what is never shown of a node."""

import json
from typing import Any

import pytest

from shared.nodes.connections import NodeFailed, place_of
from shared.nodes.json_rpc import JsonRpc, RpcError, result_of, results_of
from shared.nodes.xrpl_rpc import XrplError, XrplRpc
from tests.each import each

SECRET = "hunter2"


def reply(number: Any, **content: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, **content}).encode()


@each("value", [None, False, 0, "0x", [], {}, {"a": [1.5, None]}])
def test_a_result_is_what_the_node_says(value: Any) -> None:
    """Null too: it is how nodes say that there is no such transaction."""
    assert result_of(reply(7, result=value), 7) == value
    assert result_of(reply(7, result=value, error=None), 7) == value


@pytest.mark.parametrize("number", [7, None])
def test_an_error_has_its_code_and_data(number: int | None) -> None:
    """A node that could not read the id answers with null."""
    answer = reply(number, error={"code": 3, "message": f"execution reverted {SECRET}", "data": "0x08c379a0"})
    with pytest.raises(RpcError) as caught:
        result_of(answer, 7)
    assert (caught.value.code, caught.value.data) == (3, "0x08c379a0")
    assert SECRET in caught.value.message
    assert SECRET not in f"{caught.value}{caught.value!r}"


GOOD = reply(7, result="0x1")
BAD = {
    "empty": b"",
    "cut off": GOOD[:-1],
    "cut in a text": GOOD[:-3],
    "HTML": b"<html>hunter2</html>",
    "not UTF-8": b'{"id":7,"result":"\xff"}',
    "a number": b"7",
    "a list": b"[" + GOOD + b"]",
    "two": GOOD + GOOD,
    "no result": reply(7),
    "null error": reply(7, error=None),
    "another id": reply(8, result="0x1"),
    "no id": reply(None, result="0x1"),
    "an id of another type": reply("7", result="0x1"),
    "true for an id": reply(True, result="0x1"),
    "an error of another call": reply(8, error={"code": 1, "message": "hunter2"}),
    "a text for an error": reply(7, error="hunter2"),
    "a text for a code": reply(7, error={"code": "hunter2", "message": ""}),
    "no code": reply(7, error={"message": "hunter2"}),
    "a number for a message": reply(7, error={"code": 1, "message": 2}),
    "deep": b'{"id":7,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@each("content", BAD.values(), ids=BAD)
def test_what_is_no_answer_to_the_call_is_refused(content: bytes) -> None:
    """Without a word of it."""
    with pytest.raises(ValueError, match=r"^(not JSON-RPC|a reply .*)$") as caught:
        result_of(content, 7)
    assert not isinstance(caught.value, RpcError)
    assert caught.value.__cause__ is None


def batch(*replies: bytes) -> bytes:
    return b"[" + b",".join(replies) + b"]"


ONE, TWO, THREE = (reply(number, result=number * 10) for number in (1, 2, 3))


@pytest.mark.parametrize("answer", [batch(ONE, TWO, THREE), batch(THREE, ONE, TWO), batch(TWO, THREE, ONE)])
def test_replies_to_a_batch_are_matched_by_id(answer: bytes) -> None:
    """Nodes send them in any order."""
    assert results_of(answer, [1, 2, 3]) == [10, 20, 30]
    assert results_of(answer, [3, 1, 2]) == [30, 10, 20]


def test_an_error_in_a_batch_is_a_value() -> None:
    """The other calls have their results."""
    first, second = results_of(batch(reply(2, error={"code": 3, "message": "", "data": "0x"}), ONE), [1, 2])
    assert first == 10
    assert isinstance(second, RpcError)
    assert (second.code, second.data) == (3, "0x")


def test_a_batch_may_be_refused_as_a_whole() -> None:
    """For instance by a node that knows no batches."""
    with pytest.raises(RpcError) as caught:
        results_of(reply(None, error={"code": -32600, "message": "no batches"}), [1, 2])
    assert caught.value.code == -32600


BAD_BATCHES = {
    "missing": batch(ONE, TWO),
    "twice": batch(ONE, TWO, TWO),
    "twice and all": batch(ONE, TWO, THREE, THREE),
    "unknown": batch(ONE, TWO, reply(4, result=1)),
    "one more": batch(ONE, TWO, THREE, reply(4, result=1)),
    "no id": batch(ONE, TWO, reply(None, error={"code": 1, "message": ""})),
    "empty list": b"[]",
    "a single reply": ONE,
    "an error of one call": reply(1, error={"code": 1, "message": ""}),
    "a number in it": batch(ONE, TWO, b"3"),
    "no result": batch(ONE, TWO, reply(3)),
    "cut off": batch(ONE, TWO, THREE)[:-1],
}


@each("content", BAD_BATCHES.values(), ids=BAD_BATCHES)
def test_a_batch_needs_exactly_one_reply_to_each_call(content: bytes) -> None:
    """Whatever is missing or too much could belong to any of the calls."""
    with pytest.raises(ValueError, match=r"^(not |a reply|one reply)"):
        results_of(content, [1, 2, 3])


@each(
    ("url", "place"),
    [
        ("http://node.test", "http://node.test:80"),
        ("https://node.test/v2/hunter2", "https://node.test:443"),
        ("https://user:hunter2@node.test:8443/?key=hunter2#hunter2", "https://node.test:8443"),
        ("http://[::1]:8545/hunter2", "http://[::1]:8545"),
    ],
)
def test_of_a_url_only_the_place_is_shown(url: str, place: str) -> None:
    """Providers put their keys into the path, the query or the user."""
    assert place_of(url) == place
    for client in (JsonRpc(url), XrplRpc(url, timeout_s=1)):
        assert place in repr(client)
        assert SECRET not in f"{client!r}{client}{vars(client)!r}"
    failed = NodeFailed(JsonRpc(url).place, "status", "status 429", status=429)
    assert SECRET not in f"{failed}{failed!r}"


@each(
    "url",
    [
        "",
        "hunter2",
        "ws://hunter2",
        "http://",
        "http:///hunter2",
        "http://h:hunter2",
        "http://[hunter2",
        "http://h/hunter2 x",
        "http://h/\nhunter2",
        "http://hünter/",
    ],
)
def test_what_is_no_url_is_refused_and_not_shown(url: str) -> None:
    """At the start, before anything is sent."""
    for make in (place_of, JsonRpc):
        with pytest.raises(ValueError, match=r"^not an http\(s\) URL$"):
            make(url)


def test_an_xrpl_servers_error_has_a_code_that_can_be_shown() -> None:
    """Names only: anything else may be a sentence with the server's address."""
    assert str(XrplError({"error": "txnNotFound"})) == "txnNotFound"
    for error in ("see https://node.test/hunter2", None, {"a": 1}, "a" * 100):
        assert SECRET not in str(XrplError({"error": error}))
    assert XrplError({"error": "see http://"}).code == ""
