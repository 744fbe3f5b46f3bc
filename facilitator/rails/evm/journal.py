"""Keeps what was sent and is in no block yet on disk, so that payments and their numbers are known after a restart.

One line of JSON for each form of a transaction, synced before it is sent. The chain remains the judge: what the journal lost,
or has in addition, costs no money, because the token takes an authorization once. So a line that cannot be read is left out.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from facilitator.rails.evm.calldata import settling_call
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid, Form, Payment, Sent
from facilitator.settling import CannotSend, CannotStart
from shared.layouts import SETTLER_JOURNAL
from shared.settings.service import InvalidSetting
from shared.x402.evm import EvmAuthorization
from shared.x402.evm_channel import Deposit, unsigned_voucher
from shared.x402.evm_channel_ids import ChannelConfig
from shared.x402.networks import EvmToken

log = logging.getLogger(__name__)

MOST_BYTES = 4 * 1024 * 1024
"""A longer journal is written anew, with what is open."""
LONGEST_LINE = 1024 * 1024
"""No line of ours is nearly so long. Of a longer one the rest is skipped, so that it takes no memory."""
MOST_REPORTED = 10
"""Lines that the log names."""

_OF_DEPOSIT = ("config", "salt")


class Journal:
    """The file of one account on one chain.

    Args:
        path: of the file. It is made when it is not there. None: nothing is written, and nothing was.
    """

    def __init__(self, path: Path | None, signer: Signer, token: EvmToken) -> None:
        self._path = path
        self._signer = signer
        self._token = token
        self._file: int | None = None
        self.dropped = 0
        """Lines that `read` and `restored` found and that cannot be used."""

    def open(self) -> None:
        """Open it for writing. Raises CannotStart."""
        if self._path is not None and self._file is None:
            try:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                _sync_name(self._path)
            except OSError as error:
                raise CannotStart(f"{self._path} cannot be opened: {error.strerror}") from None

    def close(self) -> None:
        """Nothing is written afterwards."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def read(self) -> "Sequence[Entry]":
        """What was written of this account, oldest first. Lines that cannot be read are left out.

        Raises:
            CannotStart: the file cannot be read.
        """
        entries: list[Entry] = []
        self.dropped = 0
        if self._path is None:
            return entries
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(_lines(file), 1):
                    try:
                        entry = msgspec.json.decode(line, type=Entry)
                    except (msgspec.MsgspecError, UnicodeError, RecursionError):
                        if line.strip(b"\r\n"):
                            self._drop(f"line {number}")
                        continue
                    if (entry.account, entry.chain_id) == (self._signer.address, self._token.chain_id):
                        entries.append(entry)
        except OSError as error:
            raise CannotStart(f"{self._path} cannot be read: {error.strerror}") from None
        return entries

    def restored(self, first: int) -> Sequence[Sent]:
        """The transactions of an earlier run with at least that number, in the order of their numbers, each with all its forms.

        A number that was used twice was refused the first time. An entry whose transaction does not get its hash again was
        spoiled, or made by another version of this program: then the chain says what became of it. Raises CannotStart.
        """
        made: dict[int, Sent] = {}
        members: dict[int, tuple[Member, ...]] = {}
        for entry in self.read():
            if entry.number < first or not entry.members:
                continue
            try:
                is_same = members.get(entry.number) == entry.members
                sent = made[entry.number] if is_same else entry.transaction(self._token)
                form = self._signer.form(sent, entry.bid)
                if form.hash != entry.hash:
                    raise ValueError
            except (ValueError, LookupError, OverflowError):
                self._drop(f"an entry of transaction {entry.number}")
                continue
            made[entry.number], members[entry.number] = sent, entry.members
            if form.hash not in [one.hash for one in sent.forms]:
                sent.forms.append(form)
                sent.offered = entry.bid
        return [made[number] for number in sorted(made)]

    async def note(self, sent: Sent, others: Iterable[Sent]) -> None:
        """Write down the newest form of a transaction that makes payments, and return when it is on the disk.

        Args:
            others: what else is open, for when the file is written anew.

        Raises:
            CannotSend: it could not be written.
        """
        if self._file is None or not sent.members:
            return
        try:
            # Not on the event loop: some disks take 10 ms.
            await asyncio.to_thread(self._write, sent, tuple(others))
        except OSError as error:
            raise CannotSend(f"{self._path} cannot be written: {error.strerror}") from None

    def _write(self, sent: Sent, others: Sequence[Sent]) -> None:
        assert self._path is not None
        assert self._file is not None
        if os.fstat(self._file).st_size > MOST_BYTES:
            with contextlib.suppress(PermissionError):  # in a folder of somebody else's it only grows
                self._rewrite(self._path, others)
        # After a line that was cut off a new one begins.
        content = b"\n" + self._line(sent, sent.newest)
        if os.write(self._file, content) != len(content):
            raise OSError(28, "No space left on device")
        os.fdatasync(self._file)

    def _rewrite(self, path: Path, others: Sequence[Sent]) -> None:
        fresh = path.with_name(path.name + ".new")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        for sent in others:
            os.write(file, b"".join(self._line(sent, form) for form in sent.forms))
        os.fdatasync(file)
        fresh.replace(path)
        _sync_name(path)
        self.close()
        self._file = file

    def _drop(self, what: str) -> None:
        self.dropped += 1
        if self.dropped <= MOST_REPORTED:
            log.warning("%s: %s cannot be used and is left out", self._path, what)
        if self.dropped == MOST_REPORTED:
            log.warning("%s: /healthz has the number of all such lines", self._path)

    def _line(self, sent: Sent, form: Form) -> bytes:
        return msgspec.json.encode(Entry.of(sent, form, self._signer.address, self._token.chain_id)) + b"\n"


