"""One ledger, several threads: a worker of more than one queue has a consumer thread for each, and threads that run jobs."""

from concurrent.futures import ThreadPoolExecutor

import redis

from jobs.echo import ENDPOINT
from shared.ledger.keys import record_key
from shared.outcome import Ok
from shared.sealing.answers import AnswerSealer
from shared.servers.ledger_connections import LedgerConnections, LedgerPool
from workers.answers import AnswerStore, Result


def test_nobody_gets_the_answer_of_another(clean_redis: str) -> None:
    """Given two threads that store answers all the time, then each gets its own back, and never the other's."""
    wire = LedgerConnections([clean_redis])
    sealer = AnswerSealer(bytes(range(32)))
    store = AnswerStore(wire, sealer)
    with redis.Redis.from_url(clean_redis) as ledger:
        for number in range(400):
            ledger.hset(record_key(str(number)), "state", "SETTLED")

    def store_all(numbers: range) -> list[str]:
        results = [Result(str(number), ENDPOINT, b"", Ok(str(number).encode())) for number in numbers]
        stored = [store.done([result])[0] for result in results]
        return [
            result.payment_id
            for result, back in zip(results, stored, strict=True)
            if sealer.open(back, ENDPOINT, result.payment_id, b"") != result.outcome
        ]

    with ThreadPoolExecutor(2) as threads:
        mixed_up = list(threads.map(store_all, (range(200), range(200, 400))))
    wire.close()

    assert mixed_up == [[], []]


def test_a_thread_does_not_wait_for_the_answer_of_another(clean_redis: str) -> None:
    """Given a call that the ledger answers late, then others are answered meanwhile, and each gets its own answer; and when
    connections are lost while they are idle, the next call is answered."""
    pool = LedgerPool([clean_redis])
    with ThreadPoolExecutor(1) as threads, redis.Redis.from_url(clean_redis) as ledger:
        late = threads.submit(pool.call, "BLPOP", "{0}late", 10)
        for number in range(100):
            assert pool.call("ECHO", str(number)) == str(number).encode()
        ledger.rpush("{0}late", "pushed")
        assert late.result() == [b"{0}late", b"pushed"]
        # Two connections are idle now. As after a restart of the ledger, none of them is any good.
        ledger.client_kill_filter(_type="normal", skipme=True)
        assert pool.call("ECHO", "again") == b"again"
    pool.close()
