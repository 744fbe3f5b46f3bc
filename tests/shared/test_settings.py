"""Settings come from the environment, are refused by name when they are wrong, and keep their secrets."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
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

FORMS = {
    "extra_hosts": "api.test,b.test",
    "receipt_former_keys": "A" * 43,
    "contact": "mailto:shop@example.com",
    "contact_expires": "2027-06-30",
    "evm_network": "eip155:84532",
    "evm_pay_to": ADDRESS,
    "evm_finality": "12",
    "evm_channels": "on",
    "ethereum_pay_to": ADDRESS,
    "ethereum_finality": "12",
    "solana_network": SOLANA_DEVNET,
    "solana_pay_to": SOLANA_ADDRESS,
    "stellar_network": "stellar:testnet",
    "stellar_pay_to": STELLAR_ADDRESS,
    "xrpl_network": "xrpl:1",
    "xrpl_pay_to": XRPL_ADDRESS,
    "xrpl_tokens": "rlusd",
    "max_cost_share": "25%",
    "log": "json",
    "failpoint": "settled@3",
}
"""Texts of the settings that take only certain ones."""
REDIS = ("ledger_url", "queue_url", "observation_url", "dashboard_redis_url")


def written(name: str, default: object) -> tuple[str, object]:
    """A text for a setting, and its value."""
    match default:
        case bool():
            return str(int(not default)), not default
        case int() if name == "evm_withdraw_delay_s":
            return "1000", 1000
        case int() | float():
            return "7", type(default)(7)
        case Path():
            return f"/run/{name}", Path("/run", name)
        case tuple() if name.endswith("_factories"):
            return f"0x{'11' * 20}, 0x{'22' * 20}", (f"0x{'11' * 20}", f"0x{'22' * 20}")
        case tuple():
            urls = f"https://a.test/{name}", f"http://b.test:8545/?{name}"
            return " , ".join(urls), urls
    text = FORMS.get(name, f"{name}.text")
    if name.endswith("_url"):
        text = f"{'redis' if name in REDIS else 'https'}://{name}.test/x"
    return text, text


DEFAULTS = {name.removeprefix(PREFIX).lower(): value for name, value in Settings().variables().items()}
READ = {name: written(name, default) for name, default in DEFAULTS.items()}


def read(**values: str) -> Settings:
    return Settings.from_env({PREFIX + name.upper(): value for name, value in values.items()})


def value_of(settings: Settings, name: str) -> Any:
    """By the lower-case name of the variable."""
    return settings.variables()[PREFIX + name.upper()]


def test_every_setting_has_a_rule() -> None:
    """Each field has it. A switch and the path of a file need none."""
    parts = [Settings(), *Settings().rails.values()]
    fields = [field for part in parts for field in dataclasses.fields(part) if field.type not in ("bool", "Path")]
    assert [field.name for field in fields if "rule" not in field.metadata] == list(Settings().rails)


@each(("name", "text", "value"), [(name, *row) for name, row in READ.items()], ids=list(READ))
def test_a_setting_is_read(name: str, text: str, value: Any) -> None:
    """From its own variable, into its own type; space around it does not count."""
    assert value != DEFAULTS[name]
    for spaced in (text, f" {text}\n"):
        found = value_of(read(**{name: spaced}), name)

        assert (found, type(found)) == (value, type(value))


def test_further_forms_are_read() -> None:
    """Redis behind a socket or TLS, decimals, IPv6, and words for a switch."""
    further: dict[str, tuple[str, Any]] = {
        "queue_url": ("unix:///run/queue.sock", "unix:///run/queue.sock"),
        "ledger_url": ("rediss://user:pw@ledger.test:6390/1", "rediss://user:pw@ledger.test:6390/1"),
        "settle_timeout_s": ("2.5", 2.5),
        "facilitator_host": ("::1", "::1"),
        "production": ("True", True),
        "rpc_hedge": ("0", False),
        "facilitator_user": ("61201", "61201"),
    }
    settings = read(**{name: text for name, (text, _) in further.items()})
    assert {name: value_of(settings, name) for name in further} == {name: value for name, (_, value) in further.items()}


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


def test_the_share_of_a_settlement_is_a_number() -> None:
    """In percent, with or without a space; or there is none."""
    assert (read().cost_share, read(max_cost_share="5 %").cost_share) == (Fraction(1, 2), Fraction(1, 20))
    assert read(max_cost_share="off").cost_share is None


def test_a_contact_is_a_mail_address_or_a_page() -> None:
    """Both are public, in the API's documents."""
    assert read(contact="https://shop.test/about?x#y").contact == "https://shop.test/about?x#y"
    assert "mailto:shop@example.com" in repr(read(contact="mailto:shop@example.com"))
    assert read().contact == ""


