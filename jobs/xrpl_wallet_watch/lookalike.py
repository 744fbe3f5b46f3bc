"""Tokens that pass for RLUSD: a currency code that reads like it, or an issuer's address that looks like the real one."""

from jobs.engines.evm.copycat import readings
from jobs.ports.xrpl import Amount
from shared.x402.networks import XRPL_RLUSD

_NAMES = readings("RlUSD") | readings("RLUSD") | readings("RippleUSD")
_CODE_BYTES = 20
_FIRST, _LAST = 4, 3
"""Characters that people compare of an address. The first is always `r`."""


def imitates_rlusd(amount: Amount, network: str) -> bool:
    """Whether it is of a token that passes for RLUSD and is not.

    Args:
        network: CAIP-2, one that RLUSD is on.
    """
    token = XRPL_RLUSD[network]
    if amount.issuer is None or amount.issuer == token.issuer:
        return False
    if (amount.issuer[:_FIRST], amount.issuer[-_LAST:]) == (token.issuer[:_FIRST], token.issuer[-_LAST:]):
        return True
    return any(name in reading for reading in readings(_text(amount.currency)) for name in _NAMES)


def _text(code: str) -> str:
    """A currency code as wallets show it: three signs, or twenty bytes of text."""
    if len(code) != 2 * _CODE_BYTES:
        return code
    return bytes.fromhex(code).replace(b"\0", b"").decode("utf-8", "replace")
