"""Signed payments on the disk, from before they are sent until their answer has been taken: a crash loses none.

A payment's file is complete when it gets its name, and the name is on the disk before the payment is sent. The process that
waits for the answer holds a lock on the file, which the system takes away when the process dies.
"""

import contextlib
import fcntl
import os
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from coinslot import payment as payments
from coinslot.channel_store import ChannelStore
from coinslot.errors import InvalidCall, PaymentInUse
from coinslot.payment import SignedPayment
from coinslot.spending import SpendingLog
from coinslot.spending_journal import SpendingJournal
from coinslot.state_folder import sync_folder
from shared.layouts import SAVED_PAYMENTS, UnknownLayout
from shared.money import Price

_FILES = "payment-*.json"
_UNFINISHED_FILES = ".payment-*.json"
_UNFINISHED_FOR_S = 60.0


class _Layout(msgspec.Struct, frozen=True):
    layout: int = SAVED_PAYMENTS.unnumbered


class _Saved(msgspec.Struct, frozen=True, rename="camel"):
    """`body` is base64 in the file; `signed_at` is Unix seconds; `reservation` is empty without caps.
    `layout` is the file's."""

    url: str
    body: bytes | None
    payment_signature: str
    price: str
    asset: str
    payer: str
    signed_at: int
    reservation: str = ""
    layout: int = SAVED_PAYMENTS.unnumbered


class SavedPayment:
    """A payment and its file, which this process has locked.

    Attributes:
        path: of the file. Only its owner can read it.
        payment: the payment.
        reservation: its id in the folder's journal; empty when no caps were asked.
    """

    def __init__(self, path: Path, payment: SignedPayment, descriptor: int, *, reservation: str) -> None:
        self.path = path
        self.payment = payment
        self.reservation = reservation
        self._descriptor = descriptor

    def __repr__(self) -> str:
        return f"SavedPayment({self.path})"

    @property
    def answer_path(self) -> Path:
        """Where its answer is kept, when it came to nobody (kept_answers.py)."""
        return self.path.with_suffix(".answer")

    def remove(self) -> None:
        """The answer has been taken, or there will be none. A file that cannot be removed stays, which is harmless."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
            self.answer_path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Keep the file, and let others send the payment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class PaymentFolder:
    """A folder of open payments, with the log of what was spent.

    Args:
        path: made with the first payment. Only its owner can read it.

    Attributes:
        journal: of what was reserved under caps. Its file is made with the first reservation.
        channels: that calls are paid out of. Their folder is made with the first one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = SpendingJournal(path / "reservations.jsonl")
        self.spending = SpendingLog(path / "spent.jsonl")
        self.channels = ChannelStore(path / "channels")

    def __repr__(self) -> str:
        return f"PaymentFolder({self.path})"

    def save(self, payment: SignedPayment, *, reservation: str = "") -> SavedPayment:
        """Have the payment on the disk. Raises OSError when it is not."""
        content = msgspec.json.encode(
            _Saved(
                url=payment.url,
                body=payment.body,
                payment_signature=payment.header,
                price=payment.price.text(),
                asset=payment.asset,
                payer=payment.payer,
                signed_at=payment.signed_at,
                reservation=reservation,
                layout=SAVED_PAYMENTS.written,
            )
        )
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = datetime.now(UTC)
        name = f"payment-{now:%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}.json"
        path, unfinished = self.path / name, self.path / f".{name}"
        descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write(descriptor, content)
            os.rename(unfinished, path)
            sync_folder(self.path)
        except BaseException:
            os.close(descriptor)
            unfinished.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
        return SavedPayment(path, payment, descriptor, reservation=reservation)

    def files(self) -> list[Path]:
        """The files of all open payments, oldest first, for `claim`. Some may be awaited by other processes."""
        self._remove_unfinished()
        return sorted(self.path.glob(_FILES))

    def _remove_unfinished(self) -> None:
        """Those whose process died before the payment could be sent."""
        for path in self.path.glob(_UNFINISHED_FILES):
            try:
                if time.time() - path.stat().st_mtime > _UNFINISHED_FOR_S:
                    path.unlink()
            except OSError:
                continue


def claim(path: Path) -> SavedPayment:
    """Read and lock a saved payment.

    Raises:
        PaymentInUse: another process waits for its answer.
        InvalidCall: the file is not a saved payment, or cannot be read.
        FileNotFoundError: there is no such file.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise InvalidCall(f"cannot read the saved payment {path}: {why}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.stat(path)):
            raise FileNotFoundError(path)
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        SAVED_PAYMENTS.refuse(msgspec.json.decode(content, type=_Layout).layout)
        saved = msgspec.json.decode(content, type=_Saved)
        return SavedPayment(path, _decoded(saved), descriptor, reservation=saved.reservation)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise PaymentInUse(
                f"another process waits for the answer to {path}", hint="Wait until it has ended."
            ) from None
        if isinstance(error, UnknownLayout):
            raise InvalidCall(
                f"{path} is from a newer version of coinslot", hint="Update coinslot, then try again."
            ) from None
        if isinstance(error, ValueError | RecursionError):
            raise InvalidCall(f"{path} is not a saved payment") from None
        raise


def _decoded(saved: _Saved) -> SignedPayment:
    """Raises ValueError."""
    return SignedPayment(
        url=saved.url,
        body=saved.body,
        header=saved.payment_signature,
        offer=payments.decode(saved.payment_signature).accepted,
        price=Price.of(saved.price),
        asset=saved.asset,
        payer=saved.payer,
        signed_at=saved.signed_at,
    )


def _write(descriptor: int, content: bytes) -> None:
    """Return when the content is on the disk. Raises OSError."""
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
        file.flush()
    os.fsync(descriptor)
