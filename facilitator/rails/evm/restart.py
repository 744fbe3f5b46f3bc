"""Makes of the journal what an earlier run had sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from facilitator.rails.evm import calldata
from facilitator.rails.evm.journal import Entry
from facilitator.rails.evm.payment import Payment
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid, Form, Sent
from shared.x402.networks import EvmToken


def restored(entries: Iterable[Entry], first: int, token: EvmToken, signer: Signer) -> Sequence[Sent]:
    """The transactions with at least that number, in the order of their numbers, each with all its forms.

    A number that was used twice was refused the first time. What does not have its hash any more was made by another version
    of this program, and is left out: then the chain says what became of it.
    """
    made: dict[int, Sent] = {}
    members: dict[int, object] = {}
    for entry in entries:
        if entry.number < first or not entry.members:
            continue
        if members.get(entry.number) != entry.members:
            made[entry.number], members[entry.number] = _sent(entry, token), entry.members
        sent, bid = made[entry.number], Bid(entry.max_fee, entry.tip)
        raw = signer.sign(number=sent.number, to=sent.to, data=sent.data, gas=sent.gas, bid=bid)
        form = Form.of(bid, raw)
        if form.hash == entry.hash and form.hash not in [one.hash for one in sent.forms]:
            sent.forms.append(form)
            sent.offered = bid
    return [made[number] for number in sorted(made) if made[number].forms]


def _sent(entry: Entry, token: EvmToken) -> Sent:
    authorizations = [member.authorization(token) for member in entry.members]
    to, data = calldata.settlement(token.address, authorizations)
    valid_before = max(one.valid_before for one in authorizations)
    sent = Sent(entry.number, to, data, entry.gas, valid_before, offered=Bid(entry.max_fee, entry.tip))
    sent.members = tuple(Payment(one, sent=sent, is_withdrawn=True) for one in authorizations)
    return sent