class _Line(msgspec.Struct, frozen=True):
    layout: int = SETTLER_JOURNAL.unnumbered


def refuse_other_layout(path: Path) -> None:
    """Raises InvalidSetting when another version has written the file in a way that this one would not understand: then its
    last line says so. A line before it that says so is spoiled."""
    found = SETTLER_JOURNAL.unnumbered
    with contextlib.suppress(OSError), path.open("rb") as file:  # what cannot be read is reported where it is needed
        for line in _lines(file):
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                found = msgspec.json.decode(line, type=_Line).layout
    if why := SETTLER_JOURNAL.wrong(found):
        raise InvalidSetting(f"{path}: {why}")


def _sync_name(path: Path) -> None:
    """Put the name of a file on the disk: without it the file would be lost."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Its lines, each without what is beyond LONGEST_LINE."""
    while line := file.readline(LONGEST_LINE):
        yield line
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """One payment of a transaction: what was signed, and the signature. Only a deposit has `config` and `salt`."""

    payment_id: str
    payer: str
    pay_to: str
    amount: str
    valid_after: int
    valid_before: int
    nonce: bytes
    signature: bytes
    signature_checked: bool
    config: ChannelConfig | None = None
    salt: bytes = b""

    @classmethod
    def of(cls, authorization: EvmAuthorization) -> "Member":
        """What is written of a payment."""
        member = cls(
            **{name: getattr(authorization, name) for name in cls.__struct_fields__ if name not in _OF_DEPOSIT}
        )
        if isinstance(authorization, Deposit):
            member = msgspec.structs.replace(member, config=authorization.voucher.config, salt=authorization.salt)
        return member

    def authorization(self, token: EvmToken) -> EvmAuthorization:
        """The payment as it was checked; of a deposit without the voucher of its call."""
        fields = msgspec.structs.asdict(self)
        config, salt = (fields.pop(name) for name in _OF_DEPOSIT)
        fields |= {"network": token.network, "asset": token.address, "value": int(self.amount)}
        if config is None:
            return EvmAuthorization(**fields)
        return Deposit(**fields, voucher=unsigned_voucher(token.network, config), salt=salt)


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
    layout: int = SETTLER_JOURNAL.written

    @classmethod
    def of(cls, sent: Sent, form: Form, account: str, chain_id: int) -> "Entry":
        """What is written of a form."""
        members = tuple(Member.of(payment.authorization) for payment in sent.members)
        return cls(account, chain_id, sent.number, form.hash, sent.gas, form.bid.max_fee, form.bid.tip, members)

    @property
    def bid(self) -> Bid:
        """What the form offers."""
        return Bid(self.max_fee, self.tip)

    def transaction(self, token: EvmToken) -> Sent:
        """The transaction, without forms. Nobody waits for its payments. Raises what a spoiled entry raises."""
        authorizations = [member.authorization(token) for member in self.members]
        to, data = settling_call(token.address, authorizations)
        valid_before = max(one.valid_before for one in authorizations)
        sent = Sent(self.number, to, data, self.gas, valid_before, offered=self.bid)
        sent.members = tuple(Payment(one, sent=sent, is_withdrawn=True) for one in authorizations)
        return sent
