"""What a person sees on a terminal: price and rail before the payment, a status line, receipts, errors and tables."""

from collections.abc import Sequence
from typing import TextIO

from rich.box import SIMPLE
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from coinslot.answer import Answer
from coinslot.payment import SignedPayment
from coinslot.printable import is_number, printable
from coinslot.progress import Progress, Quoted, Sending, Waiting
from coinslot.receipt import transaction_of
from shared.networks import name_of

SHOWN_OF_TRANSACTION = 10


class Terminal:
    """One stream that is a terminal.

    Args:
        console: replaced where the output is drawn into a picture.
    """

    def __init__(self, stream: TextIO, console: Console | None = None) -> None:
        self._console = console or Console(file=stream, highlight=False)
        self._status: Live | None = None

    def note(self, line: str) -> None:
        """A line that asks for attention."""
        self._console.print(Text.assemble(("note ", "yellow"), _line(line)))

    def progress(self, step: Progress, *, is_sandbox: bool) -> None:
        """The price, before it is paid; then a status line until `end_progress`."""
        match step:
            case Quoted():
                price = _amount(step.price.text(), step.asset, step.network, is_sandbox=is_sandbox)
                self._console.print(Text.assemble(("price ", "cyan"), (_line(price), "bold"), " from ", step.payer))
            case Sending():
                self._show(f"sent {_paid(step.payment, is_sandbox)} · waiting for the answer")
            case Waiting():
                verb = "paid" if step.transaction else "sent"
                transaction = f" · tx {_short(step.transaction)}" if step.transaction else ""
                self._show(
                    f"{verb} {_paid(step.payment, is_sandbox)}{transaction} · waiting {step.wait_s:g} s · trying again"
                )

    def end_progress(self) -> None:
        """Remove the status line."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def document(self, text: str) -> None:
        """JSON, in colours, with its line breaks and no others."""
        self._console.print(JSONHighlighter()(Text(text)), soft_wrap=True)

    def receipt(self, answer: Answer, payment: SignedPayment, *, is_sandbox: bool) -> None:
        """What was paid, by whom, and in which transaction."""
        receipt = answer.receipt
        payer = (receipt.payer if receipt else None) or payment.payer or "a saved payment"
        transaction = transaction_of(receipt, payment.offer)
        self._console.print(Text.assemble(("paid ", "green"), (_line(_paid(payment, is_sandbox)), "bold")))
        self._members((("payer", payer), ("transaction", transaction), ("request", answer.request_id)))

    def error(self, detail: str, money: str, step: str, request: str) -> None:
        """What happened, whether money was spent, and what to do next. Empty texts are left out."""
        self._console.print(Text.assemble(("failed ", "bold red"), _line(detail)))
        self._members((("money", money), ("next", step), ("request", request)))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table that wraps in its last column."""
        table = Table(box=SIMPLE, header_style="bold", pad_edge=False)
        for index, name in enumerate(header):
            is_last = index == len(header) - 1
            table.add_column(
                name,
                justify="right" if is_number(name) else "left",
                no_wrap=not is_last,
                overflow="fold",
                style="cyan" if index == 0 else None,
            )
        for row in rows:
            table.add_row(*(Text(_line(cell)) for cell in row))
        self._console.print(table)

    def _members(self, members: Sequence[tuple[str, str]]) -> None:
        table = Table.grid(padding=(0, 1))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in members:
            if value:
                table.add_row(f"  {name}", Text(_line(value)))
        self._console.print(table)

    def _show(self, text: str) -> None:
        if self._status is None:
            self._status = Live(console=self._console, transient=True)
            self._status.start()
        self._status.update(Spinner("dots", Text(_line(text))), refresh=True)


def _line(text: str) -> str:
    """Others' words on one line, without what steers a terminal. rich would obey escape sequences."""
    return printable(text.replace("\n", " "), ascii_only=False)


def _paid(payment: SignedPayment, is_sandbox: bool) -> str:
    return _amount(payment.price.text(), payment.asset, payment.offer.network, is_sandbox=is_sandbox)


def _amount(amount: str, asset: str, network: str, *, is_sandbox: bool) -> str:
    return f"{amount} {asset} on {name_of(network)}{' (sandbox, test money)' if is_sandbox else ''}"


def _short(transaction: str) -> str:
    return transaction if len(transaction) <= SHOWN_OF_TRANSACTION else transaction[:SHOWN_OF_TRANSACTION] + "…"
