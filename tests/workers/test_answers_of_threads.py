"""One answer store, several threads: a worker of more than one queue has a consumer thread for each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import redis

from shared import outcome
from shared.answers import record_key
from shared.connections import Wire
from shared.outcome import Ok
from workers.answers import AnswerStore


def test_nobody_gets_the_answer_of_another(clean_redis: str) -> None:
    """Given two threads that store answers all the time, then each gets its own back, and never the other's."""
    wire = Wire(clean_redis)
    store = AnswerStore(wire)
    with redis.Redis.from_url(clean_redis) as ledger:
        for number in range(400):
            ledger.hset(record_key(str(number)), "state", "SETTLED")

    def store_all(numbers: range) -> list[int]:
        results = [Ok(str(number).encode()) for number in numbers]
        stored = [store.done([(str(number), result)]) for number, result in zip(numbers, results, strict=True)]
        return [
            number
            for number, result, back in zip(numbers, results, stored, strict=True)
            if back != [outcome.encode(result)]
        ]

    with ThreadPoolExecutor(2) as threads:
        mixed_up = list(threads.map(store_all, (range(200), range(200, 400))))
    wire.close()

    assert mixed_up == [[], []]
