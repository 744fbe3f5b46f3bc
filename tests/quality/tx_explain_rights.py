"""Rights, reverts, and what is often part of a theft."""

from collections.abc import Iterator

from jobs.ports.chains import Reverted
from tests.jobs.tx_explain.receipts import (
    ALICE,
    APPROVAL,
    BOB,
    CAROL,
    ROUTER,
    UNKNOWN_TOKEN,
    USDC,
    WETH,
    log,
    moved,
    number,
    padded,
)
from tests.quality.transactions import (
    IN,
    MANY,
    MANY_160,
    ONE,
    OUT,
    PATH,
    PERMIT2,
    PHISHER,
    VAULT,
    Case,
    allowed,
    approve,
    called,
    error,
    locked,
)


def shown() -> Iterator[Case]:
    """Those that people who write rules look at."""
    yield Case(
        "permit2",
        {"to": PERMIT2, "logs": [allowed(ALICE, BOB, 5_000_000, 1_800_000_000)]},
        "Allowed 0x7099…79C8 to spend 5 USDC through Permit2 until 2027-01-15",
        "approval",
        "unlimited_approval",
    )
    yield Case(
        "permit2",
        {"to": PERMIT2, "logs": [allowed(ALICE, BOB, MANY_160, 2**48 - 1)]},
        "Allowed 0x7099…79C8 to spend any amount of USDC through Permit2 and",
        "unlimited_approval",
    )
    yield Case(
        "permit2",
        {"to": PERMIT2, "logs": [allowed(ALICE, BOB, 0, 0)]},
        "Took back the allowance of 0x7099…79C8 for USDC through Permit2",
        "approval_revoked",
        "approval",
    )
    yield Case(
        "permit2",
        {"to": PERMIT2, "logs": [locked(USDC, BOB)]},
        "Took back the allowance of 0x7099…79C8 for USDC through Permit2",
        "approval_revoked",
        "approval",
    )
    yield Case(
        "permit2",
        called(
            "lockdown((address,address)[])",
            [(USDC, BOB), (WETH, CAROL)],
            to=PERMIT2,
            logs=[locked(USDC, BOB), locked(WETH, CAROL)],
        ),
        "Took back the allowance of 0x3C44…93BC for WETH through Permit2, and changed 1 other right",
        "approval_revoked",
        "approval",
    )
    yield Case("approval", approve(MANY), "Allowed 0x7099…79C8 to spend any amount of USDC", "unlimited_approval")
    yield Case(
        "approval", approve(2**256 - 2**100), "Allowed 0x7099…79C8 to spend any amount of USDC", "unlimited_approval"
    )
    yield Case(
        "approval", approve(7_500_000), "Allowed 0x7099…79C8 to spend 7.5 USDC", "approval", "unlimited_approval"
    )
    yield Case(
        "approval", approve(0), "Took back the allowance of 0x7099…79C8 for USDC", "approval_revoked", "approval"
    )
    yield Case(
        "revert",
        called("transfer(address,uint256)", BOB, 1, to=USDC, status="0x0"),
        'Tried to send 0.000001 USDC to 0x7099…79C8, and was reverted: "paused!"',
        "reverted",
        "",
        revert=error("paused!"),
    )
    yield Case(
        "revert",
        called(PATH, 1, 1, [USDC, WETH], ALICE, 1, status="0x0"),
        'Tried to call swapExactTokensForTokens() of Uniswap v3 Router 2 (0x2626…e481), and was reverted: "TOO_LITTLE_OUT"',
        "reverted",
        "swap",
        revert=error("TOO_LITTLE_OUT"),
    )
    yield Case(
        "theft",
        called(
            "transferFrom(address,address,uint256)", BOB, ALICE, 1, to=USDC, logs=[moved(USDC, BOB, ALICE, 50_000_000)]
        ),
        "Received 50 USDC from 0x7099…79C8",
        "pulled_by_other",
    )
    yield Case(
        "theft",
        called(
            "transferFrom(address,address,uint256)", BOB, CAROL, 1, to=USDC, logs=[moved(USDC, BOB, CAROL, 50_000_000)]
        ),
        "Moved 50 USDC from 0x7099…79C8 to 0x3C44…93BC",
        "pulled_by_other",
    )
    yield Case(
        "theft",
        called(PATH, 1, 1, [USDC, WETH], ALICE, 1, logs=[IN, OUT]),
        "Swapped",
        "",
        "pulled_by_other copycat_token known_malicious",
    )
    yield Case("theft", {"to": USDC, "logs": [moved(USDC, ALICE, PHISHER, 5)]}, "Sent 0.000005 USDC", "known_malicious")
    yield Case("theft", {"to": PHISHER, "value": ONE}, "Sent 1 ETH to", "known_malicious")
    yield Case(
        "theft",
        {"to": USDC, "logs": [log(USDC, APPROVAL, padded(ALICE), padded(PHISHER), data=number(MANY))]},
        "Allowed",
        "known_malicious unlimited_approval",
    )
    yield Case(
        "theft",
        {"to": UNKNOWN_TOKEN, "logs": [moved(UNKNOWN_TOKEN, CAROL, ALICE, 5)]},
        'Received 0.000005 "U5DC"',
        "copycat_token",
        symbol="U5DC",
    )
    yield Case(
        "theft",
        {"to": UNKNOWN_TOKEN, "logs": [moved(UNKNOWN_TOKEN, CAROL, ALICE, 5)]},
        'Received 0.000005 "FREE"',
        "",
        "copycat_token",
    )
    yield Case(
        "theft",
        {"to": USDC, "logs": [moved(USDC, ALICE, BOB, 5)]},
        "Sent 0.000005 USDC",
        "",
        "copycat_token known_malicious pulled_by_other",
    )


