"""Keeps a periodic task alive while its node fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)


class NodeFailures:
    """Swallows what a node's calls raise, and logs the first failure of each series.

    Args:
        network: CAIP-2, for the log.
        errors: what a call to the node raises when it fails.
    """

    def __init__(self, network: str, errors: tuple[type[Exception], ...]) -> None:
        self._network = network
        self._errors = errors
        self.is_failing = False

    @contextmanager
    def swallowed(self) -> Iterator[None]:
        """Around the calls to the node."""
        try:
            yield
            self.is_failing = False
        except self._errors as error:
            if not self.is_failing:
                log.warning("%s: the node cannot be asked: %s", self._network, type(error).__name__)
            self.is_failing = True
