"""What moved: swaps, what is none, and ether out of a swap."""

from collections.abc import Iterator

from tests.jobs.tx_explain.receipts import ALICE, BOB, NOBODY, ROUTER, USDC, WETH, moved
from tests.quality.transactions import (
    ADD,
    BACK,
    GOT,
    IN,
    INCREASED,
    ONE,
    OUT,
    PAIR,
    PATH,
    POOL,
    POSITION,
    POSITIONS,
    SHARES,
    SHARES_BACK,
    TO_ETHER,
    VAULT,
    VAULT_EVENT,
    Case,
    called,
    unwrapped,
)


def shown() -> Iterator[Case]:
    """Those that people who write rules look at."""
    yield Case(
        "swap", called(PATH, 1, 1, [USDC, WETH], ALICE, 1, logs=[IN, OUT]), "Swapped 30 USDC for 0.01 WETH", "swap"
    )
    yield Case(
        "swap",
        called(
            "execute(bytes,bytes[],uint256)", b"\x0b", [b""], 1, value=ONE, logs=[moved(USDC, POOL, ALICE, 9_000_000)]
        ),
        "Swapped 1 ETH for 9 USDC",
        "swap native_transfer",
    )
    yield Case(
        "swap",
        {"to": ROUTER, "data": "0x0badc0de", "logs": [IN, OUT]},
        "Swapped 30 USDC for 0.01 WETH",
        "swap unknown_method",
    )
    yield Case(
        "not a swap",
        called(
            ADD,
            USDC,
            WETH,
            1,
            1,
            1,
            1,
            ALICE,
            1,
            logs=[IN, moved(WETH, ALICE, PAIR, ONE), moved(PAIR, NOBODY, ALICE, 5)],
        ),
        "Added 30 USDC and 1 WETH as liquidity to ",
        "add_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
            (USDC, WETH, 500, -10, 10, 1, 1, 1, 1, ALICE, 1),
            to=POSITIONS,
            logs=[IN, moved(WETH, ALICE, POOL, ONE), POSITION, INCREASED],
        ),
        "Added 30 USDC and 1 WETH as liquidity to ",
        "add_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "multicall(bytes[])",
            [bytes.fromhex("88316456")],
            to=POSITIONS,
            logs=[IN, moved(WETH, ALICE, POOL, ONE), POSITION, INCREASED],
        ),
        "Added 30 USDC and 1 WETH as liquidity to ",
        "add_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called("deposit(uint256,address)", 5, ALICE, to=VAULT, logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES]),
        "Deposited 30 USDC in ",
        "vault_deposit",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "supply(address,uint256,address,uint16)",
            USDC,
            5,
            ALICE,
            0,
            to=VAULT,
            logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES],
        ),
        "Deposited 30 USDC in ",
        "vault_deposit",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "mint(uint256,address)",
            5,
            ALICE,
            to=VAULT,
            logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES, VAULT_EVENT],
        ),
        "Deposited 30 USDC in ",
        "vault_deposit",
        "swap",
    )
    yield Case(
        "not a swap",
        called("submit(address)", BOB, to=VAULT, value=ONE, logs=[SHARES]),
        "Staked 1 ETH in ",
        "stake",
        "swap",
    )
    yield Case(
        "not a swap",
        called("stake(uint256)", 5, to=VAULT, logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES]),
        "Staked 30 USDC in ",
        "stake",
        "swap",
    )
    yield Case(
        "not a swap",
        called("redeem(uint256,address,address)", 5, ALICE, ALICE, to=VAULT, logs=[SHARES_BACK, BACK]),
        "Withdrew 30 USDC from ",
        "vault_withdrawal",
        "swap",
    )
    yield Case(
        "not a swap",
        called("depositETH(address,address,uint16)", BOB, ALICE, 0, to=VAULT, value=ONE, logs=[SHARES]),
        "Deposited 1 ETH in ",
        "vault_deposit",
        "swap",
    )
    yield Case(
        "not a swap",
        called("wrap(uint256)", 5, to=VAULT, logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES]),
        "Wrapped 30 USDC ",
        "",
        "swap",
    )
    yield Case(
        "ether out of a swap",
        called(TO_ETHER, 1, 1, [USDC, WETH], ALICE, 1, logs=[IN, unwrapped(ROUTER, ONE // 4)]),
        "Swapped 30 USDC for 0.25 ETH",
        "swap",
        "ether_received_unknown",
        GOT,
    )
    yield Case(
        "ether out of a swap",
        called(TO_ETHER, 1, 1, [USDC, WETH], ALICE, 1, logs=[IN, unwrapped(ROUTER, ONE // 4)]),
        "Swapped 30 USDC for about 0.25 ETH",
        "ether_received_unknown",
        "",
        (*GOT[:3], 9),
    )
    yield Case(
        "ether out of a swap",
        {"to": ROUTER, "data": "0x0badc0de", "logs": [IN]},
        "Swapped 30 USDC for 0.25 ETH",
        "swap",
        "",
        GOT,
    )
    yield Case(
        "ether out of a swap",
        called(PATH, 1, 1, [USDC, WETH], ALICE, 1, logs=[IN, OUT, unwrapped(ROUTER, ONE // 4)]),
        "Swapped 30 USDC for 0.25 ETH and 0.01 WETH",
        "swap",
        "",
        GOT,
    )


def set_aside() -> Iterator[Case]:
    """The others."""
    yield Case(
        "swap",
        called("swap(address,address,uint256,uint256,address)", USDC, WETH, 1, 1, ALICE, logs=[IN, OUT]),
        "Swapped 30 USDC for 0.01 WETH",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "add_liquidity(uint256[2],uint256)",
            [1, 2],
            1,
            to=VAULT,
            logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES],
        ),
        "Added 30 USDC as liquidity to ",
        "add_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "addLiquidityETH(address,uint256,uint256,uint256,address,uint256)",
            USDC,
            1,
            1,
            1,
            ALICE,
            1,
            value=ONE,
            logs=[IN, moved(PAIR, NOBODY, ALICE, 5)],
        ),
        "Added 1 ETH and 30 USDC as liquidity to ",
        "add_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called(
            "removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)",
            USDC,
            WETH,
            1,
            1,
            1,
            ALICE,
            1,
            logs=[moved(PAIR, ALICE, PAIR, 5), moved(USDC, PAIR, ALICE, 30_000_000), OUT],
        ),
        "Removed 30 USDC and 0.01 WETH of liquidity from ",
        "remove_liquidity",
        "swap",
    )
    yield Case(
        "not a swap",
        called("withdraw(address,uint256,address)", USDC, 1, ALICE, to=VAULT, logs=[SHARES_BACK, BACK]),
        "Withdrew 30 USDC from ",
        "vault_withdrawal",
        "swap",
    )
    yield Case(
        "not a swap",
        called("borrow(address,uint256,uint256,uint16,address)", USDC, 1, 2, 0, ALICE, to=VAULT, logs=[BACK]),
        "Borrowed 30 USDC from ",
        "borrow",
        "swap",
    )
    yield Case(
        "not a swap",
        called("claimRewards(address[],uint256,address,address)", [USDC], 1, ALICE, USDC, to=VAULT, logs=[BACK]),
        "Claimed 30 USDC from ",
        "claim",
        "swap",
    )
    yield Case(
        "not a swap",
        called("enter(uint256)", 5, to=VAULT, logs=[moved(USDC, ALICE, VAULT, 30_000_000), SHARES]),
        "Staked 30 USDC in ",
        "stake",
        "swap",
    )
    yield Case(
        "not a swap",
        called("leave(uint256)", 5, to=VAULT, logs=[SHARES_BACK, BACK]),
        "Unstaked 30 USDC from ",
        "unstake",
        "swap",
    )
    yield Case(
        "ether out of a swap",
        called("execute(bytes,bytes[],uint256)", b"\x00", [b""], 1, logs=[IN, unwrapped(ROUTER, ONE // 4)]),
        "Swapped 30 USDC for 0.25 ETH",
        "swap",
        "",
        GOT,
    )
    yield Case(
        "ether out of a swap",
        called("redeem(uint256)", 1, to=VAULT, logs=[SHARES_BACK]),
        "Withdrew 0.25 ETH from",
        "vault_withdrawal",
        "swap",
        GOT,
    )
