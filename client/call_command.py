"""`coinslot call`: buy one call, or show its price, or send a payment again."""

from __future__ import annotations

import contextlib
import difflib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from client import bazaar, body_argument, sandbox_file, saved_payment, server_address, wallet_source
from client.address import call_url, checked_name, is_loopback
from client.answer import Answer
from client.buyer import Buyer
from client.delivery import RetryPolicy, deliver
from client.errors import ChallengeRefused, CoinslotError, InvalidCall, UnknownCall
from client.exchange import Exchange
from client.output import Output
from client.payment import SignedPayment
from client.request_challenge import request_challenge
from client.wallet import Wallet
from shared.endpoint import PATH_PREFIX
from shared.x402.networks import Rail

SANDBOX_MAX_PRICE = Decimal("0.10")
HINT_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """The command line of `coinslot call`. Prices are in dollars, times in seconds."""

    name: str
    body: str | None
    url: str | None
    key_file: str | None
    rail: Rail
    rpc_url: str | None
    max_price: Decimal | None
    timeout_s: float
    show_challenge: bool
    resume: Path | None


class CallCommand:
    """One run of the command.

    Args:
        env: the environment.
        folder: the current folder.
    """

    def __init__(self, options: CallOptions, output: Output, *, env: Mapping[str, str], folder: Path) -> None:
        self._options = options
        self._output = output
        self._env = env
        self._folder = folder
        self._payment: SignedPayment | None = None
        self._payer: str | None = None

    def run(self) -> int:
        """Print the result and return the exit code. Raises InvalidCall, KeyboardInterrupt, OSError."""
        checked_name(self._options.name)
        body = body_argument.read(self._options.body)
        if self._options.show_challenge:
            return self._show_challenge(body)
        try:
            answer = self._buy(body) if self._options.resume is None else self._resume(self._options.resume, body)
        except KeyboardInterrupt:
            if (kept := self._keep()) is not None:
                self._output.note(f"stopped after paying. Do not pay again: add --resume {kept} to the same command.")
            raise
        except CoinslotError as error:
            self._output.error(error, kept=self._keep() if error.worth_keeping else None)
            return error.exit_code
        self._print(answer)
        if self._options.resume is not None:
            with contextlib.suppress(OSError):
                self._options.resume.unlink()
        return 0

    def _buy(self, body: bytes | None) -> Answer:
        options = self._options
        source = wallet_source.find(
            key_file=options.key_file,
            rail=options.rail,
            env=self._env,
            folder=self._folder,
            rpc_url=options.rpc_url,
        )
        if source.warning:
            self._output.note(source.warning)
        base_url = server_address.find(options.url, env=self._env, sandbox=source.sandbox)
        max_price = options.max_price
        if max_price is None:
            if source.sandbox is None:
                raise InvalidCall(
                    "with a key of your own, --max-price is required",
                    hint="Say how many dollars the call may cost, e.g. --max-price 0.01.",
                )
            max_price = SANDBOX_MAX_PRICE
        if urlsplit(base_url).scheme == "http" and not is_loopback(base_url):
            self._output.note(
                "the server's address is not https: others on the way can read the call and change its price"
            )
        self._payer = source.signer.address
        wallet = Wallet((source.signer,))
        with Buyer(
            base_url, wallet, max_price=max_price, timeout_s=options.timeout_s, on_signed=self._remember
        ) as buyer:
            try:
                return buyer.call(options.name, body)
            except UnknownCall as error:
                error.hint = self._similar(base_url)
                raise

    def _resume(self, path: Path, body: bytes | None) -> Answer:
        payment = saved_payment.load(path, body=body)
        base_url, found, _ = payment.url.partition(PATH_PREFIX)
        if not found or call_url(base_url, self._options.name) != payment.url:
            raise InvalidCall(f"the saved payment belongs to another call: {payment.url}")
        self._remember(payment)
        with Exchange(base_url, timeout_s=self._options.timeout_s) as exchange:
            return deliver(exchange, payment, request_id=uuid.uuid4().hex, retry_policy=RetryPolicy(), in_doubt=True)

    def _show_challenge(self, body: bytes | None) -> int:
        base_url = server_address.find(self._options.url, env=self._env, sandbox=self._sandbox())
        url = call_url(base_url, self._options.name)
        with Exchange(base_url, timeout_s=self._options.timeout_s) as exchange:
            try:
                quote = request_challenge(exchange, url, body, request_id=uuid.uuid4().hex)
            except UnknownCall as error:
                error.hint = self._similar(base_url)
                raise
        if isinstance(quote, Answer):
            self._output.answer(quote, None, payer=None)
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
        try:
            self._output.answer(answer, self._payment, payer=self._payer)
        except BrokenPipeError:
            raise
        except OSError:
            # The answer is paid and nobody has seen it, for instance because the disk is full.
            if (kept := self._keep()) is not None:
                self._output.note(f"the answer is paid: add --resume {kept} to the same command to get it again.")
            raise

    def _remember(self, payment: SignedPayment) -> None:
        self._payment = payment

    def _keep(self) -> Path | None:
        """Save the payment, if one was signed. A payment that was read from a file is already saved."""
        if self._payment is None or self._options.resume is not None:
            return self._options.resume
        sandbox = sandbox_file.find(self._env, self._folder)
        try:
            return saved_payment.save(self._payment, sandbox.parent if sandbox else None)
        except OSError as error:
            self._output.note(f"the payment could not be saved: {error.strerror}")
            return None

    def _sandbox(self) -> sandbox_file.Sandbox | None:
        path = sandbox_file.find(self._env, self._folder)
        return None if path is None else sandbox_file.read(path)

    def _similar(self, base_url: str) -> str:
        """A hint with the names in the catalogue that are similar to the unknown one."""
        try:
            with Exchange(base_url, timeout_s=HINT_TIMEOUT_S) as exchange:
                names = [item.name for item in bazaar.fetch(exchange, base_url)]
        except CoinslotError:
            return ""
        close = difflib.get_close_matches(self._options.name, names, n=3, cutoff=0.5)
        return f"Did you mean {' or '.join(close)}?" if close else "See `coinslot catalogue`."
