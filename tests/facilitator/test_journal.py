"""The journal says after a crash what was sent, whatever the crash did to its last line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from facilitator.app import configured_rails
from facilitator.rails.evm import journal
from facilitator.rails.evm.calldata import settling_call
from facilitator.rails.evm.journal import Journal
from facilitator.rails.evm.signing import Signer
from facilitator.rails.evm.transaction import Bid, Form, Payment, Sent
from facilitator.settling import CannotSend
from shared.layouts import SETTLER_JOURNAL
from shared.money import Price
from shared.settings.rails import EvmRailSettings
from shared.settings.service import InvalidSetting, Settings
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests.facilitator.bench import TOKEN, Payer, an_address

pytestmark = pytest.mark.anyio

SIGNER = Signer(b"\7" * 32, TOKEN.chain_id)


def signed(sent: Sent, bid: Bid) -> Form:
    return Form.of(bid, SIGNER.sign(number=sent.number, to=sent.to, data=sent.data, gas=sent.gas, bid=bid))


def transaction(number: int, members: int) -> Sent:
    """A transaction of that many payments."""
    offer = evm.offers(TOKEN, Price.of("0.001"), an_address())[0]
    payloads = [Payer().call(offer.pay_to)["paymentPayload"]["payload"] for _ in range(members)]
    authorizations = [evm.check(offer, payload) for payload in payloads]
    to, data = settling_call(TOKEN.address, authorizations)
    valid_before = max(one.valid_before for one in authorizations)
    sent = Sent(number, to, data, 150_000, valid_before, offered=Bid(5, 1))
    sent.members = tuple(Payment(one) for one in authorizations)
    sent.forms.append(signed(sent, Bid(5, 1)))
    return sent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def written(path: Path) -> Journal:
    found = Journal(path, SIGNER, TOKEN)
    found.open()
    return found


async def test_what_was_written_is_restored(written: Journal, path: Path) -> None:
    """A lone payment, a group with two forms, and behind them half a line."""
    lone, group = transaction(3, 1), transaction(4, 3)
    for sent in (lone, group):
        await written.note(sent, [])
    group.forms.append(signed(group, Bid(9, 2)))
    await written.note(group, [])
    with path.open("ab") as file:
        file.write(b'{"account":"0x')
    later = transaction(5, 1)
    await written.note(later, [])

    found = written.restored(4)

    assert [sent.number for sent in found] == [4, 5]
    assert [[form.hash for form in sent.forms] for sent in found] == [
        [form.hash for form in sent.forms] for sent in (group, later)
    ]
    assert [one.authorization for one in found[0].members] == [one.authorization for one in group.members]
    assert (found[0].valid_before, found[0].offered) == (group.valid_before, Bid(9, 2))
    assert all(one.sent is found[0] for one in found[0].members)


def with_change(line: bytes, **fields: object) -> bytes:
    """The same entry with some fields of it, or of its first payment, set to something else."""
    entry = json.loads(line)
    for name, value in fields.items():
        (entry if name in entry else entry["members"][0])[name] = value
    return json.dumps(entry).encode()


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "a byte that is no UTF-8": lambda line: line.replace(b'"account":"0x', b'"account":"0\xff'),
    "no UTF-8 in a payment": lambda line: line.replace(b'"payer":"0x', b'"payer":"\xc3\x28'),
    "cut off": lambda line: line[: len(line) // 2],
    "two lines in one": lambda line: line + line,
    "binary": lambda line: bytes(range(11, 256)) * 8,
    "blocks that were never written": lambda line: bytes(4096) + line,
    "nested": lambda line: b'{"x":' * 100_000,
    "too long": lambda line: b" " * journal.LONGEST_LINE + line,
    "no object": lambda line: b"[1]",
    "a field is missing": lambda line: line.replace(b'"gas":', b'"gaz":'),
    "a number that is text": lambda line: with_change(line, number="3"),
    "a negative number": lambda line: with_change(line, gas=-1),
    "a number beyond all": lambda line: with_change(line, max_fee=2**300),
    "an amount that is no number": lambda line: with_change(line, amount="1e3"),
    "an amount beyond all": lambda line: with_change(line, amount="9" * 78),
    "no address": lambda line: with_change(line, pay_to="0xzz"),
    "a short nonce": lambda line: with_change(line, nonce="AAAA"),
    "a short signature": lambda line: with_change(line, signature="AAAA"),
    "a hash of something else": lambda line: with_change(line, amount="7"),
}


async def test_lines_that_cannot_be_used_are_left_out(
    written: Journal, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever a disk or a person has spoiled lines, the others are restored, and the log says how many and which."""
    lines = []
    for number in range(len(BROKEN) + 1):
        await written.note(transaction(number, 1), [])
        lines.append(path.read_bytes().splitlines()[-1])  # noqa: ASYNC240
    spoiled = [spoil(line) for line, spoil in zip(lines, BROKEN.values(), strict=False)]
    path.write_bytes(b"\n".join([*spoiled, lines[-1]]))  # noqa: ASYNC240

    found = written.restored(0)

    assert [sent.number for sent in found] == [len(BROKEN)]
    assert written.dropped == len(BROKEN)
    assert [f"{path}: line {number} " in caplog.text for number in range(1, 4)] == [True] * 3
    assert len(caplog.records) < written.dropped


