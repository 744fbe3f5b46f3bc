"""The buyer's channels on the disk, one file for each: what was deposited, what was signed, and what became of it.

A voucher counts in its channel's file before it leaves the process, and all of it happens under one lock (flock on the folder):
processes that use a channel at the same time never sign the same amount for two requests, and a process that dies leaves its
vouchers counted. The requests themselves are the saved payments (payment_folder.py).
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from coinslot.errors import ChannelUnusable, InvalidCall
from coinslot.state_folder import write_file
from shared.x402.evm_channel import SCHEME
from shared.x402.evm_channel_ids import ChannelConfig, chain_id_of, channel_id
from shared.x402.wire import Offer

_FILES = "0x*.json"
_TURN = "deposit.lock"


class SignedVoucher(msgspec.Struct, rename="camel"):
    """A voucher above `base`, in atomic units.

    Attributes:
        price: of its call.
        unused: how much of the price was not charged; None: there is no answer yet.
    """

    price: int
    unused: int | None = None


class SignedDeposit(msgspec.Struct, rename="camel"):
    """A deposit that is not confirmed yet. `valid_before` is in Unix seconds."""

    amount: int
    valid_before: int


class Channel(msgspec.Struct, rename="camel"):
    """The file of a channel. Amounts are atomic units.

    Attributes:
        server: base address of the server that it pays.
        offer: the newest that was paid.
        url: of a call that was sent: a refund can be requested there.
        base: the least that the next voucher is to be above, as the server showed it with a signature of ours.
        top: the highest voucher that may be charged; the next one is above it, too.
        signed: the highest voucher that was ever signed.
        balance: deposits that are confirmed, less what was paid back.
        charged: what the answers have cost. It is less than `base` where vouchers were overtaken by others: only a refund or a
            withdrawal brings that difference back.
        vouchers: by the amount that they allow to claim.
        deposits: by their nonce.
        withdrawn_at: when a withdrawal was announced, in Unix seconds; 0: none was. No voucher is signed after it.
    """

    server: str
    network: str
    config: ChannelConfig
    offer: Offer
    url: str = ""
    base: int = 0
    top: int = 0
    signed: int = 0
    balance: int = 0
    charged: int = 0
    vouchers: dict[str, SignedVoucher] = {}
    deposits: dict[str, SignedDeposit] = {}
    withdrawn_at: int = 0

    @property
    def raw_id(self) -> bytes:
        """The 32 bytes that vouchers name."""
        return channel_id(chain_id_of(self.network), self.config)

    @property
    def id(self) -> str:
        """The same in hex."""
        return f"0x{self.raw_id.hex()}"

    @property
    def used(self) -> int:
        """What may have been charged in all."""
        return max(self.base, self.top)

    @property
    def left(self) -> int:
        """What further vouchers can pay."""
        return max(0, self.balance - self.used)

    @property
    def locked(self) -> int:
        """What of the payer's money is in it, or may get into it."""
        return max(0, self.balance - self.charged) + sum(deposit.amount for deposit in self.deposits.values())

    @property
    def open(self) -> list[int]:
        """The vouchers without an answer."""
        return sorted(int(most) for most, voucher in self.vouchers.items() if voucher.unused is None)

    def fits(self, offer: Offer) -> bool:
        """Whether the offer can be paid out of it."""
        config = self.config
        pairs = (
            (self.network, offer.network),
            (config.receiver, offer.pay_to),
            (config.receiver_authorizer, str(offer.extra.get("receiverAuthorizer"))),
            (config.token, offer.asset),
            (str(config.withdraw_delay), str(offer.extra.get("withdrawDelay"))),
        )
        return offer.scheme == SCHEME and all(one.lower() == other.lower() for one, other in pairs)

    def take(self, price: int) -> int:
        """Count the next voucher. Returns the amount that it is to be signed over."""
        most = self.used + price
        self.vouchers[str(most)] = SignedVoucher(price)
        self.top, self.signed = most, max(most, self.signed)
        return most

    def end(self, most: int, charged: int) -> None:
        """Note what was charged of a voucher. What was not can be signed for again, as soon as no voucher above it counts."""
        voucher = self.vouchers.get(str(most))
        if voucher is None or voucher.unused is not None:
            return
        voucher.unused = voucher.price - charged
        self.charged += charged
        while (top := self.vouchers.get(str(self.top))) is not None and top.unused:
            del self.vouchers[str(self.top)]
            self.top -= top.unused
        self.vouchers = {
            amount: one
            for amount, one in self.vouchers.items()
            if one.unused is None or (one.unused and int(amount) > self.base)
        }

    def start_from(self, base: int) -> None:
        """Take the server's word for where the next voucher starts. It never goes back."""
        self.base = max(self.base, base)

    def confirm(self, nonce: str) -> None:
        """A deposit is in the channel."""
        if (deposit := self.deposits.pop(nonce, None)) is not None:
            self.balance += deposit.amount


class ChannelStore:
    """The channels of one state folder.

    Args:
        path: of the folder, which is made with the first channel, for its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns: dict[str, int] = {}

    def all(self) -> list[Channel]:
        """Every channel. Raises ChannelUnusable."""
        if not self.path.exists():
            return []
        with self.changing() as channels:
            return list(channels.values())

    def find(self, prefix: str) -> Channel:
        """The channel whose id begins so. Raises InvalidCall, ChannelUnusable."""
        found = [channel for channel in self.all() if channel.id.startswith(prefix.lower())]
        if len(found) != 1:
            which = "more than one channel" if found else "no channel"
            raise InvalidCall(
                f"{which} in {self.path} begins with {prefix[:70]!r}", hint="See `coinslot channels list`."
            )
        return found[0]

    @contextmanager
    def changing(self) -> Iterator[dict[str, Channel]]:
        """All channels by id, under the lock. What was changed or added is on the disk when this returns.

        Raises:
            ChannelUnusable: they cannot be read or written. Nothing may be signed.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                before = {path.stem: path.read_bytes() for path in self.path.glob(_FILES)}
                channels = {name: _decoded(name, content) for name, content in before.items()}
                yield channels
                for name, channel in channels.items():
                    content = msgspec.json.format(msgspec.json.encode(channel), indent=1)
                    if content != before.get(name):
                        write_file(self.path / f"{name}.json", content)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unusable(f"{self.path} cannot be used ({error.strerror or type(error).__name__})") from None

    def take_turn(self, nonce: str) -> bool:
        """Become the one who deposits, until `end_turn` or this process's death. False: somebody else is. Raises OSError."""
        descriptor = os.open(self.path / _TURN, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._turns[nonce] = descriptor
        return True

    def end_turn(self, nonce: str) -> None:
        """Let others deposit, when this deposit had the turn."""
        if (descriptor := self._turns.pop(nonce, None)) is not None:
            os.close(descriptor)


def _decoded(name: str, content: bytes) -> Channel:
    try:
        channel = msgspec.json.decode(content, type=Channel)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise _unusable(f"the file of channel {name} cannot be read") from None
    if channel.id != name:
        raise _unusable(f"the file of channel {name} is of another one")
    return channel


def _unusable(why: str) -> ChannelUnusable:
    return ChannelUnusable(why, hint="Look at it, or restore it. A new voucher without it could pay twice.")
