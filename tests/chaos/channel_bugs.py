"""Bugs of channels, each with one guard of the product removed: the chaos of channels has to find them.

Whoever changes a guarded line adapts its anchor here.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from compose.sandbox.child import ROOT


@dataclass(frozen=True)
class Bug:
    """A guard of the product, and what is left of it. Without a path: the ledger's server has no disk."""

    path: str
    old: str
    new: str
    also: tuple[str, str] = ("", "")


CLAIMER, ACCEPT, CHARGE = "facilitator/claimer/claimer.py", "api/payment/lua/accept.lua", "workers/lua/charge.lua"
PLANTED: dict[str, Bug] = {
    "what a voucher allows is claimed": Bug(
        CLAIMER,
        '"totalClaimed": str(row.charged),\n            }\n            for row in rows\n        ]',
        '"totalClaimed": str(row.top),\n            }\n            for row in rows\n        ]\n'
        '        rows = [__import__("dataclasses").replace(row, charged=row.top) for row in rows]',
    ),
    "money that leaves still pays": Bug(ACCEPT, "tonumber(balance) - tonumber(leaving)", "tonumber(balance)"),
    "an answer is charged and not stored": Bug(CHARGE, "redis.call('SET', answer, answered, 'EX', ttl_s)\n", ""),
    "nobody checks the signature": Bug(
        "shared/x402/evm_channel.py",
        "if authorizer == _ZERO or signer_of(voucher_digest(chain_id, own_id, max_claimable), signature) != authorizer:",
        "if authorizer == _ZERO:",
    ),
    "a batch that is refused is not halved": Bug(CLAIMER, "elif len(rows) > 1:", "elif len(rows) > 1000:"),
    "a refund forgets what is owed": Bug(
        CLAIMER,
        "left = state.balance - max(channel.charged, state.claimed)",
        "left = state.balance - state.claimed",
        ("if channel.charged > state.claimed:", "if False:"),
    ),
    "two claim at once": Bug(
        "facilitator/claimer/ledger.py",
        "return bool(self._ledger.call(*TAKE_LEASE",
        "return True or bool(self._ledger.call(*TAKE_LEASE",
    ),
    "the ledger forgets at a restart": Bug("", "", ""),
    "a voucher pays two requests": Bug(
        ACCEPT,
        "    return {'mismatch', channel_state(channel, max)}  -- it pays another call: the payer signs the next one\n",
        "    state = 'VOID'\n",
    ),
    "a call is charged twice": Bug(CHARGE, "'charged', price)", "'charged', 2 * price)"),
}
"""Each has to be found by one run of PLANTED_SECONDS."""
PLANTED_SECONDS = 25.0


def planted(folder: Path, bug: Bug) -> Path:
    """A copy of the product with a bug. Raises ValueError when its guard is not there."""
    for name in ("api", "compose", "facilitator", "jobs", "ops", "shared", "workers", "client"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / bug.path
    text = path.read_text()
    for old, new in ((bug.old, bug.new), *((bug.also,) if bug.also[0] else ())):
        if text.count(old) != 1:
            raise ValueError(f"{bug.path} has {text.count(old)} times {old!r}")
        text = text.replace(old, new)
    path.write_text(text)
    return folder
