"""The output of the command: the answer on standard output and notes on standard error, or one JSON object."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from client.answer import Answer
from client.errors import CoinslotError
from client.payment import SignedPayment

_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")
_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}", re.ASCII)


class Output:
    """Standard output and standard error.

    Args:
        as_json: print one JSON object, in ASCII, on standard output, for errors too.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        encoding = (sys.stdout.encoding or "").lower().replace("-", "")
        self._ascii = as_json or encoding != "utf8"

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        if sys.stderr is None:  # closed by the caller: 2>&-
            return
        sys.stderr.write(f"coinslot: {_printable(text.replace(chr(10), ' '), ascii_only=True)}\n")
        sys.stderr.flush()

    def result(self, machine: Mapping[str, Any], human: str) -> None:
        """Print a command's result as JSON or as text. Raises OSError when it cannot be written."""
        text = msgspec.json.encode({"ok": True, **machine}).decode() if self._as_json else human
        sys.stdout.write(_printable(text, ascii_only=self._ascii) + "\n")
        sys.stdout.flush()

    def answer(self, answer: Answer, payment: SignedPayment | None, *, payer: str | None) -> None:
        """Print an answer. Its numbers and escapes are unchanged."""
        receipt = answer.receipt
        self.result(
            {
                "status": 200,
                "price": _price(payment),
                "receipt": None if receipt is None else msgspec.to_builtins(receipt),
                "answer": msgspec.Raw(_formatted(answer.raw, indent=-1)),
                "requestId": answer.request_id,
            },
            _formatted(answer.raw, indent=2).decode(),
        )
        if self._as_json:
            return
        if payment is None:
            self.note(f"free; request {answer.request_id}")
            return
        payer = (receipt.payer if receipt else None) or payer or "a saved payment"
        transaction = (receipt.transaction if receipt else None) or "unknown: no receipt came"
        self.note(
            f"paid {payment.price.text()} {payment.asset} on {payment.offer.network} from {payer}; "
            f"transaction {transaction}; request {answer.request_id}"
        )

    def error(self, error: CoinslotError, *, kept: Path | None = None) -> None:
        """Print what happened, whether money was spent, and what to do next.

        Args:
            kept: the file of the saved payment.
        """
        detail, hint = error.detail, error.hint
        if error.exit_code == 2:
            # A user may have typed a key by mistake.
            detail, hint = _KEY.sub("(64 hex digits)", detail), _KEY.sub("(64 hex digits)", hint)
        if kept is not None:
            hint = f"Do not pay again: run the same command with --resume {kept} added. {hint}".rstrip()
        if self._as_json:
            document = {
                "ok": False,
                "status": error.status,
                "error": error.code,
                "detail": detail,
                "hint": hint or None,
                "charged": error.charged,
                "price": _price(error.payment),
                "requestId": error.request_id,
                "retryAfterSeconds": error.retry_after_s,
                "resume": None if kept is None else str(kept),
                "problem": error.problem,
            }
            sys.stdout.write(_printable(msgspec.json.encode(document).decode(), ascii_only=True) + "\n")
            sys.stdout.flush()
            return
        wait = f"Wait {error.retry_after_s:g} s." if error.retry_after_s else ""
        request = f"Request {error.request_id}." if error.request_id else ""
        self.note(" ".join(part for part in (_sentence(detail), _money(error), wait, hint, request) if part))


def _money(error: CoinslotError) -> str:
    if error.charged is False:
        return "Nothing was spent."
    amount = "Money" if error.payment is None else f"{error.payment.price.text()} {error.payment.asset}"
    return f"{amount} was spent." if error.charged is True else f"It is not known whether {amount} was spent."


def _price(payment: SignedPayment | None) -> dict[str, str] | None:
    """`amount` in whole units of `asset`, which is a symbol."""
    if payment is None:
        return None
    return {"amount": payment.price.text(), "asset": payment.asset, "network": payment.offer.network}


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _formatted(raw: bytes, *, indent: int) -> bytes:
    return msgspec.json.format(raw, indent=indent)


def _printable(text: str, *, ascii_only: bool) -> str:
    """Escape control characters, and what the terminal cannot show, as JSON does it in strings."""

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        if character.isprintable() and not ascii_only:
            return character
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))

    return _UNUSUAL.sub(escape, text)
