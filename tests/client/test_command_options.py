"""The command line of `coinslot call`: its body, its limits, its shop."""

from pathlib import Path

import pytest

from tests.client.conftest import Command, Shop
from tests.each import each

pytestmark = pytest.mark.usefixtures("sandbox")  # which pays, unless a test gives another key


@each(
    ("arguments", "stdin", "sent"),
    [
        ((), b"", b""),
        (("{ }",), b"", b"{ }"),
        (("-",), b'{"from":\n "stdin"}\n', b'{"from":\n "stdin"}\n'),
        (("@body.json",), b"", b'\t{"from": "file"}'),
        (('{"m":"é"}',), b"", '{"m":"é"}'.encode()),
    ],
)
def test_a_body_is_sent_as_it_is_given(
    command: Command, shop: Shop, tmp_path: Path, arguments: tuple[str, ...], stdin: bytes, sent: bytes
) -> None:
    """Nothing, text, standard input or a file: the very bytes, twice."""
    (tmp_path / "body.json").write_bytes(b'\t{"from": "file"}')
    assert command("call", "echo", *arguments, stdin=stdin).code == 0
    assert [seen.body for seen in shop.seen[-2:]] == [sent, sent]


@each(
    ("body", "stdin"),
    [
        *((text, b"") for text in ("{", "hello", "[1]", "null", '{"a": NaN}', "", '{"a":' * 3000)),
        *((name, b"") for name in ("@missing.json", "@", "@.")),
        *(("-", content) for content in (b"", b'{"a": "\xff"}', b"{}" + b" " * 5_000_000)),
    ],
)
def test_a_body_that_no_call_takes_is_refused_here(command: Command, shop: Shop, body: str, stdin: bytes) -> None:
    """Exit 2, before anything is sent."""
    run = command("call", "echo", body, "--json", stdin=stdin)
    assert (run.code, run.json["error"], run.json["charged"]) == (2, "invalid_call", False)
    assert shop.seen == []


@each(
    ("arguments", "code"),
    [
        *((("call", "echo", "--max-price", price), 2) for price in ("1e3", "-1", "nan")),
        *((("call", "echo", "--timeout", seconds), 2) for seconds in ("0", "nan")),
        *(
            (("call", "echo", *given), 2)
            for given in (("--rail", "solana"), ("--url", "ftp://x"), ("--odd",), ("--max",))
        ),
        *((arguments, 2) for arguments in ((), ("pay",), ("call",), ("call", "Echo"))),
        (("call", "echo", "--url", "http://127.0.0.1:9"), 6),
        (("call", "echo", "--max-price", "0"), 3),
        (("call", "echo", "--max-price", "0.0009"), 3),
        (("call", "echo", "--max-price", "0.001"), 0),
    ],
)
def test_options_and_their_exit_codes(command: Command, shop: Shop, arguments: tuple[str, ...], code: int) -> None:
    """Wrong usage is 2, a limit that is too low 3; a failure is one line, or one JSON object."""
    shop.seen.clear()
    assert command(*arguments, "--json").code == code
    run = command(*arguments)
    assert run.code == code
    if code:
        assert run.out == ""
        assert run.err.startswith("coinslot: ")
        assert run.err.count("\n") == 1
        assert "Nothing was spent." in run.err
        assert shop.payments == []


def test_the_sandbox_spends_ten_cents_at_most(command: Command, shop: Shop) -> None:
    """The default of --max-price."""
    shop.unpaid = [shop.demand(shop.challenge(price="0.100001"))]
    run = command("call", "echo", "--json")
    assert (run.code, run.json["error"], shop.payments) == (3, "price_too_high", [])


def test_an_own_key_needs_a_limit_and_a_shop(command: Command, shop: Shop, key_file: Path) -> None:
    """Real money is spent on explicit terms only: not by default, and not in the sandbox by default."""
    own = ("call", "echo", "--key-file", str(key_file))
    no_shop = command(*own, "--max-price", "0.01")
    no_limit = command(*own, "--url", shop.base_url)
    assert (no_shop.code, no_limit.code) == (2, 2)
    assert "--url" in no_shop.err
    assert "--max-price" in no_limit.err
    assert shop.seen == []
    assert command(*own, "--url", shop.base_url, "--max-price", "0.01").code == 0


def test_the_shop_may_be_named_by_the_environment(
    command: Command, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """COINSLOT_URL goes before the sandbox's address, --url before both."""
    monkeypatch.setenv("COINSLOT_URL", "http://127.0.0.1:9")
    assert command("call", "echo").code == 6
    assert command("call", "echo", "--url", shop.base_url + "/").code == 0


def test_plain_http_to_another_host_is_remarked_on(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is on the way could change the price."""
    assert "not https" not in command("call", "echo").err
    monkeypatch.setattr("coinslot.configuration.is_loopback", lambda url: False)
    run = command("call", "echo")
    assert run.code == 0
    assert "not https" in run.err