async def test_a_spoiled_line_takes_no_good_one_with_it(written: Journal, path: Path) -> None:
    """A later line of the same number that has another hash was not sent so."""
    sent = transaction(3, 2)
    await written.note(sent, [])
    with path.open("ab") as file:
        file.write(with_change(path.read_bytes().splitlines()[-1], amount="7"))  # noqa: ASYNC240

    (found,) = written.restored(0)

    assert [form.hash for form in found.forms] == [sent.hash]
    assert written.dropped == 1


async def test_another_accounts_are_left_out(written: Journal, path: Path) -> None:
    """A key or a network that was changed has nothing to do with what the file holds."""
    await written.note(transaction(1, 1), [])

    assert list(Journal(path, Signer(b"\x08" * 32, TOKEN.chain_id), TOKEN).read()) == []
    assert list(Journal(path, SIGNER, EVM_USDC["eip155:1"]).read()) == []


async def test_a_journal_of_another_layout_is_refused(written: Journal, path: Path, tmp_path: Path) -> None:
    """Each line has the number, and one without it is of the first versions. A number of another version in the
    last one stops the start, in a sentence, whatever else is in the file."""
    key = tmp_path / "key"
    key.write_text("07" * 32)
    key.chmod(0o600)
    evm_settings = EvmRailSettings(rpc_url="http://127.0.0.1:1", settler_key_file=key, journal_file=str(path))
    await written.note(transaction(1, 1), [])
    line = json.loads(path.read_bytes())  # noqa: ASYNC240
    assert line.pop("layout") == SETTLER_JOURNAL.written
    with path.open("ab") as file:
        file.write(b"\xff no line of ours\n" + json.dumps(line).encode() + b"\n")
    assert len(written.read()) == 2
    configured_rails(Settings(evm=evm_settings))

    with path.open("ab") as file:
        file.write(json.dumps({"layout": SETTLER_JOURNAL.written + 1, "unheard": "of"}).encode() + b"\n")
    with pytest.raises(InvalidSetting, match="has layout 2, and this version reads layout 1: start the version"):
        configured_rails(Settings(evm=evm_settings))

    with path.open("ab") as file:  # a spoiled line that looks like another version's is not the last one
        file.write(json.dumps(line).encode() + b"\n")
    configured_rails(Settings(evm=evm_settings))


async def test_it_stays_small(written: Journal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long one only what is open remains."""
    monkeypatch.setattr(journal, "MOST_BYTES", 10_000)
    for number in range(40):
        await written.note(transaction(number, 1), [transaction(1_000, 1)])

    assert path.stat().st_size < 15_000  # noqa: ASYNC240
    assert {1_000, 39} <= {entry.number for entry in written.read()}


async def test_without_room_nothing_is_sent(written: Journal) -> None:
    """A line that cannot be written is no journal: the transaction must not go out."""
    written.close()
    full = Journal(Path("/dev/full"), SIGNER, TOKEN)
    full.open()

    with pytest.raises(CannotSend, match="/dev/full cannot be written"):
        await full.note(transaction(1, 1), [])
    full.close()
