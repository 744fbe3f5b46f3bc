"""PyPI x402 with httpx behind a proxy that loses answers: each call is sent until its answer comes."""

import asyncio
import json
import os

import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients.httpx import PaymentError, x402HttpxClient
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

from coinslot.named_calls import NamedCalls, one_call

env = os.environ


async def main() -> None:
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(env["KEY"])))
    client.register_extension(NamedCalls())
    answers = []
    for message in json.loads(env["MESSAGES"]):
        with one_call():
            while True:
                try:
                    async with x402HttpxClient(client, timeout=30) as http:
                        answer = await http.post(env["URL"], json={"message": message})
                    answers.append(answer.json()["youSent"])
                    break
                except (httpx.HTTPError, PaymentError):  # the transport raises its own error for a lost connection
                    continue
    print(json.dumps(answers))


asyncio.run(main())
