"""The history of a run, as its ledger has it."""

from pathlib import Path

import pytest
import redis

from shared.ledger.keys import record_key
from tests.chaos.history import read_history

pytestmark = pytest.mark.enable_socket


def test_a_sealed_failure_is_no_text(clean_redis: str, tmp_path: Path) -> None:
    """It is in the record of a job that failed, which is when there is something to tell."""
    with redis.Redis.from_url(clean_redis) as ledger:
        ledger.hset(record_key("p"), mapping={"state": "SETTLED", "failure": b"\xff\x00\x80 sealed"})
    assert read_history(tmp_path, clean_redis).state("p") == "SETTLED"
