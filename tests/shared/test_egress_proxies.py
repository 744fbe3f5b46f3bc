"""The file of the proxies: what it means, and that no error shows what it holds."""

from pathlib import Path

import pytest

from shared.settings.egress_proxies import PoolProxies, ProxyServer, read_egress_proxies
from shared.settings.service import InvalidSetting
from tests.each import each

SECRET = "hunter2"


def written(folder: Path, text: str) -> str:
    """The path of a file with this text."""
    path = folder / "proxies.toml"
    path.write_text(text)
    return str(path)


def test_what_the_file_means(tmp_path: Path) -> None:
    """Proxies in their order, with what is percent-encoded in user and password."""
    found = read_egress_proxies(
        written(
            tmp_path,
            """
            # of our provider
            [youtube]
            use = "after_refusal"
            proxies = ["socks5://shop-session-1:p%40ss:%25w%C3%B6rd@198.51.100.7:1080", "http://proxy.example.net:3128"]
            [net]
            use = "always"
            proxies = ["http://[2001:db8::1]:8080/"]
            """,
        )
    )
    assert found == {
        "youtube": PoolProxies(
            (
                ProxyServer("socks5", "198.51.100.7", 1080, "shop-session-1", "p@ss:%wörd"),
                ProxyServer("http", "proxy.example.net", 3128),
            ),
            is_always=False,
        ),
        "net": PoolProxies((ProxyServer("http", "2001:db8::1", 8080),), is_always=True),
    }
    assert read_egress_proxies("") == {}


def test_no_text_of_a_proxy_shows_its_credentials(tmp_path: Path) -> None:
    """Logs and tracebacks show texts of objects."""
    path = written(tmp_path, f'[net]\nuse = "always"\nproxies = ["http://me-{SECRET}:{SECRET}@[::1]:80"]')
    found = read_egress_proxies(path)
    (server,) = found["net"].servers
    assert (server.password, str(server)) == (SECRET, "http://[::1]:80")
    assert SECRET not in f"{server!r} {server} {found!r}"


LINE = f"socks5://me:{SECRET}@198.51.100.7:1080"


@each(
    ("text", "says"),
    [
        (f'[net]\nuse = "always"\nproxies = ["{LINE}"', "is not TOML"),
        (f'[net]\nuse = "always"\n{LINE}', "is not TOML: look at line 3"),
        (f'[net]\nuse = "always"\nproxies = ["{LINE}"]\n[{SECRET}]', "there is another one"),
        (f'net = "{LINE}"', "there is another one"),
        (f'[whois]\nuse = "always"\nproxies = ["{LINE}"]', "there is another one"),
        ("# nothing", "names no pool"),
        (f'[net]\nproxies = ["{LINE}"]', r"\[net\] needs use ="),
        (f'[net]\nuse = "{SECRET}"\nproxies = ["{LINE}"]', r"\[net\] needs use ="),
        (f'[net]\nuse = "always"\nproxies = "{LINE}"', "needs proxies ="),
        ('[net]\nuse = "always"\nproxies = []', "needs proxies ="),
        ('[net]\nuse = "always"', "needs proxies ="),
        (f'[net]\nuse = "always"\nproxies = ["{LINE}"]\n{SECRET} = 1', "a key other than use and proxies"),
        (f'[net]\nuse = "always"\nproxies = ["{LINE}", "{LINE}"]', "names a proxy twice"),
        *(
            (f'[net]\nuse = "always"\nproxies = ["{LINE}", {other}]', r"\[net\] proxy 2 is not of the form socks5://")
            for other in (
                f'"{SECRET}"',
                "7",
                f'"https://me:{SECRET}@proxy.example.net:443"',
                f'"socks5h://me:{SECRET}@proxy.example.net:1080"',
                f'"socks5://me:{SECRET}@proxy.example.net"',
                f'"socks5://me:{SECRET}@proxy.example.net:0"',
                f'"socks5://me:{SECRET}@proxy.example.net:65536"',
                f'"socks5://me:{SECRET}@proxy.example.net:1080/path"',
                f'"socks5://{SECRET}@proxy.example.net:1080"',
                f'"socks5://me:{SECRET}/@proxy.example.net:1080"',
                f'"socks5://me:{SECRET}@proxy example.net:1080"',
                f'"socks5://me:{SECRET}@proxy.example.net\\r\\nX:1080"',
            )
        ),
        (f'[net]\nuse = "always"\nproxies = ["http://%FF:{SECRET}@a.example.net:80"]', "not UTF-8"),
        (f'[net]\nuse = "always"\nproxies = ["http://m%3Ae:{SECRET}@a.example.net:80"]', "no colon"),
        (f'[net]\nuse = "always"\nproxies = ["http://{SECRET * 37}:x@a.example.net:80"]', "at most 255 bytes"),
    ],
)
def test_a_wrong_file_is_a_sentence_without_its_content(tmp_path: Path, text: str, says: str) -> None:
    """At the start, with the name of the setting."""
    with pytest.raises(InvalidSetting, match=f"^COINSLOT_EGRESS_PROXY_FILE: /.*{says}") as refused:
        read_egress_proxies(written(tmp_path, text))
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    """As with every secret file."""
    with pytest.raises(InvalidSetting, match=r"cannot read the egress proxy file .*there is no such file"):
        read_egress_proxies(str(tmp_path / "nothing"))
