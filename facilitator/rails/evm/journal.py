"""What was sent and is in no block yet, on disk: after a restart the payments are known, and so are their numbers.

One line of JSON for each form of a transaction, synced before it is sent. The chain remains the judge: what the journal lost,
or has too much of, costs no money, because the token takes an authorization once. So a line that cannot be read is left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from facilitator.rails.evm.journal_layout import LAYOUT
from facilitator.rails.evm.transaction import Sent
from facilitator.settling import CannotSend, CannotStart
from shared.x402.evm import EvmAuthorization
from shared.x402.networks import EvmToken

log = logging.getLogger(__name__)

MOST_BYTES = 4 * 1024 * 1024
"""A longer journal is written anew, with what is open."""
LONGEST_LINE = 1024 * 1024
"""No line of ours is nearly so long. Of a longer one the rest is skipped, so that it takes no memory."""
MOST_REPORTED = 10
"""Lines that the log names."""


class Member(msgspec.Struct, frozen=True):
    """One payment of a transaction: what was signed, and the signature."""

    payment_id: str
    payer: str
    pay_to: str
    amount: str
    valid_after: int
    valid_before: int
    nonce: bytes
    signature: bytes
    signature_checked: bool

    @classmethod
    def of(cls, authorization: EvmAuthorization) -> Member:
        """What is written of a payment."""
        return cls(**{name: getattr(authorization, name) for name in cls.__struct_fields__})

    def authorization(self, token: EvmToken) -> EvmAuthorization:
        """The payment as it was checked."""
        return EvmAuthorization(
            network=token.network, asset=token.address, value=int(self.amount), **msgspec.structs.asdict(self)
        )


class Entry(msgspec.Struct, frozen=True):
    """One form of a transaction.

    Attributes:
        account, chain_id: of the account that sent it.
        hash: of the transaction.
        members: the payments that it makes, in the order of its calls.
    """

    account: str
    chain_id: int
    number: int
    hash: str
    gas: int
    max_fee: int
    tip: int
    members: tuple[Member, ...]
    layout: int = LAYOUT


class Journal:
    """The file of one account on one chain.

    Args:
        path: of the file. It is made when it is not there.
    """

    def __init__(self, path: Path, account: str, chain_id: int) -> None:
        self._path = path
        self._account = account
        self._chain_id = chain_id
        self._file: int | None = None
        self.dropped = 0
        """Lines that `read` found and that cannot be used."""

    def open(self) -> None:
        """Open it for writing. Raises CannotStart."""
        if self._file is None:
            try:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                self._sync_name()
            except OSError as error:
                raise CannotStart(f"{self._path} cannot be opened: {error.strerror}") from None

    def close(self) -> None:
        """Nothing is written afterwards."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def read(self) -> Sequence[Entry]:
        """What an earlier run has written of this account, oldest first. Lines that cannot be read are left out.

        Raises:
            CannotStart: the file cannot be read.
        """
        entries = []
        self.dropped = 0
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(_lines(file), 1):
                    try:
                        entry = msgspec.json.decode(line, type=Entry)
                    except (msgspec.MsgspecError, UnicodeError, RecursionError):
                        if line.strip(b"\r\n"):
                            self._drop(f"line {number}")
                        continue
                    if (entry.account, entry.chain_id) == (self._account, self._chain_id):
                        entries.append(entry)
        except OSError as error:
            raise CannotStart(f"{self._path} cannot be read: {error.strerror}") from None
        return entries

    def leave_out(self, entry: Entry) -> None:
        """Report an entry that could be read and cannot be used."""
        self._drop(f"an entry of transaction {entry.number}")

    async def note(self, sent: Sent, others: Iterable[Sent]) -> None:
        """Write down the newest form of a transaction, and return when it is on the disk.

        Args:
            others: what else is open, for when the file is written anew.

        Raises:
            CannotSend: it could not be written.
        """
        if self._file is None:
            return
        try:
            # Not on the event loop: some disks take 10 ms.
            await asyncio.to_thread(self._write, sent, tuple(others))
        except OSError as error:
            raise CannotSend(f"{self._path} cannot be written: {error.strerror}") from None

    def _write(self, sent: Sent, others: Sequence[Sent]) -> None:
        assert self._file is not None, "open() comes first"
        if os.fstat(self._file).st_size > MOST_BYTES:
            with contextlib.suppress(PermissionError):  # in a folder of somebody else's it only grows
                self._rewrite(others)
        # After a line that was cut off a new one begins.
        content = b"\n" + self._lines(sent, newest=True)
        if os.write(self._file, content) != len(content):
            raise OSError(28, "No space left on device")
        os.fdatasync(self._file)

    def _rewrite(self, others: Sequence[Sent]) -> None:
        fresh = self._path.with_name(self._path.name + ".new")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        for sent in others:
            os.write(file, self._lines(sent))
        os.fdatasync(file)
        fresh.replace(self._path)
        self._sync_name()
        self.close()
        self._file = file

    def _drop(self, what: str) -> None:
        self.dropped += 1
        if self.dropped <= MOST_REPORTED:
            log.warning("%s: %s cannot be used and is left out", self._path, what)
        if self.dropped == MOST_REPORTED:
            log.warning("%s: /healthz has the number of all such lines", self._path)

    def _sync_name(self) -> None:
        """A file whose name is lost is lost, too."""
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _lines(self, sent: Sent, *, newest: bool = False) -> bytes:
        members = tuple(Member.of(payment.authorization) for payment in sent.members)
        return b"".join(
            msgspec.json.encode(
                Entry(
                    *(self._account, self._chain_id, sent.number, form.hash, sent.gas),
                    *(form.bid.max_fee, form.bid.tip, members),
                )
            )
            + b"\n"
            for form in (sent.forms[-1:] if newest else sent.forms)
        )


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Its lines, each without what is beyond LONGEST_LINE."""
    while line := file.readline(LONGEST_LINE):
        yield line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
