"""Both chains answer what wallets, web3 and a facilitator ask, in the same words."""

from __future__ import annotations

import http.client
import json
import random
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from eth_account import Account

from compose.sandbox import artefact
from compose.sandbox.evm import PAYER_FUNDS, StartFailed, provision, start_chain
from shared.json_rpc import JsonRpc, RpcError

ETHER = 10**18


def _error(desk: Any, method: str, *params: Any) -> RpcError:
    with pytest.raises(RpcError) as caught:
        desk.rpc(method, *params)
    return caught.value


def _funded(desk: Any) -> Any:
    """A fresh account with 1 ETH."""
    account = Account.create()
    desk.send("0x", to=account.address, value=ETHER)
    return account


def test_it_is_base_with_usdc(desk: Any) -> None:
    """Chain id, network and the token's code are what a client of Base finds."""
    assert desk.rpc("eth_chainId") == hex(8453)
    assert desk.rpc("net_version") == "8453"
    code = "0x" + artefact.load("UsdcSandbox").deployed_bytecode.hex()
    assert desk.rpc("eth_getCode", desk.sandbox.usdc, "latest") == code
    assert desk.rpc("eth_accounts") == []
    assert isinstance(desk.rpc("web3_clientVersion"), str)


def test_twenty_payments_at_once_are_all_mined(desk: Any) -> None:
    """Given one settler that numbers its own transactions, when twenty arrive at once in any order, then all are mined."""
    first = desk.next_nonce()
    raw = [
        desk.signed(desk.payment("bytes", desk.authorization(value=5)), to=desk.sandbox.usdc, gas=150_000, nonce=nonce)
        for nonce in range(first, first + 20)
    ]
    random.shuffle(raw)
    before = desk.balance(desk.sandbox.pay_to)

    with ThreadPoolExecutor(20) as senders:
        receipts = list(senders.map(lambda one: desk.receipt(desk.rpc("eth_sendRawTransaction", one)), raw))

    assert [receipt["status"] for receipt in receipts] == ["0x1"] * 20
    assert desk.balance(desk.sandbox.pay_to) == before + 100
    assert desk.next_nonce() == first + 20


def test_a_transaction_ahead_of_its_turn_waits(desk: Any) -> None:
    """It has a hash but no receipt until the gap is filled."""
    account = _funded(desk)
    second, first = (
        desk.signed("0x", to=desk.sandbox.pay_to, nonce=nonce, key="0x" + account.key.hex()) for nonce in (1, 0)
    )

    waiting = desk.rpc("eth_sendRawTransaction", second)
    assert desk.rpc("eth_getTransactionReceipt", waiting) is None
    assert desk.rpc("eth_getTransactionByHash", waiting)["blockNumber"] is None
    assert desk.rpc("eth_getTransactionCount", account.address, "pending") == "0x0"
    desk.receipt(desk.rpc("eth_sendRawTransaction", first))

    assert desk.receipt(waiting)["status"] == "0x1"
    assert desk.rpc("eth_getTransactionCount", account.address, "pending") == "0x2"


def test_what_can_not_be_mined_is_refused(desk: Any) -> None:
    """A used account nonce, an empty account, another chain and plain nonsense are errors, not receipts."""
    account = _funded(desk)
    key = "0x" + account.key.hex()
    raw = desk.signed("0x", to=desk.sandbox.pay_to, gas=21_000, nonce=0, key=key)
    desk.receipt(desk.rpc("eth_sendRawTransaction", raw))
    again = desk.signed("0x", to=desk.sandbox.pay_to, gas=22_000, nonce=0, key=key)
    poor = desk.signed("0x", to=desk.sandbox.pay_to, gas=21_000, nonce=0, key="0x" + secrets.token_hex(32))
    elsewhere = desk.signed("0x", to=desk.sandbox.pay_to, gas=21_000, nonce=1, key=key, chainId=1)

    assert "nonce too low" in _error(desk, "eth_sendRawTransaction", again).message
    assert "nsufficient funds" in _error(desk, "eth_sendRawTransaction", poor).message
    assert "chain id" in _error(desk, "eth_sendRawTransaction", elsewhere).message.lower()
    assert isinstance(_error(desk, "eth_sendRawTransaction", "0x1234"), RpcError)
    assert _error(desk, "eth_noSuchThing").code == -32601
    assert _error(desk, "eth_getBalance", "0x12", "latest").code == -32602


