"""wallet-doctor: whether a wallet can pay with USDC and for gas, and what it needs.

- `lowGas`: its ether is under `thresholds.minGasWei`: twice the cost of 100,000 gas at the price of now, with twice the L1 fee
  on Base, and at least 0.00002 ETH on Base and 0.001 ETH on Ethereum.
- `usdcDust`: it has USDC, and less than 0.01. `usdcEmpty`: it has none.
- `readyForX402`: as `ready`, whatever its ether: who pays by x402 needs no gas.
- `ready`: none of the three, and USDC does not refuse it: Circle has not blacklisted it, and has not paused the token.
- An account that delegated to a contract (EIP-7702) still has a key: `isContract` is false, `delegatedTo` names the contract.
"""

from typing import Annotated, ClassVar

import msgspec

from jobs.chain.request import ChainName, hex_address
from jobs.engines.evm import address, selectors
from jobs.engines.evm.abi import encode_words
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.code import delegate_of
from jobs.engines.evm.declaration import EXAMPLE_HEAD, chain_safety
from jobs.engines.evm.quantity import ether, formatted
from jobs.engines.evm.reader import Reader
from jobs.engines.evm.reader import Response as ChainResponse
from jobs.engines.evm.tokens import METADATA_GAS, l1_fee_call, truth, word
from jobs.fields import doc
from jobs.ports import Context
from jobs.ports.chains import Balance, Call, Code, GasPrice, Nonce, check_configured
from jobs.site import Site, SiteRequest
from jobs.wallet_doctor.advice import DUST_ATOMIC, Recommendation, Wallet, min_gas_wei, recommendations
from shared.endpoint import Example, InvalidField, at_least_one_of
from shared.money import Price
from shared.outcome import UpstreamFailed
from shared.x402.networks import EVM_USDC

L1_BYTES = 250
"""Size of an unsigned transaction that sends tokens."""


class Request(SiteRequest, frozen=True, kw_only=True, rename="camel"):
    """A wallet. `address` or `wallet` is required. If both are given, they must be the same."""

    EXTRA_JSON_SCHEMA: ClassVar = at_least_one_of("address", "wallet")

    address: Annotated[str, hex_address("The wallet")] | None = None
    wallet: Annotated[str, hex_address("Another name of `address`")] | None = None
    chain: ChainName = "base"

    def check(self, site: Site) -> None:
        check_configured(self.chain, site)
        self.account()

    def account(self) -> str:
        """The wallet, in lower case. Raises InvalidField."""
        given = {field: text for field in ("address", "wallet") if (text := getattr(self, field)) is not None}
        if not given:
            raise InvalidField("The address of a wallet is needed.", field="address")
        found = {address.parse(text, field=field) for field, text in given.items()}
        if len(found) > 1:
            raise InvalidField("`address` and `wallet` are two wallets.", field="wallet")
        return found.pop()


