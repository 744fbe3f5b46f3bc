"""Whether an answer of ours is what web3.py says. Each check names the way in which the question was answered."""

from collections.abc import Callable
from typing import Any

from web3 import Web3
from web3.exceptions import ContractLogicError, Web3RPCError

from jobs.engines.evm.text import clean
from tests.workers.differential.bytecode import Ending, selector
from tests.workers.differential.cases import Case
from tests.workers.differential.second_opinion import Undone, Web3Reader, with_decimals

L1_FEE = 1_234
"""What the L1 fee oracle of the chain answers."""
Answer = dict[str, Any] | str
"""A body, or the code of a failure."""


def check_number(reader: Web3Reader, case: Case, ours: Answer, name: str, *inputs: tuple[str, Any]) -> int | str:
    """The number that web3 reads, or in what other way the call ends; a revert is compared here."""
    if not case.code:
        assert ours == "not_a_contract"
        return "not_a_contract"
    try:
        number: int | None = reader.function(case.address, name, inputs, "uint256")
    except (ContractLogicError, Web3RPCError):
        assert isinstance(ours, dict)
        undone = reader.call({"to": Web3.to_checksum_address(case.address), "data": calldata(name, *inputs)})
        assert isinstance(undone, Undone)
        assert case.ending is not None
        check_revert(ours, undone, case.ending)
        return "undone"
    if number is None:
        assert ours == "not_a_contract"
        return "not_a_contract"
    return number


def calldata(name: str, *inputs: tuple[str, Any]) -> bytes:
    """As web3 encodes it."""
    signature = f"{name}({','.join(kind for kind, _ in inputs)})"
    return selector(signature) + Web3().codec.encode([kind for kind, _ in inputs], [value for _, value in inputs])


def check_revert(ours: dict[str, Any], undone: Undone, ending: Ending) -> None:
    """Data and cause are the contract's, and the reason is out of its data."""
    assert ours["reverted"] if "reverted" in ours else ours["owner"] is None
    if "revert" not in ours:
        return
    revert = ours["revert"]
    data = undone.data or b""
    assert revert["data"] == "0x" + data[:1024].hex()
    assert ours["revertReason"] == revert["reason"]
    if undone.data is None:
        assert revert["kind"] == ending.cause
        return
    assert ending.cause == "revert"
    assert ending.data == data
    expected = {
        selector("Panic(uint256)"): "panic",
        selector("ERC20InsufficientBalance(address,uint256,uint256)"): "custom",
    }
    if not data:
        assert (revert["kind"], revert["reason"]) == ("empty", None)
    elif data[:4] in expected:
        assert revert["kind"] == expected[data[:4]]
    elif data[:4] == selector("Error(string)"):
        check_message(revert, data[4:])


def check_message(revert: dict[str, Any], data: bytes) -> None:
    """A text that web3 does not read is shown where it was cut off, or is not UTF-8."""
    try:
        (message,) = Web3().codec.decode(["string"], data)
        message.encode()
    except Exception:  # whatever the library raises: it is no string
        if revert["kind"] != "unknown":
            start = int.from_bytes(data[:32]) + 32
            raw = data[start : start + int.from_bytes(data[start - 32 : start])]
            readings = (one.decode("utf-8", "replace") for one in (raw, data[start:].rstrip(b"\0")))
            assert revert["reason"] in [clean(reading, 256) or None for reading in readings]
    else:
        assert revert["kind"] == "error"
        assert revert["reason"] == (clean(message, 256) or None)


def check_words(reader: Web3Reader, case: Case, ours: dict[str, Any], amount: int | None, field: str) -> None:
    """Symbol and decimals, and an amount with them."""
    decimals = reader.detail(case.address, "decimals", "uint8")
    assert ours["decimals"] == decimals
    wanted = None if decimals is None or amount is None else with_decimals(amount, decimals)
    assert ours[field] == wanted
    assert ours["symbol"] == shown(reader.text(case.address, "symbol"), 32)


def shown(found: bytes | None, limit: int) -> str | None:
    """What a reader may see of a stranger's text."""
    return None if found is None else clean(found.decode(errors="ignore"), limit) or None


