"""The generated files, and what is read from them."""

import csv
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from compose.data import addresses
from jobs.engines.evm import data_file, known_addresses, known_tokens, signatures
from jobs.engines.evm.abi import parse_arguments
from jobs.engines.evm.copycat import readings, skeleton
from shared.x402.evm import keccak256
from tests.each import each

TABLE = Path(addresses.__file__).parent / "malicious_addresses.csv"


@pytest.mark.parametrize("name", ["addresses.bin", "contracts.tsv", "tokens.tsv", "signatures.tsv"])
def test_files_are_whole(name: str) -> None:
    """The header has the digest of the rest, and says where it is from."""
    header, body = data_file.load(name)
    digest = hashlib.sha256(body).hexdigest()
    assert header.version == digest[:8]
    assert b'"sha256":"' + digest.encode() in (data_file.FOLDER / name).read_bytes()[:2_000]
    assert header.records > (100 if name == "contracts.tsv" else 700)


def test_files_are_sorted() -> None:
    """So that a change shows as one."""
    body = data_file.load("addresses.bin").body
    records = [body[at : at + 23] for at in range(0, len(body), 23)]
    assert records == sorted(set(records))
    for name in ("tokens.tsv", "signatures.tsv"):
        lines = data_file.lines(name)
        keys = [tuple(line[:2]) if name == "signatures.tsv" else (int(line[0]), line[1]) for line in lines]
        assert keys == sorted(set(keys))


def test_every_address_of_the_table_is_known() -> None:
    """With its chain, kind and source."""
    assert addresses.generate(TABLE) == (data_file.FOLDER / "addresses.bin").read_bytes()
    for row in csv.DictReader(TABLE.read_text().splitlines()):
        expected = known_addresses.Listing(int(row["chain_id"]), row["kind"], row["source"], row["note"])
        assert expected in known_addresses.listings(row["address"])
    assert known_addresses.listings("0x" + "12" * 20) == ()


def test_selectors_are_the_hashes_of_their_signatures() -> None:
    """Nobody has to believe the list."""
    for key, kind, written in data_file.lines("signatures.tsv"):
        name, _, _ = written.partition("(")
        digest = keccak256((name + parse_arguments(written.removeprefix(name)).name).encode()).hex()
        assert key == (digest if kind == "event" else digest[:8])
    assert signatures.known(bytes.fromhex("e450d38c"), "error") is not None


@each(
    ("selector", "name"),
    [
        ("3593564c", "execute"),  # Uniswap's Universal Router
        ("07ed2379", "swap"),  # 1inch v6
        ("1fff991f", "execute"),  # 0x Settler
        ("e3ead59e", "swapExactAmountIn"),  # ParaSwap v6
        ("cac88ea9", "swapExactTokensForTokens"),  # Aerodrome
        ("7b939232", "depositV3"),  # Across
        ("8e0250ee", "depositForBurn"),  # CCTP v2
        ("4666fc80", "swapTokensSingleV3ERC20ToERC20"),  # LI.FI
        ("c7c7f5b3", "send"),  # LayerZero
        ("dd46508f", "modifyLiquidities"),  # Uniswap v4
        ("617ba037", "supply"),  # Aave v3
        ("fb0f3ee1", "fulfillBasicOrder"),  # Seaport
        ("765e827f", "handleOps"),  # ERC-4337 v0.7
        ("6a761202", "execTransaction"),  # Safe
        ("71ee95c0", "claim"),  # Merkl
        ("2e7ba6ef", "claim"),  # Merkle distributors
        ("a0712d68", "mint"),
        ("e8e33700", "addLiquidity"),
    ],
)
def test_methods_that_are_often_called_have_names(selector: str, name: str) -> None:
    """By selectors that were seen on chains."""
    known = signatures.known(bytes.fromhex(selector), "function")
    assert known is not None
    assert known.name == name


def test_canonical_tokens_of_both_chains() -> None:
    """USDC is where Circle put it."""
    assert known_tokens.known_tokens("base")["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"].symbol == "USDC"
    assert known_tokens.known_tokens("ethereum")["0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"].decimals == 6
    for chain, wrapped in known_tokens.WRAPPED_ETHER.items():
        assert known_tokens.known_tokens(chain)[wrapped].symbol == "WETH"


@each("written", ["USDC", "usdc", "USDС", "ＵＳＤＣ", "US\u200bDC", "U5DC", "$USDC", "U$DC", "ÚSDC", "UЅDC", "USDC."])
def test_what_looks_like_usdc_reads_as_it(written: str) -> None:
    """Other scripts, digits, invisible and full-width characters."""
    assert skeleton("USDC") in readings(written)


@each("written", ["USDC.e", "USDbC", "USDT", "axlUSDC", "USD", "CUSD", ""])
def test_what_says_that_it_is_another_is_another(written: str) -> None:
    """Bridged forms among them."""
    assert skeleton("USDC") not in readings(written)


def test_small_l_passes_for_capital_i() -> None:
    """DAl is not DAI, and looks it."""
    assert skeleton("DAI") in readings("DAl")
    assert skeleton("LINK") in readings("LlNK")


def test_a_dollar_sign_is_a_habit_or_an_s() -> None:
    """$HIB is read as SHIB, and $DAI as DAI."""
    assert skeleton("SHIB") in readings("$HIB")
    assert skeleton("DAI") in readings("$DAI")


def test_declarations_load_no_data_and_no_decoder() -> None:
    """The API imports every declaration: it must not pay for what only workers use."""
    program = """
import sys
from jobs.approval_safety import endpoint as a
from jobs.tx_explain import endpoint as b
from jobs.wallet_doctor import endpoint as c
from jobs.chain import endpoints
assert len(endpoints.ENDPOINTS) == 8
assert not {"eth_abi", "eth_utils", "web3"} & set(sys.modules)
from jobs.engines.evm import data_file
from jobs.engines.evm import known_tokens
from jobs.engines.evm import known_addresses
from jobs.engines.evm import signatures
assert known_tokens._by_chain.cache_info().currsize == 0
assert known_addresses._table.cache_info().currsize == 0
assert signatures._table.cache_info().currsize == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True)
