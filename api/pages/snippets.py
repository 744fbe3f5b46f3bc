"""Programs that buy one call, to be copied: each works as it stands, against this installation (tests/pages/test_snippets.py).

The official Python SDK is x402 2.25.0, the TypeScript one is @x402/fetch 2.27.0. They pay on EVM. On the XRP Ledger the client
for Python is t54's x402-xrpl 0.3.4.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from api.discovery.listing import Listing
from api.pages.terms import Terms

_LINE = 64
_PYTHON = {True: "True", False: "False", None: "None"}
_JAVASCRIPT = {True: "true", False: "false", None: "null"}


class Snippet(NamedTuple):
    """One program.

    Attributes:
        key: short and stable, for tests and links.
        note: what has to be there before it runs; may be empty.
    """

    key: str
    title: str
    note: str
    text: str


def snippets(listing: Listing, terms: Sequence[Terms], base_url: str) -> tuple[Snippet, ...]:
    """What can buy the endpoint on the rails that are offered."""
    body = listing.endpoint.example.request
    found = [
        Snippet("curl", "curl, unpaid", "Answers 402 with the price, and costs nothing.", _curl(listing.url, body)),
        Snippet(
            "coinslot",
            "coinslot",
            "The command of this project. `wallet.key` holds the private key of the wallet that pays.",
            coinslot(listing, terms, base_url, _text(body)),
        ),
    ]
    evm = next((one for one in terms if one.network_id.startswith("eip155:")), None)
    xrpl = next((one for one in terms if one.network_id.startswith("xrpl:")), None)
    if evm is not None:
        found.append(
            Snippet(
                "python", "Python", "`pip install 'x402[evm,httpx]'`, the official SDK.", _python(listing.url, body)
            )
        )
        found.append(
            Snippet(
                "typescript",
                "TypeScript",
                "`npm install @x402/fetch @x402/evm viem`; the key is 64 hex digits.",
                _typescript(listing.url, body, evm.network_id),
            )
        )
    elif xrpl is not None:
        found.append(
            Snippet(
                "python",
                "Python",
                "`pip install x402-xrpl`. The official SDKs do not pay on the XRP Ledger.",
                _python_xrpl(listing.url, body, xrpl.network_id),
            )
        )
    return tuple(found)


def check(page: str, body: Any) -> str:
    """The command that checks a body and pays nothing, for a shell.

    Args:
        page: the address of the call's page.
    """
    return (
        f"curl {shlex.quote(page)} -H 'Accept: text/markdown' \\\n  --data-urlencode {_quoted(f'body={_text(body)}')}"
    )


def _curl(url: str, body: Any) -> str:
    return (
        f"curl -i -X POST {shlex.quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d {_quoted(_text(body))}"
    )


def coinslot(listing: Listing, terms: Sequence[Terms], base_url: str, body: str) -> str:
    """The command that buys the endpoint, for a shell.

    Args:
        body: the request as JSON.
    """
    endpoint = listing.endpoint
    rail = next((one.rail for one in terms if one.rail == "base"), terms[0].rail)
    text = (
        f"coinslot call {endpoint.name} {_quoted(body)} \\\n"
        f"  --url {shlex.quote(base_url)} --key-file wallet.key --max-price {endpoint.price.text()}"
    )
    if rail == "base":
        return text
    return f"{text} --rail {rail}" if rail == "ethereum" else f'{text} \\\n  --rail {rail} --rpc-url "$RPC_URL"'


def _python(url: str, body: Any) -> str:
    return f"""\
import asyncio
import os

from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

URL = {_text(url)}
BODY = {_literal(body, _PYTHON, 4)}


async def main() -> None:
    payer = Account.from_key(os.environ["PAYER_KEY"])
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(payer))
    async with x402HttpxClient(client, timeout=40) as http:
        answer = await http.post(URL, json=BODY)
        answer.raise_for_status()
        print(answer.text)


asyncio.run(main())"""


def _typescript(url: str, body: Any, network: str) -> str:
    return f"""\
import {{ ExactEvmScheme }} from "@x402/evm/exact/client";
import {{ wrapFetchWithPayment, x402Client }} from "@x402/fetch";
import {{ privateKeyToAccount }} from "viem/accounts";

const payer = privateKeyToAccount(`0x${{process.env.PAYER_KEY}}`);
const client = new x402Client().register({_text(network)}, new ExactEvmScheme(payer));
const pay = wrapFetchWithPayment(fetch, client);

const body = {_literal(body, _JAVASCRIPT, 2)};
const answer = await pay({_text(url)}, {{
  method: "POST",
  headers: {{ "content-type": "application/json" }},
  body: JSON.stringify(body),
}});
if (!answer.ok) throw new Error(`${{answer.status}} ${{await answer.text()}}`);
console.log(await answer.text());"""


def _python_xrpl(url: str, body: Any, network: str) -> str:
    return f"""\
import os

from x402_xrpl.clients.requests import x402_requests
from xrpl.wallet import Wallet

URL = {_text(url)}
BODY = {_literal(body, _PYTHON, 4)}

payer = Wallet.from_seed(os.environ["PAYER_SEED"])
http = x402_requests(payer, rpc_url=os.environ["RPC_URL"], network_filter={_text(network)})
answer = http.post(URL, json=BODY, timeout=40)
answer.raise_for_status()
print(answer.text)"""


def _literal(value: Any, words: Mapping[Any, str], indent: int, depth: int = 0) -> str:
    """A JSON value as source code, over several lines where it is long.

    Args:
        words: what the language calls true, false and null. All else is written as in JSON.
    """
    inner, outer = " " * indent * (depth + 1), " " * indent * depth
    if isinstance(value, dict):
        members = [f"{_text(key)}: {_literal(member, words, indent, depth + 1)}" for key, member in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list | tuple):
        members = [_literal(member, words, indent, depth + 1) for member in value]
        opening, closing = "[", "]"
    else:
        is_word = value is None or isinstance(value, bool)
        return words[value] if is_word else _text(value)
    line = f"{opening}{', '.join(members)}{closing}"
    if len(line) <= _LINE and "\n" not in line:
        return line
    return "\n".join((opening, *(f"{inner}{member}," for member in members), outer + closing))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quoted(text: str) -> str:
    """For a shell, always within quotes."""
    return "'" + text.replace("'", "'\\''") + "'"
