"""`coinslot resume`: send open payments again, and print their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coinslot import configuration, documents, resuming
from coinslot.errors import CoinslotError, PaymentInUse
from coinslot.output import Output
from coinslot.payment_folder import PaymentFolder, SavedPayment, claim


def run(output: Output, files: Sequence[Path], *, timeout_s: float, env: Mapping[str, str], folder: Path) -> int:
    """Print each answer, and remove its payment's file. A payment that another process waits for is left alone.

    Args:
        files: saved payments; none: all that are open.

    Returns:
        0, or the exit code of the first that failed.

    Raises:
        OSError: an answer cannot be written. Its payment is kept.
    """
    code, resumed, printed = 0, list[dict[str, Any]](), list[SavedPayment]()
    for path, payments, is_sandbox in _open(files, configuration.payment_folders(env, folder)):
        output.is_sandbox = is_sandbox
        try:
            saved = resuming.claim_named(path) if files else claim(path)
        except FileNotFoundError:  # its answer was taken a moment ago
            continue
        except CoinslotError as error:
            if not files and isinstance(error, PaymentInUse):
                output.note(error.detail)
                continue
            code = code or error.exit_code
            _report(output, error, resumed, None)
            continue
        name = resuming.name_of(saved.payment)
        try:
            answer = resuming.resume(saved, payments, timeout_s=timeout_s, on_progress=output.progress)
        except KeyboardInterrupt:
            output.stopped(path, saved.payment)
            raise
        except CoinslotError as error:
            code = code or error.exit_code
            _report(output, error, resumed, name)
            continue
        if output.as_json:
            resumed.append({"call": name, **documents.of_answer(answer, saved.payment)})
            printed.append(saved)
        else:
            output.note(f"the answer to {name}:")
            output.answer(answer, saved.payment)
            saved.remove()
    if output.as_json:
        output.document({"ok": code == 0, "resumed": resumed})
        for saved in printed:
            saved.remove()
    elif code == 0 and not printed:
        output.note("no payment is open")
    return code


def _open(
    files: Sequence[Path], folders: Sequence[tuple[PaymentFolder, bool]]
) -> Iterator[tuple[Path, PaymentFolder, bool]]:
    """Each file with the folder whose log takes its line, and whether that is the sandbox's."""
    if not files:
        yield from ((path, payments, is_sandbox) for payments, is_sandbox in folders for path in payments.files())
        return
    for path in files:
        own = [(payments, is_sandbox) for payments, is_sandbox in folders if payments.path == path.absolute().parent]
        yield (path, *(own or folders)[0])


def _report(output: Output, error: CoinslotError, resumed: list[dict[str, Any]], name: str | None) -> None:
    if output.as_json:
        detail, hint = output.words(error, error.saved)
        resumed.append({"call": name, **documents.of_error(error, detail=detail, hint=hint, kept=error.saved)})
    else:
        output.error(error, kept=error.saved)
