"""Names in the environment that look like settings and are none: a slip that would otherwise go unnoticed."""

import difflib
import logging
import sys
from collections.abc import Mapping

from shared.observability.logs import Formatter
from shared.settings.service import PREFIX, Settings
from shared.x402.networks import Rail

NOT_SETTINGS = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("VAR", "ANVIL", "URL", "SANDBOX_FILE", "WALLET_KEY_FILE", "WALLET_RPC_URL", "MAX_PRICE", "STATE_DIR"),
        *("CAPS_FILE", "CAP_PER_CALL", "CAP_PER_DAY", "CAP_TOTAL", "CAP_PER_ENDPOINT", "CAP_DEPOSIT"),
        *("SCHEME", "CHANNEL_KEY_FILE"),
        *(f"WALLET_{what}_{rail.upper().replace('-', '_')}" for what in ("KEY_FILE", "RPC_URL") for rail in Rail),
    )
)
"""Of scripts/run and of the buyer's command."""


def unknown(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each, with the nearest name that there is."""
    known = {name.removeprefix(PREFIX) for name in Settings().variables().keys() | NOT_SETTINGS}
    sentences = []
    for name in sorted(environment):
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known:
            near = difflib.get_close_matches(name.removeprefix(PREFIX), known, 1)
            sentences.append(f"{name} is no setting" + (f": did you mean {PREFIX}{near[0]}?" if near else ""))
    return sentences


def read_settings(environment: Mapping[str, str], command: str = "") -> Settings:
    """Read the settings, and write the sentences to stderr.

    Args:
        command: what a person has called, who reads the lines. Empty: they are lines of a log.

    Raises:
        InvalidSetting: a value has the wrong form.
    """
    settings = Settings.from_env(environment)
    for sentence in unknown(environment):
        line = f"{command}: {sentence}"
        if not command:
            record = logging.LogRecord("shared.settings.service", logging.WARNING, __file__, 0, sentence, (), None)
            line = Formatter(settings.log).format(record)
        print(line, file=sys.stderr, flush=True)
    return settings
