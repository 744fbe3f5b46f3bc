"""PyPI x402[svm]."""

import asyncio
import json
import os

import loopback
from solders.keypair import Keypair
from x402 import x402Client
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.svm.exact import ExactSvmScheme
from x402.mechanisms.svm.signers import KeypairSigner

env = os.environ


async def main() -> None:
    signer = KeypairSigner(Keypair.from_base58_string(env["KEY"]))
    client = x402Client()
    client.register(env["NETWORK"], ExactSvmScheme(signer, rpc_url=env["RPC_URL"]))
    async with x402HttpxClient(client, timeout=30) as http:
        answer = await http.post(env["URL"], json={"message": env["MESSAGE"]})
    receipt = answer.headers.get("payment-response")
    result = {"status": answer.status_code, "body": answer.text, "receipt": receipt, "elsewhere": loopback.elsewhere}
    print(json.dumps(result))


asyncio.run(main())
