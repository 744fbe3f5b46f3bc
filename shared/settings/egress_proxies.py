"""Reads the file of COINSLOT_EGRESS_PROXY_FILE: by which proxies pools call out. Error messages never show its content.

[youtube]
use = "after_refusal"        # or "always"
proxies = ["socks5://user:password@198.51.100.7:1080", "http://proxy.example.net:3128"]
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from shared.pools import Pool
from shared.settings.secret_files import read_content
from shared.settings.service import PREFIX, InvalidSetting

POOLS = (Pool.YOUTUBE, Pool.RENDER, Pool.NET)
"""The pools whose calls may leave by proxies."""
ALWAYS, AFTER_REFUSAL = "always", "after_refusal"

_MAX_BYTES = 64 * 1024
_MOST_PROXIES = 100
_MOST_CREDENTIAL_BYTES = 255
"""Of a user or a password, as SOCKS5 counts them (RFC 1929)."""
_SERVER = re.compile(
    r"(?P<scheme>http|socks5)://(?:(?P<user>[^:@/\s]+):(?P<password>[^@/\s]*)@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+)):(?P<port>[0-9]{1,5})/?",
    re.ASCII,
)
_FORM = "socks5://user:password@host:port or http://user:password@host:port"


@dataclass(frozen=True, slots=True)
class ProxyServer:
    """A proxy of the operator's. Its texts show neither user nor password."""

    scheme: Literal["http", "socks5"]
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        """Without credentials."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class PoolProxies:
    """The proxies of one pool.

    Attributes:
        servers: in the order in which they are used.
        is_always: whether no connection leaves without them. Otherwise they are used after a refusal.
    """

    servers: tuple[ProxyServer, ...]
    is_always: bool


def read_egress_proxies(path: str) -> Mapping[str, PoolProxies]:
    """The proxies by pool.

    Args:
        path: an empty path means that there are none.

    Raises:
        InvalidSetting: the file is missing or has another form.
    """
    if not path:
        return {}
    content = read_content(path, "egress proxy file", _MAX_BYTES)
    where = f"{PREFIX}EGRESS_PROXY_FILE: {path}"
    try:
        tables = tomllib.loads(content.decode())
    except ValueError as error:
        at = re.search(r"line ([0-9]+)", str(error))
        raise InvalidSetting(f"{where} is not TOML{f': look at line {at[1]}' if at else ''}") from None
    if not tables:
        raise InvalidSetting(f"{where} names no pool: write [youtube], [render] or [net]")
    return {pool: _pool_proxies(where, pool, table) for pool, table in tables.items()}


def _pool_proxies(where: str, pool: str, table: Any) -> PoolProxies:
    if pool not in POOLS or not isinstance(table, dict):
        raise InvalidSetting(f"{where}: the tables are [youtube], [render] and [net], and there is another one")
    where = f"{where}: [{pool}]"
    if table.keys() - {"use", "proxies"}:
        raise InvalidSetting(f"{where} has a key other than use and proxies")
    if table.get("use") not in (ALWAYS, AFTER_REFUSAL):
        raise InvalidSetting(f'{where} needs use = "{ALWAYS}" or use = "{AFTER_REFUSAL}"')
    listed = table.get("proxies")
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_PROXIES:
        raise InvalidSetting(f"{where} needs proxies = [...], a list of 1 to {_MOST_PROXIES}")
    servers = tuple(_server(f"{where} proxy {number}", text) for number, text in enumerate(listed, start=1))
    if len(set(servers)) < len(servers):
        raise InvalidSetting(f"{where} names a proxy twice")
    return PoolProxies(servers, is_always=table["use"] == ALWAYS)


def _server(where: str, text: object) -> ProxyServer:
    found = _SERVER.fullmatch(text) if isinstance(text, str) else None
    if found is None or not 0 < int(found["port"]) < 65536:
        raise InvalidSetting(f"{where} is not of the form {_FORM}")
    try:
        user, password = (unquote(found[part] or "", errors="strict") for part in ("user", "password"))
    except ValueError:
        raise InvalidSetting(f"{where}: what % encodes in user and password is not UTF-8") from None
    if max(len(user.encode()), len(password.encode())) > _MOST_CREDENTIAL_BYTES:
        raise InvalidSetting(f"{where}: user and password have at most {_MOST_CREDENTIAL_BYTES} bytes each")
    scheme: Literal["http", "socks5"] = "http" if found["scheme"] == "http" else "socks5"
    if scheme == "http" and ":" in user:
        raise InvalidSetting(f"{where}: the user of an HTTP proxy has no colon")
    return ProxyServer(scheme, found["ipv6"] or found["host"], int(found["port"]), user, password)
