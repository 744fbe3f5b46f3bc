"""Settings come from the environment, are refused by name when they are wrong, and keep their secrets."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from shared.settings.secret_files import read_headers, read_key
from shared.settings.service import PREFIX, InvalidSetting, Settings
from tests.each import each

ADDRESS = "0x" + "1a" * 20
KEY = "0f" * 32
SOLANA_DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
# Addresses that everybody knows: a mint, an issuer, and the example of SEP-23.
SOLANA_ADDRESS = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
STELLAR_ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
XRPL_ADDRESS = "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De"

READ: dict[str, tuple[str, Any]] = {
    "host": ("0.0.0.0", "0.0.0.0"),
    "port": ("8080", 8080),
    "base_url": ("https://shop.test", "https://shop.test"),
    "extra_hosts": ("api.test,b.test", "api.test,b.test"),
    "contact": ("mailto:shop@example.com", "mailto:shop@example.com"),
    "contact_expires": ("2027-06-30", "2027-06-30"),
    "ledger_url": ("rediss://user:pw@ledger.test:6390/1", "rediss://user:pw@ledger.test:6390/1"),
    "queue_url": ("unix:///run/queue.sock", "unix:///run/queue.sock"),
    "ledger_replicas": ("1", 1),
    "redis_ca_file": ("/run/redis-ca.pem", "/run/redis-ca.pem"),
    "key_file": ("/run/secrets/key", Path("/run/secrets/key")),
    "previous_key_file": ("/run/secrets/key.previous", "/run/secrets/key.previous"),
    "evm_network": ("eip155:84532", "eip155:84532"),
    "evm_pay_to": (ADDRESS, ADDRESS),
    "evm_facilitator_url": ("https://facilitator.test/x402", "https://facilitator.test/x402"),
    "evm_facilitator_headers_file": ("/run/secrets/headers", "/run/secrets/headers"),
    "evm_facilitator_cdp_key_file": ("/run/secrets/cdp", "/run/secrets/cdp"),
    "settle_timeout_s": ("2.5", 2.5),
    "rate_limits": ("fast=10/20", "fast=10/20"),
    "ledger_dir": ("/var/lib/redis", "/var/lib/redis"),
    "ledger_free_mb": ("1024", 1024),
    "observation_url": ("redis://observations.test/0", "redis://observations.test/0"),
    "observation_days": ("30", 30.0),
    "observations_per_payer": ("50", 50),
    "facilitator_host": ("::1", "::1"),
    "facilitator_port": ("8081", 8081),
    "evm_rpc_url": ("https://node.test/v2/api-key", "https://node.test/v2/api-key"),
    "evm_settler_key_file": ("/run/secrets/settler", Path("/run/secrets/settler")),
    "evm_max_fee_gwei": ("0.2", 0.2),
    "evm_low_balance_eth": ("0.05", 0.05),
    "evm_batch": ("20", 20),
    "evm_spacing_ms": ("250", 250),
    "evm_finality": ("12", "12"),
    "evm_journal_file": ("/var/lib/coinslot/evm", "/var/lib/coinslot/evm"),
    "ethereum_pay_to": (ADDRESS, ADDRESS),
    "ethereum_facilitator_url": ("https://facilitator.test/1", "https://facilitator.test/1"),
    "ethereum_facilitator_headers_file": ("/run/secrets/1", "/run/secrets/1"),
    "ethereum_rpc_url": ("https://node.test/1", "https://node.test/1"),
    "ethereum_settler_key_file": ("/run/secrets/settler-1", Path("/run/secrets/settler-1")),
    "ethereum_max_fee_gwei": ("60", 60.0),
    "ethereum_low_balance_eth": ("0.5", 0.5),
    "ethereum_batch": ("20", 20),
    "ethereum_spacing_ms": ("250", 250),
    "ethereum_finality": ("12", "12"),
    "ethereum_journal_file": ("/var/lib/coinslot/ethereum", "/var/lib/coinslot/ethereum"),
    "solana_network": (SOLANA_DEVNET, SOLANA_DEVNET),
    "solana_pay_to": (SOLANA_ADDRESS, SOLANA_ADDRESS),
    "solana_facilitator_url": ("https://facilitator.test/2", "https://facilitator.test/2"),
    "solana_facilitator_headers_file": ("/run/secrets/2", "/run/secrets/2"),
    "solana_facilitator_cdp_key_file": ("/run/secrets/cdp-2", "/run/secrets/cdp-2"),
    "solana_rpc_url": ("https://node.test/2", "https://node.test/2"),
    "solana_settler_key_file": ("/run/secrets/settler-2", Path("/run/secrets/settler-2")),
    "stellar_network": ("stellar:testnet", "stellar:testnet"),
    "stellar_pay_to": (STELLAR_ADDRESS, STELLAR_ADDRESS),
    "stellar_facilitator_url": ("https://facilitator.test/3", "https://facilitator.test/3"),
    "stellar_facilitator_headers_file": ("/run/secrets/3", "/run/secrets/3"),
    "stellar_rpc_url": ("https://node.test/3", "https://node.test/3"),
    "stellar_settler_key_file": ("/run/secrets/settler-3", Path("/run/secrets/settler-3")),
    "xrpl_network": ("xrpl:1", "xrpl:1"),
    "xrpl_pay_to": (XRPL_ADDRESS, XRPL_ADDRESS),
    "xrpl_tokens": ("rlusd", "rlusd"),
    "xrpl_facilitator_url": ("https://facilitator.test/4", "https://facilitator.test/4"),
    "xrpl_facilitator_headers_file": ("/run/secrets/4", "/run/secrets/4"),
    "xrpl_rpc_url": ("https://node.test/4", "https://node.test/4"),
    "xrpl_read_urls": ("https://a.test/5,https://b.test/?key=5", ("https://a.test/5", "https://b.test/?key=5")),
    "rpc_ethereum_urls": (
        "https://a.test/v2/key , http://b.test:8545",
        ("https://a.test/v2/key", "http://b.test:8545"),
    ),
    "rpc_base_urls": ("https://user:pw@base.test/?api-key=k", ("https://user:pw@base.test/?api-key=k",)),
    "rpc_hedge": ("1", True),
    "user": ("coinslot", "coinslot"),
    "facilitator_user": ("61201", "61201"),
    "production": ("1", True),
    "dns_probe": ("example.com", "example.com"),
    "dns_server": ("127.7.0.1:5353", "127.7.0.1:5353"),
    "hosts": ("a.example.com=127.7.0.1", "a.example.com=127.7.0.1"),
    "egress_allow": ("127.7.0.0/16", "127.7.0.0/16"),
    "egress_deny": ("198.51.100.7/32", "198.51.100.7/32"),
    "egress_ports": ("8000,9000", "8000,9000"),
    "ca_file": ("/etc/ca.pem", "/etc/ca.pem"),
    "whois_iana": ("whois.test:4343", "whois.test:4343"),
    "whois_port": ("4343", 4343),
    "youtube_url": ("https://captions.test", "https://captions.test"),
    "chromium": ("/opt/chromium/headless_shell", "/opt/chromium/headless_shell"),
    "metrics_dir": ("/run/metrics", "/run/metrics"),
    "metrics_host": ("::1", "::1"),
    "metrics_port": ("9100", 9100),
    "dashboard_redis_url": ("redis://mirror.test/1", "redis://mirror.test/1"),
    "dashboard_host": ("::1", "::1"),
    "dashboard_port": ("8082", 8082),
    "dashboard_password_file": ("/run/secrets/dashboard", Path("/run/secrets/dashboard")),
    "log": ("json", "json"),
    "log_calls": ("1", True),
    "otel": ("1", True),
    "failpoint": ("settled@3", "settled@3"),
    "now": ("2026-11-20T15:04:05Z", "2026-11-20T15:04:05Z"),
}


def read(**values: str) -> Settings:
    return Settings.from_env({PREFIX + name.upper(): value for name, value in values.items()})


def value_of(settings: Settings, name: str) -> Any:
    """By the lower-case name of the variable."""
    return settings.variables()[PREFIX + name.upper()]


def test_every_setting_is_tested() -> None:
    """A new setting needs a row in the table above."""
    assert {PREFIX + name.upper() for name in READ} == set(Settings().variables())


def test_every_setting_has_a_rule() -> None:
    """It stands on the field. A switch and the path of a file need none."""
    parts = [Settings(), *Settings().rails.values()]
    fields = [field for part in parts for field in dataclasses.fields(part) if field.type not in ("bool", "Path")]
    assert [field.name for field in fields if "rule" not in field.metadata] == list(Settings().rails)


@each(("name", "text", "value"), [(name, *row) for name, row in READ.items()], ids=list(READ))
def test_a_setting_is_read(name: str, text: str, value: Any) -> None:
    """From its own variable, into its own type; space around it does not count."""
    for written in (text, f" {text}\n"):
        found = value_of(read(**{name: written}), name)

        assert (found, type(found)) == (value, type(value))


def test_all_settings_at_once() -> None:
    """Every variable ends in its own field."""
    settings = read(**{name: text for name, (text, _) in READ.items()})

    assert {name: value_of(settings, name) for name in READ} == {name: value for name, (_, value) in READ.items()}


def test_nothing_set_is_the_default() -> None:
    """An empty environment, empty variables and those of others."""
    empty = {PREFIX + name.upper(): " " for name in READ}

    assert Settings.from_env({}) == Settings()
    assert Settings.from_env(empty | {"PORT": "1", "HOST": "x", "coinslot_port": "1"}) == Settings()


def test_the_base_url_follows_the_port() -> None:
    """On a developer's machine one variable moves the API; a public address stays what it is, without a slash at its end."""
    assert read(port="4999").base_url == "http://127.0.0.1:4999"
    assert read(port="4999", base_url="https://shop.test").base_url == "https://shop.test"
    assert read(base_url="https://shop.test/shelf//").base_url == "https://shop.test/shelf"


