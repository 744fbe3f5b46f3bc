"""Reads secrets from files: keys, and the headers for a facilitator. Error messages never show the content."""

import re
from pathlib import Path

from shared.settings.setting import InvalidSetting

SECP256K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""Private keys of EVM accounts must be below it. The same check on the sealing key does no harm."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_HEADER_VALUE = re.compile(r"[\x20-\x7e]+", re.ASCII)
_OUR_HEADERS = {"connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"}
"""Headers that belong to the call itself. Another value would make it another call."""
_MAX_HEADERS_BYTES = 8 * 1024
_MAX_SECRET_BYTES = 1024


def is_exposed(path: Path) -> bool:
    """Whether others can read or change the file than its owner, or root and one group that may read it. Raises OSError."""
    state = path.stat()
    return bool(state.st_mode & (0o037 if state.st_uid == 0 else 0o077))


def read_key(path: Path) -> bytes:
    """Read a 32-byte key from a file of 64 hex digits, with or without 0x.

    Raises:
        InvalidSetting: the file is missing or has another form.
    """
    try:
        text = path.read_text("ascii").strip().removeprefix("0x")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"cannot read the key file {path}: {_why(error)}") from None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise InvalidSetting(f"the key file {path} must hold 64 hex digits")
    key = bytes.fromhex(text)
    if not 0 < int.from_bytes(key, "big") < SECP256K1_ORDER:
        raise InvalidSetting(f"the key file {path} does not hold a usable key")
    return key


def read_secret(path: Path) -> str:
    """Read a key on one line, in the text form of its network's wallets.

    Raises:
        InvalidSetting: the file is missing, empty, too long or not ASCII.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_SECRET_BYTES + 1)
        text = content.decode("ascii").strip()
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"cannot read the key file {path}: {_why(error)}") from None
    if not text or len(content) > _MAX_SECRET_BYTES:
        raise InvalidSetting(f"the key file {path} does not hold a key")
    return text


def read_headers(path: str) -> dict[str, str]:
    """Read headers from a file of lines ``Name: value``. Empty lines and lines that begin with ``#`` are ignored.

    Args:
        path: an empty path means that there are no headers.

    Raises:
        InvalidSetting: the file is missing or has another form.
    """
    if not path:
        return {}
    try:
        text = read_content(path, "headers file", _MAX_HEADERS_BYTES).decode("ascii")
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"cannot read the headers file {path!r}: {_why(error)}") from None
    headers: dict[str, str] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidSetting(f"line {number} of the headers file {path} is not of the form `Name: value`")
        if name in _OUR_HEADERS or name in headers:
            raise InvalidSetting(f"line {number} of the headers file {path} names a header that is set already")
        headers[name] = value
    return headers


def read_content(path: str, what: str, limit: int) -> bytes:
    """Read a secret file of any form.

    Args:
        what: the file, in the words of the error message.
        limit: its most bytes.

    Raises:
        InvalidSetting: the file is missing or too long.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:  # the path may contain a NUL
        raise InvalidSetting(f"cannot read the {what} {path!r}: {_why(error)}") from None
    if len(content) > limit:
        raise InvalidSetting(f"the {what} {path} is over {limit} bytes")
    return content


def _why(error: Exception) -> str:
    """Without the content."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
