"""Looking for a text in every place where a service leaves something, in every form in which it might lie there."""

import base64
import secrets
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import re2

Place = tuple[str, bytes]
"""Its name, and what lies there."""
HEARD_WITHIN_S = 20.0


def _base64(encode: Callable[[bytes], bytes], offset: int) -> Callable[[bytes], bytes]:
    """The characters that do not depend on what stands before and behind."""

    def form(raw: bytes) -> bytes:
        encoded = encode(bytes(offset) + raw)
        first = (8 * offset + 5) // 6  # a character that holds a bit of what stands before is not sure
        return encoded[first : 8 * (offset + len(raw)) // 6]

    return form


def _each(pattern: str, code: str = "latin-1") -> Callable[[bytes], bytes]:
    return lambda raw: b"".join(pattern.format(byte).encode(code) for byte in raw)


FORMS: Mapping[str, Callable[[bytes], bytes]] = {
    "raw": bytes,
    **{f"base64 at {n}": _base64(base64.b64encode, n) for n in range(3)},
    **{f"base64url at {n}": _base64(base64.urlsafe_b64encode, n) for n in range(3)},
    "hex": _each("{:02x}"),
    "HEX": _each("{:02X}"),
    "JSON escapes": _each("\\u{:04x}"),
    "JSON ESCAPES": _each("\\u{:04X}"),
    "escaped bytes": _each("\\x{:02x}"),
    "URL encoding": _each("%{:02x}"),
    "URL ENCODING": _each("%{:02X}"),
    "twice URL encoding": _each("%25{:02X}"),
    "UTF-16": _each("{:c}", "utf-16-le"),
    "decimal bytes": lambda raw: ", ".join(str(byte) for byte in raw).encode(),
    "reversed": lambda raw: raw[::-1],
}
"""How a text may be written without being sealed."""


def sightings(texts: Iterable[str], places: Iterable[Place]) -> list[str]:
    """Where which of these texts lies, and in which form."""
    wanted = {(text, name): form(text.encode()) for text in texts for name, form in FORMS.items()}
    options = re2.Options()
    options.encoding, options.max_mem = re2.Options.Encoding.LATIN1, 1 << 28
    # Thousands of needles in many megabytes: those that have any of them are found in one pass.
    any_of_them = re2.compile(b"|".join(re2.escape(needle) for needle in wanted.values()), options)
    return [
        f"{text} as {form} in {place}"
        for place, content in places
        if any_of_them.search(content)
        for (text, form), needle in wanted.items()
        if needle in content
    ]


def files(folder: Path) -> Iterator[Place]:
    """Logs, what Redis keeps, keys and state: every file, by its path."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield f"file {path.relative_to(folder)}", path.read_bytes()


def processes() -> Iterator[Place]:
    """What everybody who may look sees of every process on this machine."""
    for folder in Path("/proc").iterdir():
        for name in ("environ", "cmdline", "comm"):
            try:
                if folder.name.isdigit():
                    yield f"{name} of process {folder.name}", (folder / name).read_bytes()
            except OSError:  # it has ended, or is another user's
                continue


def pages(urls: Iterable[str]) -> Iterator[Place]:
    """What an HTTP server shows unpaid: head and body, whatever the status. Metrics, where there are some."""
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                yield f"page {url}", bytes(answer.headers) + answer.read()
        except urllib.error.HTTPError as error:
            yield f"page {url}", bytes(error.headers) + error.read()


class Monitor:
    """All commands that a Redis gets, as its MONITOR shows them, across its restarts. Only what came while it was not
    there is not heard, for it heard nothing either."""

    def __init__(self, name: str, url: str) -> None:
        self._name = name
        self._address = ("127.0.0.1", urlsplit(url).port or 0)
        self._heard = bytearray()
        self._connected = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()
        self.wait()

    def wait(self) -> None:
        """Until it listens, for the first time or again."""
        assert self._connected.wait(HEARD_WITHIN_S)

    def stop(self) -> None:
        """Listen no more."""
        self._is_over.set()
        self._thread.join(20)

    def heard(self) -> Place:
        """Everything that the server has been sent so far: it may have answered a command that is still on its way here."""
        self.wait()
        mark = secrets.token_hex(8).encode()
        with socket.create_connection(self._address, timeout=HEARD_WITHIN_S) as connection:
            connection.sendall(b"ECHO " + mark + b"\r\n")
            connection.recv(64)
        give_up_at = time.monotonic() + HEARD_WITHIN_S
        while mark not in self._heard:
            assert time.monotonic() < give_up_at, f"MONITOR of {self._name} says nothing"
            time.sleep(0.005)
        return f"MONITOR of {self._name}", bytes(self._heard)

    def _listen(self) -> None:
        while not self._is_over.wait(0.01):
            try:
                with socket.create_connection(self._address, timeout=0.2) as connection:
                    connection.sendall(b"MONITOR\r\n")
                    self._hear(connection)
            except OSError:
                continue
            finally:
                self._connected.clear()

    def _hear(self, connection: socket.socket) -> None:
        while not self._is_over.is_set():
            try:
                heard = connection.recv(1 << 16)
            except TimeoutError:
                continue
            if not heard:
                return
            self._heard += heard
            if b"+OK\r\n" in heard:
                self._connected.set()
