"""xrpl-wallet-watch over HTTP: a wallet on the sandbox's ledger, and nodes that lie, stall or lack history."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
import pytest_socket
from xrpl.utils import get_balance_changes
from xrpl.wallet import Wallet

from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_methods import answer
from compose.sandbox.xrpl_node import LIMIT, XrplServer, provision
from compose.sandbox.xrpl_state import (
    DELETE_AFTER,
    GLOBAL_FREEZE,
    PARTIAL_PAYMENT,
    RESERVE_INCREMENT,
    SET_NO_RIPPLE,
)
from jobs.observation import Observed, Previous
from jobs.ports import Context
from jobs.xrpl_wallet_watch import endpoint
from jobs.xrpl_wallet_watch.endpoint import Request, run
from shared.outcome import UpstreamFailed
from shared.settings.service import Settings
from tests import xrpl_signing as signing
from tests.time_limits import patience
from tests.xrpl_recorded import pay_through_maker
from tests.xrpl_signing import RLUSD, Json, amount
from workers.adapters import xrpl, xrpl_node
from workers.adapters.xrpl import XrplNodes
from workers.children import ChildPool
from workers.ports import WorkerPorts

WATCHED, FRIEND, PAY_TO, FRESH = (Wallet.from_entropy(f"{number:032x}") for number in (11, 12, 13, 14))
LINE = RLUSD.issuer, RLUSD.currency

OPEN: list[XrplNodes] = []
"""Connections that a test has made."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint may take longer on a busy machine."""
    monkeypatch.setattr(endpoint, "WITHIN_S", patience(endpoint.WITHIN_S))


Mangle = Callable[[str, bytes], bytes | None]


class Node(XrplServer):
    """A node of a ledger that closes when it is told to.

    Attributes:
        mangle: the method and the right answer to what is answered.
        asked: the methods, in order.
    """

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger, close_every_s=0)
        self.mangle: Mangle = lambda method, right: right
        self.asked: list[str] = []

    def answer(self, body: bytes) -> bytes | None:
        method = json.loads(body)["method"]
        self.asked.append(method)
        right = super().answer(body)
        assert right is not None
        return self.mangle(method, right)


class Sandbox:
    """A ledger, its nodes, and the one wallet that is watched."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        provision(self.ledger, payer=WATCHED.address, pay_to=PAY_TO.address)
        self.ledger.fund(FRIEND.address, 10**9)
        self.ledger.trust(FRIEND.address, *LINE, "1000", LIMIT)
        self.ledger.close()
        self.nodes: list[Node] = []

    def node(self) -> Node:
        """One more."""
        node = Node(self.ledger)
        threading.Thread(target=node.serve, daemon=True).start()
        self.nodes.append(node)
        return node

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def send(self, sender: Wallet, kind: str = "Payment", **fields: Any) -> str:
        """Sign and submit. Returns the result."""
        usual = {"Sequence": self.ledger.open.accounts[sender.address].sequence, "Fee": "10"}
        body = {"TransactionType": kind, "Account": sender.address, **usual, **fields}
        return self.ledger.submit(signing.blob(sender, body))[0]

    def pay(self, count: int = 1) -> None:
        """The watched wallet pays a friend."""
        for _ in range(count):
            assert self.send(WATCHED, Destination=FRIEND.address, Amount="1") == "tesSUCCESS"

    def moved(self, after: int) -> tuple[Decimal, Decimal]:
        """What xrpl-py says that the watched wallet has gained since a ledger."""
        page = answer(
            self.ledger, "account_tx", {"account": WATCHED.address, "ledger_index_min": after + 1, "limit": 400}
        )
        changes = [
            change
            for entry in page["transactions"]
            for account in get_balance_changes(entry["meta"])
            if account["account"] == WATCHED.address
            for change in account["balances"]
        ]
        xrp = [Decimal(change["value"]) for change in changes if change["currency"] == "XRP"]
        held = [Decimal(change["value"]) for change in changes if change["currency"] == RLUSD.currency]
        return sum(xrp, Decimal(0)), sum(held, Decimal(0))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """With no node yet."""
    pytest_socket.enable_socket()
    sandbox = Sandbox()
    yield sandbox
    while OPEN:
        OPEN.pop().close()
    sandbox.stop()


@pytest.fixture
def node(sandbox: Sandbox) -> Node:
    """The only one."""
    return sandbox.node()


class Watch:
    """A payer's calls, one after the other, with what each left for the next."""

    def __init__(self, *nodes: Node) -> None:
        self.xrpl = XrplNodes([node.url for node in nodes], network="xrpl:0")
        OPEN.append(self.xrpl)
        self._left: Previous | None = None

    def __call__(self, address: str = WATCHED.address, **fields: Any) -> Json:
        request = msgspec.convert({"address": address, **fields}, Request)
        found = run(request, Context(payer="rPayer", ports=self, previous=self._left))  # type: ignore[arg-type]
        assert isinstance(found, Observed)
        self._left = Previous(found.observation, datetime.now(UTC))
        told: Json = json.loads(msgspec.json.encode(found.response))
        return told


