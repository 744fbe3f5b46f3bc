"""Makes of the journal what an earlier run had sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from facilitator.rails.evm import calldata
from facilitator.rails.evm.journal import Entry
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid, Form, Payment, Sent
from shared.x402.networks import EvmToken


def restored(
    entries: Iterable[Entry], first: int, token: EvmToken, signer: Signer, leave_out: Callable[[Entry], None]
) -> Sequence[Sent]:
    """The transactions with at least that number, in the order of their numbers, each with all its forms.

    A number that was used twice was refused the first time. An entry whose transaction does not get its hash again was spoiled,
    or made by another version of this program: then the chain says what became of it.

    Args:
        leave_out: is called with each such entry.
    """
    made: dict[int, Sent] = {}
    members: dict[int, object] = {}
    for entry in entries:
        if entry.number < first or not entry.members:
            continue
        bid = Bid(entry.max_fee, entry.tip)
        try:
            sent = made[entry.number] if members.get(entry.number) == entry.members else _sent(entry, token)
            form = Form.of(bid, signer.sign(number=sent.number, to=sent.to, data=sent.data, gas=sent.gas, bid=bid))
        except (ValueError, LookupError, OverflowError):
            leave_out(entry)
            continue
        if form.hash != entry.hash:
            leave_out(entry)
            continue
        made[entry.number], members[entry.number] = sent, entry.members
        if form.hash not in [one.hash for one in sent.forms]:
            sent.forms.append(form)
            sent.offered = bid
    return [made[number] for number in sorted(made)]


def _sent(entry: Entry, token: EvmToken) -> Sent:
    authorizations = [member.authorization(token) for member in entry.members]
    to, data = calldata.settlement(token.address, authorizations)
    valid_before = max(one.valid_before for one in authorizations)
    sent = Sent(entry.number, to, data, entry.gas, valid_before, offered=Bid(entry.max_fee, entry.tip))
    sent.members = tuple(Payment(one, sent=sent, is_withdrawn=True) for one in authorizations)
    return sent
