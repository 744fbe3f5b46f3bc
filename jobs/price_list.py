"""What is sold here, and at which prices: what the endpoints declare, with COINSLOT_SELL and COINSLOT_PRICES_FILE over it.

`python -m jobs.price_list` prints what is sold with the settings of the environment: the list's version, then a line for each
call.
"""

import difflib
import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from jobs.catalogue import installed, updated
from jobs.packages import RefusedPackage
from shared.endpoint import PACKAGE_REFUSED, Endpoint
from shared.money import ExcessPrecision, Price
from shared.settings.service import PREFIX, InvalidSetting, Settings

SELL, PRICES_FILE = f"{PREFIX}SELL", f"{PREFIX}PRICES_FILE"
DECIMALS = 6
"""Of a price at most: those of USDC, in which discovery documents state prices, too."""
HIGHEST = Decimal(1_000_000)
"""A price above that is a slip, and ten calls at it would be more than a channel can hold."""
_PATTERN = "/*"
_FORM = 'A line is name = "0.002"; a name with a slash is in quotes, and no name is there twice'


@dataclass(frozen=True, slots=True)
class PriceList:
    """What is sold.

    Attributes:
        prices: by the name of the endpoint, in the order of the catalogue. What is not in it is not sold.
        updated: when it was last changed, in Unix seconds.
    """

    prices: Mapping[str, Price]
    updated: int

    @property
    def text(self) -> str:
        """The prices as JSON: one text for the same prices."""
        return written(self.prices)

    @property
    def version(self) -> str:
        """Sixteen hex digits that name these prices."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def written(prices: Mapping[str, Price]) -> str:
    """Prices as JSON."""
    return json.dumps({name: price.text() for name, price in prices.items()}, sort_keys=True, separators=(",", ":"))


def read(settings: Settings, catalogue: Sequence[Endpoint] | None = None) -> PriceList:
    """Read what these settings sell of a catalogue.

    Args:
        catalogue: None: all that is installed.

    Raises:
        InvalidSetting: a name, a price or the file is wrong, or nothing is left.
        RefusedPackage: an installed package cannot be sold.
    """
    catalogue = installed() if catalogue is None else catalogue
    names = [endpoint.name for endpoint in catalogue]
    sold = _sold(settings.sell, names)
    own: Mapping[str, Price | None] = {}
    changed = int(updated().timestamp())
    if settings.prices_file:
        own, written_at = _own_prices(Path(settings.prices_file), names)
        changed = max(changed, written_at)
    priced = {endpoint.name: own.get(endpoint.name, endpoint.price) for endpoint in catalogue if endpoint.name in sold}
    prices = {name: price for name, price in priced.items() if price is not None}
    if names and not prices:
        raise InvalidSetting(f"nothing is left to sell: look at {SELL} and {PRICES_FILE}")
    return PriceList(prices, changed)


def _sold(text: str, names: Sequence[str]) -> Collection[str]:
    """The names that COINSLOT_SELL leaves."""
    if not text:
        return names
    words = [word.strip() for word in text.split(",")]
    without = [word for word in words if word.startswith("-")]
    if without and len(without) < len(words):
        raise InvalidSetting(
            f"{SELL} names what is sold, such as echo,dns, or what is not, such as -youtube,-render-pro: it cannot do both"
        )
    if twice := next((word for word in words if words.count(word) > 1), None):
        raise InvalidSetting(f"{SELL} names {twice} twice")
    named = {name for word in words for name in _named(word.removeprefix("-"), names, SELL)}
    return set(names) - named if without else named


def _own_prices(path: Path, names: Sequence[str]) -> tuple[dict[str, Price | None], int]:
    """The prices of the file by name, None for what is not sold, and when it was changed, in Unix seconds."""
    where, text = f"{PRICES_FILE}: {path}", ""
    try:
        with path.open("rb") as file:
            changed = int(os.fstat(file.fileno()).st_mtime)
            text = file.read().decode()
        entries: dict[str, Any] = tomllib.loads(text, parse_float=str)
    except OSError as error:
        raise InvalidSetting(f"{where} cannot be read: {error.strerror}") from None
    except ValueError as error:
        at, lines = re.search(r"line ([0-9]+)", str(error)), text.splitlines()
        line = f": {lines[int(at[1]) - 1 if at else -1].strip()}" if lines else ""
        raise InvalidSetting(f"{where}{line}: {error}. {_FORM}") from None
    prices: dict[str, Price | None] = {}
    for key in sorted(entries, key=lambda key: not key.endswith(_PATTERN)):  # a name wins over a pattern
        price = _price(f"{where}: {key}", entries[key])
        prices |= dict.fromkeys(_named(key, names, where), price)
    return prices, changed


def _named(word: str, names: Sequence[str], where: str) -> list[str]:
    """What a name or a pattern such as ``chain/*`` stands for. Raises InvalidSetting when there is no such call."""
    if word.endswith(_PATTERN):
        found = [name for name in names if name.startswith(word.removesuffix("*"))]
    else:
        found = [name for name in names if name == word]
    if not found:
        patterns = {name.partition("/")[0] + _PATTERN for name in names if "/" in name}
        near = difflib.get_close_matches(word, (*names, *sorted(patterns)), 1)
        raise InvalidSetting(f"{where}: {word!r} is no call" + (f": did you mean {near[0]}?" if near else ""))
    return found


def _price(where: str, value: object) -> Price | None:
    if value is False:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError
        price = Price.of(str(value))
        price.atomic(DECIMALS)
    except ExcessPrecision:
        unit = f"the smallest unit of USDC, {Decimal(1).scaleb(-DECIMALS)}"
        is_below = price.value < Decimal(1).scaleb(-DECIMALS)
        why = f"is below {unit}" if is_below else f"has more than {DECIMALS} decimals, and cannot be paid in {unit}"
        raise InvalidSetting(f"{where} = {value} {why}") from None
    except ValueError:
        raise InvalidSetting(
            f'{where} = {value} is no price: a price is above zero and in plain decimals, such as "0.002", and false leaves '
            "the call out"
        ) from None
    if price.value > HIGHEST:
        raise InvalidSetting(f"{where} = {value} is above the highest price, {HIGHEST}")
    return price


def main() -> int:
    """Print what is sold. Returns 0, or PACKAGE_REFUSED with the reason on stderr."""
    try:
        found = read(Settings.from_env(os.environ))
    except (InvalidSetting, RefusedPackage) as error:
        print(error, file=sys.stderr)
        return PACKAGE_REFUSED
    print(found.version)
    for name, price in found.prices.items():
        print(name, price.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