def test_an_old_fashioned_transaction_is_mined(desk: Any) -> None:
    """Type 0 with a gas price, as simple wallets send it."""
    account = _funded(desk)
    price = int(desk.rpc("eth_gasPrice"), 16)
    transaction = {"chainId": 8453, "nonce": 0, "to": desk.sandbox.pay_to, "value": 7, "gas": 21_000, "gasPrice": price}
    raw = "0x" + account.sign_transaction(transaction).raw_transaction.hex()

    receipt = desk.receipt(desk.rpc("eth_sendRawTransaction", raw))

    found = desk.rpc("eth_getTransactionByHash", receipt["transactionHash"])
    assert (receipt["status"], receipt["effectiveGasPrice"], found["type"]) == ("0x1", hex(price), "0x0")
    assert int(found["v"], 16) in (2 * 8453 + 35, 2 * 8453 + 36)


def test_blocks_carry_the_real_time(desk: Any) -> None:
    """Even after a burst: many blocks of one second do not push the chain's clock ahead."""
    for _ in range(8):
        receipt = desk.send(desk.payment("bytes", desk.authorization(value=1)))

    block = desk.rpc("eth_getBlockByNumber", receipt["blockNumber"], True)

    assert abs(int(block["timestamp"], 16) - time.time()) < 3
    assert [one["hash"] for one in block["transactions"]] == [receipt["transactionHash"]]
    assert desk.rpc("eth_getBlockByHash", block["hash"], False)["number"] == receipt["blockNumber"]
    assert desk.rpc("eth_getBlockByNumber", "0xfffffff", False) is None


def test_gas_is_estimated_and_paid_as_estimated(desk: Any) -> None:
    """The estimate is enough, not much too high, and the receipt says what was paid."""
    data = desk.payment("bytes", desk.authorization())
    before = int(desk.rpc("eth_getBalance", desk.sandbox.settler, "latest"), 16)
    estimate = int(
        desk.rpc("eth_estimateGas", {"from": desk.sandbox.settler, "to": desk.sandbox.usdc, "data": data}), 16
    )

    receipt = desk.send(data, gas=estimate)

    used = int(receipt["gasUsed"], 16)
    assert receipt["status"] == "0x1"
    assert used <= estimate <= used * 1.2
    paid = before - int(desk.rpc("eth_getBalance", desk.sandbox.settler, "latest"), 16)
    assert paid == used * int(receipt["effectiveGasPrice"], 16)


def test_fees_have_a_history(desk: Any) -> None:
    """eth_feeHistory has one base fee more than blocks, and rewards when asked for."""
    desk.send(desk.payment("bytes", desk.authorization()))

    history = desk.rpc("eth_feeHistory", "0x2", "latest", [50])

    assert len(history["baseFeePerGas"]) == 3
    assert [len(reward) for reward in history["reward"]] == [1, 1]
    assert int(desk.rpc("eth_gasPrice"), 16) > int(desk.rpc("eth_maxPriorityFeePerGas"), 16) > 0


def test_storage_can_be_read(desk: Any) -> None:
    """totalSupply is the token's first slot."""
    slot = desk.rpc("eth_getStorageAt", desk.sandbox.usdc, "0x0", "latest")

    assert int(slot, 16) == int.from_bytes(desk.read("totalSupply()")) >= PAYER_FUNDS


def test_logs_are_found_by_address_topic_and_block(desk: Any) -> None:
    """Each part of a filter narrows; a block's hash may stand for the range."""
    receipt = desk.send(desk.payment("bytes", desk.authorization()))
    used, transfer = (log["topics"][0] for log in receipt["logs"])
    span = {"fromBlock": receipt["blockNumber"], "toBlock": receipt["blockNumber"]}

    def found(**wanted: Any) -> list[str]:
        return [log["topics"][0] for log in desk.rpc("eth_getLogs", span | wanted)]

    assert found() == [used, transfer]
    assert found(topics=[transfer]) == [transfer]
    assert found(topics=[[transfer, used]]) == [used, transfer]
    assert found(topics=[None, receipt["logs"][0]["topics"][1]]) == [used, transfer]
    assert found(address=[desk.sandbox.usdc]) == [used, transfer]
    assert found(address=desk.sandbox.pay_to) == []
    by_hash = desk.rpc("eth_getLogs", {"blockHash": receipt["blockHash"]})
    assert by_hash == desk.rpc("eth_getLogs", span)