def test_a_contact_is_a_mail_address_or_a_page() -> None:
    """Both are public, in the API's documents."""
    assert read(contact="https://shop.test/about?x#y").contact == "https://shop.test/about?x#y"
    assert "mailto:shop@example.com" in repr(read(contact="mailto:shop@example.com"))
    assert read().contact == ""


WRONG = {
    "port": ["x", "0", "-1", "65536", "1.5", "1e3", "0x50", "40 20", "4020;"],
    "facilitator_port": ["x", "0", "-1", "65536", "99999999999999999999"],
    "evm_max_fee_gwei": ["x", "0", "-1", "1000001", "nan", "inf"],
    "evm_low_balance_eth": ["x", "-0.1", "1000001", "nan", "inf"],
    "evm_batch": ["x", "0", "-1", "101", "1.5"],
    "evm_spacing_ms": ["x", "-1", "5001", "0.5"],
    "evm_finality": ["x", "0", "-1", "100", "Included", "1.5", "latest"],
    "observation_url": ["http://observations.test", "redis://"],
    "observation_days": ["x", "0", "-1", "nan", "inf", "3651"],
    "observations_per_payer": ["x", "0", "-1", "1000001"],
    "ledger_replicas": ["x", "-1", "10", "1.5"],
    "settle_timeout_s": ["x", "0", "-1", "20.1", "nan", "inf", "-inf", "1,5"],
    "base_url": [
        "shop.test",
        "ftp://shop.test",
        "http://",
        "http:///x",
        "//shop.test",
        "http://h?q=1",
        "http://h#f",
        "https:h",
    ],
    "contact_expires": ["x", "2027-02-30", "20270630", "2027-6-3", "2027-06-30T00:00:00Z"],
    "contact": [
        "x",
        "shop@example.com",
        "mailto:",
        "mailto:shop",
        "mailto:shop@example.com?subject=x",
        "mailto:shop@example.com\nEncryption: x",
        "http://shop.test",
        "https://",
        "https://shop.test/\nx",
        "javascript:alert(1)",
    ],
    "evm_facilitator_url": ["x", "redis://h", "https://", "http://h?key=1", "file:///etc/passwd"],
    "ledger_url": [
        "x",
        "http://h:1",
        "127.0.0.1:6379",
        "memory://",
        "rediss",
        "redis://a:1,",
        "redis://a:1,redis://a:1",
    ],
    "queue_url": ["x", "amqp://h", "/run/queue.sock"],
    "failpoint": ["nowhere", "settled@0", "settled@", "settled settled"],
    "evm_network": [
        "base",
        "eip155:",
        "eip155:0",
        "eip155:08453",
        "EIP155:8453",
        "eip155:１",
        "eip155:8453:1",
        "solana:1",
    ],
    "evm_pay_to": [
        "x",
        "0x",
        ADDRESS[:-1],
        ADDRESS + "0",
        ADDRESS[2:],
        "0X" + ADDRESS[2:],
        "0x" + "g" * 40,
        "shop.eth",
    ],
    "solana_network": ["solana", "solana:mainnet", SOLANA_DEVNET + "1", SOLANA_DEVNET.upper()],
    "solana_pay_to": ["x", ADDRESS, SOLANA_ADDRESS + "1", "0" + SOLANA_ADDRESS[1:]],
    "stellar_network": ["stellar", "stellar:mainnet", "stellar:pubnet:1"],
    "stellar_pay_to": ["x", STELLAR_ADDRESS.lower(), "S" + STELLAR_ADDRESS[1:], STELLAR_ADDRESS[:-1]],
    "xrpl_network": ["xrpl", "xrpl:main", "xrpl:00"],
    "xrpl_pay_to": ["x", "X" + XRPL_ADDRESS[1:], XRPL_ADDRESS + "0", ADDRESS],
    "xrpl_tokens": ["xrp", "usdc,usdc", "usdc,xrp", "USDC"],
    "xrpl_rpc_url": ["x", "wss://h"],
    "ethereum_max_fee_gwei": ["0", "nan"],
    "ethereum_low_balance_eth": ["-1", "inf"],
    "rpc_ethereum_urls": [
        "x",
        "ws://h",
        "http://h,",
        ",",
        "http://h,redis://h",
        "http://h#f",
        "http://h http://i",
        "http://[h",
    ],
    "rpc_base_urls": ["https://", "http://h:99999"],
    "xrpl_read_urls": ["wss://h"],
    "rpc_hedge": ["yes", "2"],
}


