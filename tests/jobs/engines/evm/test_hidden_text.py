"""Names that hide behind signs which nobody sees."""

from __future__ import annotations

from jobs.engines.evm.tokens import text_of
from tests.each import each
from tests.jobs.engines.evm.fake_chains import text


@each("hidden", ["\u200b", "\u202e", "\ufe0f", "\u3164", "\U000e0041", "\n"])
def test_a_name_behind_hundreds_of_invisible_signs_is_that_name(hidden: str) -> None:
    """Wallets show it, so it is compared with the names of canonical tokens, too."""
    assert text_of(text(hidden * 1_000 + "USDC"), 32) == "USDC"
