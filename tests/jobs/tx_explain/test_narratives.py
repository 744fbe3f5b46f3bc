"""The narrative and the data of every kind of transaction."""

from typing import Any

import pytest

from jobs.engines.evm.selectors import selector
from jobs.ports.chains import Reverted
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs.engines.evm.fake_chains import CONTRACT, HEAD, text, word
from tests.jobs.tx_explain.receipts import (
    ALICE,
    APPROVAL,
    BLOCK,
    BOB,
    CAROL,
    CATS,
    HASH,
    NOBODY,
    ROUTER,
    TRANSFER,
    UNKNOWN_TOKEN,
    USDC,
    WETH,
    answer_about,
    calldata,
    codes,
    explained,
    log,
    moved,
    nft,
    number,
    padded,
    put,
    usual_chains,
)

PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
USDC_SHORT = "0x8335…2913"
PAID = " and paid 0.00001 ETH for gas."
ONE = 10**18
MANY = 2**256 - 1
SEND = calldata("transfer(address,uint256)", BOB, 25_000_000)
SWAP = calldata("swapExactTokensForETH(uint256,uint256,address[],address,uint256)", 1, 1, [USDC, WETH], ALICE, 1)
SINGLE = "TransferSingle(address,address,address,uint256,uint256)"
BATCH = "TransferBatch(address,address,address,uint256[],uint256[])"
PAIRS = "0x" + word(64).hex() + word(160).hex() + b"".join(word(n) for n in (2, 7, 8, 2, 1, 5)).hex()