WRONG = {
    "port": "x 0 -1 65536 1.5 1e3 0x50 4020; 4_020 +4020 ４０２０",
    "facilitator_port": "x 0 -1 65536 99999999999999999999",
    "evm_max_fee_gwei": "x 0 -1 1000001 nan inf",
    "evm_low_balance_eth": "x -0.1 1000001 nan inf",
    "evm_batch": "x 0 -1 101 1.5",
    "evm_spacing_ms": "x -1 5001 0.5",
    "evm_finality": "x 0 -1 100 Included 1.5 latest",
    "max_cost_share": "x 0% 1000% -5% 5 50.5% %",
    "observation_url": "http://observations.test redis://",
    "observation_days": "x 0 -1 nan inf 3651",
    "observations_per_payer": "x 0 -1 1000001",
    "ledger_replicas": "x -1 10 1.5",
    "settle_timeout_s": "x 0 -1 20.1 nan inf -inf 1,5",
    "base_url": "shop.test ftp://shop.test http:// http:///x //shop.test http://h?q=1 http://h#f https:h http://h? http://h#"
    " http://[::1 http://] http://h:99999 http://h:x https://user:hunter2@host.test",
    "contact_expires": "x 2027-02-30 20270630 2027-6-3 2027-06-30T00:00:00Z",
    "contact": "x shop@example.com mailto: mailto:shop mailto:shop@example.com?subject=x http://shop.test https://"
    " javascript:alert(1)",
    "evm_facilitator_url": "x redis://h https:// http://h?key=1 file:///etc/passwd ftp://h",
    "evm_rpc_url": "garbage",
    "ledger_url": "x http://h:1 127.0.0.1:6379 memory:// rediss redis://a:1, redis://a:1,redis://a:1 redis://[::1 redis://",
    "queue_url": "x amqp://h /run/queue.sock redis://h:x",
    "failpoint": "nowhere settled@0 settled@",
    "evm_network": "base eip155: eip155:0 eip155:08453 EIP155:8453 eip155:１ eip155:8453:1 solana:1",
    "evm_pay_to": f"x 0x {ADDRESS[:-1]} {ADDRESS}0 {ADDRESS[2:]} 0X{ADDRESS[2:]} 0x{'g' * 40} 0x{'0' * 40} shop.eth",
    "solana_network": f"solana solana:mainnet {SOLANA_DEVNET}1 {SOLANA_DEVNET.upper()}",
    "solana_pay_to": f"x {ADDRESS} {SOLANA_ADDRESS}1 0{SOLANA_ADDRESS[1:]}",
    "stellar_network": "stellar stellar:mainnet stellar:pubnet:1",
    "stellar_pay_to": f"x {STELLAR_ADDRESS.lower()} S{STELLAR_ADDRESS[1:]} {STELLAR_ADDRESS[:-1]}",
    "xrpl_network": "xrpl xrpl:main xrpl:00",
    "xrpl_pay_to": f"x X{XRPL_ADDRESS[1:]} {XRPL_ADDRESS}0 {ADDRESS}",
    "xrpl_tokens": "xrp usdc,usdc usdc,xrp USDC",
    "xrpl_rpc_url": "x wss://h",
    "ethereum_max_fee_gwei": "0 nan",
    "ethereum_low_balance_eth": "-1 inf",
    "rpc_ethereum_urls": "x ws://h http://h, , http://h,redis://h http://h#f http://[h",
    "rpc_base_urls": "https:// http://h:99999",
    "xrpl_read_urls": "wss://h",
    "rpc_hedge": "yes 2",
}
"""With blanks between the values."""
WRONG_WITH_BLANKS = [
    ("port", "40 20"),
    ("base_url", "http://h o/"),
    ("base_url", "http://h\n/x"),
    ("contact", "mailto:shop@example.com\nEncryption: x"),
    ("contact", "https://shop.test/\nx"),
    ("failpoint", "settled settled"),
    ("rpc_ethereum_urls", "http://h http://i"),
    *(
        (name, "wrong://user:hunter2@h?x")
        for name in ("evm_facilitator_url", "ledger_url", "queue_url", "evm_pay_to", "rpc_base_urls", "xrpl_read_urls")
    ),
]


@each(("name", "text"), [*WRONG_WITH_BLANKS, *((name, text) for name in WRONG for text in WRONG[name].split(" "))])
def test_a_wrong_form_is_refused_by_name(name: str, text: str) -> None:
    """The error names the variable, so that whoever set it finds it. It shows no value that may be a secret."""
    with pytest.raises(InvalidSetting, match=rf"^{PREFIX}{name.upper()} must (not )?(be|hold) ") as refused:
        read(**{name: text})
    assert "hunter2" not in str(refused.value)


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
    settings = read(**{name: f"{'redis' if name in REDIS else 'https'}://user:hunter2@host.test/api-key"})

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


def test_a_ledger_of_several_servers() -> None:
    """Each has the authorities of all."""
    settings = Settings(ledger_url="rediss://a:1/0, redis://b:1", redis_ca_file="/ca.pem")
    assert settings.ledger_urls == ("rediss://a:1/0?ssl_ca_certs=/ca.pem", "redis://b:1")
    with pytest.raises(InvalidSetting, match="64 at most"):
        Settings(ledger_url=",".join(f"redis://a:{port}" for port in range(1, 66)))
