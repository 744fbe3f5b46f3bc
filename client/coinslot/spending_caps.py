"""The caps of a buyer whose calls a program chooses. They come only from its owner's file and environment.

`coinslot mcp --help` lists the variables, which go before the file. COINSLOT_CAPS_FILE names the file: JSON with `perCall`,
`perDay` (UTC), `total` (since the journal began) and `perEndpoint` (a day's). Amounts are plain decimal text, in dollars.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec

from coinslot.errors import InvalidCall
from coinslot.prices import dollars
from shared.call_path import tool_name

FILE_ENVIRONMENT = "COINSLOT_CAPS_FILE"
ENVIRONMENTS = {
    "per_call": "COINSLOT_CAP_PER_CALL",
    "per_day": "COINSLOT_CAP_PER_DAY",
    "total": "COINSLOT_CAP_TOTAL",
}
PER_ENDPOINT_ENVIRONMENT = "COINSLOT_CAP_PER_ENDPOINT"


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits in dollars.

    Attributes:
        per_endpoint: a day's limit of an endpoint, by its name or that of its tool. Other endpoints have only the
            day's cap.
    """

    per_call: Decimal
    per_day: Decimal
    total: Decimal
    per_endpoint: Mapping[str, Decimal]

    def of(self, endpoint: str) -> Decimal | None:
        """The day's limit of an endpoint, None without one."""
        names = (endpoint, tool_name(endpoint))
        return min((self.per_endpoint[name] for name in names if name in self.per_endpoint), default=None)


class _File(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    per_call: str = ""
    per_day: str = ""
    total: str = ""
    per_endpoint: dict[str, str] = {}


def find(env: Mapping[str, str]) -> Caps:
    """The caps of this machine's owner.

    Raises:
        InvalidCall: a cap is missing, or has the wrong form. There is no default: who sets none allows nothing.
    """
    named = env.get(FILE_ENVIRONMENT, "").strip()
    file = _read(Path(named)) if named else _File()
    texts = {cap: env.get(name, "").strip() or getattr(file, cap) for cap, name in ENVIRONMENTS.items()}
    if missing := [ENVIRONMENTS[cap] for cap, text in texts.items() if not text]:
        raise InvalidCall(
            f"no cap is set: {', '.join(missing)}",
            hint=f"Set them in dollars, e.g. {missing[0]}=0.01, or in the file that {FILE_ENVIRONMENT} names.",
        )
    per_endpoint = _listed(env.get(PER_ENDPOINT_ENVIRONMENT, "")) or file.per_endpoint
    return Caps(
        **{cap: _amount(ENVIRONMENTS[cap], text) for cap, text in texts.items()},
        per_endpoint={name: _amount(f"the cap of {name}", text) for name, text in per_endpoint.items()},
    )


def _read(path: Path) -> _File:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise InvalidCall(f"cannot read the caps in {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidCall(f"{path} has no caps: {error}") from None


def _listed(text: str) -> dict[str, str]:
    """Of ``echo=0.05,render-pro=1``."""
    pairs = [entry.partition("=") for entry in text.split(",") if entry.strip()]
    return {name.strip(): amount.strip() for name, _, amount in pairs}


def _amount(name: str, text: str) -> Decimal:
    try:
        return dollars(text)
    except ValueError as error:
        raise InvalidCall(f"{name} is {error}") from None
