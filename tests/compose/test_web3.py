"""A facilitator written on web3 settles on either chain without knowing which it is."""

from __future__ import annotations

import asyncio
from typing import Any

from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3.exceptions import ContractLogicError
from web3.logs import DISCARD

from compose.sandbox import artefact


async def _settle(desk: Any) -> tuple[Any, list[Any], str]:
    web3 = AsyncWeb3(AsyncHTTPProvider(desk.sandbox.rpc_url))
    try:
        token = web3.eth.contract(address=desk.sandbox.usdc, abi=artefact.load("UsdcSandbox").abi)
        settler = web3.eth.account.from_key(desk.sandbox.settler_key)
        authorization = desk.authorization(value=42)
        signature = desk.sign(authorization).signature
        call = token.get_function_by_selector("0xcf092995")(*authorization.values(), signature)
        transaction = await call.build_transaction(
            {"from": settler.address, "nonce": await web3.eth.get_transaction_count(settler.address, "pending")}
        )
        raw = settler.sign_transaction(transaction).raw_transaction
        receipt = await web3.eth.wait_for_transaction_receipt(await web3.eth.send_raw_transaction(raw))
        paid = token.events.Transfer().process_receipt(receipt, errors=DISCARD)
        try:
            await call.call({"from": settler.address})
        except ContractLogicError as error:
            return receipt, paid, str(error.message)
        return receipt, paid, "the replay was not refused"
    finally:
        await web3.provider.disconnect()


def test_async_web3_settles(desk: Any) -> None:
    """Fees, gas, sending, waiting, decoding the logs and the reason of a revert all come through AsyncWeb3."""
    receipt, paid, refusal = asyncio.run(_settle(desk))

    assert receipt["status"] == 1
    assert [(event["args"]["to"], event["args"]["value"]) for event in paid] == [(desk.sandbox.pay_to, 42)]
    assert "FiatTokenV2: authorization is used or canceled" in refusal


def test_web3_reads(desk: Any) -> None:
    """The synchronous client understands blocks, transactions, logs and fees."""
    mined = desk.send(desk.payment("parts", desk.authorization()))
    web3 = Web3(HTTPProvider(desk.sandbox.rpc_url))

    block = web3.eth.get_block(int(mined["blockNumber"], 16), full_transactions=True)
    transaction = web3.eth.get_transaction(mined["transactionHash"])
    logs = web3.eth.get_logs({"address": desk.sandbox.usdc, "fromBlock": block["number"], "toBlock": block["number"]})

    assert block["transactions"][0]["hash"] == transaction["hash"]
    assert transaction["from"] == desk.sandbox.settler
    assert transaction["chainId"] == 8453
    assert [log["logIndex"] for log in logs] == [0, 1]
    assert web3.eth.fee_history(1, "latest", [10])["oldestBlock"] <= web3.eth.block_number
    assert web3.eth.max_priority_fee > 0
    assert web3.eth.get_block("finalized")["number"] <= web3.eth.get_block("latest")["number"]
    assert web3.is_connected()
