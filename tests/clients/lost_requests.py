"""PyPI x402 with requests behind a proxy that loses answers: each call is sent until its answer comes."""

import json
import os

from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients.requests import PaymentError, x402_requests
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

from coinslot.named_calls import NamedCalls, one_call

env = os.environ
client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(Account.from_key(env["KEY"])))
client.register_extension(NamedCalls())
answers = []
with x402_requests(client) as http:
    for message in json.loads(env["MESSAGES"]):
        with one_call():
            while True:
                try:
                    answer = http.post(env["URL"], json={"message": message}, timeout=30)
                    answers.append(answer.json()["youSent"])
                    break
                except (OSError, PaymentError):  # the adapter raises its own error for a lost connection
                    continue
print(json.dumps(answers))
