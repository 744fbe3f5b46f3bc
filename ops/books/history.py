"""The chains' side of the books: what recipients got, compared with what is written, and written where the ledger forgot it."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ops import chains
from ops.books.facts import CALL, PAYOUT, TRANSFER, Fact, fact_of, folded
from ops.books.store import Books
from ops.chains import NODE_ERRORS, NotKept, Transfer
from shared.networks import NETWORKS
from shared.settings.service import PREFIX, Settings
from shared.x402.evm_channel_ids import CONTRACT
from shared.x402.networks import Rail

MARGIN_S = 24 * 3600
"""The ledger records a settlement after its block: the day of both may differ."""
FINAL_S = 3_600
"""Payouts of channels are written down when their block is final."""


class Received(NamedTuple):
    """What the chain shows of one rail.

    Attributes:
        transfers: to the recipient, in any order.
        lacks: why these are not all, as a sentence; empty when they are.
    """

    rail: Rail
    network: str
    asset: str
    transfers: list[Transfer]
    lacks: str


def received(settings: Settings, since: int) -> Iterator[Received]:
    """What every rail with a recipient got since that time, in Unix seconds."""
    for name, row in NETWORKS.items():
        own = settings.rails[name]
        for rail, tokens in row.tokens.items():
            token = tokens.get(own.network)
            if token is None or not own.pay_to:
                continue
            found, lacks = [], ""
            try:
                if url := chains.node_of(settings, name):
                    for moved in chains.transfers(name, url, own, token, since):
                        found.append(moved)  # what came before an error counts
                else:
                    lacks = f"no node is set to ask ({PREFIX}{name.upper()}_RPC_URL)"
            except NotKept as error:
                lacks = f"the node of {row.title}: {error}"
            except NODE_ERRORS as error:
                lacks = f"the node of {row.title} does not say: {type(error).__name__}: {error}"
            yield Received(rail, own.network, chains.asset_of(token), found, lacks)


def unmatched(books: Books, got: Received) -> tuple[list[Transfer], dict[str, list[Fact]]]:
    """The transfers that are not in the books, and by transaction the entries of the books that are none of these transfers."""
    missing, left = [], {}
    by_transaction: defaultdict[str, list[Transfer]] = defaultdict(list)
    for moved in got.transfers:
        by_transaction[moved.transaction].append(moved)
    for transaction, moves in by_transaction.items():
        entries = [
            entry
            for entry in books.entries_of(got.network, transaction)
            if entry.kind in (CALL, TRANSFER, PAYOUT) and entry.asset.lower() == got.asset.lower() and not entry.lost
        ]
        for moved in moves:
            same = [
                each
                for each in entries
                if each.amount == moved.amount and folded(each.payer) in (folded(moved.payer), "")
            ]
            if same:
                entries.remove(same[0])
            else:
                missing.append(moved)
        left[transaction] = entries
    return missing, left


def complete(settings: Settings, books: Books, since: int) -> Iterator[str]:
    """Write the transfers that are not in the books. Which call they paid is not known any more. Returns sentences about it."""
    for got in received(settings, since):
        with books.transaction():
            missing, _ = unmatched(books, got)
            for moved in missing:
                kind = PAYOUT if _is_payout(moved) else TRANSFER
                books.add([fact_of(kind, got.network, got.asset, moved)])
        yield f"{got.rail}: {len(got.transfers)} transfers on the chain, {len(missing)} of them were not in the books"
        if got.lacks:
            yield f"{got.rail}: {got.lacks}"


class Comparison(NamedTuple):
    """One rail's books beside its chain.

    Attributes:
        differences: sentences, one for each payment.
        lacks: why the comparison is not complete.
    """

    rail: Rail
    transfers: int
    differences: list[str]
    lacks: str


def compare(settings: Settings, books: Books, first: int, end: int) -> Iterator[Comparison]:
    """Compare what was received from `first` to before `end`, in Unix seconds."""
    for got in received(settings, first - MARGIN_S):
        missing, left = unmatched(books, got)
        sentences = [
            f"{moved.amount} from {moved.payer} in {moved.transaction} is on the chain and not in the books"
            for moved in missing
            if first <= moved.at < end - (FINAL_S if _is_payout(moved) else 0)
        ]
        question = (
            "SELECT * FROM entries WHERE network = ? AND asset = ? AND settled >= ? AND settled < ? AND lost = 0"
            " AND kind IN (?, ?, ?)"
        )
        kinds = (CALL, TRANSFER, PAYOUT)
        for row in books.rows(question, got.network, got.asset, first * 1000, end * 1000, *kinds):
            entry = Fact(*row[:-1])
            if entry in left.get(entry.transaction, [entry]) and not got.lacks:
                sentences.append(f"{entry.amount} in {entry.transaction} is in the books and not on the chain")
        in_time = sum(first <= moved.at < end for moved in got.transfers)
        yield Comparison(got.rail, in_time, sentences, got.lacks)


def _is_payout(moved: Transfer) -> bool:
    return moved.payer.lower() == CONTRACT.lower()