class Thresholds(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The limits behind the flags."""

    min_gas_wei: Annotated[str, doc("With less ether than this, in wei, `lowGas` is true.")]
    dust_atomic: Annotated[str, doc("With less USDC than this, in millionths, `usdcDust` is true.")]
    gas_price_wei: Annotated[str, doc("The price of gas now, in wei.")]
    l1_fee_wei: Annotated[str | None, doc("On Base the highest L1 fee of a token transfer, in wei. Null on Ethereum.")]


class Response(ChainResponse, frozen=True, kw_only=True, rename="camel"):
    address: Annotated[str, doc("The wallet, in checksum case.")]
    eth_balance_wei: Annotated[str, doc("Its ether, in wei.")]
    eth_balance: Annotated[str, doc("Its ether, in whole units.")]
    usdc_balance_atomic: Annotated[str, doc("Its USDC, in millionths.")]
    usdc_balance: Annotated[str, doc("Its USDC, in whole units.")]
    usdc_contract: Annotated[str, doc("The USDC contract on the chain.")]
    nonce: Annotated[str, doc("How many transactions it has sent, in decimal.")]
    is_contract: Annotated[bool, doc("Whether it is a contract. False for an account that delegated to one.")]
    delegated_to: Annotated[
        str | None, doc("The contract whose code the account runs (EIP-7702). Null when it has not delegated.")
    ]
    usdc_blacklisted: Annotated[
        bool | None, doc("Whether Circle has blacklisted the wallet. Null when the token does not say.")
    ]
    usdc_paused: Annotated[
        bool | None, doc("Whether all transfers of USDC are paused. Null when the token does not say.")
    ]
    low_gas: Annotated[bool, doc("Whether its ether may be too little for a transaction: less than `minGasWei`.")]
    usdc_dust: Annotated[bool, doc("Whether it has some USDC, and less than 0.01.")]
    usdc_empty: Annotated[bool, doc("Whether it has no USDC.")]
    ready: Annotated[bool, doc("Whether it can pay, in USDC and for gas.")]
    ready_for_x402: Annotated[
        bool, doc("Whether it can pay by x402: as `ready`, but without gas, which the facilitator pays.")
    ] = msgspec.field(name="readyForX402")
    recommendations: Annotated[list[Recommendation], doc("What to do, the most urgent first.")]
    thresholds: Thresholds


def run(request: Request, context: Context) -> Response:
    """Read both balances, and what prevents their use, at one block."""
    account = request.account()
    reader = Reader(context, request.chain)
    usdc = EVM_USDC["eip155:8453" if request.chain == "base" else "eip155:1"]
    token = usdc.address.lower()
    wei, code, nonce, gas_price, held, blacklisted, paused, *l1_answer = reader.read(
        Balance(account),
        Code(account),
        Nonce(account),
        GasPrice(),
        Call(to=token, data=selectors.BALANCE_OF + encode_words(account)),
        Call(to=token, data=selectors.IS_BLACKLISTED + encode_words(account), gas=METADATA_GAS),
        Call(to=token, data=selectors.PAUSED, gas=METADATA_GAS),
        *([l1_fee_call(L1_BYTES)] if request.chain == "base" else []),
    )
    l1_fee = word(l1_answer[0]) if l1_answer else None
    atomic = word(held)
    if atomic is None:
        raise UpstreamFailed("The USDC contract does not answer on this node's chain.", reason="bad_content")
    wallet = Wallet(
        chain=request.chain,
        wei=wei,
        atomic=atomic,
        nonce=nonce,
        min_gas_wei=min_gas_wei(request.chain, gas_price, l1_fee),
        is_contract=bool(code) and delegate_of(code) is None,
        delegate=delegate_of(code),
        is_blacklisted=truth(blacklisted),
        is_paused=truth(paused),
    )
    return Response(
        **reader.head(),
        address=checksummed(account),
        eth_balance_wei=str(wei),
        eth_balance=ether(wei),
        usdc_balance_atomic=str(atomic),
        usdc_balance=formatted(atomic, usdc.decimals),
        usdc_contract=usdc.address,
        nonce=str(nonce),
        is_contract=wallet.is_contract,
        delegated_to=checksummed(wallet.delegate) if wallet.delegate else None,
        usdc_blacklisted=wallet.is_blacklisted,
        usdc_paused=wallet.is_paused,
        low_gas=wallet.low_gas,
        usdc_dust=wallet.usdc_dust,
        usdc_empty=wallet.usdc_empty,
        ready=wallet.ready,
        ready_for_x402=wallet.ready_for_x402,
        recommendations=recommendations(wallet),
        thresholds=Thresholds(
            min_gas_wei=str(wallet.min_gas_wei),
            dust_atomic=str(DUST_ATOMIC),
            gas_price_wei=str(gas_price),
            l1_fee_wei=None if l1_fee is None else str(l1_fee),
        ),
    )


ENDPOINT = chain_safety(
    name="wallet-doctor",
    price=Price.of("0.005"),
    request=Request,
    response=Response,
    summary=(
        "Whether a wallet on Base or Ethereum is ready to pay: ether for gas against a threshold of now, USDC, blacklisting, "
        "EIP-7702 delegation, and recommendations that name amounts."
    ),
    example=Example(
        request={"address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "chain": "base"},
        response={
            **EXAMPLE_HEAD,
            "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "ethBalanceWei": "100000000000000000",
            "ethBalance": "0.1",
            "usdcBalanceAtomic": "25000000",
            "usdcBalance": "25",
            "usdcContract": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "nonce": "0",
            "isContract": False,
            "delegatedTo": None,
            "usdcBlacklisted": False,
            "usdcPaused": None,
            "lowGas": False,
            "usdcDust": False,
            "usdcEmpty": False,
            "ready": True,
            "readyForX402": True,
            "recommendations": [
                {
                    "code": "ready",
                    "message": "The wallet has ether for gas and USDC to pay with.",
                    "asset": None,
                    "amount": None,
                }
            ],
            "thresholds": {
                "minGasWei": "20000000000000",
                "dustAtomic": "10000",
                "gasPriceWei": "6000000",
                "l1FeeWei": None,
            },
        },
    ),
    run=run,
)
