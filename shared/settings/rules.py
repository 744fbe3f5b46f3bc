"""The rules for the values of settings. Each field has its rule: ``port: int = setting(4020, PORT)``."""

import dataclasses
import re
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from shared.settings.setting import InvalidSetting

Rule = Callable[[Any], None]
"""Raises ValueError, whose text follows "must": ``be a user``. The value may be a secret, so it is not in the text."""


def setting(default: Any, rule: Rule, *, is_required: bool = False, variable: str = "", **options: Any) -> Any:
    """A field of settings with its rule, which an empty text need not keep unless it is required.

    Args:
        variable: the end of its variable's name, where that is not the field's name.
    """
    metadata = {"rule": rule, "is_required": is_required, "variable": variable}
    return dataclasses.field(default=default, metadata=metadata, **options)


def variable_of(field: dataclasses.Field[Any], prefix: str) -> str:
    """The name of a field's variable."""
    return prefix + (field.metadata.get("variable") or field.name.upper())


def check(field: dataclasses.Field[Any], name: str, value: object) -> None:
    """Hold a value against the rule of its field.

    Args:
        name: of the variable.

    Raises:
        InvalidSetting: it does not keep the rule.
    """
    if "rule" not in field.metadata or (value == "" and not field.metadata["is_required"]):
        return
    try:
        field.metadata["rule"](value)
    except ValueError as error:
        raise InvalidSetting(f"{name} must {error}") from None


def anything(value: object) -> None:
    """Whoever uses the setting reads it, and says what is wrong with it."""


def matching(form: str, words: str) -> Rule:
    """A text of this form, which `words` describe."""

    def rule(value: str) -> None:
        _require(re.fullmatch(form, value, re.ASCII) is not None, f"be {words}")

    return rule


def within(low: float, high: float, words: str) -> Rule:
    """A number between both, which may be either. `words` write the range."""

    def rule(value: float) -> None:
        _require(low <= value <= high, f"be within {words}")

    return rule


def above_zero(high: float, words: str) -> Rule:
    """A number above zero and not above `high`. `words` write the range."""

    def rule(value: float) -> None:
        _require(0 < value <= high, f"be within {words}")

    return rule


def evm_address(value: str) -> None:
    """An address that is not the zero address. The verifier checks its checksum (api/payment/rails.py)."""
    matching("0x[0-9a-fA-F]{40}", "a 0x address of 40 hex digits")(value)
    _require(int(value, 16) != 0, "not be the zero address: what it is paid is lost")


def evm_addresses(value: tuple[str, ...]) -> None:
    """Several of them."""
    for address in value:
        evm_address(address)


def http_address(value: str) -> None:
    """One http(s) address."""
    is_one = _is_address(value, _HTTP) and not re.search(r"[?#\\]", value)
    _require(is_one, "be an http(s) address without query or fragment")


def public_address(value: str) -> None:
    """One http(s) address that everybody may see."""
    http_address(value)
    _require("@" not in value, "not hold a password: it is shown to every caller")


def http_addresses(value: tuple[str, ...]) -> None:
    """Addresses of nodes. They may have a query."""
    are_all = all(_is_address(url, _HTTP) and not re.search(r"[#\\]", url) for url in value)
    _require(are_all, "be http(s) addresses without fragment, separated by commas")


def redis_address(value: str) -> None:
    """The address of one Redis server."""
    _require(_is_address(value, _REDIS), "be a redis://, rediss:// or unix:// address")


def redis_addresses(most: int) -> Rule:
    """Addresses of up to `most` Redis servers, at least one."""

    def rule(value: str) -> None:
        urls = [url.strip() for url in value.split(",")]
        are_all = all(_is_address(url, _REDIS) for url in urls)
        _require(are_all, "be redis://, rediss:// or unix:// addresses, separated by commas")
        _require(len(set(urls)) == len(urls) <= most, f"be different addresses, {most} at most")

    return rule


def host_names(value: str) -> None:
    """Names of hosts."""
    host = r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
    are_all = all(re.fullmatch(host, name.strip(), re.ASCII) for name in value.split(","))
    _require(are_all, "be names of hosts without ports, separated by commas")


def contact_address(value: str) -> None:
    """Where people write to."""
    mailto = r"mailto:[A-Za-z0-9.!#$&'*+/=^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"
    is_one = re.fullmatch(mailto, value, re.ASCII) is not None or _is_address(value, ("https",))
    _require(is_one, "be mailto: and a mail address, or an https address")


def day(value: str) -> None:
    """A date."""
    try:
        is_one = date.fromisoformat(value).isoformat() == value
    except ValueError:
        is_one = False
    _require(is_one, "be a date like 2027-06-30")


PORT = above_zero(65535, "[1, 65535]")
USER = matching(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}", "a user")

_HTTP = ("http", "https")
_REDIS = ("redis", "rediss", "unix")


def _require(is_met: bool, words: str) -> None:
    if not is_met:
        raise ValueError(words)


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        return False
    try:
        url = urlsplit(text)
        _ = url.port  # raises for a port that is none
    except ValueError:
        return False
    return url.scheme in schemes and bool(url.path if url.scheme == "unix" else url.hostname)
