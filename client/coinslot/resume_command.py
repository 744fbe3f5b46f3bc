"""`coinslot resume`: send open payments again, and print their answers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coinslot import configuration, documents, resuming
from coinslot.errors import CoinslotError, PaymentInUse
from coinslot.options import Options
from coinslot.output import Output
from coinslot.payment_folder import PaymentFolder, SavedPayment, claim


class ResumeCommand:
    """One run of the command."""

    def __init__(self, options: Options, output: Output) -> None:
        self._output = output
        self._timeout_s = options.timeout_s
        self._folders = configuration.payment_folders(options)
        self._documents: list[dict[str, Any]] = []
        self._to_remove: list[SavedPayment] = []
        self._code = 0
        self._count = 0

    def run(self, files: Sequence[Path]) -> int:
        """Print each answer, and remove its payment's file. A payment that another process waits for is skipped.

        Args:
            files: saved payments; none: all that are open.

        Returns:
            0, or the exit code of the first that failed.

        Raises:
            OSError: an answer cannot be written. Its payment is kept.
        """
        for path, payments, is_sandbox in self._open(files):
            self._output.is_sandbox = is_sandbox
            saved = self._claimed(path, is_named=bool(files))
            if saved is not None:
                self._resume(saved, payments)
        if self._output.as_json:
            self._output.document({"ok": self._code == 0, "resumed": self._documents})
            for saved in self._to_remove:
                saved.remove()
        elif not self._count:
            self._output.note("no payment is open")
        return self._code

    def _open(self, files: Sequence[Path]) -> Iterator[tuple[Path, PaymentFolder, bool]]:
        """Each file with the folder whose log takes its line, and whether that is the sandbox's."""
        for payments, is_sandbox in () if files else self._folders:
            yield from ((path, payments, is_sandbox) for path in payments.files())
        for path in files:
            yield (path, *configuration.folder_of(path, self._folders))

    def _claimed(self, path: Path, *, is_named: bool) -> SavedPayment | None:
        """The payment; None when there is nothing to send, which has been reported if it matters."""
        try:
            return resuming.claim_named(path) if is_named else claim(path)
        except FileNotFoundError:  # its answer was taken a moment ago
            return None
        except PaymentInUse as error:
            if is_named:
                self._report(error, None)
            else:
                self._output.note(error.detail)
            return None
        except CoinslotError as error:
            self._report(error, None)
            return None

    def _resume(self, saved: SavedPayment, payments: PaymentFolder) -> None:
        name = resuming.name_of(saved.payment)
        try:
            answer = resuming.resume(saved, payments, timeout_s=self._timeout_s, on_progress=self._output.progress)
        except KeyboardInterrupt:
            self._output.stopped(saved.path, saved.payment)
            raise
        except CoinslotError as error:
            self._report(error, name)
            return
        self._count += 1
        if self._output.as_json:
            self._documents.append({"call": name, **documents.of_answer(answer, saved.payment)})
            self._to_remove.append(saved)
            return
        self._output.note(f"the answer to {name}:")
        self._output.answer(answer, saved.payment)
        saved.remove()

    def _report(self, error: CoinslotError, name: str | None) -> None:
        self._count += 1
        self._code = self._code or error.exit_code
        if not self._output.as_json:
            self._output.error(error, kept=error.saved)
            return
        detail, hint = self._output.words(error, error.saved)
        self._documents.append({"call": name, **documents.of_error(error, detail=detail, hint=hint, kept=error.saved)})