def codes(told: Json) -> list[str]:
    return [alert["code"] for alert in told["alerts"]]


def failure(watch: Watch) -> UpstreamFailed:
    """A call must fail, with a reason, in our words."""
    with pytest.raises(UpstreamFailed) as failed:
        watch()
    assert failed.value.detail in xrpl_node._DETAILS.values()
    return failed.value


def test_a_baseline_and_then_what_happened(sandbox: Sandbox, node: Node) -> None:
    """Given activity between two calls, the second tells the deltas that xrpl-py finds, and they agree with the balances."""
    sandbox.pay()
    sandbox.ledger.close()
    watch = Watch(node)
    first = watch(allowedDestinations=[FRIEND.address])
    assert (first["baseline"]["created"], first["activity"]["count"], first["activity"]["complete"]) == (True, 0, True)
    assert (first["rlusd"]["balance"], first["rlusd"]["health"]) == ("1000", "ok")
    since = first["ledgerIndex"]

    sandbox.pay()
    assert sandbox.send(WATCHED, Destination=PAY_TO.address, Amount=amount("0.25"), DestinationTag=9) == "tesSUCCESS"
    assert sandbox.send(WATCHED, Destination=FRESH.address, Amount="5") == "tecNO_DST_INSUF_XRP"
    assert sandbox.send(WATCHED, "TicketCreate", TicketCount=1) == "tesSUCCESS"
    sandbox.ledger.close()
    [ticket] = sandbox.ledger.open.tickets(WATCHED.address)
    with_ticket = {"Sequence": 0, "TicketSequence": ticket}
    assert sandbox.send(WATCHED, Destination=FRIEND.address, Amount="7", **with_ticket) == "tesSUCCESS"
    trick = {"Amount": amount("999999"), "SendMax": amount("0.0625"), "Flags": PARTIAL_PAYMENT}
    assert sandbox.send(FRIEND, Destination=WATCHED.address, **trick) == "tesSUCCESS"
    pay_through_maker(sandbox.ledger, WATCHED.address, WATCHED.address, RLUSD, drops=3_000_000, value="1.5")
    sandbox.ledger.close()

    second = watch(allowedDestinations=[FRIEND.address])
    xrp, held = sandbox.moved(since)
    assert (Decimal(second["deltas"]["xrp"]), Decimal(second["deltas"]["rlusd"])) == (xrp, held)
    assert held == Decimal("1.3125")
    for name, change in (("xrp", xrp), ("rlusd", held)):
        assert Decimal(second[name]["balance"]) - Decimal(first[name]["balance"]) == change
    activity = second["activity"]
    assert (activity["fromLedger"], activity["toLedger"]) == (since, second["ledgerIndex"])
    assert (activity["count"], activity["complete"], activity["truncated"]) == (7, True, False)
    assert [entry["result"] for entry in second["failedTransactions"]] == ["tecNO_DST_INSUF_XRP"]
    assert [(one["address"], one["tag"], one["allowed"]) for one in second["newDestinations"]] == [
        (FRIEND.address, None, True),
        (PAY_TO.address, 9, False),
    ]
    assert codes(second) == ["transaction_failed", "partial_payment", "new_destination"]
    [tricked] = [
        entry for entry in activity["transactions"] if entry["counterparty"] == FRIEND.address and entry["partial"]
    ]
    amount_of_rlusd = {"value": "0.0625", "currency": "RLUSD", "issuer": RLUSD.issuer}
    assert tricked["delivered"] == {**amount_of_rlusd, "imitatesRlusd": False}

    third = watch()
    assert (third["activity"]["count"], third["deltas"]) == (0, {"xrp": "0", "rlusd": "0"})