def test_one_connection_takes_many_calls_and_batches(desk: Any) -> None:
    """HTTP keep-alive and JSON-RPC batches work, and broken JSON is answered, not dropped."""
    port = int(desk.sandbox.rpc_url.rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def ask(body: Any) -> Any:
        data = body if isinstance(body, str) else json.dumps(body)
        connection.request("POST", "/", data, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())

    calls = [{"jsonrpc": "2.0", "id": i, "method": "eth_chainId", "params": []} for i in range(3)]
    assert [ask(one)["result"] for one in calls] == ["0x2105"] * 3
    assert [(one["id"], one["result"]) for one in ask(calls)] == [(i, "0x2105") for i in range(3)]
    assert "error" in ask("{not json")
    connection.close()


def test_many_readers_and_a_writer_do_not_disturb_each_other(desk: Any) -> None:
    """Eight threads read while payments are mined: every answer is right."""
    stop = threading.Event()
    total = int.from_bytes(desk.read("totalSupply()"))

    def read() -> set[int]:
        seen = set()
        while not stop.is_set():
            seen.add(int.from_bytes(desk.read("totalSupply()")))
        return seen

    with ThreadPoolExecutor(8) as readers:
        reading = [readers.submit(read) for _ in range(8)]
        statuses = {desk.send(desk.payment("bytes", desk.authorization(value=1)))["status"] for _ in range(10)}
        stop.set()

    assert statuses == {"0x1"}
    assert set().union(*(one.result() for one in reading)) == {total}


def test_provisioning_again_tops_up(running: Any, desk: Any, call: Any) -> None:
    """The same wallets come back, and the payer has 1,000 USDC again."""
    chain, var = running
    desk.send(desk.payment("bytes", desk.authorization(value=1_000_000)))
    assert desk.balance(desk.sandbox.payer) < PAYER_FUNDS

    again = provision(chain, var)

    assert again == desk.sandbox
    assert desk.balance(again.payer) == PAYER_FUNDS
    assert int(desk.rpc("eth_getBalance", again.settler, "latest"), 16) > ETHER
    assert int(desk.rpc("eth_getBalance", again.payer, "latest"), 16) == 0


def test_a_chain_stops_and_starts_fresh(running: Any, make_var: Any) -> None:
    """stop() leaves no process; the next start is an empty chain for the same wallets."""
    chain, _ = running
    var = make_var()
    first = start_chain(var, prefer=chain.kind)
    blocks = int(JsonRpc(first.rpc_url)("eth_blockNumber"), 16)
    wallets = provision(first, var)
    first.stop()
    first.stop()
    assert first.process.returncode is not None
    with pytest.raises(OSError, match="refused"):
        JsonRpc(first.rpc_url)("eth_chainId")

    second = start_chain(var, prefer=chain.kind)
    try:
        assert int(JsonRpc(second.rpc_url)("eth_blockNumber"), 16) <= blocks + 1
        assert provision(second, var).payer == wallets.payer
    finally:
        second.stop()


def test_a_taken_port_is_an_error(running: Any, make_var: Any) -> None:
    """A chain that can not have its port does not pass for the one that has it."""
    chain, _ = running

    with pytest.raises(StartFailed, match="in use"):
        start_chain(make_var(), prefer=chain.kind, port=int(chain.rpc_url.rpartition(":")[2]))


def test_a_waiting_transaction_is_replaced_only_by_a_better_one(desk: Any) -> None:
    """Sending it twice is an error, the same account nonce for the same fee too; a tenth more takes its place."""
    account = _funded(desk)
    common = {"to": desk.sandbox.pay_to, "gas": 21_000, "key": "0x" + account.key.hex()}
    fees = {"maxFeePerGas": 3 * 10**9, "maxPriorityFeePerGas": 10**9}
    better = {"maxFeePerGas": 4 * 10**9, "maxPriorityFeePerGas": 2 * 10**9}
    waiting = desk.signed("0x", nonce=1, **common, **fees)
    rival = desk.signed("0x", nonce=1, value=1, **common, **fees)
    replaced = desk.rpc("eth_sendRawTransaction", waiting)

    assert "already" in _error(desk, "eth_sendRawTransaction", waiting).message
    assert "underpriced" in _error(desk, "eth_sendRawTransaction", rival).message
    winner = desk.rpc("eth_sendRawTransaction", desk.signed("0x", nonce=1, value=2, **common, **better))
    desk.receipt(desk.rpc("eth_sendRawTransaction", desk.signed("0x", nonce=0, **common, **fees)))

    assert desk.receipt(winner)["status"] == "0x1"
    assert desk.rpc("eth_getTransactionReceipt", replaced) is None
