"""What is sold, and at which prices, by the settings; and the sentence for each slip in them."""

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.catalogue import CATALOGUE, UPDATED
from jobs.price_list import PriceList, read
from shared.settings.service import InvalidSetting, Settings
from tests.contract.endpoints import ENDPOINTS
from tests.each import each

DECLARED = {endpoint.name: endpoint.price.text() for endpoint in CATALOGUE}
CHAIN = [name for name in DECLARED if name.startswith("chain/")]
NEWER = 4_000_000_000


@pytest.fixture
def listed(tmp_path: Path) -> Any:
    """Reads a price list."""

    def listed(text: str = "", sell: str = "", *, changed: int = NEWER) -> PriceList:
        path = tmp_path / "prices.toml"
        path.write_text(text)
        os.utime(path, (changed, changed))
        return read(Settings(prices_file=str(path) if text else "", sell=sell))

    return listed


def texts(prices: PriceList) -> dict[str, str]:
    return {name: price.text() for name, price in prices.prices.items()}


def test_without_settings_everything_is_sold_as_specified(listed: Any) -> None:
    """At the prices and in the order of the catalogue, which were last changed when it was."""
    found = listed()
    assert list(found.prices) == [endpoint.name for endpoint in CATALOGUE]
    assert texts(found) == {row.name: row.price for row in ENDPOINTS}
    assert found.updated == int(datetime.fromisoformat(UPDATED).timestamp())


def test_prices_of_ones_own(listed: Any) -> None:
    """As text or as a number, which is read as it is written; a name wins over a pattern, wherever it is; false is not sold."""
    found = listed(
        '"chain/call" = 0.1\n"chain/*" = "0.20"\necho = 0.002\ndns = 3\nrss = "0.0080000000"\nyoutube = false\n'
    )
    own = dict.fromkeys(CHAIN, "0.2") | {"chain/call": "0.1", "echo": "0.002", "dns": "3"}
    assert texts(found) == {name: own.get(name, price) for name, price in DECLARED.items() if name != "youtube"}
    assert list(texts(listed('"chain/*" = false\n"chain/call" = "0.1"', "chain/*"))) == ["chain/call"]


def test_the_file_of_the_manual_is_one(listed: Any) -> None:
    """Given what docs/settings.md shows, then it says what the text says."""
    manual = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    (example,) = re.findall(r"^```toml\n(.*?)^```$", manual, re.DOTALL | re.MULTILINE)
    found = texts(listed(example))
    assert (found["echo"], found["chain/storage"], found["chain/call"]) == ("0.002", "0.01", "0.012")
    assert "youtube" not in found


@each(
    ("sell", "names"),
    [
        ("echo", ["echo"]),
        (" dns , echo,chain/*", ["echo", "dns", *CHAIN]),
        ("-chain/*,-youtube", [name for name in DECLARED if name not in (*CHAIN, "youtube")]),
    ],
)
def test_what_is_sold(sell: str, names: list[str], listed: Any) -> None:
    """A list, or all but a list, in the order of the catalogue."""
    assert list(listed(sell=sell).prices) == names


def test_the_version_names_the_prices_and_the_date_is_the_later_one(listed: Any) -> None:
    """Another text for the same prices is the same version. A file that is older than the catalogue does not make it older."""
    first, same, other = listed("echo = 0.002"), listed('echo = "0.0020"'), listed("echo = 0.003")
    assert re.fullmatch("[0-9a-f]{16}", first.version)
    assert first.version == same.version != other.version
    assert listed().version == listed('echo = "0.001"').version
    assert (first.updated, listed("echo = 1", changed=1).updated) == (NEWER, listed().updated)


@each(
    ("text", "sell", "sentence"),
    [
        ('ecko = "0.1"', "", r"COINSLOT_PRICES_FILE: \S+prices.toml: 'ecko' is no call: did you mean echo\?"),
        ('"chian/*" = "0.1"', "", r"'chian/\*' is no call: did you mean chain/\*\?"),
        ('[chain]\ncall = "0.1"', "", "'chain' is no call|chain = {'call': '0.1'} is no price"),
        ('echo = "0.1"\ndns = 1\necho = 2', "", r"prices.toml: echo = 2: .*no name is there twice"),
        ('echo = "0.1"\necho = 2 # dear\ndns = 1', "", r"prices.toml: echo = 2 # dear: .*line 2"),
        ("chain/call = 1", "", "chain/call = 1: .*line 1.*a name with a slash is in quotes"),
        ('echo = "0.0000001"', "", r"echo = 0.0000001 is below the smallest unit of USDC, 0.000001"),
        ("echo = 0.0010001", "", "echo = 0.0010001 has more than 6 decimals"),
        ("echo = 0.0", "", "echo = 0.0 is no price"),
        ("echo = 1e-3", "", "echo = 1e-3 is no price"),
        ("echo = nan", "", "echo = nan is no price"),
        ("echo = -1", "", "echo = -1 is no price"),
        ("echo = true", "", "echo = True is no price"),
        ('echo = "$1"', "", r"echo = \$1 is no price"),
        ("echo = [1]", "", r"echo = \[1\] is no price"),
        ("echo = 1000001", "", "echo = 1000001 is above the highest price, 1000000"),
        ("echo = false", "echo", "nothing is left to sell: look at COINSLOT_SELL and COINSLOT_PRICES_FILE"),
        ("", "-echo,dns", "COINSLOT_SELL names what is sold, such as echo,dns, or what is not, .*cannot do both"),
        ("", "echo,dns,echo", "COINSLOT_SELL names echo twice"),
        ("", "echo,", "COINSLOT_SELL: '' is no call"),
        ("", "-yuotube", r"COINSLOT_SELL: 'yuotube' is no call: did you mean youtube\?"),
        ("", "render/*", "COINSLOT_SELL: 'render/[*]' is no call"),
    ],
)
def test_a_slip_is_a_sentence(text: str, sell: str, sentence: str, listed: Any) -> None:
    """It names the setting or the file, the line, and the nearest name."""
    with pytest.raises(InvalidSetting, match=sentence) as refused:
        listed(text, sell)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """One that is not there, and one that is no text."""
    (tmp_path / "binary").write_bytes(b"\xff")
    for name, why in (("absent", "No such file or directory"), ("binary", "can't decode byte")):
        with pytest.raises(InvalidSetting, match=f"COINSLOT_PRICES_FILE: {tmp_path}/{name}.*{why}"):
            read(Settings(prices_file=str(tmp_path / name)))