def set_aside() -> Iterator[Case]:
    """The others."""
    yield Case(
        "permit2",
        {"to": ROUTER, "logs": [locked(USDC, BOB)]},
        "Took back the allowance of 0x7099…79C8 for USDC through Permit2",
        "approval_revoked",
    )
    yield Case(
        "permit2",
        {"to": ROUTER, "logs": [{**locked(USDC, BOB), "address": CAROL}]},
        "Sent nothing",
        "",
        "approval_revoked",
    )
    yield Case("permit2", {"to": PERMIT2, "logs": [allowed(BOB, CAROL, MANY_160, 0)]}, "", "unlimited_approval")
    yield Case("approval", approve(2**96 - 1), "Allowed 0x7099…79C8 to spend any amount of USDC", "unlimited_approval")
    yield Case(
        "revert",
        called("stake(uint256)", 1, to=VAULT, status="0x0"),
        'Tried to call stake() of 0x9999…9999, and was reverted: "x"',
        "reverted",
        "stake",
        revert=error("x"),
    )
    yield Case(
        "revert",
        called("stake(uint256)", 1, to=VAULT, status="0x0"),
        "Tried to call stake() of 0x9999…9999, and was reverted: no reason",
        "reverted",
        "stake",
        revert=Reverted(b""),
    )
    yield Case(
        "theft",
        called(
            "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
            BOB,
            CAROL,
            1,
            0,
            1,
            b"\1" * 32,
            27,
            b"\2" * 32,
            b"\3" * 32,
            to=USDC,
            logs=[moved(USDC, BOB, CAROL, 1)],
        ),
        "Moved 0.000001 USDC",
        "pulled_by_other",
    )
    yield Case(
        "theft",
        {"to": UNKNOWN_TOKEN, "logs": [moved(UNKNOWN_TOKEN, CAROL, ALICE, 5)]},
        "Received",
        "copycat_token",
        symbol="ꓴSDC",
    )
    yield Case(
        "theft",
        {"to": ALICE, "sent": {"type": "0x4", "authorizationList": [{"address": PHISHER}]}},
        "Sent nothing",
        "known_malicious delegation",
    )