def test_a_long_history_is_told_in_parts(sandbox: Sandbox, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many at a time over pages with markers, each once, in order, also within a ledger."""
    monkeypatch.setattr(endpoint, "MAX_TRANSACTIONS", 20)
    monkeypatch.setattr(xrpl_node, "PAGE", 10)
    watch = Watch(node)
    watch()
    for count in (15, 12, 18):
        sandbox.pay(count)
        sandbox.ledger.close()
    told: list[str] = []
    for count, is_truncated in ((20, True), (20, True), (5, False), (0, False)):
        part = watch()
        activity = part["activity"]
        assert (activity["count"], activity["truncated"], activity["complete"]) == (count, is_truncated, True)
        assert ("activity_truncated" in codes(part)) == is_truncated
        assert Decimal(part["deltas"]["xrp"]) == -Decimal("0.000011") * count
        told += [entry["hash"] for entry in activity["transactions"]]
    all_of_them = [applied.hash for applied in sandbox.ledger.transactions_of(WATCHED.address)]
    assert told == all_of_them[::-1]


def test_an_account_is_made_and_deleted(sandbox: Sandbox, node: Node) -> None:
    """Not activated, activated, and gone, each with what it had."""
    watch = Watch(node)
    assert watch(FRESH.address)["activated"] is False
    sandbox.send(WATCHED, Destination=FRESH.address, Amount="5000000")
    sandbox.ledger.close()
    made = watch(FRESH.address)
    assert (made["activated"], made["deltas"]["xrp"], made["activity"]["complete"]) == (True, "5", True)
    assert (made["xrp"]["spendable"], made["rlusd"]["health"]) == ("4", "missing")
    for _ in range(DELETE_AFTER + 2):
        sandbox.ledger.close()
    fee = str(RESERVE_INCREMENT)
    assert sandbox.send(FRESH, "AccountDelete", Destination=FRIEND.address, Fee=fee) == "tesSUCCESS"
    sandbox.ledger.close()
    gone = watch(FRESH.address)
    assert (gone["activated"], gone["deltas"]["xrp"], gone["activity"]["complete"]) == (False, "-5", True)
    assert codes(gone)[0] == "account_deleted"
    assert gone["activity"]["transactions"][0]["delivered"]["value"] == "4.8"
    assert gone["newDestinations"][0]["address"] == FRIEND.address


def test_the_trust_line_is_seen_as_it_is(sandbox: Sandbox, node: Node) -> None:
    """Missing, made, with no-ripple, frozen for one and for all."""
    watch = Watch(node)
    sandbox.ledger.fund(FRESH.address, 10**7)
    assert watch(FRESH.address)["rlusd"]["trustLine"] is False
    assert sandbox.send(FRESH, "TrustSet", LimitAmount=amount("50"), Flags=SET_NO_RIPPLE) == "tesSUCCESS"
    sandbox.ledger.close()
    told = watch(FRESH.address)
    assert told["rlusd"] == {
        "trustLine": True,
        "balance": "0",
        "limit": "50",
        "frozen": False,
        "noRipple": True,
        "clawback": True,
        "health": "empty",
    }
    assert told["activity"]["transactions"][0]["counterparty"] == RLUSD.issuer
    assert (told["xrp"]["ownerCount"], told["xrp"]["reserve"]) == (1, "1.2")
    sandbox.ledger.trust(WATCHED.address, *LINE, "1000", LIMIT, frozen=True)
    frozen = Watch(node)()
    assert (frozen["rlusd"]["health"], frozen["callRunway"]["callsRemaining"]) == ("frozen", 0)
    sandbox.ledger.trust(WATCHED.address, *LINE, "1000", LIMIT)
    sandbox.ledger.fund(RLUSD.issuer, 10**9, flags=GLOBAL_FREEZE)
    assert Watch(node)()["rlusd"]["frozen"] is True


def test_a_wallet_of_many_tokens(sandbox: Sandbox, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line to RLUSD is found behind a page of others, and those that pass for RLUSD are alerts."""
    for number in range(3):
        sandbox.ledger.trust(WATCHED.address, FRIEND.address, f"T{number}X", "1", LIMIT)
    sandbox.ledger.trust(WATCHED.address, FRIEND.address, RLUSD.currency, "500", LIMIT)
    assert codes(Watch(node)()) == ["lookalike_rlusd"]
    assert node.asked.count("account_lines") == 1
    monkeypatch.setattr(xrpl_node, "LINES", 2)
    told = Watch(node)()
    assert (told["rlusd"]["balance"], told["rlusd"]["clawback"]) == ("1000", True)


def test_a_gap_is_said_unless_another_node_has_it(sandbox: Sandbox, node: Node) -> None:
    """The nodes are asked in turn; what none has is said, and the next call begins anew."""
    alone, both = Watch(node), Watch(node, sandbox.node())
    for watch in (alone, both):
        watch()
    sandbox.pay()
    lost = sandbox.ledger.close().index
    sandbox.pay()
    sandbox.ledger.close()
    first = sandbox.ledger.chain[0].index

    def forgetful(method: str, right: bytes) -> bytes:
        ranges = f'"{first}-{lost - 1},{lost + 1}-{sandbox.ledger.validated.index}"'.encode()
        whole = f'"{first}-{sandbox.ledger.validated.index}"'.encode()
        return right.replace(whole, ranges) if method == "server_info" else right

    node.mangle = forgetful
    told = both()
    assert (told["activity"]["count"], told["activity"]["complete"]) == (2, True)
    told = alone()
    assert (told["activity"]["count"], told["activity"]["complete"]) == (1, False)
    assert "incomplete_history" in codes(told)
    node.mangle = lambda method, right: right
    assert alone()["activity"]["complete"] is True


def test_a_node_that_keeps_a_transaction_back_is_found_out(sandbox: Sandbox, node: Node) -> None:
    """What the transactions moved is compared with the balances."""
    watch = Watch(node)
    watch()
    sandbox.pay(3)
    sandbox.ledger.close()

    def secretive(method: str, right: bytes) -> bytes:
        told = json.loads(right)
        if method == "account_tx":
            del told["result"]["transactions"][1]
        return json.dumps(told).encode()

    node.mangle = secretive
    told = watch()
    assert (told["activity"]["count"], codes(told)[0]) == (2, "incomplete_history")


def edited(method: str, edit: Callable[[Json], Any]) -> Mangle:
    """Changes the result of a method."""

    def mangle(asked: str, right: bytes) -> bytes:
        if asked != method:
            return right
        told = json.loads(right)
        changed = edit(told["result"])
        return json.dumps({"result": told["result"] if changed is None else changed}).encode()

    return mangle


def error(method: str, code: str) -> Mangle:
    return edited(method, lambda result: {"status": "error", "error": code, "error_message": "<b>secret</b>"})


def deep(asked: str, right: bytes) -> bytes:
    return b'{"result":' + b"[" * 100_000


def of_info(**changes: Any) -> Mangle:
    return edited("server_info", lambda result: result["info"].update(changes))


def of_newest(**changes: Any) -> Mangle:
    return edited("server_info", lambda result: result["info"]["validated_ledger"].update(changes))


def of_account(**changes: Any) -> Mangle:
    return edited("account_info", lambda result: result["account_data"].update(changes))


BEFORE: list[tuple[str, Mangle, str]] = [
    ("hangs up", lambda method, right: None, "connection_refused"),
    ("html", lambda method, right: b"<html>", "bad_content"),
    ("empty", lambda method, right: b"", "bad_content"),
    ("cut off", lambda method, right: right[: len(right) // 2], "bad_content"),
    ("deep", deep, "bad_content"),
    ("list", lambda method, right: b'{"result":[1]}', "bad_content"),
    ("no status", lambda method, right: b'{"result":{}}', "node_error"),
    ("strange error", error("server_info", "x" * 5000), "node_error"),
    ("busy", error("server_info", "slowDown"), "rate_limited"),
    ("no network", error("account_info", "noNetwork"), "stale_ledger"),
    ("lost the ledger", error("account_info", "lgrNotFound"), "stale_ledger"),
    ("wrong network", of_info(network_id=1), "wrong_network"),
    ("network as text", of_info(network_id="0"), "wrong_network"),
    ("no info", edited("server_info", lambda result: {"status": "success"}), "bad_content"),
    (
        "not synced",
        edited("server_info", lambda result: result["info"].pop("validated_ledger") and None),
        "stale_ledger",
    ),
    ("old", of_newest(age=3_000), "stale_ledger"),
    ("no reserve", of_newest(reserve_base_xrp=None), "bad_content"),
    ("reserve as nothing", of_newest(reserve_inc_xrp=-1), "bad_content"),
    ("ledger as text", of_newest(seq="5"), "bad_content"),
    ("other account", of_account(Account=FRIEND.address), "bad_content"),
    ("negative", of_account(Balance="-5"), "bad_content"),
    ("not validated", edited("account_info", lambda result: result.update(validated=False)), "bad_content"),
    ("other ledger", edited("account_info", lambda result: result.update(ledger_index=5)), "bad_content"),
    ("endless lines", edited("account_lines", lambda result: result.update(lines=[], marker="0")), "bad_content"),
    ("line of nothing", edited("account_lines", lambda result: result.update(lines=[5])), "bad_content"),
    (
        "line of nan",
        edited("account_lines", lambda result: result["lines"][0].update(balance="NaN")),
        "bad_content",
    ),
]


@pytest.mark.parametrize(("mangle", "reason"), [row[1:] for row in BEFORE], ids=[row[0] for row in BEFORE])
def test_a_bad_node_is_a_reason_and_another_one_the_answer(
    sandbox: Sandbox, node: Node, mangle: Mangle, reason: str
) -> None:
    """Alone it fails the call, in our words; with another node behind it, the answer is the right one."""
    right = Watch(node)()
    node.mangle = mangle
    assert failure(Watch(node)).reason == reason
    assert Watch(node, sandbox.node())() == right


def on_transactions(edit: Callable[[list[Json]], Any]) -> Mangle:
    def change(result: Json) -> None:
        edit(result["transactions"])

    return edited("account_tx", change)


AFTER: list[tuple[str, Mangle, str]] = [
    (
        "the same page",
        edited("account_tx", lambda result: result.update(marker={"ledger": 1, "seq": 1})),
        "bad_content",
    ),
    ("twice", on_transactions(lambda found: found.append(found[0])), "bad_content"),
    ("too early", on_transactions(lambda found: found[0].update(ledger_index=5)), "bad_content"),
    ("not validated", on_transactions(lambda found: found[0].update(validated=False)), "bad_content"),
    ("no metadata", on_transactions(lambda found: found[0].pop("meta")), "bad_content"),
    ("not one", on_transactions(lambda found: found.append(5)), "bad_content"),
    ("other account", edited("account_tx", lambda result: result.update(account=FRIEND.address)), "bad_content"),
    ("a part", edited("account_tx", lambda result: result.update(ledger_index_max=5)), "stale_ledger"),
    ("malformed", error("account_tx", "lgrIdxMalformed"), "stale_ledger"),
    ("does not know", of_info(complete_ledgers="empty"), "stale_ledger"),
    ("does not say", of_info(complete_ledgers=5), "stale_ledger"),
]


@pytest.mark.parametrize(("mangle", "reason"), [row[1:] for row in AFTER], ids=[row[0] for row in AFTER])
def test_a_bad_history_is_a_reason_and_another_nodes_the_answer(
    sandbox: Sandbox, node: Node, mangle: Mangle, reason: str
) -> None:
    """The same for what comes after the baseline."""
    alone, both, right = Watch(node), Watch(node, sandbox.node()), Watch(node)
    for watch in (alone, both, right):
        watch()
    sandbox.pay(3)
    sandbox.ledger.close()
    expected = right()
    node.mangle = mangle
    assert failure(alone).reason == reason
    told = both()
    assert told["activity"] == expected["activity"]


def test_markers_without_end_are_bounded(sandbox: Sandbox, node: Node) -> None:
    """Pages of nothing, each with another marker."""
    watch = Watch(node)
    watch()
    sandbox.pay()
    sandbox.ledger.close()
    count = iter(range(10**6))
    node.mangle = edited(
        "account_tx", lambda result: result.update(transactions=[], marker={"ledger": 1, "seq": next(count)})
    )
    node.asked.clear()
    assert failure(watch).reason == "bad_content"
    assert node.asked.count("account_tx") == xrpl_node.MAX_PAGES


def test_a_huge_page_is_not_read_to_its_end(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """More bytes than a page may have."""
    monkeypatch.setattr(xrpl_node, "MAX_ANSWER_BYTES", 100_000)
    watch = Watch(node)
    node.mangle = edited("server_info", lambda result: result.update(more="x" * 200_000))
    assert failure(watch).reason == "too_large"


def test_a_slow_node_does_not_hold_the_others_up(sandbox: Sandbox, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up, and asked last for a while."""
    monkeypatch.setattr(xrpl_node, "REQUEST_S", 0.2)
    released = threading.Event()

    def slow(method: str, right: bytes) -> bytes:
        released.wait(20)
        return right

    node.mangle = slow
    quick = sandbox.node()
    watch = Watch(node, quick)
    try:
        assert watch()["ok"] is True
        node.asked.clear()
        assert watch()["ok"] is True
        assert node.asked == []
        assert failure(Watch(node)).reason == "timeout"
    finally:
        released.set()
    monkeypatch.setattr(xrpl, "RESTS_S", 0.0)


def test_nothing_is_asked_after_the_deadline(sandbox: Sandbox, node: Node) -> None:
    """Neither of this node nor of the next."""
    nodes = Watch(node, sandbox.node()).xrpl
    with pytest.raises(UpstreamFailed) as failed:
        nodes.wallet(WATCHED.address, at_least=0, deadline=time.monotonic() - 1)
    assert failed.value.reason == "timeout"
    assert [one.asked for one in sandbox.nodes] == [[], []]


def test_a_node_behind_the_baseline_is_not_believed(sandbox: Sandbox, node: Node) -> None:
    """It would take back what was told already."""
    with pytest.raises(UpstreamFailed) as failed:
        Watch(node).xrpl.wallet(
            WATCHED.address, at_least=sandbox.ledger.validated.index + 1, deadline=time.monotonic() + 5
        )
    assert failed.value.reason == "stale_ledger"


def test_the_older_version_of_the_api_is_read_as_well(sandbox: Sandbox, node: Node) -> None:
    """A server that answers in version 1, whatever it is asked for."""
    watch, other = Watch(node), Watch(node)
    for one in (watch, other):
        one()
    sandbox.pay(2)
    sandbox.ledger.close()
    expected = other()
    since = expected["activity"]["fromLedger"]

    def older(result: Json) -> Json:
        parameters = {"account": WATCHED.address, "ledger_index_min": since + 1, "forward": True, "api_version": 1}
        return answer(sandbox.ledger, "account_tx", parameters)

    node.mangle = edited("account_tx", older)
    assert watch()["activity"] == expected["activity"]


def test_without_a_node_or_the_token_there_is_no_answer() -> None:
    """A reason for the caller; a wrong setting is the operator's to hear of."""
    with pytest.raises(UpstreamFailed) as failed:
        XrplNodes([], network="xrpl:0").wallet(WATCHED.address, at_least=0, deadline=time.monotonic() + 5)
    assert failed.value.reason == "node_error"
    with pytest.raises(ValueError, match="no RLUSD"):
        XrplNodes([], network="xrpl:5")


def test_the_worker_reads_through_the_nodes_of_its_settings(node: Node) -> None:
    """Its own, or the facilitator's when it has none."""
    nowhere = "http://127.0.0.1:1"
    for settings in (
        {"COINSLOT_XRPL_READ_URLS": f"{nowhere},{node.url}", "COINSLOT_XRPL_RPC_URL": nowhere},
        {"COINSLOT_XRPL_RPC_URL": node.url},
    ):
        ledger = WorkerPorts(Settings.from_env(settings), ChildPool()).xrpl
        OPEN.append(ledger)
        assert ledger.network == "xrpl:0"
        assert ledger.wallet(WATCHED.address, at_least=0, deadline=time.monotonic() + 5).is_activated
