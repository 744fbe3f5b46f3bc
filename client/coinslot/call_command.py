"""`coinslot call`: buy one call, or show its price, or send a payment again."""

import difflib
import uuid
from pathlib import Path

import msgspec

from coinslot import bazaar, body_argument, configuration, resuming
from coinslot.address import call_url, checked_name
from coinslot.answer import Answer
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.buyer import Buyer
from coinslot.challenge import request_challenge
from coinslot.errors import ChallengeRefused, CoinslotError, InvalidCall, UnknownCall
from coinslot.options import Options
from coinslot.output import Output
from coinslot.payment import SignedPayment
from coinslot.payment_folder import SavedPayment
from coinslot.progress import Progress, Sending
from shared.call_path import split

HINT_TIMEOUT_S = 3.0


class CallCommand:
    """One run of the command.

    Args:
        name: of the call.
        body: the argument that body_argument.py reads.
        resume: a saved payment to send again; None: a new one is made.
        show_challenge: print the 402 and do not pay.
    """

    def __init__(
        self,
        options: Options,
        output: Output,
        *,
        name: str,
        body: str | None,
        resume: Path | None,
        show_challenge: bool,
    ) -> None:
        self._options = options
        self._output = output
        self._name = name
        self._body = body
        self._resumed = resume
        self._only_challenge = show_challenge
        self._sent: Sending | None = None

    def run(self) -> int:
        """Print the result and return the exit code. Raises InvalidCall, KeyboardInterrupt, OSError."""
        checked_name(self._name)
        body = body_argument.read(self._body)
        if self._only_challenge:
            return self._show_challenge(body)
        try:
            answer = self._buy(body) if self._resumed is None else self._resume(self._resumed, body)
        except KeyboardInterrupt:
            sent = self._sent
            self._output.stopped(sent.saved if sent else None, sent.payment if sent else None)
            raise
        except CoinslotError as error:
            self._output.error(error, kept=error.saved)
            return error.exit_code
        self._print(answer)
        return 0

    def _buy(self, body: bytes | None) -> Answer:
        options, output = self._options, self._output
        found = configuration.find(options)
        output.is_sandbox = found.is_sandbox
        for warning in found.warnings:
            output.note(warning)
        with Buyer(
            found.base_url,
            found.wallet,
            max_price=found.max_price,
            timeout_s=options.timeout_s,
            payments=found.payments,
            on_progress=self._progress,
            on_unlisted=lambda: output.note("the server lists no price for this call, so only --max-price limits it"),
        ) as buyer:
            try:
                return buyer.call(self._name, body, keep=True)
            except UnknownCall as error:
                error.hint = self._similar(found.base_url)
                raise

    def _resume(self, path: Path, body: bytes | None) -> Answer:
        saved = resuming.claim_named(path)
        try:
            self._check_same(saved, body)
        except InvalidCall:
            saved.release()
            raise
        payments, self._output.is_sandbox = configuration.folder_of(path, configuration.payment_folders(self._options))
        return resuming.resume(saved, payments, timeout_s=self._options.timeout_s, on_progress=self._progress)

    def _check_same(self, saved: SavedPayment, body: bytes | None) -> None:
        """Raises InvalidCall unless the command line names the same call."""
        payment = saved.payment
        base_url, name = split(payment.url)
        if not name or call_url(base_url, self._name) != payment.url:
            raise InvalidCall(f"the saved payment belongs to another call: {payment.url}")
        if payment.body != body:
            raise InvalidCall(
                "the saved payment belongs to another body",
                hint=f"Give exactly the same NAME and JSON as in the first call, or run `coinslot resume {saved.path}`.",
            )

    def _show_challenge(self, body: bytes | None) -> int:
        base_url = self._options.server_without_wallet()
        url = call_url(base_url, self._name)
        with BlockingExchange(base_url, timeout_s=self._options.timeout_s) as exchange:
            try:
                quote = completed(request_challenge(exchange, url, body, request_id=uuid.uuid4().hex))
            except UnknownCall as error:
                error.hint = self._similar(base_url)
                raise
        if isinstance(quote, Answer):
            self._output.answer(quote, None)
            return 0
        document = msgspec.json.encode(quote.document)
        self._output.result(
            {"status": 402, "challenge": quote.document}, msgspec.json.format(document, indent=2).decode()
        )
        try:
            quote.check_resource(url)
        except ChallengeRefused as refused:
            self._output.note(f"it would not be paid: {refused.detail}")
        return 0

    def _print(self, answer: Answer) -> None:
        saved = answer.saved
        payment: SignedPayment | None = None if saved is None else saved.payment
        try:
            self._output.answer(answer, payment)
        except BrokenPipeError:
            raise
        except OSError:
            # The answer is paid and nobody has seen it, for instance because the disk is full.
            if saved is not None:
                self._output.note(
                    f"the answer is paid: run `coinslot resume`, or add --resume {saved.path} to the same command."
                )
            raise
        if saved is not None:
            saved.remove()

    def _progress(self, step: Progress) -> None:
        if isinstance(step, Sending):
            self._sent = step
        self._output.progress(step)

    def _similar(self, base_url: str) -> str:
        """A hint with the names in the catalogue that are similar to the unknown one."""
        try:
            with BlockingExchange(base_url, timeout_s=HINT_TIMEOUT_S) as exchange:
                names = [item.name for item in completed(bazaar.fetch(exchange, base_url))]
        except CoinslotError:
            return ""
        close = difflib.get_close_matches(self._name, names, n=3, cutoff=0.5)
        return f"Did you mean {' or '.join(close)}?" if close else "See `coinslot catalogue`."
