"""Calls echo unpaid with the client that openapi-python-client made, in the package `generated`."""

import json
import os

import loopback
from generated import Client
from generated.api.utility import echo
from generated.models import EchoRequest, PaymentRequired

with Client(base_url=os.environ["URL"]) as client:
    answer = echo.sync_detailed(client=client, body=EchoRequest(message="hello"))
challenge = answer.parsed
assert isinstance(challenge, PaymentRequired)
networks = [offer.network for offer in challenge.accepts]
print(json.dumps({"status": answer.status_code, "networks": networks, "elsewhere": loopback.elsewhere}))
