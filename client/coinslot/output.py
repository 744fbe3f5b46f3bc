"""The output of the command: the answer on standard output and notes on standard error, or one JSON object.

On a terminal terminal.py draws it. Elsewhere it is plain text, one line for each note.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from coinslot import documents
from coinslot.answer import Answer
from coinslot.errors import CoinslotError
from coinslot.payment import SignedPayment
from coinslot.printable import is_number, printable, without_keys
from coinslot.progress import Progress
from coinslot.receipt import transaction_of

if TYPE_CHECKING:
    from coinslot.terminal import Terminal

_NOT_AGAIN = "Do not pay again"
"""Our servers' sentences say it, too."""


class Output:
    """Standard output and standard error.

    Args:
        as_json: print one JSON object, in ASCII, on standard output, for errors too.

    Attributes:
        is_sandbox: whether test money pays, which is said beside every amount.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        encoding = (sys.stdout.encoding or "").lower().replace("-", "")
        self._ascii = as_json or encoding != "utf8"
        self._out = None if as_json else _terminal(sys.stdout)
        self._err = None if as_json else _terminal(sys.stderr)
        self.is_sandbox = False

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        if sys.stderr is None:  # closed by the caller: 2>&-
            return
        if self._err is not None:
            self._err.note(text)
            return
        sys.stderr.write(f"coinslot: {printable(text.replace(chr(10), ' '), ascii_only=True)}\n")
        sys.stderr.flush()

    def progress(self, step: Progress) -> None:
        """Show how far a purchase is, on a terminal only."""
        if self._err is not None:
            self._err.progress(step, is_sandbox=self.is_sandbox)

    def result(self, machine: Mapping[str, Any], human: str) -> None:
        """Print a command's result as JSON or as text. Raises OSError when it cannot be written."""
        self._end_progress()
        text = msgspec.json.encode({"ok": True, **machine}).decode() if self.as_json else human
        self._write(printable(text, ascii_only=self._ascii))

    def table(self, machine: Mapping[str, Any], header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table as JSON or as text. Its last column is the longest: it wraps on a terminal.

        Args:
            header: a name for each column; `is_number` says which are aligned to the right.
        """
        if self._out is not None:
            self._out.table(header, rows)
            return
        columns = [_aligned(name, [name, *cells]) for name, *cells in zip(header, *rows, strict=True)][:-1]
        last = [header[-1], *(row[-1] for row in rows)]
        self.result(machine, "\n".join("  ".join(line) for line in zip(*columns, last, strict=True)))

    def answer(self, answer: Answer, payment: SignedPayment | None) -> None:
        """Print an answer. Its numbers and escapes are unchanged. Raises OSError when it cannot be written."""
        self._end_progress()
        if self.as_json:
            self.result(documents.of_answer(answer, payment), "")
            return
        text = printable(msgspec.json.format(answer.raw, indent=2).decode(), ascii_only=self._ascii)
        if self._out is not None:
            self._out.document(text)
        else:
            self._write(text)
        if payment is None:
            self.note(f"free; request {answer.request_id}")
        elif self._err is not None:
            self._err.receipt(answer, payment, is_sandbox=self.is_sandbox)
        else:
            self.note(_receipt(answer, payment))

    def error(self, error: CoinslotError, *, kept: Path | None = None) -> None:
        """Print what happened, whether money was spent, and what to do next.

        Args:
            kept: the file of the saved payment.
        """
        self._end_progress()
        detail, hint = self.words(error, kept)
        if self.as_json:
            self.document(documents.of_error(error, detail=detail, hint=hint, kept=kept))
            return
        wait = f"Wait {error.retry_after_s:g} s. " if error.retry_after_s else ""
        step = f"{wait}{hint}" if hint else error.next_step
        request = f"Request {error.request_id}." if error.request_id else ""
        if self._err is None:
            self.note(" ".join(part for part in (_sentence(detail), money(error), step, request) if part))
            return
        self._err.error(_sentence(detail), money(error), step, error.request_id or "")

    def words(self, error: CoinslotError, kept: Path | None) -> tuple[str, str]:
        """The error's detail and hint, as they may be shown."""
        detail, hint = error.detail, error.hint
        if error.exit_code == 2:
            # A user may have typed a key by mistake.
            detail, hint = without_keys(detail), without_keys(hint)
        if kept is not None:
            resume = f"`coinslot resume`, or the same command with --resume {kept} added."
            again = f"Run {resume}" if _NOT_AGAIN in detail else f"{_NOT_AGAIN}: run {resume}"
            hint = f"{again} {hint}".rstrip()
        return detail, hint

    def stopped(self, kept: Path | None, payment: SignedPayment | None) -> None:
        """Ctrl-C or SIGTERM came. Says where the payment is, if one was signed.

        Args:
            kept: the file of the saved payment.
        """
        self._end_progress()
        if kept is None:
            return
        text = f"stopped after paying. Do not pay again: run `coinslot resume`, or add --resume {kept} to the same command."
        if self.as_json:
            error = CoinslotError(text, charged="unknown", payment=payment)
            self.document({**documents.of_error(error, detail=text, hint="", kept=kept), "error": "stopped"})
        self.note(text)

    def document(self, members: Mapping[str, Any]) -> None:
        """Print one JSON object. Raises OSError when it cannot be written."""
        self._write(printable(msgspec.json.encode(members).decode(), ascii_only=True))

    def _write(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def _end_progress(self) -> None:
        if self._err is not None:
            self._err.end_progress()


def _aligned(name: str, cells: list[str]) -> list[str]:
    width = max(map(len, cells))
    return [f"{cell:>{width}}" if is_number(name) else f"{cell:<{width}}" for cell in cells]


def money(error: CoinslotError) -> str:
    """A sentence that says whether money was spent."""
    if error.charged is False:
        return "Nothing was spent."
    amount = "Money" if error.payment is None else f"{error.payment.price.text()} {error.payment.asset}"
    return f"{amount} was spent." if error.charged is True else f"It is not known whether {amount} was spent."


def _receipt(answer: Answer, payment: SignedPayment) -> str:
    receipt = answer.receipt
    payer = (receipt.payer if receipt else None) or payment.payer or "a saved payment"
    transaction = transaction_of(receipt, payment.offer)
    return (
        f"paid {payment.price.text()} {payment.asset} on {payment.offer.network} from {payer}; "
        f"transaction {transaction}; request {answer.request_id}"
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _terminal(stream: TextIO | None) -> Terminal | None:
    if stream is None or not stream.isatty():
        return None
    from coinslot.terminal import Terminal  # costs 100 ms

    return Terminal(stream)