def check_erc20(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/erc20-balance."""
    owner = Web3.to_checksum_address(case.body["address"])
    number = check_number(reader, case, ours, "balanceOf", ("address", owner))
    return answered(reader, case, ours, number, "balance", "balanceFormatted")


def answered(reader: Web3Reader, case: Case, ours: Answer, number: int | str, field: str, formatted: str) -> str:
    """The number and the words."""
    if number == "not_a_contract":
        return "not_a_contract"
    assert isinstance(ours, dict)
    amount = None if isinstance(number, str) else number
    assert ours[field] == (None if amount is None else str(amount))
    assert ours["reverted"] is (amount is None)
    check_words(reader, case, ours, amount, formatted)
    return "undone" if amount is None else "answered"


def check_allowance(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/allowance."""
    parties = [("address", Web3.to_checksum_address(case.body[name])) for name in ("owner", "spender")]
    number = check_number(reader, case, ours, "allowance", *parties)
    way = answered(reader, case, ours, number, "allowance", "allowanceFormatted")
    if isinstance(number, int) and isinstance(ours, dict):
        supply = reader.detail(case.address, "totalSupply", "uint256")
        endless = number >= 2**255 or number in (2**160 - 1, 2**96 - 1) or (bool(supply) and number > supply)
        assert ours["isUnlimited"] is endless
    return way


def check_nft(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/nft-owner."""
    token_id = int(case.body["tokenId"], 0)
    number = check_number(reader, case, ours, "ownerOf", ("uint256", token_id))
    if number == "not_a_contract":
        return number
    if isinstance(number, int) and number >= 2**160:
        assert ours == "not_a_contract"
        return "not_a_contract"
    assert isinstance(ours, dict)
    owner = Web3.to_checksum_address(f"0x{number:040x}") if isinstance(number, int) and number else None
    assert (ours["owner"], ours["exists"]) == (owner, owner is not None)
    assert ours["tokenId"] == str(token_id)
    assert ours["isErc721"] is claims(reader, case, "80ac58cd")
    assert ("not_erc721" in ours["warnings"]) is (ours["isErc721"] is not True)
    assert ours["collection"] == shown(reader.text(case.address, "name"), 64)
    return "undone" if isinstance(number, str) else "answered"


def claims(reader: Web3Reader, case: Case, interface: str) -> Any:
    """Whether the contract says that it has the interface."""
    return reader.detail(case.address, "supportsInterface", "bool", ("bytes4", bytes.fromhex(interface)))


def check_erc1155(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/erc1155-balance."""
    owner, token_id = Web3.to_checksum_address(case.body["address"]), int(case.body["tokenId"], 0)
    number = check_number(reader, case, ours, "balanceOf", ("address", owner), ("uint256", token_id))
    if number == "not_a_contract":
        return number
    assert isinstance(ours, dict)
    assert ours["balance"] == (str(number) if isinstance(number, int) else None)
    assert ours["isErc1155"] is claims(reader, case, "d9b67a26")
    return "answered" if isinstance(number, int) else "undone"


def transaction_of(case: Case) -> dict[str, Any]:
    """As web3 takes it."""
    named = {name: Web3.to_checksum_address(case.body[name]) for name in ("to", "from") if name in case.body}
    return {**named, "data": case.body["data"], "value": int(case.body["value"], 0)}


def lacks_value(reader: Web3Reader, sent: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether the sender does not have what it sends; the sender is compared here."""
    sender = sent.get("from", "0x" + "0" * 40)
    balance = reader.web3.eth.get_balance(sender, reader.block)
    wanted = {"address": sender, "isDefault": "from" not in sent, "balanceWei": str(balance)}
    assert ours["sender"].items() >= wanted.items()
    return bool(sent["value"] > balance)


def check_call(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/call."""
    assert case.ending is not None
    sent = transaction_of(case)
    said = reader.call(sent)
    if not case.code and len(case.body["data"]) > 2:
        assert ours == "not_a_contract"
        return "not_a_contract"
    assert isinstance(ours, dict)
    if lacks_value(reader, sent, ours):
        assert said == Undone(None)
        assert (ours["reverted"], ours["revert"]["kind"], ours["data"]) == (True, "insufficient_funds", "0x")
        return "insufficient_funds"
    returned = (said.data or b"") if isinstance(said, Undone) else said
    assert ours["data"] == "0x" + returned[: 128 * 1024].hex()
    assert (ours["dataBytes"], ours["dataTruncated"]) == (len(returned), len(returned) > 128 * 1024)
    if isinstance(said, Undone):
        check_revert(ours, said, case.ending)
        return "undone"
    assert ours["reverted"] is False
    assert ours["revert"] is None
    if case.code and case.ending.data is not None:
        assert returned == case.ending.data
    return "answered"


def check_estimate(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/estimate-gas: gas and price are those of web3."""
    assert isinstance(ours, dict)
    sent = transaction_of(case)
    said = reader.estimate(sent)
    assert ours["gasPriceWei"] == str(reader.web3.eth.gas_price)
    assert ours["l1FeeWei"] == str(L1_FEE)
    if lacks_value(reader, sent, ours):
        # Of a plain payment anvil says 21,000 at once, whoever pays: ours has one rule for all.
        assert isinstance(said, Undone) or (said, case.code) == (21_000, b"")
        assert (ours["gas"], ours["revert"]["kind"]) == (None, "insufficient_funds")
        return "insufficient_funds"
    assert ours["reverted"] is isinstance(said, Undone)
    if isinstance(said, Undone):
        assert (ours["gas"], ours["feeWei"]) == (None, None)
        assert ours["revert"]["data"] == "0x" + (said.data or b"")[:1024].hex()
        return "undone"
    assert (ours["gas"], ours["gasHex"]) == (str(said), hex(said))
    assert ours["feeWei"] == str(said * int(ours["gasPriceWei"]) + L1_FEE)
    return "answered"


def check_storage(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/storage."""
    assert isinstance(ours, dict)
    slot = int(case.body["slot"], 0)
    value = bytes(reader.web3.eth.get_storage_at(Web3.to_checksum_address(case.address), slot, reader.block))
    assert int.from_bytes(value) == case.slots.get(slot, 0)
    assert ours["value"] == "0x" + value.rjust(32, b"\0").hex()
    assert ours["slot"] == f"0x{slot:064x}"
    assert ours["asNumber"] == str(int.from_bytes(value))
    assert ("no_code" in ours["warnings"]) is not case.code
    return "answered"


def check_chain_id(reader: Web3Reader, case: Case, ours: Answer) -> str:
    """chain/chain-id."""
    assert isinstance(ours, dict)
    assert ours["chainId"] == reader.web3.eth.chain_id == int(ours["chainIdHex"], 16)
    return "answered"


CHECKS: dict[str, Callable[[Web3Reader, Case, Answer], str]] = {
    "chain/call": check_call,
    "chain/erc20-balance": check_erc20,
    "chain/allowance": check_allowance,
    "chain/nft-owner": check_nft,
    "chain/erc1155-balance": check_erc1155,
    "chain/estimate-gas": check_estimate,
    "chain/storage": check_storage,
    "chain/chain-id": check_chain_id,
}