STORIES: list[tuple[str, dict[str, Any], str, set[str]]] = [
    (
        "an ERC-20 transfer",
        {"to": USDC, "data": SEND, "logs": [moved(USDC, ALICE, BOB, 25_000_000)]},
        "Sent 25 USDC to 0x7099…79C8" + PAID,
        {"erc20_transfer"},
    ),
    ("a native transfer", {"value": ONE}, "Sent 1 ETH to 0x7099…79C8" + PAID, {"native_transfer"}),
    ("nothing at all", {}, "Sent nothing to 0x7099…79C8" + PAID, {"zero_value"}),
    ("to itself", {"to": ALICE, "value": ONE}, "Sent 1 ETH to itself" + PAID, {"to_self", "native_transfer"}),
    ("a message", {"data": "0x68656c6c6f"}, "Sent nothing to 0x7099…79C8 with 5 bytes of data" + PAID, set()),
    (
        "an unknown token",
        {"to": UNKNOWN_TOKEN, "logs": [moved(UNKNOWN_TOKEN, NOBODY, ALICE, ONE)]},
        'Minted 1 "FREE claim at evil.example" (0x5555…5555)' + PAID,
        {"mint", "erc20_transfer"},
    ),
    (
        "a burn",
        {"to": USDC, "logs": [moved(USDC, ALICE, NOBODY, 1_500_000)]},
        "Burned 1.5 USDC" + PAID,
        {"burn", "erc20_transfer"},
    ),
    (
        "a burn that ether comes with",
        {"to": ROUTER, "value": ONE, "logs": [moved(USDC, ALICE, NOBODY, 1_500_000)]},
        "Sent 1 ETH and 1.5 USDC to Uniswap v3 Router 2 (0x2626…e481)" + PAID,
        {"burn", "native_transfer"},
    ),
    (
        "a swap of tokens, several transfers summed",
        {
            "to": ROUTER,
            "logs": [
                moved(USDC, ALICE, CAROL, 20_000_000),
                moved(USDC, ALICE, CAROL, 6_000_000),
                moved(USDC, CAROL, ALICE, 1_000_000),
                moved(WETH, CAROL, ALICE, ONE // 100),
            ],
        },
        "Swapped 25 USDC for 0.01 WETH" + PAID,
        {"swap", "erc20_transfer"},
    ),
    (
        "a swap of ether",
        {"to": ROUTER, "value": ONE, "logs": [moved(USDC, CAROL, ALICE, 3_000_000_000)]},
        "Swapped 1 ETH for 3000 USDC" + PAID,
        {"swap", "native_transfer", "erc20_transfer"},
    ),
    (
        "a swap to ether, of which no log tells who got it",
        {
            "to": ROUTER,
            "data": SWAP,
            "logs": [
                moved(USDC, ALICE, CAROL, 3_000_000_000),
                log(WETH, "Withdrawal(address,uint256)", padded(ROUTER), data=number(ONE)),
            ],
        },
        "Swapped 3000 USDC for about 1 ETH" + PAID,
        {"erc20_transfer", "burn"},
    ),
    (
        "wrapping",
        {
            "to": WETH,
            "value": ONE,
            "data": calldata("deposit()"),
            "logs": [log(WETH, "Deposit(address,uint256)", padded(ALICE), data=number(ONE))],
        },
        "Wrapped 1 ETH into WETH" + PAID,
        {"native_transfer", "mint", "wrap"},
    ),
    (
        "unwrapping",
        {
            "to": WETH,
            "data": calldata("withdraw(uint256)", ONE),
            "logs": [log(WETH, "Withdrawal(address,uint256)", padded(ALICE), data=number(ONE))],
        },
        "Unwrapped 1 WETH into ETH" + PAID,
        {"burn", "unwrap"},
    ),
    (
        "a bought NFT",
        {"to": CATS, "value": ONE // 10, "logs": [nft(CATS, NOBODY, ALICE, 7)]},
        'Minted #7 of "CATS" (0x7777…7777) for 0.1 ETH' + PAID,
        {"mint", "erc721_transfer"},
    ),
    (
        "an NFT sent",
        {
            "to": CATS,
            "data": calldata("transferFrom(address,address,uint256)", ALICE, BOB, 7),
            "logs": [nft(CATS, ALICE, BOB, 7)],
        },
        'Sent #7 of "CATS" (0x7777…7777) to 0x7099…79C8' + PAID,
        {"erc721_transfer"},
    ),
    (
        "ERC-1155, one",
        {
            "to": CATS,
            "logs": [log(CATS, SINGLE, padded(ALICE), padded(ALICE), padded(BOB), data=number(7) + number(3)[2:])],
        },
        'Sent 3 × #7 of "CATS" (0x7777…7777) to 0x7099…79C8' + PAID,
        {"erc1155_transfer"},
    ),
    (
        "ERC-1155, a batch",
        {"to": CATS, "logs": [log(CATS, BATCH, padded(ALICE), padded(BOB), padded(ALICE), data=PAIRS)]},
        'Received #7 of "CATS" (0x7777…7777) and 5 × #8 of "CATS" (0x7777…7777) from 0x7099…79C8' + PAID,
        {"erc1155_transfer"},
    ),
    (
        "a token from before the standards",
        {"to": CATS, "logs": [log(CATS, TRANSFER, data=padded(ALICE) + padded(BOB)[2:] + number(9)[2:])]},
        'Sent #9 of "CATS" (0x7777…7777) to 0x7099…79C8' + PAID,
        {"erc721_transfer"},
    ),
    (
        "an unlimited approval",
        {
            "to": USDC,
            "data": calldata("approve(address,uint256)", BOB, MANY),
            "logs": [log(USDC, APPROVAL, padded(ALICE), padded(BOB), data=number(MANY))],
        },
        "Allowed 0x7099…79C8 to spend any amount of USDC" + PAID,
        {"unlimited_approval"},
    ),
    (
        "an approval",
        {"to": USDC, "logs": [log(USDC, APPROVAL, padded(ALICE), padded(BOB), data=number(5_000_000))]},
        "Allowed 0x7099…79C8 to spend 5 USDC" + PAID,
        {"approval"},
    ),
    (
        "an approval taken back",
        {"to": USDC, "logs": [log(USDC, APPROVAL, padded(ALICE), padded(BOB), data=number(0))]},
        "Took back the allowance of 0x7099…79C8 for USDC" + PAID,
        {"approval_revoked"},
    ),
    (
        "an approval in Permit2",
        {
            "to": PERMIT2,
            "logs": [
                log(
                    PERMIT2,
                    "Approval(address,address,address,uint160,uint48)",
                    *map(padded, (ALICE, USDC, BOB)),
                    data=number(2**160 - 1) + number(1_800_000_000)[2:],
                )
            ],
        },
        "Allowed 0x7099…79C8 to spend any amount of USDC through Permit2 until 2027-01-15" + PAID,
        {"unlimited_approval"},
    ),
    (
        "an approval for all",
        {
            "to": CATS,
            "logs": [log(CATS, "ApprovalForAll(address,address,bool)", padded(ALICE), padded(BOB), data=number(1))],
        },
        'Allowed 0x7099…79C8 to move all tokens of "CATS" (0x7777…7777)' + PAID,
        {"approval_for_all"},
    ),
    (
        "a transfer on somebody's authorization",
        {"to": USDC, "logs": [moved(USDC, BOB, CAROL, 1_000)]},
        "Moved 0.001 USDC from 0x7099…79C8 to 0x3C44…93BC" + PAID,
        {"erc20_transfer"},
    ),
    (
        "a poisoning transfer of nothing",
        {"to": ROUTER, "data": "0x12345678", "logs": [moved(USDC, BOB, CAROL, 0)]},
        "Called the unknown function 0x12345678 of Uniswap v3 Router 2 (0x2626…e481)" + PAID,
        {"zero_value", "erc20_transfer", "unknown_method"},
    ),
    (
        "a creation",
        {"to": None, "data": "0x6080", "got": {"contractAddress": CAROL}},
        "Created the contract 0x3C44…93BC" + PAID,
        {"contract_creation"},
    ),
    (
        "a deposit",
        {"value": ONE, "sent": {"type": "0x7e", "mint": hex(ONE), "gasPrice": "0x0", "sourceHash": HASH}},
        "Credited 1 ETH, deposited on Ethereum, to 0x7099…79C8. Ethereum paid for its gas.",
        {"deposit", "native_transfer"},
    ),
    (
        "a system deposit",
        {
            "to": ROUTER,
            "data": calldata("setL1BlockValuesEcotone()"),
            "sent": {"type": "0x7e", "from": "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001", "isSystemTx": False},
        },
        "Ran a transaction of the protocol itself, which tells the chain about Ethereum's blocks. Ethereum paid for its gas.",
        {"deposit"},
    ),
    (
        "a delegation",
        {"to": ALICE, "sent": {"type": "0x4", "authorizationList": [{"address": CAROL}]}},
        f"Sent nothing to itself{PAID} Carried 1 authorization (EIP-7702) for accounts to run the code of 0x3C44…93BC.",
        {"delegation", "to_self", "zero_value"},
    ),
    (
        "the end of a delegation",
        {"to": ALICE, "sent": {"type": "0x4", "authorizationList": [{"address": NOBODY}]}},
        f"Sent nothing to itself{PAID} Carried 1 authorization (EIP-7702) that end the delegation of accounts.",
        {"delegation", "to_self", "zero_value"},
    ),
    (
        "blobs",
        {
            "sent": {"type": "0x3", "blobVersionedHashes": [HASH, HASH]},
            "got": {"blobGasUsed": hex(262_144), "blobGasPrice": "0x1"},
        },
        f"Sent nothing to 0x7099…79C8{PAID} Carried 2 blobs of data (EIP-4844).",
        {"blob", "zero_value"},
    ),
]


@each(("transaction", "narrative", "signals"), [row[1:] for row in STORIES], ids=[row[0] for row in STORIES])
def test_stories(transaction: dict[str, Any], narrative: str, signals: set[str]) -> None:
    """A sentence that a person would write, and codes for machines."""
    answer = answer_about(**transaction)
    assert answer["status"] == "success"
    assert answer["narrative"] == narrative
    assert signals <= set(codes(answer))


@each(
    ("amount", "shown"),
    [
        (25 * ONE, "25"),
        (123_456_789 * ONE, "123456789"),
        (ONE // 3, "0.333333"),
        (1_234_567 * ONE + ONE // 3, "1234567.33"),
        (1_234 * ONE + ONE // 3, "1234.33"),
        (12_345_678_901, "0.0000000123457"),
        (1, "0.000000000000000001"),
        (2**200, "about 1.61 × 10^42"),
    ],
)
def test_amounts_in_sentences_are_rounded(amount: int, shown: str) -> None:
    """The fields have all digits."""
    answer = answer_about(to=WETH, logs=[moved(WETH, ALICE, BOB, amount)])
    assert answer["narrative"].startswith(f"Sent {shown} WETH to ")
    assert answer["transfers"][0]["amount"] == str(amount)
    if amount < 2**100:
        assert answer_about(value=amount)["narrative"].startswith(f"Sent {shown} ETH to ")


@each(
    ("nonces", "before", "after", "received"),
    [
        ((7, 8), 10 * ONE, 10 * ONE + ONE // 2 - 10**13, ONE // 2),
        ((7, 9), 10 * ONE, 10 * ONE + ONE // 2 - 10**13, None),
        ((7, 8), 10 * ONE, 9 * ONE, None),
    ],
)
def test_ether_out_of_a_swap(nonces: tuple[int, int], before: int, after: int, received: int | None) -> None:
    """By the balances, when the sender sent nothing else in the block; otherwise a warning says that it is not known."""
    chains = usual_chains()
    put(chains.base, to=ROUTER, data="0x12345678", logs=[moved(USDC, ALICE, CAROL, 1_500_000_000)])
    chains.base.balances[ALICE] = [(0, before), (BLOCK, after)]
    chains.base.nonces[ALICE] = [(0, nonces[0]), (BLOCK, nonces[1])]
    answer = explained(chains)
    assert answer["etherReceivedWei"] == (str(received) if received else None)
    assert ("ether_received_unknown" in answer["warnings"]) is (received is None)
    if received:
        assert answer["narrative"] == "Swapped 1500 USDC for 0.5 ETH" + PAID
        assert "swap" in codes(answer)


ADD = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
GAVE = [moved(USDC, ALICE, CAROL, 5_000_000), moved(WETH, NOBODY, ALICE, ONE)]
GOT = [moved(WETH, ALICE, NOBODY, ONE), moved(USDC, CAROL, ALICE, 5_000_000)]


@each(
    ("data", "logs", "narrative", "signal"),
    [
        (
            calldata(ADD, USDC, WETH, 1, 1, 1, 1, ALICE, 1),
            GAVE,
            "Added 5 USDC as liquidity to Uniswap v3 Router 2 (0x2626…e481) and got 1 WETH",
            "add_liquidity",
        ),
        (
            calldata("deposit(uint256,address)", 5, ALICE),
            GAVE,
            "Deposited 5 USDC in Uniswap v3 Router 2 (0x2626…e481) and got 1 WETH",
            "vault_deposit",
        ),
        (
            calldata("stake(uint256)", 5),
            GAVE[:1],
            "Staked 5 USDC in Uniswap v3 Router 2 (0x2626…e481)",
            "stake",
        ),
        (
            calldata("redeem(uint256,address,address)", 5, ALICE, ALICE),
            GOT,
            "Withdrew 5 USDC from Uniswap v3 Router 2 (0x2626…e481) for 1 WETH",
            "vault_withdrawal",
        ),
        (
            calldata("getReward()"),
            GOT[1:],
            "Claimed 5 USDC from Uniswap v3 Router 2 (0x2626…e481)",
            "claim",
        ),
    ],
)
def test_what_is_no_swap(data: str, logs: list[dict[str, Any]], narrative: str, signal: str) -> None:
    """The name of the called function says what it is."""
    answer = answer_about(to=ROUTER, data=data, logs=logs)
    assert answer["narrative"] == narrative + PAID
    assert signal in codes(answer)
    assert "swap" not in codes(answer)


def test_what_is_often_part_of_a_theft() -> None:
    """Tokens that somebody else moves, a copied token, and an address that is known."""
    pulled = answer_about(to=USDC, data=SEND, logs=[moved(USDC, BOB, CAROL, 7)])
    assert {"code": "pulled_by_other", "severity": "warning"}.items() <= pulled["signals"][-1].items()
    from_contract = answer_about(to=USDC, data=SEND, logs=[moved(USDC, ROUTER, CAROL, 7)])
    assert "pulled_by_other" not in codes(from_contract)
    phisher = "0x000000000532b45f47779fce440748893b257865"
    known = answer_about(to=USDC, data=SEND, logs=[moved(USDC, ALICE, phisher, 7)])
    assert {"code": "known_malicious", "severity": "critical"}.items() <= known["signals"][-1].items()
    chains = usual_chains()
    chains.base.token(UNKNOWN_TOKEN, "USDС", 6)
    put(chains.base, to=UNKNOWN_TOKEN, logs=[moved(UNKNOWN_TOKEN, CAROL, ALICE, 7)])
    assert "copycat_token" in codes(explained(chains))


def test_contracts_that_many_call_have_names() -> None:
    """In the fields, too."""
    data = calldata("approve(address,uint256)", PERMIT2, 1)
    logs = [log(USDC, APPROVAL, padded(ALICE), padded(PERMIT2), data=number(1))]
    answer = answer_about(to=USDC, data=data, logs=logs)
    assert answer["narrative"].startswith("Allowed Permit2 (0x0000…8BA3) to spend 0.000001 USDC")
    assert (answer["approvals"][0]["spenderLabel"], answer["toLabel"]) == ("Permit2", None)
    assert answer_about(to=WETH, value=1)["toLabel"] == "WETH"


def test_everything_about_a_transfer() -> None:
    """Every field."""
    answer = answer_about(to=USDC, data=SEND, logs=[moved(USDC, ALICE, BOB, 25_000_000)])
    assert (answer["type"], answer["nonce"], answer["valueWei"]) == ("dynamic_fee", "7", "0")
    assert (answer["blockNumber"], answer["confirmations"]) == (str(BLOCK), HEAD - BLOCK + 1)
    assert answer["timestamp"] == answer["blockTimestamp"] == "2027-01-15T07:59:38Z"
    assert (answer["gasUsed"], answer["effectiveGasPriceWei"]) == ("50000", "199900000")
    assert (answer["l1FeeWei"], answer["feeWei"], answer["feeFormatted"]) == ("5000000000", "10000000000000", "0.00001")
    assert answer["method"] == {
        "selector": "0xa9059cbb",
        "name": "transfer",
        "signature": "transfer(address,uint256)",
        "args": [
            {"name": "to", "type": "address", "value": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
            {"name": "value", "type": "uint256", "value": "25000000"},
        ],
        "trailingBytes": 0,
    }
    (transfer,) = answer["transfers"]
    assert (transfer["standard"], transfer["amountFormatted"], transfer["isCanonical"]) == ("erc20", "25", True)
    assert (transfer["logIndex"], transfer["tokenId"]) == (4, None)


@each(
    ("data", "name", "trailing"),
    [
        (SEND[:-2], None, 0),
        ("0xa9059cbb" + "ff" * 12 + BOB[2:] + number(1)[2:], None, 0),
        (SEND + "abcdef", "transfer", 3),
        ("0xa9059cbb", None, 0),
        ("0xffffffff", None, 0),
    ],
)
def test_a_selector_alone_is_no_proof(data: str, name: str | None, trailing: int) -> None:
    """The arguments must be there, and clean; what follows is counted."""
    method = answer_about(to=USDC, data=data)["method"]
    assert (method["name"], method["trailingBytes"]) == (name, trailing)


def test_a_permit_of_permit2_is_an_approval_with_an_end() -> None:
    """By signature. An expiry of 0 is the end of the block, and one beyond all calendars is none."""
    permit = "Permit(address,address,address,uint160,uint48,uint48)"
    for expiry, expires_at in ((1_800_000_000, "2027-01-15T08:00:00Z"), (0, "2027-01-15T07:59:38Z"), (2**48 - 1, None)):
        data = number(5_000_000) + number(expiry)[2:] + number(3)[2:]
        logs = [log(PERMIT2, permit, *map(padded, (ALICE, USDC, ROUTER)), data=data)]
        (approval,) = answer_about(to=ROUTER, logs=logs)["approvals"]
        assert (approval["symbol"], approval["amountFormatted"], approval["granted"]) == ("USDC", "5", True)
        assert (approval["expiresAt"], approval["through"].lower()) == (expires_at, PERMIT2)
        assert answer_about(to=ROUTER, logs=[{**logs[0], "address": CAROL}])["approvals"] == []


def test_rights_in_permit2_that_are_taken_back() -> None:
    """Its event Lockdown has token and spender in the data. One of another contract, or of another shape, is none."""
    lockdown = "Lockdown(address,address,address)"
    gone = [
        log(PERMIT2, lockdown, padded(ALICE), data=padded(token) + padded(spender)[2:])
        for token, spender in ((USDC, BOB), (WETH, CAROL), (WETH, BOB))
    ]
    answer = answer_about(to=PERMIT2, logs=gone)
    assert answer["narrative"] == (
        "Took back the allowance of 0x7099…79C8 for WETH through Permit2, and changed 2 other rights" + PAID
    )
    first = answer["approvals"][0]
    assert (first["symbol"], first["amount"], first["granted"], first["isUnlimited"]) == ("USDC", "0", False, False)
    assert (first["spender"].lower(), first["through"].lower(), first["expiresAt"]) == (BOB, PERMIT2, None)
    assert codes(answer)[-1] == "approval_revoked"
    for other in ({"address": CAROL}, {"data": "0x"}, {"topics": gone[0]["topics"][:1]}, {"data": "0x" + "ff" * 64}):
        assert answer_about(to=PERMIT2, logs=[{**gone[0], **other}])["approvals"] == []


VAULT_DEPOSIT = log(
    WETH, "Deposit(address,address,uint256,uint256)", padded(ALICE), padded(ALICE), data=number(5) + number(5)[2:]
)


@each(
    ("data", "logs", "signal"),
    [
        ("0x0badc0de", [*GAVE, VAULT_DEPOSIT], "vault_deposit"),
        (
            "0x0badc0de",
            [
                moved(USDC, ALICE, CAROL, 5),
                nft(CATS, NOBODY, ALICE, 7),
                log(CATS, "IncreaseLiquidity(uint256,uint128,uint256,uint256)", number(7), data=number(1)),
            ],
            "add_liquidity",
        ),
        ("0x0badc0de", [*GAVE, log(WETH, "Mint(address,uint256,uint256)", padded(ROUTER))], "add_liquidity"),
        ("0x0badc0de", [*GAVE, log(WETH, "Mint(address,uint256,uint256)", data=number(1))], "vault_deposit"),
        ("0x0badc0de", [*GAVE, {**VAULT_DEPOSIT, "address": CAROL}], "swap"),
        ("0x0badc0de", [moved(USDC, ALICE, CAROL, 5), moved(WETH, BOB, ALICE, ONE), VAULT_DEPOSIT], "swap"),
        (SWAP, [*GAVE, VAULT_DEPOSIT], "swap"),
    ],
)
def test_an_event_says_what_a_name_does_not(data: str, logs: list[dict[str, Any]], signal: str) -> None:
    """One of the token that the sender got new. A function that is called a swap is one."""
    actions = {"add_liquidity", "vault_deposit", "swap"}
    assert actions.intersection(codes(answer_about(to=ROUTER, data=data, logs=logs))) == {signal}


def test_ether_for_shares_that_are_given_back() -> None:
    """The shares go to their own contract, which sends ether."""
    chains = usual_chains()
    chains.base.balances[ALICE] = [(0, ONE), (BLOCK, 3 * ONE - 10**13)]
    chains.base.nonces[ALICE] = [(0, 7), (BLOCK, 8)]
    shares = [moved(USDC, ALICE, NOBODY, 5_000_000)]
    put(chains.base, to=USDC, data=calldata("redeem(uint256)", 5), logs=shares)
    assert explained(chains)["narrative"] == f"Withdrew 2 ETH from {USDC_SHORT} for 5 USDC{PAID}"
    put(chains.base, to=USDC, data=calldata("burn(uint256)", 5), logs=shares)
    assert explained(chains)["narrative"] == f"Burned 5 USDC{PAID}"


def test_what_a_bundler_moves_is_signed() -> None:
    """ERC-4337: an account has signed the operation, so that tokens move is no warning."""
    operations = calldata(
        "handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)", [], ALICE
    )
    answer = answer_about(to=ROUTER, data=operations, logs=[moved(USDC, BOB, CAROL, 7)])
    [pulled] = [each for each in answer["signals"] if each["code"] == "pulled_by_other"]
    assert (pulled["severity"], pulled["message"].split(", ")[-1]) == ("info", "by a signature.")


def test_the_third_argument_of_an_nft_is_its_id() -> None:
    """The selector is shared with ERC-20."""
    data = calldata("transferFrom(address,address,uint256)", ALICE, BOB, 7)
    answer = answer_about(to=CATS, data=data, logs=[nft(CATS, ALICE, BOB, 7)])
    assert [each["name"] for each in answer["method"]["args"]] == ["from", "to", "tokenId"]


@each(
    ("outcome", "kind", "reason"),
    [
        (Reverted(selector("Error(string)") + text("too poor")), "error", '"too poor"'),
        (Reverted(selector("Panic(uint256)") + word(0x12)), "panic", "Panic(0x12): division or modulo by zero"),
        (Reverted(b""), "empty", "no reason was given"),
        (Reverted(b"\xde\xad\xbe\xef"), "unknown", "custom error 0xdeadbeef"),
    ],
)
def test_a_revert_has_its_reason(outcome: Reverted, kind: str, reason: str) -> None:
    """By doing it again on the state behind its block."""
    chains = usual_chains()
    put(chains.base, to=USDC, data=SEND, status="0x0")
    chains.base.calls[USDC, bytes.fromhex(SEND[2:])] = outcome
    answer = explained(chains)
    assert (answer["status"], answer["revert"]["kind"]) == ("reverted", kind)
    assert answer["narrative"] == (
        f"Tried to send 25 USDC to 0x7099…79C8, and was reverted: {reason}. Paid 0.00001 ETH for gas all the same."
    )
    assert codes(answer)[0] == "reverted"
    replay = chains.reads[-1]
    assert replay[2] == BLOCK
    assert (replay[1][0].sender, replay[1][0].gas) == (ALICE, 80_000)  # type: ignore[union-attr]


def test_a_revert_that_works_now_is_tried_on_the_state_before() -> None:
    """Others may have changed the state within the block."""
    chains = usual_chains()
    put(chains.base, to=USDC, data=SEND, status="0x0")
    chains.base.calls[USDC, bytes.fromhex(SEND[2:])] = word(1)
    answer = explained(chains)
    assert (answer["revertReason"], answer["warnings"]) == (None, ["replay_unavailable"])
    assert [read[2] for read in chains.reads[-2:]] == [BLOCK, BLOCK - 1]


def test_without_an_archive_the_reason_is_not_known() -> None:
    """The answer says so, unless the gas used shows the reason."""
    chains = usual_chains()
    put(chains.base, to=USDC, data=SEND, status="0x0")
    chains.base.archive = False
    assert explained(chains)["warnings"] == ["replay_unavailable"]
    put(chains.base, to=USDC, data=SEND, status="0x0", gas=50_000)
    answer = explained(chains)
    assert (answer["revertReason"], answer["warnings"]) == ("out of gas", [])


def test_a_pending_transaction_has_no_receipt() -> None:
    """The narrative says what it would do."""
    answer = answer_about(to=USDC, data=SEND, mined=False)
    assert (answer["status"], answer["blockNumber"], answer["feeWei"]) == ("pending", None, None)
    assert answer["narrative"] == "Waits to be included in a block: it would send 25 USDC to 0x7099…79C8."


def test_an_unknown_hash_is_an_answer() -> None:
    """The other chain is asked, too."""
    chains = usual_chains()
    answer = explained(chains)
    assert (answer["ok"], answer["status"], answer["foundOn"]) == (True, "not_found", None)
    assert answer["narrative"] == "Base has no transaction with this hash, neither in a block nor waiting."
    put(chains.ethereum)
    answer = explained(chains, txHash=HASH.upper().replace("0X", "0x"))
    assert answer["foundOn"] == "ethereum"
    assert answer["narrative"].endswith('Ethereum has one: ask with chain "ethereum".')
    chains.ethereum.fails = UpstreamFailed("no", reason="timeout")
    answer = explained(chains)
    assert (answer["status"], answer["warnings"]) == ("not_found", ["other_chain_not_asked"])


@each(
    ("used", "data", "logs", "status"),
    [
        (21_000, "0x", [], "success"),
        (79_999, SEND, [], "success"),
        (80_000, SEND, [], "reverted"),
        (80_000, SEND, [moved(USDC, ALICE, BOB, 1)], "success"),
    ],
)
def test_before_byzantium_the_gas_tells(used: int, data: str, logs: list[dict[str, Any]], status: str) -> None:
    """EIP-658: older receipts have a state root and no status."""
    answer = answer_about(
        to=USDC,
        data=data,
        logs=logs,
        status=None,
        gas=80_000,
        got={"gasUsed": hex(used), "effectiveGasPrice": None, "root": HASH},
    )
    assert answer["status"] == status
    assert "status_inferred" in answer["warnings"]
    assert answer["effectiveGasPriceWei"] == "200000000"


def test_blobs_are_part_of_the_fee() -> None:
    """EIP-4844."""
    answer = answer_about(
        sent={"type": "0x3", "blobVersionedHashes": [HASH]}, got={"blobGasUsed": hex(131_072), "blobGasPrice": "0x2"}
    )
    assert (answer["blobFeeWei"], answer["feeWei"]) == ("262144", str(10_000_000_000_000 + 262_144))


def test_a_thousand_transfers_are_counted_and_cut() -> None:
    """The first 200 are shown; thirty tokens are asked."""
    logs = [moved(f"0x{n:040x}", BOB, CAROL, 1) for n in range(1, 1_001)]
    answer = answer_about(to=ROUTER, logs=logs)
    assert (answer["transferCount"], len(answer["transfers"])) == (1_000, 200)
    assert "tokens_left_out" in answer["warnings"]


def test_what_only_looks_like_a_transfer_is_none() -> None:
    """Unclean addresses, other lengths, ids and amounts that do not pair."""
    strange = [
        log(USDC, TRANSFER, "0x" + "ff" * 32, padded(BOB), data=number(1)),
        log(USDC, TRANSFER, padded(ALICE), padded(BOB), data="0x01"),
        log(USDC, TRANSFER, padded(ALICE), data=number(1)),
        log(USDC, BATCH, padded(ALICE), padded(ALICE), padded(BOB), data="0x" + "ff" * 64),
        log(ROUTER, "Deposit(address,uint256)", padded(ALICE), data=number(1)),
        {"address": USDC, "topics": [], "data": "0x", "logIndex": "0x0"},
    ]
    assert answer_about(to=ROUTER, logs=strange)["transfers"] == []


def test_a_destroyed_contract_has_left_its_logs() -> None:
    """Its method is decoded all the same."""
    chains = usual_chains()
    del chains.base.code[USDC]
    put(chains.base, to=USDC, data=SEND, logs=[moved(USDC, ALICE, BOB, 1)])
    assert explained(chains)["method"]["name"] == "transfer"
    chains.base.code[USDC] = CONTRACT


@each("garbled", [{"from": "0x1"}, {"value": "1"}, {"input": "0x0"}, {"authorizationList": 5}])
def test_a_garbled_transaction_is_the_nodes_fault(garbled: dict[str, Any]) -> None:
    """A 502."""
    with pytest.raises(UpstreamFailed):
        answer_about(sent=garbled)
