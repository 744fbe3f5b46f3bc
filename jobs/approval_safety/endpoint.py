"""approval-safety: how risky it is to approve a spender for an amount of a token.

- Behaviour decides: whether the spender has code, for how long, whose code it runs and who may change that. Lists of addresses
  add to it. The rules and their points are in jobs/approval_safety/rules.py; `findings` says which applied, and why.
- A spender's age is read from the chain as it was seven days ago. Where no node has that past the answer is `unverifiable`, and
  never `low`. `ageDays` is a lower bound: 7 or more for what was there then, 0 for what was not.
- A contract that was exploited is a victim, and no attacker: the answer says when, and that its makers must be asked.
- An amount of zero takes an approval back, which is safe whoever the spender is.
- For an ERC-721 the amount is the id of one NFT, also when it is zero.
"""

from typing import Annotated

import msgspec

from jobs.approval_safety.response import Response
from jobs.chain.request import ChainRequest, hex_address
from jobs.engines.evm.declaration import EXAMPLE_HEAD, chain_safety
from jobs.engines.evm.quantity import MAX_UINT256, parse_uint256
from jobs.engines.evm.reader import Reader
from jobs.ports import Context
from jobs.site import Site
from shared.endpoint import Example
from shared.money import Price

UNLIMITED = "unlimited"


class Request(ChainRequest, frozen=True, kw_only=True, rename="camel"):
    ADDRESSES = ("token", "spender", "owner")

    token: Annotated[str, hex_address("The ERC-20 contract")]
    spender: Annotated[str, hex_address("Who would be approved")]
    amount: Annotated[
        str,
        msgspec.Meta(
            description="The amount, in the token's smallest unit: decimal, 0x and hex digits, or `unlimited` in any case.",
            # Shown, not checked: the message says more than a pattern.
            extra_json_schema={
                "pattern": "^([0-9]{1,80}|0[xX][0-9a-fA-F]{1,64}|[uU][nN][lL][iI][mM][iI][tT][eE][dD])$"
            },
        ),
    ]
    owner: Annotated[str, hex_address("Who would approve, to read its balance and present allowance")] | None = None

    def check(self, site: Site) -> None:
        super().check(site)
        self.atomic()

    def atomic(self) -> int:
        """The amount. Raises InvalidField."""
        return MAX_UINT256 if self.amount.lower() == UNLIMITED else parse_uint256(self.amount, field="amount")


def run(request: Request, context: Context) -> Response:
    """Read the token and the spender, and judge the approval."""
    # Not in the API, which needs the declaration alone.
    from jobs.approval_safety import reading
    from jobs.approval_safety.answer import answer

    reader = Reader(context, request.chain)
    amount = request.atomic()
    owner = request.owner.lower() if request.owner else None
    known = reading.read(reader, request.token.lower(), request.spender.lower(), amount, owner)
    return answer(reader, known, amount)


ENDPOINT = chain_safety(
    name="approval-safety",
    price=Price.of("0.05"),
    request=Request,
    response=Response,
    summary=(
        "How risky an ERC-20 approve(spender, amount) is on Ethereum or Base: unlimited amounts, spenders without code, new or "
        "changed contracts, proxies, EIP-7702 accounts, copycat tokens and known malicious addresses, with a score, evidence "
        "and a recommendation."
    ),
    example=Example(
        request={
            "chain": "base",
            "token": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "spender": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "amount": "unlimited",
        },
        response={
            **EXAMPLE_HEAD,
            "riskLevel": "critical",
            "riskScore": 100,
            "recommendation": "reject",
            "flags": {
                "unlimitedApproval": True,
                "freshContract": False,
                "eoaSpender": True,
                "copycatToken": False,
                "knownMalicious": False,
                "unverifiable": False,
            },
            "findings": [
                {
                    "code": "eoa_spender",
                    "severity": "high",
                    "message": "The spender is no contract: whoever has its key takes the tokens, without any rule.",
                    "points": 80,
                    "evidence": {"spender": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
                },
                {
                    "code": "unlimited_approval",
                    "severity": "low",
                    "message": "The amount has no limit: 2^256-1, the usual number for no limit.",
                    "points": 20,
                    "evidence": {"form": "max_uint256"},
                },
            ],
            "token": {
                "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "name": "USD Coin",
                "symbol": "USDC",
                "decimals": 6,
                "totalSupply": "4300000000000000",
                "isCanonical": True,
                "canonicalAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            },
            "spender": {
                "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                "isContract": False,
                "delegatedTo": None,
                "codeSize": 0,
                "ageDays": None,
                "isProxy": False,
                "isUpgradeable": False,
                "implementation": None,
                "label": None,
            },
            "amount": str(MAX_UINT256),
            "amountFormatted": "unlimited",
            "ownerBalance": None,
            "currentAllowance": None,
            "dataVersion": "2026-11-24-13fb79c5-f7dcecf1",
        },
    ),
    run=run,
)
