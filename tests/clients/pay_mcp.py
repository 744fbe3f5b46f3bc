"""PyPI x402[mcp]: a list of tools, called one after the other, each paid for once."""

import asyncio
import json
import os
from datetime import timedelta
from typing import Any

import loopback
from eth_account import Account
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from x402 import x402Client
from x402.mcp import x402MCPSession
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

env = os.environ


def shown(result: Any) -> dict[str, Any]:
    receipt = result.payment_response
    return {
        "isError": result.is_error,
        "text": result.content[0].text,
        "structured": result.raw_result.structuredContent,
        "receipt": receipt and receipt.model_dump(by_alias=True, exclude_none=True),
    }


async def main() -> None:
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(env["KEY"])))
    async with streamablehttp_client(env["URL"]) as (read, write, session_id), ClientSession(read, write) as session:
        shop = x402MCPSession(session, client)
        await shop.initialize()
        listed = [tool.name for tool in (await shop.list_tools()).tools]
        limit = timedelta(seconds=60)
        bought = [shown(await shop.call_tool(name, arguments, limit)) for name, arguments in json.loads(env["CALLS"])]
        print(
            json.dumps({"listed": listed, "bought": bought, "session": session_id(), "elsewhere": loopback.elsewhere})
        )


asyncio.run(main())