@each(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_a_wrong_form_is_refused_by_name(name: str, text: str) -> None:
    """The error names the variable, so that whoever set it finds it."""
    with pytest.raises(InvalidSetting, match=rf"^{PREFIX}{name.upper()} must be "):
        read(**{name: text})


@each(
    "name",
    ["base_url", "evm_facilitator_url", "ledger_url", "queue_url", "evm_pay_to", "rpc_base_urls", "xrpl_read_urls"],
)
def test_a_refusal_does_not_repeat_what_may_be_a_secret(name: str) -> None:
    """Addresses may carry passwords."""
    with pytest.raises(InvalidSetting) as caught:
        read(**{name: "wrong://user:hunter2@h?x"})

    assert "hunter2" not in str(caught.value)


def test_a_direct_construction_is_checked_too() -> None:
    """Tests and scripts that skip the environment do not skip the rules."""
    with pytest.raises(InvalidSetting, match="COINSLOT_PORT"):
        Settings(port=0)


def test_the_xrp_ledger_is_read_where_it_is_settled() -> None:
    """Unless other servers are named for reading."""
    assert read(xrpl_rpc_url="http://own.test").xrpl.read_urls == ("http://own.test",)
    assert read(xrpl_rpc_url="http://own.test", xrpl_read_urls="http://read.test").xrpl.read_urls == (
        "http://read.test",
    )
    assert read().xrpl.read_urls == ()


def test_the_network_of_the_ethereum_rail_is_fixed() -> None:
    """It has no variable."""
    assert read(ethereum_network="eip155:5").ethereum.network == "eip155:1"


def test_settings_do_not_change() -> None:
    """They are read once."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


@each("name", [name for name in READ if name.endswith(("_url", "_urls")) and name != "base_url"])
def test_addresses_are_not_shown(name: str) -> None:
    """repr() leaves out every URL: Redis passwords and the keys of RPC providers are part of them."""
    schemes = dict.fromkeys(("ledger_url", "queue_url", "observation_url", "dashboard_redis_url"), "redis")
    settings = read(**{name: f"{schemes.get(name, 'https')}://user:hunter2@host.test/api-key"})

    assert "hunter2" in str(value_of(settings, name))
    for shown in (repr(settings), str(settings), f"{settings}"):
        assert "hunter2" not in shown
        assert "host.test" not in shown


def test_what_is_no_secret_is_shown() -> None:
    """Where the key is may be known; what is in it is not read here."""
    shown = repr(read(port="4999", key_file="/run/key"))

    assert "port=4999" in shown
    assert "/run/key" in shown


@pytest.mark.parametrize(
    "text",
    [KEY, KEY.upper(), "0x" + KEY, f"{KEY}\n", f"  0x{KEY}\r\n"],
    ids=["plain", "capitals", "0x", "line end", "space around it"],
)
def test_a_key_file(tmp_path: Path, text: str) -> None:
    """64 hex digits, as openssl, a text editor and Ethereum tools write them."""
    file = tmp_path / "key"
    file.write_bytes(text.encode())

    assert read_key(file) == bytes.fromhex(KEY)


@each(
    "content",
    [
        b"",
        KEY[:-1].encode(),
        KEY[:-2].encode(),
        (KEY + "00").encode(),
        ("0x0x" + KEY).encode(),
        ("0X" + KEY).encode(),
        (KEY[:-1] + "g").encode(),
        f"{KEY}\n{KEY}".encode(),
        f"{KEY[:32]} {KEY[32:]}".encode(),
        bytes.fromhex(KEY),
        bytes(range(128, 160)),
        "０".encode() * 64,
        b"hunter2",
    ],
)
def test_a_key_file_of_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    """By its name, and without a word of what is in it."""
    file = tmp_path / "secret.key"
    file.write_bytes(content)

    with pytest.raises(InvalidSetting, match=r"secret\.key") as caught:
        read_key(file)

    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "0f0f" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_key_file_that_is_not_there(tmp_path: Path) -> None:
    """Nor is a folder a key."""
    with pytest.raises(InvalidSetting, match=r"missing\.key: there is no such file"):
        read_key(tmp_path / "missing.key")
    with pytest.raises(InvalidSetting, match="Is a directory"):
        read_key(tmp_path)


@each(
    ("name", "value"),
    [
        ("base_url", "https://user:hunter2@host.test"),
        ("base_url", "http://[::1"),
        ("base_url", "http://]"),
        ("base_url", "http://h o/"),
        ("base_url", "http://h\n/x"),
        ("base_url", "http://h?"),
        ("base_url", "http://h#"),
        ("base_url", "http://h:99999"),
        ("base_url", "http://h:x"),
        ("evm_rpc_url", "garbage"),
        ("evm_facilitator_url", "ftp://h"),
        ("ledger_url", "redis://[::1"),
        ("ledger_url", "redis://"),
        ("queue_url", "redis://h:x"),
        ("port", "4_020"),
        ("port", "+4020"),
        ("port", "４０２０"),
        ("evm_pay_to", "0x" + "0" * 40),
    ],
)
def test_forms_that_would_fail_later_are_refused_at_once(name: str, value: str) -> None:
    """With the name of the setting, and without the value of one that may hold a secret."""
    with pytest.raises(InvalidSetting, match=name.upper()) as refused:
        read(**{name: value})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("text", ["0" * 64, "f" * 64])
def test_a_key_that_is_no_private_key_is_refused(tmp_path: Path, text: str) -> None:
    """Zero and anything beyond the curve's order."""
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(InvalidSetting, match="usable"):
        read_key(path)


def test_headers_are_read(tmp_path: Path) -> None:
    """One a line, with what editors and people leave around them."""
    file = tmp_path / "headers"
    file.write_bytes(b'# of the facilitator\r\nAuthorization: Bearer a:b=c  \r\n\n  \nX-API-Key:d\nx-empty: ""\n')
    assert read_headers(str(file)) == {"authorization": "Bearer a:b=c", "x-api-key": "d", "x-empty": '""'}
    file.write_bytes(b"")
    assert read_headers(str(file)) == read_headers("") == {}


@each(
    "text",
    [
        "canary",
        "canary-no-colon\n",
        ": canary",
        "X-Key:",
        "X-Key: \t",
        "X Key: canary",
        " X-Key: canary",
        "X-Key: canary\n continued",
        "X-Key: canary\x00",
        "X-Key: canary\x1f",
        "X-Key: canary\rY-Key: canary",
        "X-Key: canary\x0bY-Key: canary",
        "X-Key: canary\u2028",
        "X-K\u00e9y: canary",
        "X-Key: canary\nx-key: canary",
        "Host: canary",
        "content-length: 5",
        "Transfer-Encoding: canary",
        "X-Key: canary" + "a" * 9_000,
    ],
)
def test_headers_of_another_form_are_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    """The file's content is a secret."""
    file = tmp_path / "headers"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidSetting) as refused:
        read_headers(str(file))
    assert "headers file" in str(refused.value)
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("path", ["/nowhere/headers", "/", "a\0b"])
def test_a_headers_file_that_is_none(path: str) -> None:
    """By name, whatever is wrong with it."""
    with pytest.raises(InvalidSetting, match="cannot read the headers file"):
        read_headers(path)


def test_the_port_of_our_facilitator_moves_both_sides() -> None:
    """Of rails whose facilitator is not named; the others stay."""
    moved = read(facilitator_port="5021", solana_facilitator_url="https://facilitator.test")
    assert moved.evm.facilitator_url == moved.xrpl.facilitator_url == "http://127.0.0.1:5021"
    assert moved.solana.facilitator_url == "https://facilitator.test"
    assert read().stellar.facilitator_url == "http://127.0.0.1:4021"


def test_a_ledger_of_several_primaries() -> None:
    """Each has its place in the list, and the authorities of all; there are no more of them than buckets."""
    settings = Settings(ledger_url="rediss://a:1/0, redis://b:1", redis_ca_file="/ca.pem")
    assert settings.ledger_places == (("rediss://a:1/0?ssl_ca_certs=/ca.pem", "1 of 2"), ("redis://b:1", "2 of 2"))
    with pytest.raises(InvalidSetting, match="64 at most"):
        Settings(ledger_url=",".join(f"redis://a:{port}" for port in range(1, 66)))
